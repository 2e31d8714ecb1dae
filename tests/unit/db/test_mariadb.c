/* Tests MariaDB's gate and URLs. These need no server; tests/live/mariadb tests a real one. */
#include "lib/db/mariadb_address.h"
#include "lib/db/mariadb_gate.h"
#include "lib/db/size_bound.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(mariadb, .fini = leak_check);

static enum err_code gate(const char *sql, bool *askable)
{
    struct db_limits limits = {.sql_bytes = 65536, .expr_depth = 400};
    struct err err = {0};
    struct mariadb_edits edits = {g_array_new(FALSE, FALSE, sizeof(struct mariadb_place)),
                                  g_array_new(FALSE, FALSE, sizeof(struct size_count))};
    enum err_code code = mariadb_gate(sql, strlen(sql), &limits, "shop", &edits, askable, &err);
    cr_expect(!code || err.text[0], "%s: no text", sql);
    g_array_free(edits.places, TRUE);
    g_array_free(edits.counts, TRUE);
    return code;
}

static enum err_code passes(const char *sql)
{
    bool askable;
    return gate(sql, &askable);
}

Test(mariadb, list_is_sorted_and_searchable)
{
    size_t n;
    const char *const *names = mariadb_gate_functions(&n);
    for (size_t i = 1; i < n; i++) cr_expect_lt(g_ascii_strcasecmp(names[i - 1], names[i]), 0, "%s", names[i]);
    for (size_t i = 0; i < n; i++) {
        char *sql = g_strdup_printf("SELECT %s(1)", names[i]), *quoted = g_strdup_printf("SELECT `%s`(1)", names[i]);
        char *own = g_strdup_printf("SELECT shop.%s(1)", names[i]);
        bool reserved = g_str_equal(names[i], "insert") || g_str_equal(names[i], "isnull");
        cr_expect(reserved || passes(sql) == ERR_OK, "%s", sql);
        cr_expect_neq(passes(quoted), ERR_OK, "%s", quoted);
        cr_expect_neq(passes(own), ERR_OK, "%s", own);
        g_free(sql);
        g_free(quoted);
        g_free(own);
    }
}

Test(mariadb, gate_accepts_honest_statements)
{
    static const char *const statements[] = {
        "SELECT count(*), max(a) FROM t WHERE b LIKE 'x%' GROUP BY c HAVING sum(d) > 1 ORDER BY 1 LIMIT 5, 10",
        "SELECT extract(year FROM d), CAST(a AS SIGNED), CURRENT_DATE, d + INTERVAL 1 DAY FROM t",
        "SELECT date_sub(now(), INTERVAL 2 * 3 MONTH), timestampdiff(DAY, a, b), d - INTERVAL (a + 1) WEEK FROM t",
        "SELECT group_concat(DISTINCT a ORDER BY b DESC SEPARATOR '; '), group_concat(a SEPARATOR '') FROM t",
        "SELECT row_number() OVER (PARTITION BY a ORDER BY b ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t",
        "SELECT a /* a comment */ FROM t -- and another\n WHERE b = 'it''s /* no */ comment' -- \n",
        "SELECT `a b`, \"c\"\"d\" FROM shop.`t` WHERE a <=> b AND a DIV 2 = a MOD 3 XOR b RLIKE '^x'",
        "SELECT if(a > 1, 'x', 'y'), ifnull(a, 0), convert(a USING utf8mb4), left(b, 2), x'00ff', b'01' FROM t",
        "SELECT a - -1, a --\n FROM t",
        "WITH RECURSIVE c AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM c WHERE x < 5) SELECT * FROM c",
        "SELECT * FROM t WHERE name = 'ein Rücken \\' AND b = 'x'",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(statements); i++)
        cr_expect_eq(passes(statements[i]), ERR_OK, "%s", statements[i]);
}

Test(mariadb, gate_accepts_what_analysts_write)
{
    char *text;
    unsigned n = 0;
    cr_assert(g_file_get_contents(TEST_DATA "/sql/mariadb.sql", &text, NULL, NULL));
    char **lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++) {
        if (!**line || g_str_has_prefix(*line, "--")) continue;
        cr_expect_eq(passes(*line), ERR_OK, "%s", *line);
        n++;
    }
    cr_expect_geq(n, 75);
    g_strfreev(lines);
    g_free(text);
}

/* Names that only resemble built-in forms of the server are functions. These may be stored functions of the
 * database. */
Test(mariadb, gate_refuses_functions_that_resemble_forms)
{
    static const char *const statements[] = {
        "SELECT json_table(a, b) FROM t",
        "SELECT * FROM json_table(a, b)",
        "SELECT match(a) FROM t",
        "SELECT row(1)",
        "SELECT interval(1)",
        "SELECT median (a) OVER () FROM t",
        "SELECT a FROM t TABLESAMPLE x (1)",
        "SELECT a FROM t INDEXED BY x",
        "SELECT percentile_cont (0.5) FROM t",
        "SELECT `match`(a) FROM t",
        "SELECT a FROM t PARTITION (p0, f(1))",
        "SELECT a FROM t USE INDEX (f(1))",
        "SELECT * FROM JSON_TABLE('[1]', '$' COLUMNS (a int PATH '$' DEFAULT sleep(5) ON EMPTY)) AS t",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(statements); i++)
        cr_expect_neq(passes(statements[i]), ERR_OK, "%s", statements[i]);
}

