/* Checks that Assay's own LIKE and GLOB agree with SQLite's on random patterns and texts. The bytes are chosen from
 * upper and lower case, wildcards, sets, escapes, NUL, valid and invalid UTF-8. */
#include "tests/unit/db/fixture.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

enum { ROUNDS = 60000, PIECES = 6 };

static const char *const pieces[] = {
    "a",
    "A",
    "b",
    "Z",
    "z",
    "%",
    "_",
    "*",
    "?",
    "[",
    "]",
    "^",
    "-",
    "\\",
    "[a-c]",
    "[^b]",
    "[]]",
    "0",
    " ",
    "\xc3\xa4",
    "\xc3\x84",
    "\xe6\x97\xa5",
    "\xf0\x9f\x8e\x89",
    "\xc3",
    "\x80",
    "\xff",
    "\xfe",
    "\xc0\x80",
    "\xed\xa0\x80",
    "\xef\xbf\xbe",
    "\xf8\x88\x80\x80\x80",
    "@",
    "`",
    "{",
    "%%",
    "_%",
    "**",
    "?*",
};

static void random_text(GRand *rand, GString *out, int nul_in)
{
    g_string_truncate(out, 0);
    for (int n = g_rand_int_range(rand, 0, PIECES); n > 0; n--)
        g_string_append(out, pieces[g_rand_int_range(rand, 0, G_N_ELEMENTS(pieces))]);
    if (g_rand_int_range(rand, 0, nul_in) == 0)
        g_string_insert_c(out, g_rand_int_range(rand, 0, (int)out->len + 1), '\0');
}

static void append_text(GString *sql, const GString *bytes)
{
    g_string_append(sql, "CAST(x'");
    for (gsize i = 0; i < bytes->len; i++) g_string_append_printf(sql, "%02x", (unsigned char)bytes->str[i]);
    g_string_append(sql, "' AS TEXT)");
}

/* Returns the result, -1 for NULL, or -2 for an error. */
static int plain_answer(sqlite3 *conn, const char *sql)
{
    sqlite3_stmt *stmt;
    cr_assert_eq(sqlite3_prepare_v2(conn, sql, -1, &stmt, NULL), SQLITE_OK, "%s", sql);
    int answer = -2;
    if (sqlite3_step(stmt) == SQLITE_ROW)
        answer = sqlite3_column_type(stmt, 0) == SQLITE_NULL ? -1 : sqlite3_column_int(stmt, 0);
    sqlite3_finalize(stmt);
    return answer;
}

static int our_answer(struct fixture *f, const char *sql)
{
    struct db_result r;
    struct err err;
    if (fixture_query(f, sql, &r, &err)) return -2;
    return r.values[0].type == DB_NULL ? -1 : (int)r.values[0].i;
}

static unsigned compare(struct fixture *f, sqlite3 *plain, const GString *sql)
{
    int theirs = plain_answer(plain, sql->str), ours = our_answer(f, sql->str);
    cr_assert_eq(ours, theirs, "%s: %d, not %d", sql->str, ours, theirs);
    arena_reset(&f->arena);
    return theirs == 1;
}

Test(match, like_and_glob_agree_with_built_in, .timeout = 300)
{
    static const char *const escapes[] = {"'\\'", "'%'", "'_'", "'a'", "'[' ", "CAST(x'c3' AS TEXT)",
                                          "'ä'",  "''",  "'xy'"};
    struct fixture f;
    fixture_init(&f, "CREATE TABLE t(a)");
    fixture_open(&f, NULL);
    sqlite3 *plain = fixture_writer(":memory:");
    GRand *rand = g_rand_new_with_seed(7);
    GString *pattern = g_string_new(NULL), *text = g_string_new(NULL), *sql = g_string_new(NULL);
    unsigned matched = 0;
    for (int i = 0; i < ROUNDS; i++) {
        random_text(rand, pattern, 40);
        random_text(rand, text, 40);
        int form = i % 3;
        g_string_assign(sql, "SELECT ");
        append_text(sql, text);
        g_string_append(sql, form == 0 ? " GLOB " : " LIKE ");
        append_text(sql, pattern);
        if (form == 2)
            g_string_append_printf(sql, " ESCAPE %s", escapes[g_rand_int_range(rand, 0, G_N_ELEMENTS(escapes))]);
        matched += compare(&f, plain, sql);
    }
    cr_assert_geq(matched, ROUNDS / 40, "hardly anything matched: %u", matched);
    g_string_free(pattern, TRUE);
    g_string_free(text, TRUE);
    g_string_free(sql, TRUE);
    g_rand_free(rand);
    sqlite3_close(plain);
    fixture_end(&f);
}

/* Compares the NOCASE order of random texts, including NUL and invalid UTF-8. */
Test(match, nocase_agrees_with_built_in, .timeout = 300)
{
    struct fixture f;
    fixture_init(&f, "CREATE TABLE t(a)");
    fixture_open(&f, NULL);
    sqlite3 *plain = fixture_writer(":memory:");
    GRand *rand = g_rand_new_with_seed(8);
    GString *a = g_string_new(NULL), *b = g_string_new(NULL), *sql = g_string_new(NULL);
    for (int i = 0; i < ROUNDS / 10; i++) {
        random_text(rand, a, 4);
        random_text(rand, b, 4);
        g_string_assign(sql, "SELECT (l < r COLLATE NOCASE) + 2 * (l = r COLLATE NOCASE) FROM (SELECT ");
        append_text(sql, a);
        g_string_append(sql, " AS l, ");
        append_text(sql, b);
        g_string_append(sql, " AS r)");
        compare(&f, plain, sql);
    }
    g_string_free(a, TRUE);
    g_string_free(b, TRUE);
    g_string_free(sql, TRUE);
    g_rand_free(rand);
    sqlite3_close(plain);
    fixture_end(&f);
}
