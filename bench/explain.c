/* Measures explanations of every candidate of a query log: coverage, distinctness and time.
 *
 *   bench_explain LOG.jsonl --db-root DIR [--head N] [--gold] [--no-rows] [--prose] [--without KIND] [--print] [--same]
 *
 * Explains each candidate that executes. Then takes all pairs of candidates of one question whose results differ.
 * Counts the pairs whose premises are equal without the parts that come from the data. The paper (seed 002, §V-A5)
 * reports such equal explanations as a fault.
 *
 *   --prose      compares the text for people
 *   --without    leaves out phrases of a kind, such as join; shows their worth, and that the count can fail
 *   --same       prints the pairs with equal premises
 *   --print      prints every explanation
 *   --gold       explains the gold query instead of the candidates
 *   --no-rows    runs no statements for explanations
 */
#include "bench/ground.h"
#include "lib/explain/explain.h"
#include "lib/explain/provenance.h"

#include "lib/base/clock.h"

#include <glib.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Milliseconds and percentage of failures of the paper's implementation on the same log. The design notes have the
 * source. */
static const double PEER_MS = 87, PEER_FAILED = 7;

struct bench {
    const char *log, *root, *without;
    unsigned head;
    bool gold, no_rows, prose, print, print_same;
    GHashTable *grounds;     /* database name → struct ground */
    GArray *own, *sql, *all; /* int64_t: ns of an explanation without its statements, of its statements, of both */
    unsigned n, not_executable, failed, partial, with_rows, why_not;
    unsigned long pairs, same;
    size_t longest;
};

struct told {
    char *sql, *operations;
    uint64_t digest[2];
};

static void count(struct bench *bench, const struct explanation *e)
{
    int64_t own = e->ns - e->sql_ns;
    g_array_append_val(bench->own, own);
    g_array_append_val(bench->sql, e->sql_ns);
    g_array_append_val(bench->all, e->ns);
    bench->partial += e->missing != NULL;
    bench->with_rows += e->provenance && e->provenance->status == PROV_ROWS;
    bench->why_not += e->whynot && e->whynot->status == WHYNOT_FOUND;
    size_t len = strlen(e->premise);
    if (len > bench->longest) bench->longest = len;
}

/* Returns the phrases that follow from the statement alone, except those of the kind that --without names. */
static char *operations(const struct bench *bench, const struct explanation *e)
{
    GString *text = g_string_new(NULL);
    for (uint32_t i = 0; i < e->n_phrases; i++) {
        const struct explain_phrase *phrase = &e->phrases[i];
        if (phrase->from_data) continue;
        if (bench->without && strcmp(explain_kind_name(phrase->kind), bench->without) == 0) continue;
        g_string_append_printf(text, "%s ", bench->prose ? phrase->prose : phrase->premise);
    }
    return g_string_free(text, FALSE);
}

static void print(const char *sql, const struct explanation *e)
{
    printf("SQL      %s\npremise  %s\nprose    %s\n", sql, e->premise, e->prose);
    if (e->missing) printf("missing  %s\n", e->missing);
    printf("\n");
}

static void explain(struct bench *bench, struct ground *ground, const char *sql, GArray *tellings)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct sql_stmt *stmt;
    struct sql_bound *bound;
    struct db_result result;
    if (db_query(ground->db, &arena, sql, strlen(sql), NULL, 0, 0, &result, NULL) != ERR_OK) {
        bench->not_executable++;
        arena_free(&arena);
        return;
    }
    if (sql_parse(&arena, sql, strlen(sql), NULL, &stmt) != ERR_OK ||
        sql_bind(&arena, stmt, &ground->schema->catalog, &bound) != ERR_OK) {
        bench->n++;
        bench->failed++;
        fprintf(stderr, "cannot be read: %s\n", sql);
        arena_free(&arena);
        return;
    }
    struct explain_source source = {sql, strlen(sql), stmt, bound, ground->schema, ground->db, &result};
    struct explain_options options = explain_defaults;
    options.may_probe = !bench->no_rows;
    struct explanation *e;
    struct err err = {0};
    bench->n++;
    if (explain_query(&arena, &source, &options, &e, &err) != ERR_OK || !*e->premise || !*e->prose) {
        bench->failed++;
        fprintf(stderr, "failed: %s: %s\n", sql, err.text);
    } else {
        count(bench, e);
        if (bench->print) print(sql, e);
        struct told told = {g_strdup(sql), operations(bench, e), {result.digest[0], result.digest[1]}};
        g_array_append_val(tellings, told);
    }
    arena_free(&arena);
}

static void compare(struct bench *bench, GArray *tellings)
{
    for (guint i = 0; i < tellings->len; i++)
        for (guint k = i + 1; k < tellings->len; k++) {
            const struct told *a = &g_array_index(tellings, struct told, i),
                              *b = &g_array_index(tellings, struct told, k);
            if (a->digest[0] == b->digest[0] && a->digest[1] == b->digest[1]) continue;
            bool same = strcmp(a->operations, b->operations) == 0;
            bench->pairs++;
            bench->same += same;
            if (same && bench->print_same) printf("same: %s\n  and %s\n  are %s\n", a->sql, b->sql, a->operations);
        }
}

