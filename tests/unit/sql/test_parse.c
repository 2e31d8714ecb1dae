/* Tests the trees of statements against golden cases. Also tests spans, limits, and the lack of memory. */
#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

#include "lib/sql/sql.h"
#include "tests/support/leak.h"
#include "tests/unit/sql/cases.h"

TestSuite(parse, .timeout = 120);

static void check_tree_case(const struct golden_case *c, void *self)
{
    struct arena *arena = self;
    const char *sql = case_get(c, "sql"), *tree = case_get(c, "tree");
    struct sql_stmt *stmt;
    arena_reset(arena);
    cr_assert(sql && tree, "%s:%d: needs sql and tree", c->file, c->line);
    enum err_code rc = sql_parse(arena, sql, strlen(sql), NULL, &stmt);
    cr_expect_eq(rc, ERR_OK, "%s:%d %s: %s", c->file, c->line, c->name, stmt->diags ? stmt->diags->message : "");
    cr_expect_null(sql_check_tree(stmt), "%s:%d %s: %s", c->file, c->line, c->name, sql_check_tree(stmt));
    cr_expect_str_eq(sql_dump(arena, stmt->root), tree, "%s:%d %s\n got %s\nwant %s", c->file, c->line, c->name,
                     sql_dump(arena, stmt->root), tree);
}

Test(parse, golden_trees_match)
{
    struct arena arena;
    arena_init(&arena, 0);
    cr_assert_gt(cases_each("parse.case", check_tree_case, &arena), 25);
    arena_free(&arena);
    leak_check();
}

/* ---- spans ---- */

struct span_case {
    enum sql_kind kind;
    const char *text;
};

static void check_spans(const char *sql, const struct span_case *want, size_t n)
{
    struct arena arena;
    struct sql_stmt *stmt;
    arena_init(&arena, 0);
    cr_assert_eq(sql_parse(&arena, sql, strlen(sql), NULL, &stmt), ERR_OK);
    for (size_t i = 0; i < n; i++) {
        bool found = false;
        for (const struct sql_node *x = stmt->root; x && !found; x = sql_walk(stmt->root, x))
            found = x->kind == want[i].kind && x->end - x->start == strlen(want[i].text) &&
                    memcmp(sql + x->start, want[i].text, x->end - x->start) == 0;
        cr_expect(found, "no %s spans \"%s\" in %s", sql_kind_name(want[i].kind), want[i].text, sql);
    }
    arena_free(&arena);
}

Test(parse, spans_cover_their_clause)
{
    static const struct span_case WANT[] = {
        {SQL_WITH, "WITH w AS (SELECT 1)"},
        {SQL_CTE, "w AS (SELECT 1)"},
        {SQL_SELECT,
         "SELECT DISTINCT a AS b , t.* FROM t AS x JOIN [u v] ON (x.i = 1) WHERE b IN (1, 2) GROUP BY a , b "
         "HAVING count( * ) > 1"},
        {SQL_DISTINCT, "DISTINCT"},
        {SQL_ITEM, "a AS b"},
        {SQL_STAR, "t.*"},
        {SQL_FROM, "FROM t AS x JOIN [u v] ON (x.i = 1)"},
        {SQL_JOIN, "t AS x JOIN [u v] ON (x.i = 1)"},
        {SQL_ON, "ON (x.i = 1)"},
        {SQL_BINARY, "(x.i = 1)"},
        {SQL_TABLE, "[u v]"},
        {SQL_WHERE, "WHERE b IN (1, 2)"},
        {SQL_LIST, "(1, 2)"},
        {SQL_GROUP, "GROUP BY a , b"},
        {SQL_HAVING, "HAVING count( * ) > 1"},
        {SQL_CALL, "count( * )"},
        {SQL_ORDER, "ORDER BY a DESC"},
        {SQL_TERM, "a DESC"},
        {SQL_LIMIT, "LIMIT 3"},
    };
    check_spans(
        "WITH w AS (SELECT 1) SELECT DISTINCT a AS b , t.* FROM t AS x JOIN [u v] ON (x.i = 1) WHERE b IN (1, 2)"
        " GROUP BY a , b HAVING count( * ) > 1 ORDER BY a DESC LIMIT 3",
        WANT, sizeof WANT / sizeof *WANT);
    leak_check();
}

Test(parse, spans_cover_subqueries_and_nested_joins)
{
    static const struct span_case WANT[] = {{SQL_SUBQUERY, "(SELECT 1)"},
                                            {SQL_QUERY, "SELECT 1"},
                                            {SQL_DERIVED, "(SELECT 2) AS d"},
                                            {SQL_EXISTS, "EXISTS (SELECT 3)"},
                                            {SQL_JOIN, "b JOIN c ON 1"},
                                            {SQL_JOIN, "a JOIN b JOIN c ON 1 ON 2"},
                                            {SQL_SUBQUERY, "((SELECT 4) UNION (SELECT 5))"},
                                            {SQL_QUERY, "(SELECT 5)"},
                                            {SQL_LIST, "((SELECT 6))"},
                                            {SQL_SUBQUERY, "(SELECT 6)"}};
    check_spans("SELECT (SELECT 1), EXISTS (SELECT 3), x IN ((SELECT 4) UNION (SELECT 5)), y IN ((SELECT 6)) "
                "FROM (SELECT 2) AS d, a JOIN b JOIN c ON 1 ON 2",
                WANT, sizeof WANT / sizeof *WANT);
    leak_check();
}

