/* Tests Spider's difficulty levels, and exact match. The queries are our own. Each has the counts that determine its
 * level. */
#include "eval/difficulty.h"
#include "eval/exact.h"
#include "tests/support/catalog_sqlite.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(difficulty, .fini = leak_check);

static const struct {
    const char *sql;
    struct difficulty_counts counts;
    enum difficulty level;
} cases[] = {
    {"SELECT a FROM t", {0, 0, 0}, DIFFICULTY_EASY},
    {"SELECT count(*) FROM t WHERE a = 1", {1, 0, 0}, DIFFICULTY_EASY},
    {"SELECT a, b FROM t", {0, 0, 1}, DIFFICULTY_MEDIUM},
    {"SELECT min(a), max(a) FROM t", {0, 0, 2}, DIFFICULTY_MEDIUM},
    {"SELECT a FROM t WHERE a = 1 ORDER BY b", {2, 0, 0}, DIFFICULTY_MEDIUM},
    {"SELECT a FROM t WHERE a = 1 AND b = 2", {1, 0, 1}, DIFFICULTY_MEDIUM},
    {"SELECT a FROM t WHERE a = 1 OR b = 2", {2, 0, 1}, DIFFICULTY_MEDIUM},
    {"SELECT a FROM t WHERE a LIKE 'x%'", {2, 0, 0}, DIFFICULTY_MEDIUM},
    {"SELECT t.a FROM t JOIN u ON t.id = u.id", {1, 0, 0}, DIFFICULTY_EASY},
    {"SELECT t.a FROM t, u, v WHERE t.id = u.id", {3, 0, 0}, DIFFICULTY_HARD},
    {"SELECT a FROM t WHERE b = 1 ORDER BY c LIMIT 1", {3, 0, 0}, DIFFICULTY_HARD},
    {"SELECT a, count(*), max(b) FROM t GROUP BY a, b", {1, 0, 3}, DIFFICULTY_HARD},
    {"SELECT a FROM t WHERE b = 1 GROUP BY a ORDER BY count(*) LIMIT 1", {4, 0, 0}, DIFFICULTY_EXTRA},
    /* nested queries and set operations */
    {"SELECT a FROM t WHERE b IN (SELECT c FROM u)", {1, 1, 0}, DIFFICULTY_HARD},
    {"SELECT a FROM t WHERE b > (SELECT avg(b) FROM t)", {1, 1, 0}, DIFFICULTY_HARD},
    {"SELECT a FROM t WHERE b NOT IN (SELECT c FROM u WHERE d = 1)", {1, 1, 0}, DIFFICULTY_HARD},
    {"SELECT a FROM t EXCEPT SELECT b FROM u WHERE c = 1 ORDER BY 1 LIMIT 1", {0, 1, 0}, DIFFICULTY_HARD},
    {"SELECT a FROM t UNION SELECT b FROM u UNION SELECT c FROM v", {0, 1, 0}, DIFFICULTY_HARD},
    {"SELECT a, b FROM t INTERSECT SELECT a, b FROM u", {0, 1, 1}, DIFFICULTY_EXTRA},
    {"SELECT count(*) FROM (SELECT a FROM t WHERE a = 1 GROUP BY a)", {0, 0, 0}, DIFFICULTY_EASY},
    {"WITH u AS (SELECT 1 AS a) SELECT a FROM u", {0, 1, 0}, DIFFICULTY_HARD},
    /* expressions that count as an aggregate */
    {"SELECT a FROM t GROUP BY a HAVING count(*) > 1 AND max(b) < 3", {1, 0, 0}, DIFFICULTY_EASY},
    {"SELECT count(*) FROM t GROUP BY a HAVING b > 1 AND c < 3", {1, 0, 1}, DIFFICULTY_MEDIUM},
    {"SELECT count(*) FROM t WHERE a NOT IN (1, 2)", {1, 0, 1}, DIFFICULTY_MEDIUM},
    /* conditions in parentheses, BETWEEN's own AND */
    {"SELECT a FROM t WHERE (a = 1 OR b = 2) AND NOT (c = 3)", {2, 0, 1}, DIFFICULTY_MEDIUM},
    {"SELECT a FROM t WHERE b BETWEEN 1 AND 2", {1, 0, 0}, DIFFICULTY_EASY},
};

