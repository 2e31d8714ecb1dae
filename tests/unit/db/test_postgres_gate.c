/* Tests PostgreSQL's gate. This needs no server; tests/live/postgres tests a real one. */
#include "lib/db/postgres_gate.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

static enum err_code gate(const char *sql)
{
    struct db_limits limits = {.sql_bytes = 65536, .expr_depth = 400};
    struct err err = {0};
    struct postgres_calls calls;
    enum err_code code = postgres_gate(sql, strlen(sql), &limits, &calls, NULL, &err);
    if (!code) postgres_calls_clear(&calls);
    cr_expect(!code || err.text[0], "%s: no text", sql);
    return code;
}

Test(gate, list_is_sorted_and_searchable, .fini = leak_check)
{
    size_t n;
    const char *const *names = postgres_gate_functions(&n);
    for (size_t i = 1; i < n; i++) cr_expect_lt(g_ascii_strcasecmp(names[i - 1], names[i]), 0, "%s", names[i]);
    for (size_t i = 0; i < n; i++) {
        char *sql = g_strdup_printf("SELECT \"%s\"(1), pg_catalog.\"%s\"(1)", names[i], names[i]);
        cr_expect_eq(gate(sql), ERR_OK, "%s", sql);
        g_free(sql);
    }
}

Test(gate, gate_accepts_honest_statements, .fini = leak_check)
{
    static const char *const statements[] = {
        "SELECT count(*), max(a) FROM t WHERE b LIKE 'x%' GROUP BY c HAVING sum(d) > 1 ORDER BY 1 LIMIT 5",
        "SELECT extract(year FROM d), CAST(a AS integer), a::text, CURRENT_DATE, INTERVAL '1 day' FROM t",
        "SELECT row_number() OVER (PARTITION BY a ORDER BY b ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t",
        "SELECT string_agg(a, ',' ORDER BY a) FILTER (WHERE b > 0), percentile_cont(0.5) WITHIN GROUP (ORDER BY c) "
        "FROM t",
        "SELECT a FROM t GROUP BY GROUPING SETS ((a), ()), ROLLUP (b), CUBE (c)",
        "SELECT a /* a comment */ FROM t -- and another\n WHERE b = 'it''s /* no */ comment'",
        "SELECT t.key, s.s FROM t, generate_series(1, 3) AS s",
        "SELECT x.a, x.b FROM json_to_x AS x, unnest(ARRAY[1, 2]) AS u(v) WHERE u.v = x.a AND arr[1] = 2",
        "SELECT substring(a FROM 1 FOR 2), trim(BOTH ' ' FROM a), position('b' IN a), overlay(a PLACING 'x' FROM 1) "
        "FROM t",
        "VALUES (1, 'a'), (2, 'b')",
        "WITH RECURSIVE c AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM c WHERE x < 5) SELECT * FROM c",
        "SELECT *\r\nFROM t",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(statements); i++)
        cr_expect_eq(gate(statements[i]), ERR_OK, "%s", statements[i]);
}

/* The gate refuses each of these statements, whatever a server would do with it. */
Test(gate, gate_refuses_hostile_list, .fini = leak_check)
{
    char *text;
    unsigned n = 0;
    cr_assert(g_file_get_contents(TEST_DATA "/hostile/postgres.sql", &text, NULL, NULL));
    char **blocks = g_strsplit(text, "\n\n", 0);
    for (char **block = blocks; *block; block++) {
        char *line_end = strchr(*block, '\n');
        if (!g_str_has_prefix(*block, "### ") || !line_end) continue;
        *line_end = '\0';
        if (!g_str_has_suffix(*block, ": refused")) continue;
        cr_expect_eq(gate(g_strchomp(line_end + 1)), ERR_REFUSED, "%s", *block);
        n++;
    }
    cr_expect_geq(n, 40);
    g_strfreev(blocks);
    g_free(text);
}

