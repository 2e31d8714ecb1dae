/* Loads the sample databases into SQLite and into a server, and compares their schema indexes. It then judges each
 * candidate of the samples' log on both, and compares the results. A file lists the known differences with reasons; any
 * other difference fails the test. */
#include "tests/live/samples.h"

#include "signals/vsig.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <jansson.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SAMPLES SOURCE_ROOT "/deploy/samples/"

struct engine {
    struct db *db;
    struct schema_index *index;
};

struct pair {
    const char *name; /* name of the sample */
    const struct samples_server *server;
    char *path; /* path of the SQLite file */
    struct engine sqlite, other;
};

/* The results of one engine on one candidate. */
struct opinion {
    struct db_result result;
    enum err_code code;
    struct vsig_verdict verdicts[VSIG_ID_END];
};

static GString *differences;
static struct vsig_options *options;

/* --- loading ------------------------------------------------------------------------------------------------------ */

static char *read_sample(const char *name)
{
    char *path = g_strconcat(SAMPLES, name, ".sql", NULL), *text;
    cr_assert(g_file_get_contents(path, &text, NULL, NULL), "%s", path);
    g_free(path);
    return text;
}

static void load_sqlite(const char *path, const char *sql)
{
    sqlite3 *conn;
    cr_assert_eq(sqlite3_open(path, &conn), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(conn, sql, NULL, NULL, NULL), SQLITE_OK, "%s", sqlite3_errmsg(conn));
    sqlite3_close(conn);
}

static void engine_index(struct engine *engine, const char *name)
{
    struct err err = {0};
    cr_assert_eq(schema_build(engine->db, name, NULL, NULL, &engine->index, &err), ERR_OK, "%s", err.text);
}

static char *rewritten(const struct samples_server *server, const char *sql)
{
    return server->rewrite ? server->rewrite(sql) : g_strdup(sql);
}

static void pair_open(struct pair *pair, const char *name, const struct samples_server *server)
{
    struct err err = {0};
    char *written = read_sample(name), *sql = rewritten(server, written);
    *pair = (struct pair){.name = name, .server = server};
    pair->other.db = server->open(sql);
    pair->path = g_strdup_printf("%s/assay-sample-%d.sqlite", g_get_tmp_dir(), (int)getpid());
    load_sqlite(pair->path, sql);
    cr_assert_eq(db_open(pair->path, NULL, &pair->sqlite.db, &err), ERR_OK, "%s", err.text);
    engine_index(&pair->sqlite, name);
    engine_index(&pair->other, name);
    g_free(written);
    g_free(sql);
}

static void pair_close(struct pair *pair)
{
    schema_unref(pair->sqlite.index);
    schema_unref(pair->other.index);
    db_close(pair->sqlite.db);
    unlink(pair->path);
    g_free(pair->path);
    pair->server->close();
}

/* --- comparison of the indexes ----------------------------------------------------------------------------------- */

static void compare_columns(const struct schema_column *a, const struct schema_column *b)
{
    cr_expect_str_eq(a->name, b->name);
    cr_expect_eq(a->pk, b->pk, "%s", a->name);
    cr_expect_eq(a->unique, b->unique, "%s", a->name);
    cr_expect_eq(a->affinity, b->affinity, "%s", a->name);
    cr_expect(a->stats.rows == b->stats.rows && a->stats.nulls == b->stats.nulls, "%s", a->name);
    cr_expect(a->stats.distinct == b->stats.distinct && a->stats.ints == b->stats.ints, "%s", a->name);
    cr_expect(a->stats.reals == b->stats.reals && a->stats.date_texts == b->stats.date_texts, "%s", a->name);
    cr_expect_eq(db_value_compare(&a->stats.min, &b->stats.min), 0, "%s", a->name);
    cr_expect_eq(db_value_compare(&a->stats.max, &b->stats.max), 0, "%s", a->name);
}

/* Compares a table with the one of the same name. Servers may list tables in another order. */
static void compare_tables(const struct schema_table *a, const struct schema_index *in)
{
    int number = schema_find_table(in, a->name, strlen(a->name));
    cr_assert(number >= 0, "%s", a->name);
    const struct schema_table *b = &in->tables[number];
    cr_assert_eq(a->n_columns, b->n_columns, "%s", a->name);
    cr_expect(a->rows == b->rows && a->n_pk == b->n_pk && a->is_view == b->is_view, "%s", a->name);
    for (uint32_t i = 0; i < a->n_columns; i++) compare_columns(&a->columns[i], &b->columns[i]);
}

static void compare_indexes(const struct schema_index *a, const struct schema_index *b)
{
    cr_assert_eq(a->n_tables, b->n_tables);
    cr_assert_eq(a->n_columns, b->n_columns);
    for (uint32_t i = 0; i < a->n_tables; i++) compare_tables(&a->tables[i], b);
    cr_expect_eq(a->n_joins, b->n_joins);
}

/* --- opinions ----------------------------------------------------------------------------------------------------- */

static void judge(struct opinion *out, struct arena *arena, const struct engine *engine, const char *sql,
                  const char *question)
{
    struct vsig_subject subject;
    struct err err = {0};
    memset(out, 0, sizeof *out);
    vsig_subject_init(&subject, arena, engine->index, engine->db, sql, strlen(sql), question, NULL, NULL);
    out->code = db_query(engine->db, arena, sql, strlen(sql), NULL, 0, 0, &out->result, &err);
    for (int family = 0; !out->code && family < VSIG_FAMILY_COUNT; family++)
        vsig_run_family(&subject, (enum vsig_family)family, options, out->verdicts);
}