Test(difficulty, levels_follow_published_rules)
{
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena arena;
        struct sql_stmt *stmt = NULL;
        struct difficulty_counts got = {99, 99, 99};
        const struct difficulty_counts *want = &cases[i].counts;
        arena_init(&arena, 0);
        cr_assert_eq(sql_parse(&arena, cases[i].sql, strlen(cases[i].sql), NULL, &stmt), ERR_OK, "%s", cases[i].sql);
        cr_assert(difficulty_count(stmt->root, &got));
        cr_expect(got.component1 == want->component1 && got.component2 == want->component2 &&
                      got.others == want->others,
                  "%s: %u %u %u, expected %u %u %u", cases[i].sql, got.component1, got.component2, got.others,
                  want->component1, want->component2, want->others);
        arena_free(&arena);
        cr_expect_eq(difficulty_of(cases[i].sql, strlen(cases[i].sql)), cases[i].level, "%s: %s", cases[i].sql,
                     difficulty_name(difficulty_of(cases[i].sql, strlen(cases[i].sql))));
    }
}

Test(difficulty, statement_without_select_has_no_level)
{
    static const char *const texts[] = {"", "SELECT", "DELETE FROM t", "VALUES (1)", "SELECT a FROM t WHERE ("};
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++)
        cr_expect_eq(difficulty_of(texts[i], strlen(texts[i])), DIFFICULTY_UNKNOWN, "%s", texts[i]);
}

Test(difficulty, exact_match_ignores_names_and_values)
{
    static const struct {
        const char *a, *b;
        bool same;
    } pairs[] = {
        {"SELECT a FROM t WHERE b = 1 AND c = 'x'", "select T1.a as n from t as T1 where T1.c = 'y' and 2 = T1.b",
         true},
        {"SELECT a FROM t WHERE c = \"x\"", "SELECT a FROM t WHERE c = 'z'", true},
        {"SELECT a FROM t ORDER BY b LIMIT 1", "SELECT a FROM t ORDER BY b ASC LIMIT 5", true},
        {"SELECT a FROM t WHERE b IS NULL", "SELECT a FROM t WHERE b ISNULL", true},
        {"SELECT a FROM t WHERE b = 1", "SELECT a FROM t WHERE b > 1", false},
        {"SELECT a FROM t WHERE b = 1", "SELECT a FROM t WHERE c = 1", false},
        {"SELECT a FROM t", "SELECT DISTINCT a FROM t", false},
        {"SELECT a, b FROM t ORDER BY 1", "SELECT a, b FROM t ORDER BY 2", false},
        {"SELECT a FROM t WHERE b IS NULL", "SELECT a FROM t WHERE b IS 1", false},
    };
    struct catalog_sqlite *catalog = catalog_sqlite_script("CREATE TABLE t (a TEXT, b INT, c TEXT);");
    struct arena arena;
    arena_init(&arena, 0);
    for (unsigned i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const char *a = exact_form(&arena, &catalog->catalog, pairs[i].a, strlen(pairs[i].a));
        const char *b = exact_form(&arena, &catalog->catalog, pairs[i].b, strlen(pairs[i].b));
        cr_assert(a && b);
        cr_expect_eq(strcmp(a, b) == 0, pairs[i].same, "%s | %s", a, b);
    }
    cr_expect_null(exact_form(&arena, &catalog->catalog, "SELECT (", 8));
    cr_expect_null(exact_form(&arena, &catalog->catalog, "SELECT nope FROM t", 18));
    arena_free(&arena);
    catalog_sqlite_free(catalog);
}