/* A text is refused if the server's lexer might split it differently from ours. */
Test(gate, gate_refuses_text_that_lexers_read_differently, .fini = leak_check)
{
    static const char *const statements[] = {
        "SELECT 1 /* /* */ , f('x') /* */ */",
        "SELECT 1 --\r, f('x')",
        "SELECT a [f(1)] FROM t",
        "SELECT U&\"\\0061\" FROM t",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(statements); i++)
        cr_expect_eq(gate(statements[i]), ERR_SYNTAX, "%s", statements[i]);
}

static char *listed(const char *sql, enum calls_list list)
{
    struct db_limits limits = {.sql_bytes = 65536, .expr_depth = 400};
    struct postgres_calls calls;
    struct err err = {0};
    cr_assert_eq(postgres_gate(sql, strlen(sql), &limits, &calls, NULL, &err), ERR_OK, "%s: %s", sql, err.text);
    GString *all = g_string_new(NULL);
    for (guint i = 0; i < calls.lists[list]->len; i++)
        g_string_append_printf(all, "%s%s", i ? " " : "", (char *)calls.lists[list]->pdata[i]);
    postgres_calls_clear(&calls);
    return g_string_free(all, FALSE);
}

/* Checks the list of names that the server must look up. `want` has the list's texts in order. */
Test(gate, gate_lists_possible_calls, .fini = leak_check)
{
    static const struct {
        enum calls_list list;
        const char *sql, *want;
    } cases[] = {
        {CALLS_NAMES, "SELECT length(a), Upper(b), pg_catalog.lower(c) FROM t", "length Upper upper"},
        {CALLS_NAMES, "SELECT \"PG_CATALOG\".lower(a) FROM t", "lower"},
        {CALLS_OPERATORS, "SELECT a != 1 FROM t", "! <> ="},
        {CALLS_OPERATORS, "SELECT a*-b FROM t", "* *- -"},
        {CALLS_OPERATORS, "SELECT a FROM t WHERE b BETWEEN c AND d", "<= >= < >"},
        {CALLS_OPERATORS, "SELECT CASE a WHEN b THEN c END FROM t", "="},
        {CALLS_OPERATORS, "SELECT a FROM t NATURAL JOIN u", "="},
        {CALLS_TYPES, "SELECT a::own.\"My Type\"[], DATE '2020-01-01' FROM t", "own My Type my type DATE date"},
        {CALLS_ATTRIBUTES, "SELECT a FROM t", ""},
        {CALLS_ATTRIBUTES, "SELECT c.a, c.B FROM t c", "a b"},
        {CALLS_TABLES, "SELECT c.a FROM Sales.T c", "\"sales\".\"t\""},
        {CALLS_TABLES, "SELECT c.a FROM \"Sales\".\"T\" c", "\"Sales\".\"T\""},
        {CALLS_TABLES, "SELECT x.a FROM t x WHERE EXISTS (SELECT 1 FROM u x)", "\"t\" \"u\""},
        {CALLS_ATTRIBUTES, "SELECT s.a FROM (SELECT b AS a FROM t) s", ""},
        {CALLS_ATTRIBUTES, "SELECT s.a FROM (SELECT b AS \"A\" FROM t) s", "a"},
        {CALLS_TABLES, "SELECT s.a FROM (SELECT * FROM t) s", "\"t\""},
        {CALLS_ATTRIBUTES, "SELECT s.a FROM (SELECT * FROM t, u) s", "a"},
        {CALLS_ATTRIBUTES, "WITH c(a) AS (SELECT 1) SELECT c.b FROM c", "b b"},
        {CALLS_TABLES, "WITH c(a) AS (SELECT 1) SELECT c.a FROM c", "\"c\""},
        {CALLS_ATTRIBUTES, "SELECT v.column1 FROM (VALUES (1)) v", ""},
        {CALLS_ATTRIBUTES, "SELECT v.COLUMN2 FROM (VALUES (1, 2), (3, 4)) v", ""},
        {CALLS_ATTRIBUTES, "SELECT v.column12 FROM (VALUES (1,2,3,4,5,6,7,8,9,10,11,12)) v", ""},
        {CALLS_ATTRIBUTES, "SELECT v.columnstore_purge FROM (VALUES (1)) v", "columnstore_purge"},
        {CALLS_ATTRIBUTES, "SELECT v.column FROM (VALUES (1)) v", "column"},
        {CALLS_ATTRIBUTES, "SELECT v.column0 FROM (VALUES (1)) v", "column0"},
        {CALLS_ATTRIBUTES, "SELECT v.column01 FROM (VALUES (1)) v", "column01"},
        {CALLS_ATTRIBUTES, "SELECT v.column2 FROM (VALUES (1)) v", "column2"},
        {CALLS_ATTRIBUTES, "SELECT v.column1x FROM (VALUES (1)) v", "column1x"},
        {CALLS_ATTRIBUTES, "SELECT v.column4294967297 FROM (VALUES (1)) v", "column4294967297"},
        {CALLS_ATTRIBUTES, "SELECT v.\"Column1\" FROM (VALUES (1)) v", "Column1"},
        {CALLS_ATTRIBUTES, "SELECT v.column1 FROM (VALUES (1)) v(a)", "column1"},
        {CALLS_ATTRIBUTES, "SELECT v.a FROM (VALUES (1)) v(a)", ""},
        {CALLS_TABLES, "WITH c AS (VALUES (1)) SELECT c.column1 FROM c", "\"c\""},
        {CALLS_TABLES, "WITH c AS (VALUES (1)) SELECT c.column2 FROM c", " \"c\""},
        {CALLS_TABLES, "WITH c AS (VALUES (1)) SELECT c.columns FROM c", " \"c\""},
        {CALLS_ATTRIBUTES, "SELECT v.column1 FROM (VALUES (1) UNION SELECT 2) v", ""},
        {CALLS_ATTRIBUTES, "SELECT v.columns FROM (VALUES (1) UNION SELECT 2) v", "columns"},
        {CALLS_ATTRIBUTES, "SELECT v.column1 FROM (SELECT 2 AS a UNION VALUES (1)) v", "column1"},
        {CALLS_ATTRIBUTES, "SELECT v.column1 FROM (SELECT * FROM (VALUES (1)) w) v", ""},
        {CALLS_ATTRIBUTES, "SELECT v.columns FROM (SELECT * FROM (VALUES (1)) w) v", "columns"},
        {CALLS_ATTRIBUTES, "SELECT v.columns FROM LATERAL (VALUES (1)) v", "columns"},
        {CALLS_ATTRIBUTES, "SELECT g.n FROM generate_series(1, 2) AS g(n)", ""},
        {CALLS_ATTRIBUTES, "SELECT g.g FROM generate_series(1, 2) AS g", "g"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        char *found = listed(cases[i].sql, cases[i].list);
        cr_expect_str_eq(found, cases[i].want, "%s: %s, not %s", cases[i].sql, found, cases[i].want);
        g_free(found);
    }
}

/* A window frame is printed unchanged. So it may contain only numbers and operators. */
Test(gate, gate_refuses_call_in_window_frame, .fini = leak_check)
{
    static const char *const frames[] = {"t.f", "f(1)", "1::own", "\"f\"", "ARRAY[1]"};
    cr_expect_eq(
        gate("SELECT sum(a) OVER (ORDER BY b RANGE BETWEEN INTERVAL '1.5 days' PRECEDING AND CURRENT ROW) FROM t"),
        ERR_OK);
    for (size_t i = 0; i < G_N_ELEMENTS(frames); i++) {
        char *sql = g_strdup_printf("SELECT sum(a) OVER (ORDER BY b ROWS %s PRECEDING) FROM t", frames[i]);
        cr_expect_eq(gate(sql), ERR_REFUSED, "%s", sql);
        g_free(sql);
    }
}
