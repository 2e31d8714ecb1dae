/* Tests features that SQLite or MariaDB does not support, as listed in tests/data/sql/dialect.case and mariadb.case.
 * test_oracle.c compares the error positions with SQLite's. */
#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

#include "lib/sql/dialect.h"
#include "tests/support/leak.h"
#include "tests/unit/sql/cases.h"

TestSuite(dialect, .timeout = 60);

typedef struct sql_diag *lacks_fn(struct arena *arena, const struct sql_stmt *stmt);

struct engine {
    struct arena arena;
    lacks_fn *lacks;
};

static void check_case(const struct golden_case *c, void *self)
{
    struct engine *engine = self;
    struct arena *arena = &engine->arena;
    struct sql_stmt *stmt;
    const char *sql = case_get(c, "sql");
    GString *got = g_string_new(NULL), *want = g_string_new(NULL);
    arena_reset(arena);
    cr_assert_eq(sql_parse(arena, sql, strlen(sql), NULL, &stmt), ERR_OK, "%s:%d %s", c->file, c->line, c->name);
    for (const struct sql_diag *d = engine->lacks(arena, stmt); d; d = d->next)
        g_string_append_printf(got, "%u %s\n", d->start, d->message);
    for (size_t i = 0; i < c->n_fields; i++)
        if (strcmp(c->fields[i].key, "lacks") == 0) g_string_append_printf(want, "%s\n", c->fields[i].value);
    cr_expect_str_eq(got->str, want->str, "%s:%d %s\n got %swant %s", c->file, c->line, c->name, got->str, want->str);
    g_string_free(got, TRUE);
    g_string_free(want, TRUE);
}

static void check_cases(const char *file, lacks_fn *lacks, size_t at_least)
{
    struct engine engine = {.lacks = lacks};
    arena_init(&engine.arena, 0);
    cr_assert_geq(cases_each(file, check_case, &engine), at_least);
    arena_free(&engine.arena);
    leak_check();
}

Test(dialect, golden_sqlite_cases_match)
{
    check_cases("dialect.case", sql_not_sqlite, 12);
}

Test(dialect, golden_mariadb_cases_match)
{
    check_cases("mariadb.case", sql_not_mariadb, 3);
}

/* A # inside a string, a quoted name or another comment does not begin a comment. */
Test(dialect, comments_that_start_with_hash_are_blanked)
{
    static const char *const cases[][2] = {
        {"SELECT a # one\nFROM t", "SELECT a      \nFROM t"},
        {"SELECT a FROM t #", "SELECT a FROM t  "},
        {"# first\nSELECT 'a # b', \"c#\", `d#` -- no # here\n/* nor # here */", NULL},
        {"SELECT a - 1 #-- x", "SELECT a - 1      "},
        {"SELECT 'it''s #' #x", "SELECT 'it''s #'   "},
        {"SELECT 1 --#\n", "SELECT 1 -- \n"}, /* without a blank after it, -- is two minus signs */
        {"SELECT 'open # ", "SELECT 'open # "},
        {"", ""},
    };
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        const char *text = cases[i][0], *want = cases[i][1];
        const char *got = sql_blank_hash_comments(&arena, text, strlen(text));
        if (!want) want = "       \nSELECT 'a # b', \"c#\", `d#` -- no # here\n/* nor # here */";
        cr_expect_str_eq(got, want, "%s", text);
    }
    arena_free(&arena);
    leak_check();
}

/* Only the first sixteen unsupported features are reported, in order, with their lines. */
Test(dialect, only_first_features_are_reported)
{
    struct arena arena;
    struct sql_stmt *stmt;
    GString *sql = g_string_new("SELECT 1");
    arena_init(&arena, 0);
    for (unsigned i = 0; i < 40; i++) g_string_append(sql, ",\n1::int");
    cr_assert_eq(sql_parse(&arena, sql->str, sql->len, NULL, &stmt), ERR_OK);
    unsigned n = 0;
    for (const struct sql_diag *d = sql_not_sqlite(&arena, stmt); d; d = d->next) {
        n++;
        cr_expect_eq(d->line, n + 1);
        cr_expect_eq(d->column, 2);
        cr_expect(d->start < d->end && d->end <= stmt->len);
    }
    cr_expect_eq(n, 16);
    g_string_free(sql, TRUE);
    arena_free(&arena);
    leak_check();
}
