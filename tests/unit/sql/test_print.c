/* Tests printing, and the functions that build, copy, compare and rewrite trees. */
#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

#include "lib/sql/sql.h"
#include "tests/support/leak.h"

TestSuite(print, .timeout = 120);

static struct sql_stmt *parse(struct arena *arena, const char *sql)
{
    struct sql_stmt *stmt;
    enum err_code rc = sql_parse(arena, sql, strlen(sql), NULL, &stmt);
    cr_assert_eq(rc, ERR_OK, "%s: %s", sql, stmt->diags ? stmt->diags->message : err_name(rc));
    cr_assert_null(sql_check_tree(stmt), "%s: %s", sql, sql_check_tree(stmt));
    return stmt;
}

/* Parses, prints, parses again and prints again. Both trees, hashes and texts must be equal. */
static void check_fixed_point(struct arena *arena, const char *sql)
{
    struct sql_stmt *first = parse(arena, sql);
    const char *printed = sql_print(arena, first->root);
    struct sql_stmt *second = parse(arena, printed);
    cr_expect(sql_equal(first->root, second->root), "%s\n%s", sql, printed);
    cr_expect_eq(sql_hash(first->root), sql_hash(second->root), "%s", sql);
    cr_expect_str_eq(sql_print(arena, second->root), printed);
    struct sql_node *copy = sql_copy(arena, first->root);
    cr_expect(sql_equal(copy, first->root), "%s", sql);
    cr_expect_str_eq(sql_print(arena, copy), printed);
}

static unsigned check_file(const char *name)
{
    char *path = g_strdup_printf("%s/sql/%s", TEST_DATA, name), *text = NULL;
    cr_assert(g_file_get_contents(path, &text, NULL, NULL), "%s", path);
    char **lines = g_strsplit(text, "\n", -1);
    struct arena arena;
    unsigned n = 0;
    arena_init(&arena, 0);
    for (char **line = lines; *line; line++) {
        if (!**line || g_str_has_prefix(*line, "--")) continue;
        arena_reset(&arena);
        check_fixed_point(&arena, *line);
        n++;
    }
    arena_free(&arena);
    g_strfreev(lines);
    g_free(text);
    g_free(path);
    return n;
}

Test(print, sqlite_is_a_fixed_point)
{
    cr_expect_geq(check_file("sqlite.sql"), 75);
    leak_check();
}
Test(print, postgres_is_a_fixed_point)
{
    cr_expect_geq(check_file("postgres.sql"), 150);
    leak_check();
}

Test(print, mariadb_is_a_fixed_point)
{
    cr_expect_geq(check_file("mariadb.sql"), 75);
    leak_check();
}

/* ---- trees that rewrites make ---- */

static struct sql_node *expression(struct arena *arena, const char *text)
{
    struct sql_node *expr = sql_parse_expression(arena, text);
    cr_assert_not_null(expr, "%s", text);
    return expr;
}

static struct sql_node *binary(struct arena *arena, enum sql_op op, const char *left, const char *right)
{
    struct sql_node *node = sql_make(arena, SQL_BINARY);
    node->op = op & 0xff;
    sql_set_kid(node, 0, expression(arena, left));
    sql_set_kid(node, 1, expression(arena, right));
    return node;
}

Test(print, rewritten_trees_get_needed_parentheses)
{
    static const struct {
        enum sql_op op;
        const char *left, *right, *want;
    } CASES[] = {
        {SQL_OP_AND, "a OR b", "c", "(a OR b) AND c"},
        {SQL_OP_AND, "a", "b AND c", "a AND (b AND c)"},
        {SQL_OP_AND, "a AND b", "c", "a AND b AND c"},
        {SQL_OP_OR, "a AND b", "c", "a AND b OR c"},
        {SQL_OP_MUL, "a + b", "c - d", "(a + b) * (c - d)"},
        {SQL_OP_SUB, "a", "b - c", "a - (b - c)"},
        {SQL_OP_SUB, "a", "-b", "a - -b"},
        {SQL_OP_EQ, "NOT a", "b", "(NOT a) = b"},
        {SQL_OP_EQ, "a = b", "c = d", "a = b = (c = d)"},
        {SQL_OP_IS, "a", "NOT b", "a IS (NOT b)"},
        {SQL_OP_LT, "a IN (1)", "b LIKE c", "(a IN (1)) < (b LIKE c)"},
        {SQL_OP_CONCAT, "a + b", "c", "(a + b) || c"},
        {SQL_OP_EQ, "a BETWEEN 1 AND 2", "b", "a BETWEEN 1 AND 2 = b"},
        {SQL_OP_EQ, "(SELECT 1)", "CASE WHEN a THEN b END", "(SELECT 1) = CASE WHEN a THEN b END"},
    };
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct sql_node *node = binary(&arena, CASES[i].op, CASES[i].left, CASES[i].right);
        const char *text = sql_print(&arena, node);
        cr_expect_str_eq(text, CASES[i].want);
        cr_expect(sql_equal(node, expression(&arena, text)), "%s", text);
    }
    arena_free(&arena);
    leak_check();
}