Test(parse, text_needs_no_terminator)
{
    struct arena arena;
    struct sql_stmt *stmt;
    arena_init(&arena, 0);
    char *exact = g_memdup2("SELECT ?, :a, $1", 16); /* so that AddressSanitizer detects a read past the end */
    cr_assert_eq(sql_parse(&arena, exact, 16, NULL, &stmt), ERR_OK);
    g_free(exact);
    cr_expect_eq(stmt->n_params, 3);
    cr_expect_eq(stmt->n_nodes, 9);
    cr_expect_str_eq(stmt->statement_kind, "SELECT");
    cr_expect_null(sql_check_tree(stmt));
    arena_free(&arena);
    leak_check();
}

/* ---- limits and hostile text ---- */

static enum err_code parse_text(const char *text, size_t len, const struct sql_limits *limits, const char **message)
{
    struct arena arena;
    struct sql_stmt *stmt;
    arena_init(&arena, 0);
    enum err_code rc = sql_parse(&arena, text, len, limits, &stmt);
    cr_assert_not_null(stmt);
    cr_assert_null(sql_check_tree(stmt), "%s", sql_check_tree(stmt));
    cr_assert_eq(rc, stmt->diags ? stmt->diags->code : ERR_OK);
    if (message) *message = stmt->diags ? g_intern_string(stmt->diags->message) : "";
    if (stmt->diags) cr_assert_not_null(sql_diag_render(&arena, stmt, stmt->diags));
    if (stmt->root) cr_assert_not_null(sql_print(&arena, stmt->root));
    arena_free(&arena);
    return rc;
}

/* Returns `before`, then `middle` n times, then `after`. */
static GString *repeated(const char *before, const char *middle, unsigned n, const char *after)
{
    GString *s = g_string_new(before);
    for (unsigned i = 0; i < n; i++) g_string_append(s, middle);
    return g_string_append(s, after);
}

static enum err_code parse_repeated(const char *before, const char *middle, unsigned n, const char *after,
                                    const struct sql_limits *limits)
{
    GString *s = repeated(before, middle, n, after);
    enum err_code rc = parse_text(s->str, s->len, limits, NULL);
    g_string_free(s, TRUE);
    return rc;
}

static const struct sql_limits WIDE = {.max_bytes = 4000000, .max_tokens = 1000000, .max_depth = 100000};

Test(parse, nesting_is_capped)
{
    static const char *const NESTS[][3] = {{"SELECT ", "(", "1"},           {"SELECT ", "f(", "1"},
                                           {"SELECT ", "NOT ", "1"},        {"SELECT ", "- ", "1"},
                                           {"SELECT ", "CASE WHEN ", "1"},  {"", "SELECT (", "1"},
                                           {"", "(", "SELECT 1"},           {"SELECT ", "a IN (SELECT ", "1"},
                                           {"SELECT * FROM ", "(", "a"},    {"SELECT ", "ARRAY[", "1"},
                                           {"", "WITH a AS (", "SELECT 1"}, {"SELECT 1 ", "UNION SELECT 1 ", ""},
                                           {"SELECT 1 ", "+ 1 ", ""},       {"SELECT 1 FROM a ", "JOIN b ", ""},
                                           {"SELECT a", "[1]", ""}};
    for (size_t i = 0; i < sizeof NESTS / sizeof *NESTS; i++) {
        enum err_code rc = parse_repeated(NESTS[i][0], NESTS[i][1], 30000, NESTS[i][2], &WIDE);
        cr_expect_eq(rc, ERR_LIMIT_DEPTH, "%s: %s", NESTS[i][1], err_name(rc));
    }
    cr_expect_eq(parse_repeated("SELECT ", "(", 100000, "1", &WIDE), ERR_LIMIT_DEPTH);
    cr_expect_eq(parse_repeated("SELECT ", "(", 100000, "1", NULL), ERR_LIMIT_BYTES);
    cr_expect_eq(parse_repeated("SELECT ", "(", 19000, "1", NULL), ERR_LIMIT_DEPTH);
    leak_check();
}

Test(parse, chain_depth_equals_length)
{
    static const struct sql_limits DEEPEST = {.max_depth = SQL_MAX_DEPTH};
    cr_expect_eq(parse_repeated("SELECT 1 WHERE a", " AND a", 900, "", NULL), ERR_OK);
    cr_expect_eq(parse_repeated("SELECT 1 WHERE a", " AND a", 1100, "", NULL), ERR_LIMIT_DEPTH);
    cr_expect_eq(parse_repeated("SELECT 1", " + 1", 3900, "", &DEEPEST), ERR_OK);
    cr_expect_eq(parse_repeated("SELECT ", "(", 900, "1", NULL), ERR_SYNTAX);
    cr_expect_eq(parse_repeated("SELECT a IN (1", ", 1", 9000, ")", NULL), ERR_OK);
    cr_expect_eq(parse_repeated("SELECT 1", ", 1", 9000, "", NULL), ERR_OK);
    cr_expect_eq(parse_repeated("VALUES (1)", ", (1)", 4900, "", NULL), ERR_OK);
    leak_check();
}

