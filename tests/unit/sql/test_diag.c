/* Tests diagnostics: their code, span and suggestion against golden cases, and their drawing. */
#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

#include "lib/sql/sql.h"
#include "tests/support/leak.h"
#include "tests/unit/sql/cases.h"

TestSuite(diag, .timeout = 60);

/* Returns the diagnostics as they are written in the case file. */
static char *diags_text(const struct sql_stmt *stmt)
{
    GString *out = g_string_new(NULL);
    for (const struct sql_diag *d = stmt->diags; d; d = d->next)
        g_string_append_printf(out, "%s %u-%u %s\n", err_name(d->code), d->start, d->end, d->message);
    return g_string_free(out, FALSE);
}

static char *wanted_text(const struct golden_case *c)
{
    GString *out = g_string_new(NULL);
    for (size_t i = 0; i < c->n_fields; i++)
        if (strcmp(c->fields[i].key, "diag") == 0) g_string_append_printf(out, "%s\n", c->fields[i].value);
    return g_string_free(out, FALSE);
}

static void check_case(const struct golden_case *c, void *self)
{
    struct arena *arena = self;
    struct sql_stmt *stmt;
    const char *sql = case_get(c, "sql"), *saved = case_get(c, "saved");
    arena_reset(arena);
    sql_parse(arena, sql, strlen(sql), NULL, &stmt);
    char *got = diags_text(stmt), *want = wanted_text(c);
    cr_expect_str_eq(got, want, "%s:%d %s\n got %swant %s", c->file, c->line, c->name, got, want);
    const char *printed = stmt->root ? g_strstrip(sql_print(arena, stmt->root)) : "";
    cr_expect_str_eq(printed, saved ? saved : "", "%s:%d %s\nsaved %s", c->file, c->line, c->name, printed);
    cr_expect_null(sql_check_tree(stmt), "%s:%d %s", c->file, c->line, c->name);
    g_free(got);
    g_free(want);
}

Test(diag, golden_cases_match)
{
    struct arena arena;
    arena_init(&arena, 0);
    cr_assert_gt(cases_each("diag.case", check_case, &arena), 35);
    arena_free(&arena);
    leak_check();
}

Test(diag, refused_statements_name_their_kind)
{
    static const char *const VERBS[][2] = {{"delete from t", "DELETE"},
                                           {"Update t SET a = 1", "UPDATE"},
                                           {"WITH x AS (SELECT 1) DELETE FROM t", "DELETE"},
                                           {"/* hidden */ DROP TABLE t", "DROP"},
                                           {"-- hidden\nattach 'x' AS y", "ATTACH"},
                                           {"vacuum", "VACUUM"},
                                           {"EXPLAIN QUERY PLAN SELECT 1", "EXPLAIN"},
                                           {"SELECT 1", "SELECT"},
                                           {"VALUES (1)", "SELECT"}};
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof VERBS / sizeof *VERBS; i++) {
        struct sql_stmt *stmt;
        enum err_code rc = sql_parse(&arena, VERBS[i][0], strlen(VERBS[i][0]), NULL, &stmt);
        cr_expect_eq(rc, strcmp(VERBS[i][1], "SELECT") ? ERR_REFUSED : ERR_OK, "%s", VERBS[i][0]);
        cr_expect_str_eq(stmt->statement_kind, VERBS[i][1]);
    }
    arena_free(&arena);
    leak_check();
}

Test(diag, expected_tokens_are_listed)
{
    static const char SQL[] = "SELECT a FROM t GROPU a";
    struct arena arena;
    struct sql_stmt *stmt;
    arena_init(&arena, 0);
    cr_assert_eq(sql_parse(&arena, "SELECT a FROM t AS x GROPU a", 28, NULL, &stmt), ERR_SYNTAX);
    cr_expect_str_eq(stmt->diags->expected[0], "GROUP BY");
    for (uint32_t i = 0; i < stmt->diags->n_expected; i++)
        for (uint32_t j = 0; j < i; j++) cr_expect_str_neq(stmt->diags->expected[i], stmt->diags->expected[j]);
    cr_assert_eq(sql_parse(&arena, SQL, sizeof SQL - 1, NULL, &stmt), ERR_SYNTAX);
    cr_expect_eq(stmt->diags->start, 22);
    arena_free(&arena);
    leak_check();
}

