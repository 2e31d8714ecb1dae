/* Tests the bounds on sizes that are passed to server functions that cannot be interrupted. tests/data/hostile has more
 * refused statements. tests/live/giveup.c measures the functions. */
#include "lib/db/allow_list.h"
#include "lib/db/mariadb_gate.h"
#include "lib/db/postgres_gate.h"
#include "lib/db/size_bound.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(sizes, .fini = leak_check);

/* Checks a statement. *capped receives its text with counts capped (free with g_free); `capped` may be NULL. */
static enum err_code check(const struct size_engine *engine, const char *sql, char **capped, struct err *err)
{
    struct arena arena;
    struct sql_stmt *stmt;
    arena_init(&arena, 0);
    cr_assert_eq(sql_parse(&arena, sql, strlen(sql), NULL, &stmt), ERR_OK, "%s", sql);
    GArray *counts = g_array_new(FALSE, FALSE, sizeof(struct size_count));
    enum err_code code = size_check(engine, stmt, counts, err);
    if (capped) *capped = g_string_free(size_counts_apply(engine, sql, strlen(sql), counts), FALSE);
    g_array_free(counts, TRUE);
    arena_free(&arena);
    return code;
}

static void expect_all(const struct size_engine *engine, const char *const *statements, enum err_code code)
{
    for (; *statements; statements++) {
        struct err err = {0};
        cr_expect_eq(check(engine, *statements, NULL, &err), code, "%s: %s", *statements, err.text);
    }
}

Test(sizes, honest_statements_pass_on_postgres)
{
    static const char *const statements[] = {
        "SELECT to_char(d, 'YYYY-MM-DD'), to_date(s, 'DD.MM.YYYY'), to_number(n, '999G999D99') FROM t",
        "SELECT upper(a), initcap(b), translate(c, 'abc', 'xyz'), replace(replace(d, '-', ''), ' ', '') FROM t",
        "SELECT replace(a, b, c), strpos(a, b), split_part(a, ',', 2), trim(both '. ' from a) FROM t",
        "SELECT a FROM t WHERE a LIKE '%' || b || '%' OR a ILIKE '%x%' OR b ~* '^(foo|bar)+[0-9]*$'",
        "SELECT string_agg(DISTINCT name, ', ' ORDER BY name), array_to_string(array_agg(x), ', ') FROM t",
        "SELECT s FROM (SELECT string_agg(name, ',') AS s FROM t) q WHERE s LIKE '%abc%'",
        "SELECT upper(string_agg(DISTINCT first || ' ' || last || ' (' || dept || ')', '; ' ORDER BY last)) FROM t",
        "SELECT replace(string_agg(lpad(code, 8, '0') || ': ' || name, ' / '), ' / ', chr(10)) FROM t",
        "SELECT lpad(a::text, 10, '0'), rpad(b, 20), repeat('*', 5), format('%s: %5s', a, b), repeat('  ', n) FROM t",
        "WITH RECURSIVE c AS (SELECT id, name::text AS path, 1 AS depth FROM t UNION ALL SELECT t.id, c.path || ' > ' "
        "|| "
        "t.name, c.depth + 1 FROM t JOIN c ON t.parent = c.id WHERE c.path NOT LIKE '%' || t.name || '%') SELECT "
        "repeat('"
        "  ', depth) || path FROM c",
        "WITH RECURSIVE c AS (SELECT id, ARRAY[id] AS path FROM t UNION ALL SELECT t.id, path || t.id FROM t JOIN c ON "
        "t.parent = c.id WHERE NOT t.id = ANY(path)) SELECT array_to_string(path, '/') FROM c",
        "SELECT doc::jsonb->'a'->>'b', jsonb_pretty(doc), jsonb_path_query(doc, '$.a[*] ? (@.b > 3)') FROM t",
        "SELECT power(1 + rate, years) * amount / power(1 + r, n), sqrt(sum(power(x - a, 2)) / count(*)) FROM t GROUP "
        "BY 1",
        "SELECT round(100.0 * sum(a * b) / nullif(sum(c), 0), 2), a % 7, exp(b), (a + b) * (c - d) / e FROM t",
        "SELECT json_agg(t), jsonb_agg(a)::text, json_build_object('a', a, 'b', string_agg(b, ',')) FROM t",
        "SELECT a FROM t WHERE tags && ARRAY['x', 'y'] AND doc @> '{\"a\": 1}' AND a <@ b",
        "SELECT regexp_replace(regexp_replace(a, '[^a-z]+', ' ', 'g'), '\\s+', ' ', 'g') FROM t",
        "WITH c AS (SELECT upper(trim(name)) AS name FROM t) SELECT initcap(lower(name)) AS name FROM c",
        "SELECT upper(a.name) FROM (SELECT upper(name) AS name FROM t) a JOIN (SELECT lower(name) AS name FROM u) b ON "
        "a.name = b.name CROSS JOIN LATERAL (SELECT upper(a.name) AS name) c",
        "SELECT (array_agg(p.*))[1].name, count(p.*) FROM people p",
        "SELECT upper(name) AS name, replace(name, 'a', 'bb') AS name FROM t GROUP BY upper(name) ORDER BY lower(name)",
        "WITH RECURSIVE c AS (SELECT id, upper(name) AS name, name::text AS path FROM t UNION ALL SELECT t.id, "
        "upper(t.name), c.path || '/' || upper(t.name) FROM t JOIN c ON t.parent = c.id) SELECT * FROM c WHERE path "
        "LIKE '%x%'",
        "SELECT upper(lpad(a, n)), lower(repeat('ab', n)), translate(rpad(a, n, '.'), '.', '-') FROM t",
        "SELECT repeat('x', least(n, 1000)), left(a, 10), substr(a, 2, b), overlay(a placing 'x' from 2) FROM t",
        NULL,
    };
    expect_all(&size_engine_postgres, statements, ERR_OK);
}

