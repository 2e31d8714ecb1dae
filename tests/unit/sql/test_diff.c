/* Tests the edit script between two queries: golden cases, the property apply(diff(a, b), a) = b on all pairs of the
 * logs, normal trees, and hostile sizes. */
#include <criterion/criterion.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/sql/diff.h"
#include "tests/support/leak.h"
#include "tests/support/querylog.h"
#include "tests/unit/sql/cases.h"

TestSuite(diff, .timeout = 600);

static struct sql_stmt *parse(struct arena *arena, const char *sql)
{
    struct sql_stmt *stmt = NULL;
    return sql_parse(arena, sql, strlen(sql), NULL, &stmt) == ERR_OK ? stmt : NULL;
}

/* ---- golden cases ---- */

static void put_slice(GString *out, const struct sql_stmt *stmt, const struct sql_node *n)
{
    g_string_append_printf(out, " %s:%.*s", sql_kind_name((enum sql_kind)n->kind), (int)(n->end - n->start),
                           stmt->text + n->start);
}

static char *script_text(const struct sql_diff *diff, const struct sql_stmt *a, const struct sql_stmt *b)
{
    GString *out = g_string_new(NULL);
    for (uint32_t i = 0; i < diff->n_edits; i++) {
        const struct sql_edit *edit = &diff->edits[i];
        g_string_append_printf(out, "%s%s", i ? "; " : "", sql_edit_name(edit->kind));
        put_slice(out, edit->from ? a : b, edit->from ? edit->from : edit->to);
    }
    return g_string_free(out, FALSE);
}

static char *spans_text(struct arena *arena, const struct sql_diff *diff, const struct sql_stmt *a)
{
    struct sql_diff_span *spans;
    int n = sql_diff_spans(arena, diff, &spans);
    GString *out = g_string_new(NULL);
    for (int i = 0; i < n; i++) {
        char *slice = g_strndup(a->text + spans[i].start, spans[i].end - spans[i].start);
        g_string_append_printf(out, "%s%s", i ? "; " : "", g_strstrip(slice));
        g_free(slice);
    }
    return g_string_free(out, FALSE);
}

static void check_text(const struct golden_case *c, const char *key, char *actual)
{
    const char *expected = case_get(c, key);
    if (expected)
        cr_expect_str_eq(actual, expected, "%s:%d %s\n  %s    %s\n  expected %s", c->file, c->line, c->name, key,
                         actual, expected);
    g_free(actual);
}

static void check_case(const struct golden_case *c, void *self)
{
    (void)self;
    struct arena arena;
    arena_init(&arena, 0);
    struct sql_stmt *a = parse(&arena, case_get(c, "a")), *b = parse(&arena, case_get(c, "b"));
    cr_assert(a && b, "%s:%d does not parse", c->file, c->line);
    struct sql_diff *diff = sql_diff(&arena, a->root, b->root);
    cr_assert(diff);
    check_text(c, "edits", script_text(diff, a, b));
    check_text(c, "spans", spans_text(&arena, diff, a));
    cr_expect(sql_equal(sql_diff_apply(&arena, diff), b->root), "%s:%d", c->file, c->line);
    arena_free(&arena);
}

Test(diff, golden_cases_match)
{
    cr_assert_geq(cases_each("diff.case", check_case, NULL), 10);
    leak_check();
}

/* ---- all pairs of the logs ---- */

struct totals {
    size_t pairs, wrong, edits, nodes, equal, capped, most;
    int64_t ns;
    struct sql_stmt *before; /* last candidate of another line, used as an unrelated statement */
    struct arena before_arena;
};

static void compare(struct totals *t, const struct sql_stmt *a, const struct sql_stmt *b)
{
    struct arena arena;
    arena_init(&arena, 0);
    int64_t start = clock_now_ns();
    struct sql_diff *diff = sql_diff(&arena, a->root, b->root);
    t->ns += clock_now_ns() - start;
    cr_assert(diff);
    struct sql_node *made = sql_diff_apply(&arena, diff);
    bool right = made && sql_equal(made, b->root);
    if (!right && t->wrong++ < 10)
        fprintf(stderr, "apply is wrong:\n  %s\n  %s\n  %s\n", a->text, b->text, made ? sql_print(&arena, made) : "");
    cr_expect_eq(diff->n_edits == 0, sql_equal(a->root, b->root), "%s\n%s", a->text, b->text);
    t->pairs++;
    t->edits += diff->n_edits;
    t->nodes += diff->nodes_a + diff->nodes_b;
    t->equal += diff->n_edits == 0;
    t->capped += diff->capped;
    if (diff->n_edits > t->most) t->most = diff->n_edits;
    arena_free(&arena);
}

static void compare_line(const struct querylog_line *line, void *self)
{
    struct totals *t = self;
    struct arena arena;
    arena_init(&arena, 0);
    struct sql_stmt *gold = line->gold ? parse(&arena, line->gold) : NULL, *last = NULL;
    for (size_t i = 0; i < line->n_candidates; i++) {
        struct sql_stmt *candidate = parse(&arena, line->candidates[i]);
        if (!candidate) continue;
        if (gold) {
            compare(t, candidate, gold);
            compare(t, gold, candidate);
        }
        if (last) compare(t, last, candidate);
        last = candidate;
    }
    if (gold && t->before) compare(t, t->before, gold);
    arena_free(&t->before_arena);
    t->before = gold ? parse(&t->before_arena, line->gold) : NULL;
    arena_free(&arena);
}

