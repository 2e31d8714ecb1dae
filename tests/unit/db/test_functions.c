/* Assay's own instr, replace, trim, like, glob and printf give the same results as SQLite's. */
#include "tests/unit/db/fixture.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

/* Returns the value of an expression on a plain connection, as text with its type. Returns the error if it fails. */
static char *plain_answer(sqlite3 *conn, const char *sql)
{
    sqlite3_stmt *stmt;
    if (sqlite3_prepare_v2(conn, sql, -1, &stmt, NULL) != SQLITE_OK) return g_strdup_printf("error");
    char *answer;
    if (sqlite3_step(stmt) == SQLITE_ROW)
        answer = g_strdup_printf("%s %s", sqlite3_column_text(stmt, 0), sqlite3_column_text(stmt, 1));
    else
        answer = g_strdup("error");
    sqlite3_finalize(stmt);
    return answer;
}

static char *our_answer(struct fixture *f, const char *sql)
{
    struct db_result r;
    struct err err;
    if (fixture_query(f, sql, &r, &err) != ERR_OK) return g_strdup("error");
    return g_strdup_printf("%s %s", r.values[0].text, r.values[1].text);
}

/* Checks that an expression has the same type and bytes on both connections. */
static void agree(struct fixture *f, sqlite3 *plain, const char *expression)
{
    char *sql = g_strdup_printf("SELECT typeof(%s), hex(%s)", expression, expression);
    char *theirs = plain_answer(plain, sql), *ours = our_answer(f, sql);
    cr_assert_str_eq(ours, theirs, "%s", expression);
    g_free(theirs);
    g_free(ours);
    g_free(sql);
    arena_reset(&f->arena);
}

/* Calls each function with all combinations of two and three awkward values. */
Test(functions, functions_agree_with_built_in_ones)
{
    static const char *const values[] = {
        "NULL",
        "''",
        "' '",
        "'a'",
        "'A'",
        "'aba'",
        "'  ab a '",
        "'äöä'",
        "'Ä'",
        "'%'",
        "'_'",
        "'a%'",
        "'%a'",
        "'_b_'",
        "'*b*'",
        "'[a-c]*'",
        "'[^x]?a'",
        "12",
        "1.0",
        "-0.5",
        "x'61'",
        "x'ff61'",
        "x''",
        "CAST(x'61ff62' AS TEXT)",
        "CAST(x'c3' AS TEXT)",
        "'a\\%'",
        "'日本語'",
        "'本'",
        "9223372036854775807",
    };
    static const char *const two[] = {"instr", "trim", "ltrim", "rtrim", "like", "glob"};
    struct fixture f;
    fixture_init(&f, "CREATE TABLE t(a)");
    fixture_open(&f, NULL);
    sqlite3 *plain = fixture_writer(":memory:");
    for (size_t i = 0; i < G_N_ELEMENTS(values); i++)
        for (size_t j = 0; j < G_N_ELEMENTS(values); j++)
            for (size_t k = 0; k < G_N_ELEMENTS(two); k++) {
                char *call = g_strdup_printf("%s(%s, %s)", two[k], values[i], values[j]);
                agree(&f, plain, call);
                g_free(call);
            }
    for (size_t i = 0; i < G_N_ELEMENTS(values); i++)
        for (size_t j = 0; j < G_N_ELEMENTS(values); j++) {
            char *call = g_strdup_printf("replace('xabay%%' || %s, %s, %s)", values[i], values[i], values[j]);
            agree(&f, plain, call);
            g_free(call);
            call = g_strdup_printf("trim(%s)", values[i]);
            agree(&f, plain, call);
            g_free(call);
            call = g_strdup_printf("(%s LIKE %s ESCAPE '\\')", values[i], values[j]);
            agree(&f, plain, call);
            g_free(call);
        }
    sqlite3_close(plain);
    fixture_end(&f);
}