Test(sizes, honest_statements_pass_on_mariadb)
{
    static const char *const statements[] = {
        "SELECT DATE_FORMAT(d, '%Y-%m-%d'), STR_TO_DATE(s, '%d.%m.%Y'), FORMAT(n, 2) FROM t",
        "SELECT UPPER(a), REPLACE(REPLACE(b, '-', ''), ' ', ''), SUBSTRING_INDEX(SUBSTRING_INDEX(c, ',', 2), ',', -1) "
        "FROM t",
        "SELECT REPLACE(a, b, c), LOCATE(a, b), INSTR(a, b), TRIM(BOTH '.' FROM a), REVERSE(a), HEX(a) FROM t",
        "SELECT a FROM t WHERE a LIKE CONCAT('%', b, '%') OR a REGEXP '^[A-Za-z0-9._-]+@([a-z0-9-]+\\.)+[a-z]{2,4}$'",
        "SELECT a FROM t WHERE a REGEXP '[0-9]+.*[a-z]+' AND b REGEXP CONCAT('(^|,)', c, '(,|$)')",
        "SELECT GROUP_CONCAT(DISTINCT name ORDER BY name SEPARATOR ', '), FIND_IN_SET(a, GROUP_CONCAT(b)) FROM t",
        "SELECT JSON_EXTRACT(doc, '$.a[0].b'), JSON_VALUE(doc, '$.c'), JSON_CONTAINS(doc, '1', '$.d') FROM t",
        "SELECT LPAD(id, 8, '0'), REPEAT('*', n), CONCAT(REPEAT('  ', depth), name), SPACE(n) FROM t",
        "SELECT REGEXP_REPLACE(REGEXP_REPLACE(a, '[^a-z]+', ' '), ' +', ' '), REGEXP_SUBSTR(a, '[0-9]+') FROM t",
        "SELECT LENGTH(a) - LENGTH(REPLACE(a, ',', '')), IF(a > 1, 'x', CONCAT(a, b)), CRC32(a), MD5(b) FROM t",
        NULL,
    };
    expect_all(&size_engine_mariadb, statements, ERR_OK);
}

