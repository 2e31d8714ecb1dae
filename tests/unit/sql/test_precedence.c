/* Tests how each engine groups operators, with the cases of tests/data/sql/precedence.case. The printed tree shows the
 * grouping. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "lib/sql/precedence.h"
#include "lib/sql/sql.h"
#include "tests/support/leak.h"
#include "tests/unit/sql/cases.h"

TestSuite(precedence, .timeout = 60);

static const char *regrouped(struct arena *arena, const char *sql, enum sql_precedence precedence)
{
    struct sql_stmt *stmt;
    cr_assert_eq(sql_parse(arena, sql, strlen(sql), NULL, &stmt), ERR_OK, "%s", sql);
    uint32_t before = stmt->n_nodes;
    cr_assert_eq(sql_regroup(arena, stmt, precedence), ERR_OK, "%s", sql);
    const char *wrong = sql_check_tree(stmt);
    cr_expect(wrong == NULL, "%s: %s", sql, wrong ? wrong : "");
    cr_expect_geq(stmt->n_nodes, before);
    return sql_print(arena, stmt->root);
}

static void check_engine(const struct golden_case *c, struct arena *arena, const char *engine,
                         enum sql_precedence precedence)
{
    const char *sql = case_get(c, "sql"), *want = case_get(c, engine);
    cr_assert(want, "%s:%d has no line `%s`", c->file, c->line, engine);
    if (strcmp(want, "same") == 0) want = regrouped(arena, sql, SQL_PRECEDENCE_SQLITE);
    cr_expect_str_eq(regrouped(arena, sql, precedence), want, "%s:%d %s, %s", c->file, c->line, c->name, engine);
    /* SQLite's grouping leaves the printed text unchanged, because our grammar groups as SQLite does. */
    cr_expect_str_eq(regrouped(arena, want, SQL_PRECEDENCE_SQLITE), want, "%s:%d", c->file, c->line);
}

static void check_case(const struct golden_case *c, void *self)
{
    arena_reset(self);
    check_engine(c, self, "postgres", SQL_PRECEDENCE_POSTGRES);
    check_engine(c, self, "mariadb", SQL_PRECEDENCE_MARIADB);
}

Test(precedence, golden)
{
    struct arena arena;
    arena_init(&arena, 0);
    cr_assert_gt(cases_each("precedence.case", check_case, &arena), 10);
    arena_free(&arena);
    leak_check();
}

/* Returns a chain of n operands. Each operator has another level than the one before. */
static char *long_chain(struct arena *arena, unsigned n)
{
    char *sql = arena_alloc(arena, 16 + n * 8), *at = sql;
    cr_assert_not_null(sql);
    at += sprintf(at, "SELECT a");
    for (unsigned i = 1; i < n; i++) at += sprintf(at, i % 2 ? " || a" : " + a");
    return sql;
}

Test(precedence, long_chain_is_regrouped)
{
    enum { OPERANDS = 400 };
    struct arena arena;
    arena_init(&arena, 0);
    const char *got = regrouped(&arena, long_chain(&arena, OPERANDS), SQL_PRECEDENCE_POSTGRES);
    unsigned sums = 0;
    for (const char *at = got; (at = strstr(at, "(a + a)")); at++) sums++;
    cr_expect_eq(sums, OPERANDS / 2 - 1, "%u", sums);
    arena_free(&arena);
}

Test(precedence, full_arena_is_an_error)
{
    struct arena arena, small;
    struct sql_stmt *stmt;
    const char *sql = "SELECT a UNION SELECT b INTERSECT SELECT c";
    arena_init(&arena, 0);
    arena_init(&small, 1);
    cr_assert_eq(sql_parse(&arena, sql, strlen(sql), NULL, &stmt), ERR_OK);
    cr_expect_eq(sql_regroup(&small, stmt, SQL_PRECEDENCE_POSTGRES), ERR_LIMIT_MEMORY);
    arena_free(&arena);
    arena_free(&small);
}