static void free_told(gpointer data)
{
    struct told *told = data;
    g_free(told->sql);
    g_free(told->operations);
}

static void explain_line(struct bench *bench, json_t *row)
{
    const char *name = json_string_value(json_object_get(row, "db"));
    const char *gold = json_string_value(json_object_get(row, "gold"));
    struct ground *ground = name ? ground_of(bench->grounds, bench->root, name) : NULL;
    if (!ground || !ground->schema) return;
    GArray *tellings = g_array_new(FALSE, FALSE, sizeof(struct told));
    g_array_set_clear_func(tellings, free_told);
    json_t *candidates = json_object_get(row, "candidates");
    if (bench->gold && gold) explain(bench, ground, gold, tellings);
    for (size_t i = 0; !bench->gold && i < json_array_size(candidates); i++) {
        json_t *entry = json_array_get(candidates, i);
        const char *sql = json_string_value(json_is_string(entry) ? entry : json_object_get(entry, "sql"));
        if (sql) explain(bench, ground, sql, tellings);
    }
    compare(bench, tellings);
    g_array_free(tellings, TRUE);
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static double millis(GArray *times, double quantile)
{
    g_array_sort(times, by_value);
    if (times->len == 0) return 0;
    return clock_ms(g_array_index(times, int64_t, (guint)(quantile * (times->len - 1))));
}

static double share(unsigned long part, unsigned long whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void report(struct bench *bench)
{
    printf("%u candidates explained, %u do not execute\n", bench->n, bench->not_executable);
    printf("failed                      %8u  %.2f %%   (the paper's implementation: %.0f %%)\n", bench->failed,
           share(bench->failed, bench->n), PEER_FAILED);
    printf("with rows behind the result %8u  %.2f %%\n", bench->with_rows, share(bench->with_rows, bench->n));
    printf("with why-not                %8u  %.2f %%\n", bench->why_not, share(bench->why_not, bench->n));
    printf("partial, and says so        %8u  %.2f %%\n", bench->partial, share(bench->partial, bench->n));
    printf("pairs with different results, equal operations %lu of %lu: %.3f %%\n", bench->same, bench->pairs,
           share(bench->same, bench->pairs));
    printf("longest premise             %8zu bytes\n", bench->longest);
    double own = millis(bench->own, 0.5), own95 = millis(bench->own, 0.95);
    printf("ms but statements           median %.4f, p95 %.4f\n", own, own95);
    printf("ms of statements            median %.4f, p95 %.4f\n", millis(bench->sql, 0.5), millis(bench->sql, 0.95));
    printf("ms of both                  median %.4f, p95 %.4f\n", millis(bench->all, 0.5), millis(bench->all, 0.95));
    printf("the paper's implementation  %.0f ms: %.0f times the median of both\n", PEER_MS,
           PEER_MS / millis(bench->all, 0.5));
}

static int run(struct bench *bench)
{
    FILE *log = fopen(bench->log, "r");
    if (!log) {
        fprintf(stderr, "%s: cannot be read\n", bench->log);
        return 2;
    }
    char *text = NULL;
    size_t size = 0;
    for (unsigned line = 0; (!bench->head || line < bench->head) && getline(&text, &size, log) > 0; line++) {
        json_t *row = json_loads(text, 0, NULL);
        if (row) explain_line(bench, row);
        json_decref(row);
    }
    free(text);
    fclose(log);
    report(bench);
    return bench->failed ? 1 : 0;
}

static bool read_arguments(struct bench *bench, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--gold") == 0)
            bench->gold = true;
        else if (strcmp(argv[i], "--no-rows") == 0)
            bench->no_rows = true;
        else if (strcmp(argv[i], "--print") == 0)
            bench->print = true;
        else if (strcmp(argv[i], "--same") == 0)
            bench->print_same = true;
        else if (strcmp(argv[i], "--prose") == 0)
            bench->prose = true;
        else if (strcmp(argv[i], "--without") == 0 && i + 1 < argc)
            bench->without = argv[++i];
        else if (strcmp(argv[i], "--head") == 0 && i + 1 < argc)
            bench->head = (unsigned)strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--db-root") == 0 && i + 1 < argc)
            bench->root = argv[++i];
        else if (argv[i][0] != '-' && !bench->log)
            bench->log = argv[i];
        else
            return false;
    }
    return bench->log && bench->root;
}

int main(int argc, char **argv)
{
    struct bench bench = {0};
    if (!read_arguments(&bench, argc, argv)) {
        fprintf(
            stderr,
            "usage: bench_explain LOG.jsonl --db-root DIR [--head N] [--gold] [--no-rows] [--prose] [--without KIND] "
            "[--print] [--same]\n");
        return 2;
    }
    bench.grounds = grounds_new();
    bench.own = g_array_new(FALSE, FALSE, sizeof(int64_t));
    bench.sql = g_array_new(FALSE, FALSE, sizeof(int64_t));
    bench.all = g_array_new(FALSE, FALSE, sizeof(int64_t));
    int status = run(&bench);
    g_array_free(bench.own, TRUE);
    g_array_free(bench.sql, TRUE);
    g_array_free(bench.all, TRUE);
    g_hash_table_unref(bench.grounds);
    return status;
}