static const char *state_of(const struct vsig_verdict *verdict)
{
    return verdict->state == VSIG_UNAVAILABLE ? verdict->reason : vsig_state_name(verdict->state);
}

static void compare(const char *id, const struct opinion *a, const struct opinion *b)
{
    unsigned n;
    const struct vsig_def *const *all = vsig_all(&n);
    if (a->code || b->code) {
        if (a->code != b->code)
            g_string_append_printf(differences, "%s validity: %s, %s\n", id, err_name(a->code), err_name(b->code));
        return;
    }
    if (memcmp(a->result.digest, b->result.digest, sizeof a->result.digest) != 0)
        g_string_append_printf(differences, "%s answer\n", id);
    for (unsigned i = 0; i < n; i++) {
        const struct vsig_verdict *x = &a->verdicts[all[i]->id], *y = &b->verdicts[all[i]->id];
        if (x->state != y->state || x->n_findings != y->n_findings)
            g_string_append_printf(differences, "%s %s: %s, %s\n", id, all[i]->name, state_of(x), state_of(y));
    }
}

static unsigned compare_candidate(struct pair *pair, const char *id, size_t number, const char *written,
                                  const char *question)
{
    static struct opinion opinions[2];
    char *sql = rewritten(pair->server, written);
    char *name = g_strdup_printf("%s.%zu", id, number);
    struct arena arena;
    arena_init(&arena, 256UL << 20);
    judge(&opinions[0], &arena, &pair->sqlite, sql, question);
    judge(&opinions[1], &arena, &pair->other, sql, question);
    compare(name, &opinions[0], &opinions[1]);
    arena_free(&arena);
    g_free(name);
    g_free(sql);
    return 1;
}

static unsigned compare_line(struct pair *pair, const json_t *line)
{
    unsigned n = 0;
    const char *db = json_string_value(json_object_get(line, "db")),
               *id = json_string_value(json_object_get(line, "id"));
    const char *question = json_string_value(json_object_get(line, "question"));
    const json_t *candidates = json_object_get(line, "candidates");
    if (strcmp(db, pair->name) != 0) return 0;
    for (size_t i = 0; i < json_array_size(candidates); i++) {
        const json_t *candidate = json_array_get(candidates, i);
        const char *sql = json_string_value(json_is_object(candidate) ? json_object_get(candidate, "sql") : candidate);
        n += compare_candidate(pair, id, i + 1, sql, question);
    }
    return n;
}

static unsigned compare_sample(const char *name, const struct samples_server *server, char **lines)
{
    struct pair pair;
    unsigned n = 0;
    pair_open(&pair, name, server);
    compare_indexes(pair.sqlite.index, pair.other.index);
    for (char **line = lines; *line && **line; line++) {
        json_t *json = json_loads(*line, 0, NULL);
        cr_assert_not_null(json);
        n += compare_line(&pair, json);
        json_decref(json);
    }
    pair_close(&pair);
    return n;
}

/* Adds one line of the file, a difference. A line that ends in "or not" is added only if the difference occurred. */
static void add_known(GString *known, const char *line)
{
    static const char at_times[] = " or not";
    char *difference = g_strconcat(line, "\n", NULL);
    bool maybe = g_str_has_suffix(line, at_times);
    if (maybe) strcpy(difference + strlen(line) - strlen(at_times), "\n");
    if (!maybe || strstr(differences->str, difference)) g_string_append(known, difference);
    g_free(difference);
}

/* Reads the known differences. Omits their reasons, which are lines that begin with #. */
static char *known_differences(const char *file)
{
    char *path = g_strconcat(TEST_DATA "/", file, NULL), *text;
    cr_assert(g_file_get_contents(path, &text, NULL, NULL), "%s", path);
    GString *known = g_string_new(NULL);
    char **lines = g_strsplit(text, "\n", 0);
    for (char **line = lines; *line; line++)
        if (**line && **line != '#') add_known(known, *line);
    g_strfreev(lines);
    g_free(text);
    g_free(path);
    return g_string_free(known, FALSE);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts the lines, because the file groups them by reason. */
static char *sorted(const char *text)
{
    char **lines = g_strsplit(text, "\n", 0);
    qsort(lines, g_strv_length(lines), sizeof *lines, by_text);
    char *joined = g_strjoinv("\n", lines);
    g_strfreev(lines);
    return joined;
}

void samples_compare(const struct samples_server *server)
{
    static const char *const names[] = {"ferries", "orchard", "podcasts"};
    char *log;
    unsigned n = 0;
    cr_assert(g_file_get_contents(SAMPLES "questions.jsonl", &log, NULL, NULL));
    char **lines = g_strsplit(log, "\n", 0);
    differences = g_string_new(NULL);
    options = vsig_options_new();
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) n += compare_sample(names[i], server, lines);
    char *known = known_differences(server->differences), *expected = sorted(known), *found = sorted(differences->str);
    printf("%u candidates judged on both engines\n", n);
    cr_expect_geq(n, 150);
    cr_expect_str_eq(found, expected, "differences:\n%s", differences->str);
    vsig_options_free(options);
    g_string_free(differences, TRUE);
    g_free(known);
    g_free(expected);
    g_free(found);
    g_strfreev(lines);
    g_free(log);
}
