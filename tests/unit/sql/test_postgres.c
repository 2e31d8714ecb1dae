/* Compares the parser with PostgreSQL's own parser (libpg_query). Each statement of tests/data/sql/postgres.sql that
 * libpg_query accepts must be accepted, and its printed form must have the same meaning. Only a small share of the
 * SELECTs of PostgreSQL's regression tests may be refused. These tests are a separate binary, because libpg_query
 * exports names that other libraries also export. */
#include <criterion/criterion.h>
#include <glib.h>
#include <pg_query.h>
#include <stdio.h>
#include <string.h>

#include "lib/sql/sql.h"
#include "tests/support/leak.h"

TestSuite(postgres, .timeout = 300);

/* Returns PostgreSQL's fingerprint of a statement, or NULL if it does not parse. Free with g_free. */
static char *fingerprint(const char *sql)
{
    PgQueryFingerprintResult result = pg_query_fingerprint(sql);
    char *text = result.error ? NULL : g_strdup(result.fingerprint_str);
    pg_query_free_fingerprint_result(result);
    return text;
}

static void check_statement(const char *sql)
{
    struct arena arena;
    struct sql_stmt *stmt;
    arena_init(&arena, 0);
    char *before = fingerprint(sql);
    cr_assert_not_null(before, "libpg_query refuses: %s", sql);
    enum err_code rc = sql_parse(&arena, sql, strlen(sql), NULL, &stmt);
    cr_expect_eq(rc, ERR_OK, "%s: %s", sql, stmt->diags ? stmt->diags->message : err_name(rc));
    if (rc == ERR_OK) {
        const char *printed = sql_print(&arena, stmt->root);
        char *after = fingerprint(printed);
        cr_expect_null(sql_check_tree(stmt), "%s: %s", sql_check_tree(stmt), sql);
        cr_expect_not_null(after, "libpg_query refuses what we print: %s", printed);
        if (after) cr_expect_str_eq(after, before, "another meaning: %s\n           from: %s", printed, sql);
        g_free(after);
    }
    g_free(before);
    arena_free(&arena);
}

Test(postgres, accepted_statements_print_with_same_meaning)
{
    char *text = NULL;
    unsigned n = 0;
    cr_assert(g_file_get_contents(TEST_DATA "/sql/postgres.sql", &text, NULL, NULL));
    char **lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++) {
        if (!**line || g_str_has_prefix(*line, "--")) continue;
        check_statement(*line);
        n++;
    }
    g_strfreev(lines);
    g_free(text);
    cr_expect_geq(n, 240);
}

/* ---- PostgreSQL's regression tests ---- */

/* The limit on refused statements for 1,000 SELECTs that libpg_query accepts. Five kinds are known to be refused. Three
 * are refused by name: XML functions, FOR UPDATE and data-modifying CTEs. The others are select lists without items,
 * and reserved words as names. */
enum { REFUSED_PER_1000 = 14 };

struct tally {
    struct arena arena;
    GHashTable *causes; /* error message → number of statements refused with it */
    unsigned selects, refused, printed, reread;
};

static void note_cause(struct tally *t, const char *message)
{
    guint n = GPOINTER_TO_UINT(g_hash_table_lookup(t->causes, message));
    g_hash_table_insert(t->causes, g_strdup(message), GUINT_TO_POINTER(n + 1));
}

/* Returns true if libpg_query reads the text as a SELECT that does not create a table. */
static bool is_plain_select(const char *sql)
{
    PgQueryParseResult result = pg_query_parse(sql);
    bool select = !result.error && strstr(result.parse_tree, "\"stmt\":{\"SelectStmt\"") &&
                  !strstr(result.parse_tree, "\"intoClause\"");
    pg_query_free_parse_result(result);
    return select;
}

/* Returns true if the printed statement parses to the same tree. */
static bool rereads(struct tally *t, const struct sql_stmt *stmt)
{
    struct sql_stmt *again;
    const char *text = sql_print(&t->arena, stmt->root);
    return sql_parse(&t->arena, text, strlen(text), NULL, &again) == ERR_OK && sql_equal(stmt->root, again->root);
}

static void check_select(struct tally *t, const char *sql)
{
    struct sql_stmt *stmt;
    if (!is_plain_select(sql)) return;
    t->selects++;
    arena_reset(&t->arena);
    enum err_code rc = sql_parse(&t->arena, sql, strlen(sql), NULL, &stmt);
    cr_assert_null(sql_check_tree(stmt), "%s: %s", sql_check_tree(stmt), sql);
    if (rc != ERR_OK) {
        t->refused++;
        note_cause(t, stmt->diags->message);
        return;
    }
    t->printed++;
    if (rereads(t, stmt))
        t->reread++;
    else
        fprintf(stderr, "printed otherwise: %s\n            from: %s\n", sql_print(&t->arena, stmt->root), sql);
}

static void check_file(struct tally *t, const char *path)
{
    char *text = NULL;
    if (!g_file_get_contents(path, &text, NULL, NULL)) return;
    PgQuerySplitResult split = pg_query_split_with_scanner(text);
    for (int i = 0; !split.error && i < split.n_stmts; i++) {
        char *sql = g_strndup(text + split.stmts[i]->stmt_location, (gsize)split.stmts[i]->stmt_len);
        check_select(t, sql);
        g_free(sql);
    }
    pg_query_free_split_result(split);
    g_free(text);
}

static gint most_first(gconstpointer a, gconstpointer b, gpointer causes)
{
    guint x = GPOINTER_TO_UINT(g_hash_table_lookup(causes, a)), y = GPOINTER_TO_UINT(g_hash_table_lookup(causes, b));
    return x != y ? (x < y ? 1 : -1) : strcmp(a, b);
}

static void report(const struct tally *t)
{
    fprintf(stderr,
            "%u SELECTs of PostgreSQL's regression tests, %u refused (%.2f %%); %u printed, %u read back alike\n",
            t->selects, t->refused, 100.0 * t->refused / t->selects, t->printed, t->reread);
    GList *causes = g_hash_table_get_keys(t->causes);
    causes = g_list_sort_with_data(causes, most_first, t->causes);
    for (GList *c = causes; c; c = c->next)
        fprintf(stderr, "%6u  %s\n", GPOINTER_TO_UINT(g_hash_table_lookup(t->causes, c->data)), (const char *)c->data);
    g_list_free(causes);
}

/* ASSAY_POSTGRES_REGRESS names the folder of PostgreSQL's regression tests, *.sql. libpg_query's sources have them in
 * test/sql/postgres_regress. */
Test(postgres, few_regression_statements_are_refused)
{
    const char *folder = g_getenv("ASSAY_POSTGRES_REGRESS"), *name;
    GDir *dir = folder ? g_dir_open(folder, 0, NULL) : NULL;
    if (!dir) cr_skip("ASSAY_POSTGRES_REGRESS names no folder of PostgreSQL's regression tests");
    struct tally t = {.causes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
    arena_init(&t.arena, 0);
    while ((name = g_dir_read_name(dir))) {
        char *path = g_build_filename(folder, name, NULL);
        if (g_str_has_suffix(name, ".sql")) check_file(&t, path);
        g_free(path);
    }
    g_dir_close(dir);
    report(&t);
    cr_expect_gt(t.selects, 10000);
    cr_expect_leq(t.refused * 1000, t.selects * REFUSED_PER_1000);
    cr_expect_eq(t.reread, t.printed);
    g_hash_table_destroy(t.causes);
    arena_free(&t.arena);
    leak_check();
}
