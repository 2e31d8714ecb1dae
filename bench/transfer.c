/* Transfers edit scripts of examples to queries, for bench/transfer.py.
 *
 *   bench_transfer TASKS.jsonl --db-root DIR
 *
 * A task is {"db", "sql", "question", "examples": [{"db", "question", "wrong", "right"}]}. Its answer is a line on
 * stdout:
 *
 *   {"names": [SQL], "transfers": [[SQL]], "same": [bool]}
 *
 * `names` are the proposals for a query with names that do not bind. They are made without examples. `transfers` has
 * the queries of each example, best first. `same` is true for an example if its first query has the normal form of the
 * example's right query. It should be true if the task is the example itself. The time of a transfer goes to stderr. */
#include "bench/ground.h"
#include "lib/base/clock.h"
#include "repair/transfer.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bench {
    GHashTable *grounds;
    const char *root;
    GArray *times; /* int64_t: ns of each transfer */
};

static const char *text_of(const json_t *row, const char *key)
{
    return json_string_value(json_object_get(row, key));
}

static char *normal_form(struct arena *arena, const struct schema_index *schema, const char *sql)
{
    struct sql_stmt *stmt = NULL;
    struct sql_bound *bound = NULL;
    if (sql_parse(arena, sql, strlen(sql), NULL, &stmt) != ERR_OK || !stmt) return NULL;
    sql_bind(arena, stmt, &schema->catalog, &bound);
    return sql_normal_form(arena, stmt->root);
}

static json_t *list_of(const struct repair_proposal *list, int n)
{
    json_t *out = json_array();
    for (int i = 0; i < n; i++) json_array_append_new(out, json_string(list[i].sql));
    return out;
}

static json_t *transfers_of(struct bench *bench, struct arena *arena, const struct schema_index *schema,
                            const struct repair_query *query, const json_t *row, json_t *same)
{
    const char *db = text_of(row, "db");
    struct repair_example example = {text_of(row, "question"), text_of(row, "wrong"), text_of(row, "right"), NULL, 0};
    const struct ground *own = db && example.wrong && example.right ? ground_of(bench->grounds, bench->root, db) : NULL;
    struct repair_proposal *list = NULL;
    struct err err = {0};
    int columns = own && own->schema
                      ? repair_example_columns(arena, own->schema, example.wrong, example.right, &example.columns)
                      : -1;
    if (columns < 0) return json_array();
    example.n_columns = (uint32_t)columns;
    int64_t started = clock_now_ns();
    int n = repair_transfer(arena, schema, query, &example, &list, &err);
    int64_t ns = clock_now_ns() - started;
    g_array_append_val(bench->times, ns);
    const char *form = n > 0 ? normal_form(arena, schema, list[0].sql) : NULL;
    const char *right = normal_form(arena, schema, example.right);
    json_array_append_new(same, json_boolean(form && right && strcmp(form, right) == 0));
    return list_of(list, n);
}

/* Returns the proposals of repair_propose, if the query's names do not bind. */
static json_t *names_of(struct arena *arena, const struct schema_index *schema, const struct repair_query *query)
{
    struct sql_stmt *stmt = NULL;
    struct sql_bound *bound = NULL;
    struct repair_proposal *list = NULL;
    struct err err = {0};
    if (sql_parse(arena, query->sql, query->len, NULL, &stmt) != ERR_OK) return json_array();
    if (sql_bind(arena, stmt, &schema->catalog, &bound) == ERR_OK) return json_array();
    return list_of(list, repair_propose(arena, schema, query, &list, &err));
}

static void answer(struct bench *bench, const json_t *task)
{
    const char *sql = text_of(task, "sql"), *db = text_of(task, "db");
    const struct ground *ground = sql && db ? ground_of(bench->grounds, bench->root, db) : NULL;
    json_t *names = NULL, *transfers = json_array(), *same = json_array(), *row;
    struct arena arena;
    size_t i;
    arena_init(&arena, 0);
    if (ground && ground->schema) {
        const struct repair_query query = {
            .sql = sql, .len = strlen(sql), .question = text_of(task, "question"), .values = true};
        names = names_of(&arena, ground->schema, &query);
        json_array_foreach(json_object_get(task, "examples"), i, row)
            json_array_append_new(transfers, transfers_of(bench, &arena, ground->schema, &query, row, same));
    }
    json_t *out =
        json_pack("{s:o, s:o, s:o}", "names", names ? names : json_array(), "transfers", transfers, "same", same);
    json_dumpf(out, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(out);
    arena_free(&arena);
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static double micros_at(const GArray *times, unsigned percent)
{
    guint at = times->len * percent / 100;
    return times->len ? 1e-3 * (double)g_array_index(times, int64_t, at) : 0;
}

int main(int argc, char **argv)
{
    if (argc != 4 || strcmp(argv[2], "--db-root") != 0) {
        fprintf(stderr, "usage: bench_transfer TASKS.jsonl --db-root DIR\n");
        return 2;
    }
    FILE *file = fopen(argv[1], "r");
    if (!file) {
        fprintf(stderr, "%s: cannot be opened\n", argv[1]);
        return 2;
    }
    struct bench bench = {grounds_new(), argv[3], g_array_new(FALSE, FALSE, sizeof(int64_t))};
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, file) > 0) {
        json_t *task = json_loads(line, 0, NULL);
        if (task) answer(&bench, task);
        json_decref(task);
    }
    g_array_sort(bench.times, by_value);
    fprintf(stderr, "%u transfers; %.0f us in the median, %.0f us at the 99th percentile\n", bench.times->len,
            micros_at(bench.times, 50), micros_at(bench.times, 99));
    free(line);
    fclose(file);
    g_array_free(bench.times, TRUE);
    g_hash_table_unref(bench.grounds);
    return 0;
}
