/* Measures the time to read the meaning of a candidate, for all candidates of the dev logs. Compares it with parsing
 * and binding the candidate.
 *
 * Each candidate is read `passes` times in a row with warm caches, and its best time counts. Prints the median and the
 * 99th percentile over the candidates, on one thread, in microseconds. bench/all.py has the required limit.
 *
 *   bench_meaning [passes]
 */
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/meaning/meaning.h"
#include "lib/sql/sql.h"
#include "tests/support/querylog.h"

struct times {
    struct arena arena;
    int passes;
    GArray *parse, *bind, *meaning; /* double: microseconds of each candidate that binds */
    unsigned n_unknown;             /* candidates whose meaning is partly unknown */
};

static double microseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* Lowers best[0..2] to the times of this pass, if they are shorter: parsing, binding, reading the meaning. Returns
 * false if the candidate does not bind. */
static bool time_once(struct times *t, const struct querylog_line *line, const char *sql, double *best, bool *known)
{
    double at[4];
    struct sql_stmt *stmt;
    struct sql_bound *bound;
    struct meaning *meaning;
    arena_reset(&t->arena);
    at[0] = microseconds();
    if (sql_parse(&t->arena, sql, strlen(sql), NULL, &stmt) != ERR_OK) return false;
    at[1] = microseconds();
    if (sql_bind(&t->arena, stmt, &line->catalog->catalog, &bound) != ERR_OK) return false;
    at[2] = microseconds();
    if (meaning_read(&t->arena, bound, &meaning) != ERR_OK || !meaning) return false;
    at[3] = microseconds();
    for (int i = 0; i < 3; i++) best[i] = MIN(best[i], at[i + 1] - at[i]);
    *known = meaning->n_unknown == 0;
    return true;
}

static void add_line(const struct querylog_line *line, void *self)
{
    struct times *t = self;
    for (size_t i = 0; i < line->n_candidates; i++) {
        double best[] = {G_MAXDOUBLE, G_MAXDOUBLE, G_MAXDOUBLE};
        bool known = false, bound = true;
        for (int pass = 0; pass < t->passes && bound; pass++)
            bound = time_once(t, line, line->candidates[i], best, &known);
        if (!bound) continue;
        g_array_append_val(t->parse, best[0]);
        g_array_append_val(t->bind, best[1]);
        g_array_append_val(t->meaning, best[2]);
        t->n_unknown += !known;
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_row(const char *name, GArray *times)
{
    g_array_sort(times, by_value);
    printf("%-20s %10.1f %10.1f\n", name, g_array_index(times, double, times->len / 2),
           g_array_index(times, double, times->len * 99 / 100));
}

static GArray *doubles(void)
{
    return g_array_new(FALSE, FALSE, sizeof(double));
}

int main(int argc, char **argv)
{
    struct times t = {
        .passes = argc > 1 ? atoi(argv[1]) : 5, .parse = doubles(), .bind = doubles(), .meaning = doubles()};
    arena_init(&t.arena, 0);
    if (querylog_each("dev.", add_line, &t) == 0 || t.meaning->len == 0) {
        puts("no query logs under ../shared/data: nothing to measure");
    } else {
        printf("%u candidates, %u with a part that cannot be told\n", t.meaning->len, t.n_unknown);
        printf("%-20s %10s %10s\n", "", "median us", "p99 us");
        print_row("parse", t.parse);
        print_row("bind", t.bind);
        print_row("read the meaning", t.meaning);
    }
    g_array_free(t.parse, TRUE);
    g_array_free(t.bind, TRUE);
    g_array_free(t.meaning, TRUE);
    arena_free(&t.arena);
    return 0;
}