Test(diag, diagnostics_are_capped)
{
    static const struct sql_limits THREE = {.max_diags = 3};
    static const char SQL[] = "SELECT a b c, a b c, a b c, a b c, a b c, a b c FROM t";
    struct arena arena;
    struct sql_stmt *stmt;
    unsigned n = 0;
    arena_init(&arena, 0);
    cr_assert_eq(sql_parse(&arena, SQL, sizeof SQL - 1, &THREE, &stmt), ERR_SYNTAX);
    for (const struct sql_diag *d = stmt->diags; d; d = d->next) n++;
    cr_expect_eq(n, 3);
    cr_expect_eq(stmt->diags->start, 11, "the first is kept");
    arena_free(&arena);
    leak_check();
}

/* ---- drawing ---- */

static void check_drawing(const char *sql, const char *want)
{
    struct arena arena;
    struct sql_stmt *stmt;
    arena_init(&arena, 0);
    cr_assert_neq(sql_parse(&arena, sql, strlen(sql), NULL, &stmt), ERR_OK);
    char *text = sql_diag_render(&arena, stmt, stmt->diags), *rest = strchr(text, '\n');
    cr_expect_str_eq(rest ? rest + 1 : "", want, "%s\n got\n%s\nwant\n%s", sql, rest ? rest + 1 : "", want);
    arena_free(&arena);
}

Test(diag, caret_is_drawn_under_token)
{
    check_drawing("SELECT a FROM t x yyy", "  SELECT a FROM t x yyy\n"
                                           "                    ^~~");
    leak_check();
}

Test(diag, line_of_token_is_drawn)
{
    check_drawing("SELECT a\nFROM t x y\nWHERE 1", "  FROM t x y\n"
                                                   "           ^");
    leak_check();
}

Test(diag, tabs_are_drawn_as_columns)
{
    check_drawing("SELECT\ta b\tc FROM t", "  SELECT  a b     c FROM t\n"
                                           "                  ^");
    leak_check();
}

Test(diag, wide_characters_take_two_columns)
{
    check_drawing("SELECT 名前 b 名前 FROM t", "  SELECT 名前 b 名前 FROM t\n"
                                               "                ^~~~");
    leak_check();
}

Test(diag, combining_marks_take_no_column)
{
    check_drawing("SELECT e\xcc\x81 b c FROM t", "  SELECT e\xcc\x81 b c FROM t\n"
                                                 "             ^");
    leak_check();
}

Test(diag, end_of_text_is_drawn)
{
    check_drawing("SELECT a FROM", "  SELECT a FROM\n"
                                   "               ^");
    leak_check();
}

Test(diag, long_token_shows_first_line)
{
    check_drawing("SELECT 'a\nb", "  SELECT 'a\n"
                                  "         ^~");
    leak_check();
}

Test(diag, long_line_shows_window)
{
    char sql[400];
    memset(sql, 'a', sizeof sql);
    memcpy(sql, "SELECT ", 7);
    memcpy(sql + 200, " b c ", 5);
    sql[399] = '\0';
    struct arena arena;
    struct sql_stmt *stmt;
    arena_init(&arena, 0);
    cr_assert_eq(sql_parse(&arena, sql, strlen(sql), NULL, &stmt), ERR_SYNTAX);
    char **lines = g_strsplit(sql_diag_render(&arena, stmt, stmt->diags), "\n", -1);
    const char *caret = strchr(lines[2], '^');
    cr_assert_not_null(caret);
    cr_expect_eq(lines[1][caret - lines[2]], 'c', "%s\n%s", lines[1], lines[2]);
    cr_expect_lt(strlen(lines[1]), 120);
    cr_expect(g_str_has_prefix(lines[1], "  ..."));
    cr_expect(g_str_has_suffix(lines[1], "..."));
    g_strfreev(lines);
    arena_free(&arena);
    leak_check();
}