Test(mariadb, database_names_are_compared_by_case)
{
    cr_expect_eq(passes("SELECT a FROM shop.t"), ERR_OK);
    cr_expect_eq(passes("SELECT a FROM `shop`.t"), ERR_OK);
    cr_expect_eq(passes("SELECT a FROM SHOP.t"), ERR_REFUSED);
    cr_expect_eq(passes("SELECT a FROM t WHERE b IN (SELECT c FROM shop2.u)"), ERR_REFUSED);
}

/* The gate refuses each of these statements, whatever a server would do with it. */
Test(mariadb, gate_refuses_hostile_list)
{
    char *text;
    unsigned n = 0;
    cr_assert(g_file_get_contents(TEST_DATA "/hostile/mariadb.sql", &text, NULL, NULL));
    char **blocks = g_strsplit(text, "\n\n", 0);
    for (char **block = blocks; *block; block++) {
        char *line_end = strchr(*block, '\n');
        if (!g_str_has_prefix(*block, "### ") || !line_end) continue;
        *line_end = '\0';
        if (!g_str_has_suffix(*block, ": refused")) continue;
        cr_expect_eq(passes(g_strchomp(line_end + 1)), ERR_REFUSED, "%s", *block);
        n++;
    }
    cr_expect_geq(n, 40);
    g_strfreev(blocks);
    g_free(text);
}

/* The server checks a statement only if no part of it can be a function with unknown effects. */
Test(mariadb, statements_with_possible_effects_skip_server_check)
{
    static const struct {
        const char *sql;
        bool askable;
    } cases[] = {{"SELECT FROM WHERE", true},
                 {"SELECT count(a) FROM t WHERE a IN (1", true},
                 {"SELECT sleep(10) FROM WHERE", false},
                 {"SELECT evil (1) FROM WHERE", false},
                 {"SELECT `evil`/**/(1) FROM WHERE", false}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        bool askable = false;
        cr_expect_eq(gate(cases[i].sql, &askable), ERR_SYNTAX, "%s", cases[i].sql);
        cr_expect_eq(askable, cases[i].askable, "%s", cases[i].sql);
    }
}

Test(mariadb, urls_are_parsed)
{
    struct mariadb_address *a =
        mariadb_address_parse("mariadb://me:a%40b@db.example:3307/shop?ssl_ca=/etc/ca%20x.pem&socket=/run/s");
    cr_assert_not_null(a);
    cr_expect_str_eq(a->user, "me");
    cr_expect_str_eq(a->password, "a@b");
    cr_expect_str_eq(a->host, "db.example");
    cr_expect_eq(a->port, 3307);
    cr_expect_str_eq(a->database, "shop");
    cr_expect_str_eq(a->ca, "/etc/ca x.pem");
    cr_expect_str_eq(a->socket, "/run/s");
    cr_expect(a->encrypted && a->verified, "who names an authority means it");
    mariadb_address_free(a);
    a = mariadb_address_parse("mariadb://me@db.example/shop");
    cr_expect(a && a->port == 3306 && !a->password && !a->encrypted);
    mariadb_address_free(a);
    static const char *const malformed[] = {"mariadb://me@db.example/",
                                            "mariadb://me@db.example/a/b",
                                            "mariadb://me@db.example/shop?ssl_mode=prefer",
                                            "mariadb://me@db.example/shop?nonsense=1",
                                            "mariadb://me:p@ss@x/shop?a",
                                            "mariadb://me@h:port/shop"};
    for (size_t i = 0; i < G_N_ELEMENTS(malformed); i++)
        cr_expect_null(mariadb_address_parse(malformed[i]), "%s", malformed[i]);
}

Test(mariadb, url_is_printed_without_password)
{
    static const char url[] = "mariadb://me@db.example/shop?ssl_ca=/ca";
    char *with = db_path_with_password(url, "p&=%'\"@/"), *shown = db_path_shown(with), *name = db_path_name(with);
    cr_expect_not(db_path_has_secret(url));
    cr_expect(db_path_has_secret(with));
    cr_expect_str_eq(shown, "MariaDB database 'shop' on db.example:3306");
    cr_expect_str_eq(name, "shop");
    struct mariadb_address *a = mariadb_address_parse(with);
    cr_assert_not_null(a, "%s", with);
    cr_expect_str_eq(a->password, "p&=%'\"@/");
    mariadb_address_free(a);
    g_free(with);
    g_free(shown);
    g_free(name);
    cr_expect_not(db_is_file(url));
    cr_expect_not(db_knows_cost(url));
}