Test(functions, odd_calls_agree)
{
    static const char *const calls[] = {
        "'a' LIKE 'a' ESCAPE 'xy'",
        "'a' LIKE 'a' ESCAPE ''",
        "'a' LIKE 'a' ESCAPE NULL",
        "'ä' LIKE 'ää' ESCAPE 'ä'",
        "printf()",
        "printf(NULL)",
        "printf('%d')",
        "printf('%d %s %f', 1, 'b', 2.5)",
        "printf('%5s|%-5s|%05d', 'a', 'b', 3)",
        "printf('%*d', 7, 3)",
        "printf('%.*f', 2, 3.14159)",
        "printf('%,d', 1234567)",
        "printf('%q %Q %w', 'a''b', NULL, 'c\"d')",
        "printf('%c%c', 'ab', 'é')",
        "printf('%%')",
        "printf('%z')",
        "format('%x %X %o', 255, 255, 8)",
        "printf(x'2573', 'blob')",
        "printf('%s', x'6162')",
        "printf('%e %g', 1e10, 1e-10)",
        "printf('%!s', 'abc')",
        "printf('100000%s', 1)",
        "printf(12)",
        "printf('%n', 1)",
        "replace('aaa', 'aa', 'b')",
        "replace('abc', NULL, 'x')",
        "instr('', '')",
        "instr(x'', x'')",
        "trim('xxaxx', 'x')",
        "trim('äxä', 'ä')",
        "trim('abc', '')",
        "ltrim('  x')",
        "rtrim('x  ')",
    };
    struct fixture f;
    fixture_init(&f, "CREATE TABLE t(a)");
    fixture_open(&f, NULL);
    sqlite3 *plain = fixture_writer(":memory:");
    for (size_t i = 0; i < G_N_ELEMENTS(calls); i++) agree(&f, plain, calls[i]);
    sqlite3_close(plain);
    fixture_end(&f);
}

/* SQLite must have each function of the allow list. The list must be sorted, because it is searched by bisection. */
Test(functions, allow_list_finds_its_functions)
{
    static const char *const calls[] = {
        "abs(-1)",
        "acos(1)",
        "atan2(1, 1)",
        "ceiling(1.2)",
        "char(65)",
        "coalesce(NULL, 1)",
        "cosh(1)",
        "date('2001-01-01')",
        "datetime('2001-01-01')",
        "degrees(1)",
        "exp(1)",
        "floor(1.5)",
        "hex('a')",
        "ifnull(NULL, 1)",
        "iif(1, 2, 3)",
        "json('1')",
        "json_array(1)",
        "json_extract('{\"a\":1}', '$.a')",
        "'{\"a\":1}' -> 'a'",
        "'{\"a\":1}' ->> 'a'",
        "julianday('2001-01-01')",
        "length('a')",
        "likelihood(1, 0.5)",
        "likely(1)",
        "ln(2)",
        "log10(10)",
        "lower('A')",
        "mod(5, 3)",
        "nullif(1, 2)",
        "pi()",
        "pow(2, 2)",
        "quote('a')",
        "radians(1)",
        "random() IS NOT NULL",
        "round(1.5)",
        "sign(-1)",
        "soundex('a')",
        "sqlite_version() IS NOT NULL",
        "sqrt(4)",
        "strftime('%Y', '2001-01-01')",
        "substr('abc', 2)",
        "substring('abc', 2)",
        "tanh(1)",
        "time('12:00')",
        "trunc(1.5)",
        "typeof(1)",
        "unicode('a')",
        "unixepoch('2001-01-01')",
        "unlikely(1)",
        "upper('a')",
        "zeroblob(1)",
        "max(1, 2)",
        "min(1, 2)",
        "count(*)",
        "sum(1)",
        "total(1)",
        "avg(1)",
        "group_concat(1)",
        "row_number() OVER ()",
        "ntile(2) OVER ()",
        "lag(1) OVER ()",
        "cume_dist() OVER ()",
        "nth_value(1, 1) OVER ()",
        "current_date IS NOT NULL",
    };
    struct fixture f;
    fixture_init(&f, "CREATE TABLE t(a)");
    fixture_open(&f, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(calls); i++) {
        struct db_result r;
        struct err err = {0};
        char *sql = g_strdup_printf("SELECT %s", calls[i]);
        cr_assert_eq(fixture_query(&f, sql, &r, &err), ERR_OK, "%s: %s", calls[i], err.text);
        g_free(sql);
    }
    cr_assert_eq(fixture_int(&f, "SELECT sum(value) FROM json_each('[1,2,3]')"), 6);
    cr_assert_eq(fixture_int(&f, "SELECT count(*) FROM json_tree('[1,[2,3]]')"), 5);
    fixture_end(&f);
}

Test(functions, full_text_tables_can_be_read)
{
    struct fixture f;
    fixture_init(
        &f, "CREATE VIRTUAL TABLE docs USING fts5(body); INSERT INTO docs VALUES('the quick fox'),('a slow snail');"
            "CREATE VIRTUAL TABLE old USING fts4(body); INSERT INTO old VALUES('the quick fox');");
    fixture_open(&f, NULL);
    cr_assert_eq(fixture_int(&f, "SELECT count(*) FROM docs WHERE docs MATCH 'quick'"), 1);
    cr_assert_eq(fixture_int(&f, "SELECT count(*) FROM old WHERE body MATCH 'fox'"), 1);
    fixture_end(&f);
}