Test(diff, apply_gives_target_on_all_log_pairs)
{
    struct totals t = {0};
    arena_init(&t.before_arena, 0);
    size_t lines = querylog_each(NULL, compare_line, &t);
    arena_free(&t.before_arena);
    if (lines == 0) cr_skip_test("no query logs under the shared data folder");
    fprintf(stderr,
            "differencing: %zu pairs, %zu equal, %.2f edits a pair that differs (most %zu) for %.1f nodes, %.1f us "
            "each, %zu capped\n",
            t.pairs, t.equal, (double)t.edits / (double)(t.pairs - t.equal), t.most, (double)t.nodes / (double)t.pairs,
            (double)t.ns / 1e3 / (double)t.pairs, t.capped);
    cr_expect_eq(t.wrong, 0);
    leak_check();
}

/* ---- normal trees: differences apart from aliases and spelling ---- */

Test(diff, normal_trees_point_into_text)
{
    struct catalog_sqlite *catalog = catalog_sqlite_script("CREATE TABLE t(a, b); CREATE TABLE u(a, c);");
    struct arena arena;
    arena_init(&arena, 0);
    struct sql_stmt *a =
        parse(&arena, "SELECT T1.b FROM t AS T1 JOIN u AS T2 ON T1.a = T2.a WHERE T2.c = \"x\" ORDER BY T1.b ASC");
    struct sql_stmt *b = parse(&arena, "SELECT t.b FROM t JOIN u ON u.a = t.a WHERE 'y' = c ORDER BY t.b");
    struct sql_bound *bound;
    cr_assert_eq(sql_bind(&arena, a, &catalog->catalog, &bound), ERR_OK);
    cr_assert_eq(sql_bind(&arena, b, &catalog->catalog, &bound), ERR_OK);
    struct sql_diff *diff = sql_diff(&arena, sql_normal_tree(&arena, a->root), sql_normal_tree(&arena, b->root));
    cr_assert(diff);
    char *spans = spans_text(&arena, diff, a);
    cr_expect_str_eq(spans, "\"x\"");
    g_free(spans);
    arena_free(&arena);
    catalog_sqlite_free(catalog);
    leak_check();
}

/* ---- hostile sizes ---- */

static char *long_chain(const char *term, int n, int from)
{
    GString *sql = g_string_new("SELECT a FROM t WHERE a IN (");
    for (int i = 0; i < n; i++) g_string_append_printf(sql, "%s%s%d", i ? ", " : "", term, (i * 7 + from) % 1000);
    return g_string_free(g_string_append(sql, ")"), FALSE);
}

Test(diff, hostile_sizes_are_bounded)
{
    struct arena arena;
    arena_init(&arena, 256UL << 20);
    char *one = long_chain("x", 6000, 0), *two = long_chain("x", 6000, 3), *three = long_chain("y", 6000, 1);
    struct sql_stmt *a = parse(&arena, one), *b = parse(&arena, two), *c = parse(&arena, three);
    cr_assert(a && b && c);
    int64_t start = clock_now_ns();
    struct sql_diff *ab = sql_diff(&arena, a->root, b->root), *ac = sql_diff(&arena, a->root, c->root);
    cr_assert(ab && ac);
    cr_expect(sql_equal(sql_diff_apply(&arena, ab), b->root));
    cr_expect(sql_equal(sql_diff_apply(&arena, ac), c->root));
    cr_expect_lt(clock_ms(clock_now_ns() - start), 10000);
    g_free(one);
    g_free(two);
    g_free(three);
    arena_free(&arena);
    leak_check();
}

Test(diff, full_arena_is_error)
{
    struct arena parsed;
    arena_init(&parsed, 0);
    struct sql_stmt *a = parse(&parsed, "SELECT a, b FROM t WHERE c = 1 ORDER BY b"),
                    *b = parse(&parsed, "SELECT b FROM t JOIN u ON t.a = u.a");
    bool done = false;
    for (size_t cap = 256; cap < 1024 * 1024 && !done; cap += 256) {
        struct arena arena;
        arena_init(&arena, cap);
        struct sql_diff *diff = sql_diff(&arena, a->root, b->root);
        struct sql_node *made = diff ? sql_diff_apply(&arena, diff) : NULL;
        if (made) cr_assert(sql_equal(made, b->root));
        done = made != NULL;
        arena_free(&arena);
    }
    cr_assert(done);
    arena_free(&parsed);
    leak_check();
}

Test(diff, partners_match_edit_script)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct sql_stmt *a = parse(&arena, "SELECT name, age FROM t WHERE age > 3"),
                    *b = parse(&arena, "SELECT name FROM t WHERE age >= 3 LIMIT 1");
    const struct sql_node **partners = sql_diff_partners(&arena, a->root, b->root);
    cr_assert(partners);
    for (const struct sql_node *n = a->root; n; n = sql_walk(a->root, n)) {
        const struct sql_node *partner = partners[n->id];
        if (partner) cr_expect_eq(partner->kind, n->kind);
        bool gone = n->kind == SQL_COLUMN && n->parent->kind == SQL_ITEM && n->text_len == 3;
        if (n->kind == SQL_COLUMN) cr_expect_eq(partner == NULL, gone, "%.*s", (int)n->text_len, n->text);
        if (n->kind == SQL_BINARY) cr_expect(partner && partner->op == SQL_OP_GE);
    }
    arena_free(&arena);
    leak_check();
}