static void expect_sorted_and_allowed(const struct size_engine *engine, const char *const *allowed, size_t n)
{
    for (size_t i = 0; i < engine->n_rules; i++) {
        const char *name = engine->rules[i].name;
        cr_expect(i == 0 || strcmp(engine->rules[i - 1].name, name) < 0, "%s", name);
        cr_expect(allow_list_has(allowed, n, name, strlen(name)), "%s is not let through", name);
    }
}

Test(sizes, rules_are_sorted_and_of_allowed_functions)
{
    size_t n;
    const char *const *allowed = postgres_gate_functions(&n);
    expect_sorted_and_allowed(&size_engine_postgres, allowed, n);
    allowed = mariadb_gate_functions(&n);
    expect_sorted_and_allowed(&size_engine_mariadb, allowed, n);
}

/* A size may reach a function through a name, a subquery, a set, a row or a recursion. */
Test(sizes, indirect_sizes_are_refused_on_postgres)
{
    static const char *const statements[] = {
        "SELECT translate(x, x, '') FROM (SELECT repeat('a', 1000000) AS x) q",
        "SELECT translate(a, b, '') FROM (SELECT repeat('a', 1000000), repeat('b', 10000)) q(a, b)",
        "WITH q AS (SELECT repeat('a', 1000000) AS x), r AS (SELECT x AS y FROM q), s AS (SELECT y AS z FROM r) "
        "SELECT translate(z, z, '') FROM s",
        "SELECT translate(repeat, repeat, '') FROM (SELECT repeat('a', 1000000)) q",
        "SELECT translate((SELECT repeat('a', 1000000)), (VALUES (repeat('a', 1000000))), '')",
        "SELECT translate(v, v, '') FROM (VALUES ('x'), (repeat('a', 1000000))) q(v)",
        "SELECT translate(r, r, '') FROM repeat('a', 1000000) AS r",
        "SELECT translate(u, u, '') FROM unnest(ARRAY[repeat('a', 1000000)]) AS u",
        "SELECT translate(q::text, q::text, '') FROM (SELECT repeat('a', 1000000) AS x) q",
        "WITH RECURSIVE c(x) AS (SELECT 'a' UNION ALL SELECT x || x FROM c) SELECT translate(x, 'abc', '') FROM c",
        "WITH RECURSIVE c(x) AS (SELECT 'a' UNION ALL SELECT x || repeat('a', 100000) FROM c) SELECT upper(x) FROM c",
        "SELECT translate(string_agg(a, ','), repeat('b', 5000), '') FROM t",
        "SELECT translate(repeat('a', n), repeat('a', n), '') FROM t",
        "SELECT upper(string_agg(repeat('x', 100000), ',')) FROM t",
        "SELECT upper(string_agg(repeat('x', 256), ',')) FROM generate_series(1, 300000)",
        "SELECT translate(string_agg(repeat('x', 128), ','), 'abc', 'def') FROM generate_series(1, 300000)",
        "SELECT ('{' || repeat('1,', 8000000) || '1}')::int[]",
        "SELECT format('%' || '1000000000s', 'x')",
        "SELECT format('%*s', 1000000000, 'x')",
        "SELECT translate(x, x, '') FROM (SELECT * FROM (SELECT 1, repeat('a', 1000000)) q) r(w, x)",
        "WITH q AS (SELECT repeat('a', 1000000) AS x) SELECT translate(y, y, '') FROM q AS r(y)",
        "SELECT (SELECT max(translate(z, z, '')) FROM (SELECT o.x AS z) q) FROM (SELECT repeat('a', 1000000) AS x) o",
        "SELECT c.y FROM (SELECT repeat('a', 1000000) AS x) a, LATERAL (SELECT translate(x, x, '') AS y) c",
        "SELECT CASE WHEN a THEN translate(repeat('a', 1000000), repeat('b', 10000), '') END FROM t",
        NULL,
    };
    expect_all(&size_engine_postgres, statements, ERR_REFUSED);
}

