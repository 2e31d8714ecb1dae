/* PostgreSQL's own parser (libpg_query) as the oracle: what it accepts of tests/data/sql/postgres.sql we accept, and
 * what we print means the same to it. A binary of its own, for libpg_query exports names that others use too. */
#include <criterion/criterion.h>
#include <glib.h>
#include <pg_query.h>
#include <stdio.h>
#include <string.h>

#include "lib/sql/sql.h"

TestSuite(postgres, .timeout = 120);

/* PostgreSQL's fingerprint of a statement, or NULL when it does not parse. Free with g_free. */
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
        cr_expect_not_null(after, "libpg_query refuses what we print: %s", printed);
        if (after) cr_expect_str_eq(after, before, "another meaning: %s\n           from: %s", printed, sql);
        g_free(after);
    }
    g_free(before);
    arena_free(&arena);
}

Test(postgres, accepts_and_prints_alike)
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
    cr_expect_geq(n, 150);
}