Test(parse, size_is_capped)
{
    static const struct sql_limits SMALL = {.max_bytes = 20, .max_tokens = 4};
    const char *message;
    cr_expect_eq(parse_repeated("SELECT '", "x", 65536 - 9, "'", NULL), ERR_OK);
    cr_expect_eq(parse_repeated("SELECT '", "x", 65536 - 8, "'", NULL), ERR_LIMIT_BYTES);
    cr_expect_eq(parse_repeated("SELECT 1", ",1", 9999, "", NULL), ERR_OK);
    cr_expect_eq(parse_repeated("SELECT 1", ",1", 10001, "", NULL), ERR_LIMIT_TOKENS);
    cr_expect_eq(parse_text("SELECT a FROM t", 15, &SMALL, NULL), ERR_OK);
    cr_expect_eq(parse_text("SELECT a FROM t x", 17, &SMALL, &message), ERR_LIMIT_TOKENS);
    cr_expect_str_eq(message, "the SQL has more than 4 tokens");
    cr_expect_eq(parse_text("SELECT a FROM t      ", 21, &SMALL, &message), ERR_LIMIT_BYTES);
    cr_expect_str_eq(message, "the SQL is longer than 20 bytes");
    leak_check();
}

Test(parse, invalid_utf8_and_nul_are_refused)
{
    static const struct {
        const char *text;
        size_t len;
    } BAD[] = {{"SELECT 'a\0b'", 12},
               {"\0", 1},
               {"SELECT '\xff'", 10},
               {"SELECT '\xc3'", 10},
               {"SELECT '\xed\xa0\x80'", 12},
               {"SELECT \xc0\x80", 9},
               {"SELECT '\xf8\x88\x80\x80\x80'", 14}};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++)
        cr_expect_eq(parse_text(BAD[i].text, BAD[i].len, NULL, NULL), ERR_ENCODING, "case %zu", i);
    cr_expect_eq(parse_text("\xef\xbb\xbfSELECT 1", 11, NULL, NULL), ERR_OK, "a byte order mark is skipped");
    leak_check();
}

/* The time for a text with errors must be bounded by its length, because recovery is bounded. */
Test(parse, hostile_errors_are_bounded)
{
    static const char *const BAD[][3] = {{"SELECT ", "a b c, ", "d"},
                                         {"SELECT ", "f(a b, ", ""},
                                         {"SELECT (", "a b FROM ( ", ""},
                                         {"SELECT a FROM t WHERE ", ", ", ""},
                                         {"", ") ", ""},
                                         {"", "SELECT ", ""},
                                         {"SELECT 1 ", "UNION ORDER ", ""},
                                         {"SELECT ", "trim(leading ", ""},
                                         {"SELECT ", "substring(a from ", "1"},
                                         {"SELECT ", "t.count(", "FROM t"},
                                         {"SELECT ", "$a$", ""},
                                         {"SELECT ", "[", ""},
                                         {"SELECT ", "position(a in ", "1"},
                                         {"SELECT ", "/*", ""},
                                         {"SELECT ", "'", ""}};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++)
        cr_expect_neq(parse_repeated(BAD[i][0], BAD[i][1], 4000, BAD[i][2], NULL), ERR_INTERNAL);
    leak_check();
}

/* Parses with each amount of memory up to one that suffices. Smaller amounts must fail without a crash. */
Test(parse, exhausted_memory_ends_cleanly)
{
    static const char SQL[] =
        "WITH w(x) AS (SELECT \"a\"\"b\", E'\\n' FROM t) SELECT trim(both 'x' from y), count(*) OVER (ORDER BY z)"
        " FROM a JOIN b JOIN c ON 1 ON 2, (d, e JOIN f ON 3) WHERE g IN (1,2,3,4,5,6,7,8,9) LIMIT 1, 2";
    static const char BROKEN[] = "SELECT a b c, f(d e FROM t WHERE GROUP BY x y ORDER z";
    for (size_t cap = 16; cap < 40000; cap += 16) {
        struct arena arena;
        struct sql_stmt *stmt;
        arena_init(&arena, cap);
        enum err_code rc = sql_parse(&arena, SQL, sizeof SQL - 1, NULL, &stmt);
        cr_assert(rc == ERR_LIMIT_MEMORY || (rc == ERR_OK && !sql_check_tree(stmt)), "%zu: %s", cap, err_name(rc));
        if (rc == ERR_OK && cap < 20000) (void)sql_print(&arena, stmt->root);
        arena_reset(&arena);
        rc = sql_parse(&arena, BROKEN, sizeof BROKEN - 1, NULL, &stmt);
        cr_assert(rc == ERR_LIMIT_MEMORY || rc == ERR_SYNTAX, "%zu: %s", cap, err_name(rc));
        arena_free(&arena);
    }
    leak_check();
}