Test(sizes, hostile_patterns_are_refused_on_mariadb)
{
    static const char *const statements[] = {
        "SELECT a REGEXP '^(a+)+$', b REGEXP '(x|xx)*y' FROM t",
        "SELECT a REGEXP CONCAT('^(a', '+)+$'), a REGEXP CONCAT('(b', '+)+$') FROM t",
        "SELECT a REGEXP p, b REGEXP p FROM (SELECT '^(a+)+$' AS p) q, t",
        "SELECT a REGEXP CONCAT('(a', CHAR(43), ')', CHAR(43)), b REGEXP HEX(c) FROM t",
        "SELECT REPEAT('a', 300) REGEXP 'a*a*a*a*c', REPEAT('a', 300) REGEXP 'a*ba*ba*ba*c'",
        "SELECT REGEXP_REPLACE(REPEAT('a', 100000), 'a', 'b')",
        "SELECT REPLACE(REPEAT('a', 100000), 'a', 'bb')",
        "SELECT REPEAT('a', 1000000) AS x FROM t HAVING REPLACE(x, x, '') ORDER BY 1",
        "SELECT REPEAT('a', 1000000) AS x FROM t ORDER BY REPLACE(x, x, '')",
        NULL,
    };
    expect_all(&size_engine_mariadb, statements, ERR_REFUSED);
}

Test(sizes, refusal_names_function_and_bytes)
{
    struct err err = {0};
    cr_assert_eq(
        check(&size_engine_postgres, "SELECT 1, translate(repeat('a', 1000000), repeat('b', 1000), '')", NULL, &err),
        ERR_REFUSED);
    cr_expect(strstr(err.text, "translate"), "%s", err.text);
    cr_expect(strstr(err.text, "2002000 bytes"), "%s", err.text);
    cr_assert_eq(check(&size_engine_postgres, "SELECT to_char(d, repeat('Y', 5000)) FROM t", NULL, &err), ERR_REFUSED);
    cr_expect(strstr(err.text, "to_char") && strstr(err.text, "1024"), "%s", err.text);
}

Test(sizes, unknown_counts_are_capped)
{
    struct err err = {0};
    char *capped;
    cr_assert_eq(check(&size_engine_postgres, "SELECT repeat('ab', n), lpad(a, m + 1) FROM t", &capped, &err), ERR_OK);
    cr_expect_str_eq(capped,
                     "SELECT repeat('ab', CASE WHEN FALSE THEN (n) ELSE CAST(CAST((n) AS pg_catalog.numeric(6, 0)) AS "
                     "pg_catalog.int4) END), lpad(a, CASE WHEN FALSE THEN (m + 1) ELSE CAST(CAST((m + 1) AS "
                     "pg_catalog.numeric(5, 0)) AS pg_catalog.int4) END) FROM t");
    g_free(capped);
    cr_assert_eq(check(&size_engine_mariadb, "SELECT REPEAT('ab', n), REPEAT('x', 5) FROM t", &capped, &err), ERR_OK);
    cr_expect_str_eq(capped, "SELECT REPEAT('ab', LEAST((n), 2097152)), REPEAT('x', 5) FROM t");
    g_free(capped);
}

Test(sizes, count_inside_of_a_count_is_refused)
{
    struct err err = {0};
    cr_expect_eq(check(&size_engine_postgres, "SELECT repeat('x', length(repeat('y', n))) FROM t", NULL, &err),
                 ERR_REFUSED);
}

/* The check visits a bounded number of nodes, however the names refer to each other. */
Test(sizes, deep_statements_take_no_time, .timeout = 20)
{
    GString *sql = g_string_new("WITH c0 AS (SELECT repeat('a', 2) AS x0)");
    for (int i = 1; i < 300; i++)
        g_string_append_printf(sql, ", c%d AS (SELECT x%d || x%d AS x%d FROM c%d)", i, i - 1, i - 1, i, i - 1);
    g_string_append(sql, " SELECT upper(x299) FROM c299");
    struct err err = {0};
    cr_expect_eq(check(&size_engine_postgres, sql->str, NULL, &err), ERR_REFUSED, "%s", err.text);
    g_string_free(sql, TRUE);
}
