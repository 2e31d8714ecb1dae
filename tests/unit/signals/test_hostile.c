/* Hostile queries: every signal must end soon, with a state or with a reason. */
#include "lib/base/clock.h"
#include "signals/vsig.h"
#include "tests/support/leak.h"
#include "tests/unit/db/fixture.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

enum { LIMIT_MS = 8000 }; /* for all signals together, under sanitizers; each database probe has its own limits */

static void judge(const char *what, char *sql)
{
    struct fixture fixture;
    fixture_init(&fixture, "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT, c REAL);"
                           "INSERT INTO t VALUES (1, 'x', 2.5), (2, 'y', NULL)");
    const struct db_limits limits = {.time_ms = 200};
    struct schema_index *schema = NULL;
    fixture_open(&fixture, &limits);
    cr_assert(schema_build(fixture.db, "t", fixture.path, NULL, &schema, NULL) == ERR_OK);

    struct arena arena;
    arena_init(&arena, 0);
    struct vsig_subject subject;
    struct vsig_options *options = vsig_options_new();
    struct vsig_verdict verdicts[VSIG_ID_END] = {0};
    int64_t started = clock_now_ns();
    vsig_subject_init(&subject, &arena, schema, fixture.db, sql, strlen(sql), "Which b has the highest ratio of a?",
                      NULL, NULL);
    cr_expect(subject.code == ERR_OK, "%s is refused before any signal looks: %s", what, err_name(subject.code));
    for (int family = 0; family < VSIG_FAMILY_COUNT; family++)
        vsig_run_family(&subject, (enum vsig_family)family, options, verdicts);
    double ms = clock_ms(clock_now_ns() - started);
    for (unsigned id = 1; id < VSIG_ID_END; id++) {
        cr_expect(verdicts[id].state != VSIG_UNAVAILABLE || verdicts[id].reason, "%s: %u gives no reason", what, id);
        cr_expect(clock_ms(verdicts[id].ns) < LIMIT_MS / 2, "%s: %s took %.0f ms", what, vsig_by_id(id)->name,
                  clock_ms(verdicts[id].ns));
    }
    cr_expect(ms < LIMIT_MS, "%s took %.0f ms", what, ms);

    vsig_options_free(options);
    arena_free(&arena);
    schema_unref(schema);
    g_free(sql);
    fixture_end(&fixture);
}

/* Returns `head`, then `piece` `n` times with `between` between the pieces, then `tail`. Each %u in a piece is replaced
 * by its number. */
static char *repeat(const char *head, const char *piece, const char *between, unsigned n, const char *tail)
{
    GString *text = g_string_new(head);
    char **parts = g_strsplit(piece, "%u", -1);
    for (unsigned i = 0; i < n; i++) {
        char *number = g_strdup_printf("%u", i), *one = g_strjoinv(number, parts);
        g_string_append(text, i ? between : "");
        g_string_append(text, one);
        g_free(one);
        g_free(number);
    }
    g_strfreev(parts);
    g_string_append(text, tail);
    return g_string_free(text, FALSE);
}

Test(hostile, many_conditions_are_bounded)
{
    judge("conditions", repeat("SELECT b FROM t WHERE ", "a > %u", " AND ", 450, ""));
}

Test(hostile, many_alternatives_are_bounded)
{
    judge("alternatives", repeat("SELECT b FROM t WHERE ", "a = %u", " OR ", 400, ""));
}

Test(hostile, long_value_lists_are_bounded)
{
    judge("list", repeat("SELECT b FROM t WHERE a IN (", "%u", ", ", 8000, ")"));
}

Test(hostile, many_from_items_are_bounded)
{
    judge("items", repeat("SELECT 1 FROM ", "t AS t%u", ", ", 60, " WHERE t0.a = t59.a LIMIT 1"));
}

Test(hostile, from_items_beyond_set_size_are_bounded)
{
    judge("wide", repeat("SELECT 1 FROM ", "t AS t%u", ", ", 200, " LIMIT 1"));
}

Test(hostile, many_join_pairs_are_bounded)
{
    judge("pairs", repeat("SELECT x.b FROM t AS x JOIN t AS y ON ", "x.a = y.c", " AND ", 450, ""));
}

/* The parser's limits on depth and tokens apply first. So the chains are as long as these limits permit. */
Test(hostile, balanced_join_trees_are_bounded)
{
    char *level = g_strdup("x.a = y.c");
    for (unsigned i = 0; i < 10; i++) {
        char *twice = g_strdup_printf("(%s AND %s)", level, level);
        g_free(level);
        level = twice;
    }
    judge("balanced pairs", g_strdup_printf("SELECT x.b FROM t AS x JOIN t AS y ON %s", level));
    g_free(level);
}

Test(hostile, many_arms_are_bounded)
{
    judge("arms", repeat("", "SELECT a, b FROM t WHERE a = %u", " INTERSECT ", 300, ""));
}

Test(hostile, many_subqueries_are_bounded)
{
    judge("subqueries", repeat("SELECT b FROM t WHERE ", "a = (SELECT a FROM t WHERE a = %u)", " OR ", 300, ""));
}

Test(hostile, many_select_items_are_bounded)
{
    judge("items", repeat("SELECT ", "a / a + COUNT(*)", ", ", 1500, " FROM t GROUP BY c"));
}

Test(hostile, doubling_columns_are_bounded)
{
    char *text = g_strdup("SELECT a AS x FROM t");
    for (unsigned i = 0; i < 60; i++) {
        char *deeper = g_strdup_printf("SELECT x + x AS x FROM (%s)", text);
        g_free(text);
        text = deeper;
    }
    judge("doubling", g_strdup_printf("SELECT x / x FROM (%s) WHERE x = 1 AND x = 2", text));
    g_free(text);
}

Test(hostile, deep_parentheses_are_bounded)
{
    GString *text = g_string_new("SELECT b FROM t WHERE ");
    for (unsigned i = 0; i < 400; i++) g_string_append(text, "NOT (");
    g_string_append(text, "a = 1");
    for (unsigned i = 0; i < 400; i++) g_string_append_c(text, ')');
    judge("parentheses", g_string_free(text, FALSE));
}

Test(hostile, exhausted_arena_ends_cleanly)
{
    for (size_t cap = 20000; cap < 200000; cap += 7000) {
        struct arena arena;
        arena_init(&arena, cap);
        struct vsig_subject subject = {.arena = &arena};
        const struct schema_index schema = {0};
        const char *sql = "SELECT 1 WHERE 1 = 2 AND 2 = 3 GROUP BY 1";
        vsig_subject_init(&subject, &arena, &schema, NULL, sql, strlen(sql), NULL, NULL, NULL);
        while (arena_alloc(&arena, 64)) {
        }
        struct vsig_options *options = vsig_options_new();
        struct vsig_verdict verdicts[VSIG_ID_END] = {0};
        vsig_run_family(&subject, VSIG_STRUCTURE, options, verdicts);
        cr_expect(verdicts[VSIG_ID_contradiction].state != VSIG_SILENT, "silence without having looked");
        cr_expect(verdicts[VSIG_ID_constant_result].state != VSIG_SILENT, "silence without a meaning");
        vsig_options_free(options);
        arena_free(&arena);
    }
    leak_check();
}