Test(print, adjacent_minus_signs_are_separated)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct sql_node *minus = sql_make(&arena, SQL_UNARY), *literal = sql_make_text(&arena, SQL_LITERAL, "-1");
    minus->op = SQL_OP_NEG;
    literal->op = SQL_LIT_INT;
    sql_set_kid(minus, 0, literal);
    cr_expect_str_eq(sql_print(&arena, minus), "- -1");
    arena_free(&arena);
    leak_check();
}

Test(print, names_are_quoted_if_needed)
{
    static const char *const NAMES[][2] = {{"plain", "plain"},
                                           {"with space", "\"with space\""},
                                           {"select", "\"select\""},
                                           {"q\"q", "\"q\"\"q\""},
                                           {"1st", "\"1st\""},
                                           {"", "\"\""},
                                           {"é", "é"},
                                           {"first", "first"}};
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        cr_expect_str_eq(sql_print(&arena, sql_make_text(&arena, SQL_COLUMN, NAMES[i][0])), NAMES[i][1]);
    arena_free(&arena);
    leak_check();
}

Test(print, parse_expression_accepts_one_expression)
{
    static const char *const NOT_ONE[] = {"",         "a, b", "a AS b",           "a b", "* ",
                                          "a FROM t", "a; b", "1 UNION SELECT 2", "(",   "1 LIMIT 1"};
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof NOT_ONE / sizeof *NOT_ONE; i++)
        cr_expect_null(sql_parse_expression(&arena, NOT_ONE[i]), "%s", NOT_ONE[i]);
    struct sql_node *expr = expression(&arena, "a + f(b)");
    cr_expect_null(expr->parent);
    cr_expect_eq(expr->end, 0, "a made node has no span");
    arena_free(&arena);
    leak_check();
}

/* ---- comparing ---- */

Test(print, equality_compares_meaning_not_spelling)
{
    static const struct {
        const char *a, *b;
        bool equal;
    } CASES[] = {
        {"SELECT a FROM t", "select A from T", true},
        {"SELECT a FROM t", "SELECT [a] FROM `t`", true},
        {"SELECT a FROM t LIMIT 1, 2", "SELECT a FROM t LIMIT 2 OFFSET 1", true},
        {"SELECT a::int FROM t", "SELECT CAST(a AS INT) FROM t", true},
        {"SELECT (a) FROM t AS x", "SELECT a FROM t x", true},
        {"SELECT a == b, a != c", "SELECT a = b, a <> c", true},
        {"SELECT 'a'", "SELECT 'A'", false},
        {"SELECT \"a\"", "SELECT a", false},
        {"SELECT \"a\"", "SELECT \"A\"", false},
        {"SELECT t.\"a\" FROM t", "SELECT t.a FROM t", true},
        {"SELECT a FROM t ORDER BY a", "SELECT a FROM t ORDER BY a ASC", false},
        {"SELECT count(a)", "SELECT count(DISTINCT a)", false},
        {"SELECT a BETWEEN b AND c", "SELECT a NOT BETWEEN b AND c", false},
        {"SELECT a + b + c", "SELECT a + (b + c)", false},
        {"SELECT a JOIN", "SELECT a join", true},
        {"SELECT 1 FROM a LEFT JOIN b", "SELECT 1 FROM a LEFT OUTER JOIN b", true},
        {"SELECT a, b", "SELECT a", false},
        {"SELECT a IN (SELECT 1)", "SELECT a IN ((SELECT 1))", false},
    };
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct sql_stmt *a, *b;
        sql_parse(&arena, CASES[i].a, strlen(CASES[i].a), NULL, &a);
        sql_parse(&arena, CASES[i].b, strlen(CASES[i].b), NULL, &b);
        cr_expect_eq(sql_equal(a->root, b->root), CASES[i].equal, "%s | %s", CASES[i].a, CASES[i].b);
        cr_expect_eq(sql_hash(a->root) == sql_hash(b->root), CASES[i].equal, "hash: %s | %s", CASES[i].a, CASES[i].b);
    }
    arena_free(&arena);
    leak_check();
}

/* ---- rewriting ---- */

