/* Tests explanations over query logs. Every candidate that executes has an explanation. Two candidates of a question
 * with different results hardly ever have equal explanations, even without the parts that come from data. */
#include "tests/support/leak.h"
#include "tests/unit/explain/ground.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct told {
    char *sql, *operations;
    uint64_t digest[2];
};

struct tally {
    unsigned explained, failed;
    unsigned long pairs, same;
};

static void free_told(gpointer data)
{
    struct told *told = data;
    g_free(told->sql);
    g_free(told->operations);
}

static void explain(const struct ground *ground, const char *sql, GArray *tellings, struct tally *tally)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct db_result result;
    struct explanation *e = NULL;
    if (db_query(ground->db, &arena, sql, strlen(sql), NULL, 0, 0, &result, NULL) == ERR_OK) {
        struct explain_source *source = ground_source(ground, &arena, sql);
        enum err_code code = source ? explain_query(&arena, source, NULL, &e, NULL) : ERR_SYNTAX;
        const char *wrong = code != ERR_OK ? err_name(code) : ground_check(ground, source, NULL, e);
        if (wrong || !*e->premise || !*e->prose) {
            fprintf(stderr, "%s: %s\n", sql, wrong ? wrong : "nothing is said");
            tally->failed++;
        } else {
            struct told told = {
                g_strdup(sql), g_strdup(explain_operations(&arena, e)), {result.digest[0], result.digest[1]}};
            g_array_append_val(tellings, told);
        }
        tally->explained++;
    }
    arena_free(&arena);
}

static void compare(GArray *tellings, struct tally *tally)
{
    for (guint i = 0; i < tellings->len; i++)
        for (guint k = i + 1; k < tellings->len; k++) {
            const struct told *a = &g_array_index(tellings, struct told, i),
                              *b = &g_array_index(tellings, struct told, k);
            if (memcmp(a->digest, b->digest, sizeof a->digest) == 0) continue;
            tally->pairs++;
            if (strcmp(a->operations, b->operations) != 0) continue;
            tally->same++;
            fprintf(stderr, "told alike: %s | %s\n", a->sql, b->sql);
        }
}

static const char *candidate_sql(json_t *entry)
{
    return json_string_value(json_is_string(entry) ? entry : json_object_get(entry, "sql"));
}

static void explain_line(const struct ground *ground, json_t *row, struct tally *tally)
{
    GArray *tellings = g_array_new(FALSE, FALSE, sizeof(struct told));
    g_array_set_clear_func(tellings, free_told);
    json_t *candidates = json_object_get(row, "candidates"), *gold = json_object_get(row, "gold");
    for (size_t i = 0; i < json_array_size(candidates); i++)
        explain(ground, candidate_sql(json_array_get(candidates, i)), tellings, tally);
    if (gold) explain(ground, json_string_value(gold), tellings, tally);
    compare(tellings, tally);
    g_array_free(tellings, TRUE);
}

/* Opens the database of that name. Returns false if it does not exist. */
typedef bool open_fn(struct ground *ground, const char *name);

static bool explain_log(const char *path, open_fn *open, unsigned every, struct tally *tally)
{
    FILE *log = fopen(path, "r");
    char *text = NULL;
    size_t size = 0;
    GHashTable *grounds = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    for (unsigned line = 0; log && getline(&text, &size, log) > 0; line++) {
        json_t *row = line % every == 0 ? json_loads(text, 0, NULL) : NULL;
        const char *name = json_string_value(json_object_get(row, "db"));
        struct ground *ground = name ? g_hash_table_lookup(grounds, name) : NULL;
        if (name && !ground) {
            ground = g_new0(struct ground, 1);
            cr_assert(open(ground, name), "%s", name);
            g_hash_table_insert(grounds, g_strdup(name), ground);
        }
        if (ground) explain_line(ground, row, tally);
        json_decref(row);
    }
    GHashTableIter at;
    gpointer ground;
    g_hash_table_iter_init(&at, grounds);
    while (g_hash_table_iter_next(&at, NULL, &ground)) ground_close(ground);
    g_hash_table_unref(grounds);
    free(text);
    if (log) fclose(log);
    return log != NULL;
}

static bool open_sample(struct ground *ground, const char *name)
{
    char *file = g_strdup_printf("%s/deploy/samples/%s.sql", SOURCE_ROOT, name), *sql = NULL;
    bool found = g_file_get_contents(file, &sql, NULL, NULL);
    char *why = found ? ground_open(ground, sql, NULL, NULL) : NULL;
    bool opened = found && !why;
    g_free(why);
    g_free(sql);
    g_free(file);
    return opened;
}

Test(explain, explanations_of_samples_differ)
{
    struct tally tally = {0};
    cr_assert(explain_log(SOURCE_ROOT "/deploy/samples/questions.jsonl", open_sample, 1, &tally));
    cr_expect(tally.explained > 50, "%u explained", tally.explained);
    cr_expect(tally.failed == 0, "%u failed", tally.failed);
    cr_expect(tally.pairs > 50 && tally.same == 0, "%lu of %lu pairs are told alike", tally.same, tally.pairs);
    leak_check();
}

static bool open_shared(struct ground *ground, const char *name)
{
    char *path = g_strdup_printf("%s/spider/database/%s/%s.sqlite", SHARED_DATA, name, name);
    bool opened = db_open(path, NULL, &ground->db, NULL) == ERR_OK &&
                  schema_build(ground->db, name, path, NULL, &ground->schema, NULL) == ERR_OK;
    g_free(path);
    return opened;
}

/* Processes a sample of the logs; bench_explain processes the complete logs. */
Test(explain, explanations_of_logs_differ)
{
    static const char *const LOGS[] = {"dev.chatgpt", "dev.resdsql"};
    struct tally tally = {0};
    for (size_t i = 0; i < sizeof LOGS / sizeof *LOGS; i++) {
        char *path = g_strdup_printf("%s/spider/logs/%s.jsonl", SHARED_DATA, LOGS[i]);
        bool there = explain_log(path, open_shared, 12, &tally);
        g_free(path);
        if (!there) cr_skip_test("the query logs are not here");
    }
    cr_expect(tally.failed == 0, "%u of %u failed", tally.failed, tally.explained);
    cr_expect(tally.same * 100 < tally.pairs, "%lu of %lu pairs are told alike", tally.same, tally.pairs);
    leak_check();
}
