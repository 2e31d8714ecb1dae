/* Measures queries a second: sql_parse against libpg_query's public API and sqlite3_prepare_v2.
 *
 * All three run on one thread over the same texts: every candidate of the dev logs. SQLite prepares each against its
 * own database. Refused queries count as well, because a refusal is work too. The contenders take turns, pass by pass.
 * The best pass of each counts, in CPU time, so that other load on the machine matters little. The exit status is 1 if
 * a required ratio is missed.
 *
 *   bench_parse [passes]
 */
#include <glib.h>
#include <pg_query.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/sql/sql.h"
#include "tests/support/querylog.h"

struct query {
    const char *sql;
    size_t len;
    sqlite3 *db;
};

static struct arena arena;

static bool with_assay(const struct query *q)
{
    struct sql_stmt *stmt;
    arena_reset(&arena);
    return sql_parse(&arena, q->sql, q->len, NULL, &stmt) == ERR_OK;
}

static bool with_pg_protobuf(const struct query *q)
{
    PgQueryProtobufParseResult result = pg_query_parse_protobuf(q->sql);
    bool parsed = !result.error;
    pg_query_free_protobuf_parse_result(result);
    return parsed;
}

static bool with_pg_json(const struct query *q)
{
    PgQueryParseResult result = pg_query_parse(q->sql);
    bool parsed = !result.error;
    pg_query_free_parse_result(result);
    return parsed;
}

static bool with_sqlite(const struct query *q)
{
    sqlite3_stmt *stmt = NULL;
    bool prepared = sqlite3_prepare_v2(q->db, q->sql, (int)q->len + 1, &stmt, NULL) == SQLITE_OK;
    sqlite3_finalize(stmt);
    return prepared;
}

static const struct contender {
    const char *name;
    bool (*run)(const struct query *q);
    double required; /* sql_parse must be this many times as fast */
} CONTENDERS[] = {
    {"sql_parse", with_assay, 0},
    {"pg_query_parse_protobuf", with_pg_protobuf, 10},
    {"pg_query_parse (JSON)", with_pg_json, 0},
    {"sqlite3_prepare_v2", with_sqlite, 4},
};

enum { N_CONTENDERS = sizeof CONTENDERS / sizeof *CONTENDERS };

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Runs one pass over all queries. Returns the seconds; `taken` receives the number of accepted queries. */
static double pass(const struct contender *c, const GArray *queries, unsigned *taken)
{
    const struct query *all = (const struct query *)(const void *)queries->data;
    double start = cpu_seconds();
    *taken = 0;
    for (guint i = 0; i < queries->len; i++) *taken += c->run(&all[i]);
    return cpu_seconds() - start;
}

static int compare(const GArray *queries, int passes)
{
    double best[N_CONTENDERS];
    unsigned taken[N_CONTENDERS];
    int missed = 0;
    for (int round = 0; round < passes; round++) {
        for (int i = 0; i < N_CONTENDERS; i++) {
            double seconds = pass(&CONTENDERS[i], queries, &taken[i]);
            if (round == 0 || seconds < best[i]) best[i] = seconds;
        }
    }
    printf("%-26s %12s %10s %10s %10s\n", "", "queries/s", "accepted", "we are", "required");
    for (int i = 0; i < N_CONTENDERS; i++) {
        const struct contender *c = &CONTENDERS[i];
        double ratio = best[i] / best[0];
        printf("%-26s %12.0f %10u", c->name, queries->len / best[i], taken[i]);
        if (i > 0) printf(" %9.1fx", ratio);
        if (c->required > 0) printf(" %9.0fx%s", c->required, ratio < c->required ? "  MISSED" : "");
        putchar('\n');
        missed += ratio < c->required;
    }
    return missed;
}

/* The queries of the logs. The log reader closes its databases at the end, so they are opened again by name. */
struct input {
    GArray *queries;
    GHashTable *open; /* file name → sqlite3 * */
    size_t bytes;
};

static sqlite3 *database(struct input *in, const char *file)
{
    sqlite3 *db = g_hash_table_lookup(in->open, file);
    if (!db && sqlite3_open_v2(file, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK)
        g_hash_table_insert(in->open, g_strdup(file), db);
    return db;
}

static void add_line(const struct querylog_line *line, void *self)
{
    struct input *in = self;
    sqlite3 *db = database(in, sqlite3_db_filename(line->catalog->db, "main"));
    for (size_t i = 0; i < line->n_candidates; i++) {
        struct query q = {g_strdup(line->candidates[i]), strlen(line->candidates[i]), db};
        g_array_append_val(in->queries, q);
        in->bytes += q.len;
    }
}

static void close_database(void *db)
{
    sqlite3_close(db);
}

int main(int argc, char **argv)
{
    int passes = argc > 1 ? atoi(argv[1]) : 5;
    struct input in = {g_array_new(FALSE, FALSE, sizeof(struct query)),
                       g_hash_table_new_full(g_str_hash, g_str_equal, g_free, close_database), 0};
    int missed = 0;
    arena_init(&arena, 0);
    if (querylog_each("dev.", add_line, &in) == 0) {
        puts("no query logs under ../shared/data: nothing to measure");
    } else {
        printf("%u candidates, %zu bytes each on average\n", in.queries->len, in.bytes / in.queries->len);
        missed = compare(in.queries, passes);
    }
    for (guint i = 0; i < in.queries->len; i++)
        g_free((char *)(uintptr_t)g_array_index(in.queries, struct query, i).sql);
    g_array_free(in.queries, TRUE);
    g_hash_table_destroy(in.open);
    arena_free(&arena);
    return missed ? 1 : 0;
}