static struct sql_node *find(const struct sql_stmt *stmt, enum sql_kind kind, const char *text)
{
    for (struct sql_node *n = stmt->root; n; n = sql_walk(stmt->root, n))
        if (n->kind == kind && (!text || sql_name_is(n->text, n->text_len, text, strlen(text)))) return n;
    return NULL;
}

Test(print, replace_sets_slots_and_removes_items)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct sql_stmt *stmt = parse(&arena, "SELECT a, b, c FROM t WHERE d = 1 LIMIT 2");
    sql_replace(find(stmt, SQL_ITEM, NULL), NULL);
    sql_replace(find(stmt, SQL_LIMIT, NULL), NULL);
    sql_replace(find(stmt, SQL_COLUMN, "d"), expression(&arena, "e OR f"));
    sql_replace(find(stmt, SQL_COLUMN, "c"), expression(&arena, "count(*)"));
    cr_expect_str_eq(sql_print(&arena, stmt->root), "SELECT b, count(*) FROM t WHERE (e OR f) = 1");
    stmt->n_nodes = sql_renumber(stmt->root);
    cr_expect_null(sql_check_tree(stmt), "%s", sql_check_tree(stmt));
    arena_free(&arena);
    leak_check();
}

Test(print, and_joins_existing_conditions)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct sql_node *a = expression(&arena, "a OR b"), *b = expression(&arena, "c");
    cr_expect_eq(sql_and(&arena, a, NULL), a);
    cr_expect_eq(sql_and(&arena, NULL, b), b);
    cr_expect_null(sql_and(&arena, NULL, NULL));
    cr_expect_str_eq(sql_print(&arena, sql_and(&arena, a, b)), "(a OR b) AND c");
    arena_free(&arena);
    leak_check();
}

Test(print, walks_are_preorder_with_skip)
{
    struct arena arena;
    GString *seen = g_string_new(NULL);
    arena_init(&arena, 0);
    struct sql_stmt *stmt = parse(&arena, "SELECT a + (SELECT b), c FROM t");
    const struct sql_node *items = find(stmt, SQL_ITEMS, NULL), *n = items;
    while (n) {
        if (n->kind == SQL_COLUMN) g_string_append_len(seen, n->text, n->text_len);
        n = n->kind == SQL_SUBQUERY ? sql_walk_over(items, n) : sql_walk(items, n);
    }
    cr_expect_str_eq(seen->str, "ac", "neither into the subquery nor out of ITEMS");
    cr_expect_eq(sql_up(find(stmt, SQL_COLUMN, "b"), SQL_SUBQUERY), find(stmt, SQL_SUBQUERY, NULL));
    cr_expect_null(sql_up(items, SQL_WHERE));
    g_string_free(seen, TRUE);
    arena_free(&arena);
    leak_check();
}

Test(print, operators_are_swapped_and_negated)
{
    cr_expect_eq(sql_op_swap(SQL_OP_LT), SQL_OP_GT);
    cr_expect_eq(sql_op_swap(SQL_OP_EQ), SQL_OP_EQ);
    cr_expect_eq(sql_op_swap(SQL_OP_SUB), SQL_OP_NONE);
    cr_expect_eq(sql_op_negate(SQL_OP_LE), SQL_OP_GT);
    cr_expect_eq(sql_op_negate(SQL_OP_ADD), SQL_OP_NONE);
    for (unsigned op = 0; op < SQL_OP_COUNT; op++) {
        enum sql_op swapped = sql_op_swap(op), negated = sql_op_negate(op);
        if (swapped) cr_expect_eq(sql_op_swap(swapped), op);
        if (negated) cr_expect_eq(sql_op_negate(negated), op);
        cr_expect_neq(strlen(sql_op_text(op)) == 0, op != SQL_OP_NONE);
    }
    for (unsigned kind = 0; kind < SQL_KIND_COUNT; kind++) cr_expect_str_neq(sql_kind_name(kind), "?");
    leak_check();
}

Test(print, deep_trees_print_and_compare)
{
    struct arena arena;
    GString *sql = g_string_new("SELECT 1");
    static const struct sql_limits DEEP = {.max_depth = SQL_MAX_DEPTH};
    struct sql_stmt *stmt;
    arena_init(&arena, 0);
    for (int i = 0; i < 3900; i++) g_string_append(sql, " + 1");
    cr_assert_eq(sql_parse(&arena, sql->str, sql->len, &DEEP, &stmt), ERR_OK);
    cr_expect_str_eq(sql_print(&arena, stmt->root), sql->str);
    cr_expect(sql_equal(sql_copy(&arena, stmt->root), stmt->root));
    cr_expect_not_null(sql_dump(&arena, stmt->root));
    g_string_free(sql, TRUE);
    arena_free(&arena);
    leak_check();
}
