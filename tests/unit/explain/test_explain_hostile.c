/* Hostile input must get an explanation, or a statement that there is none. Time, text and memory are bounded. */
#include "lib/base/clock.h"
#include "tests/support/leak.h"
#include "tests/unit/explain/ground.h"

#include <criterion/criterion.h>
#include <string.h>

static const char SCHEMA[] =
    "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT, c REAL, d BLOB);"
    "INSERT INTO t VALUES (1, 'x', NULL, x'00ff'), (2, CAST(x'68c3280a1b5b' AS TEXT), NULL, NULL),"
    " (3, replace(hex(zeroblob(3000)), '0', 'long '), NULL, zeroblob(100000));";

/* One query with its explanation. The caller frees both with ground_close and arena_free. */
struct told {
    struct ground ground;
    struct arena arena;
    struct explain_source *source;
    struct explanation *e;
};

static void tell(struct told *told, const char *what, const char *sql, const struct explain_options *options)
{
    char *why = ground_open(&told->ground, SCHEMA, NULL, NULL);
    cr_assert_null(why, "%s", why);
    arena_init(&told->arena, 0);
    told->source = ground_source(&told->ground, &told->arena, sql);
    cr_assert_not_null(told->source, "%s: does not parse", what);
    int64_t started = clock_now_ns();
    enum err_code code = explain_query(&told->arena, told->source, options, &told->e, NULL);
    cr_assert(code == ERR_OK, "%s: %s", what, err_name(code));
    double ms = clock_ms(clock_now_ns() - started);
    cr_expect(ms < 8000, "%s took %.0f ms", what, ms);
    const char *wrong = ground_check(&told->ground, told->source, options, told->e);
    cr_expect_null(wrong, "%s: %s", what, wrong);
    cr_expect(*told->e->premise && *told->e->prose, "%s: nothing is said", what);
}

static void end(struct told *told)
{
    arena_free(&told->arena);
    ground_close(&told->ground);
    leak_check();
}

static bool says(const struct told *told, const char *part)
{
    return strstr(told->e->premise, part) != NULL;
}

/* Returns `head`, then `piece` `n` times with `between` between the pieces, then `tail`. */
static char *repeat(const char *head, const char *piece, const char *between, unsigned n, const char *tail)
{
    GString *text = g_string_new(head);
    for (unsigned i = 0; i < n; i++) g_string_append_printf(text, "%s%s", i ? between : "", piece);
    g_string_append(text, tail);
    return g_string_free(text, FALSE);
}

Test(explain_hostile, unprintable_values_are_hidden)
{
    struct told told;
    tell(&told, "broken UTF-8", "SELECT b FROM t WHERE a = 2", NULL);
    cr_expect(says(&told, "'h\xef\xbf\xbd( "), "%s", told.e->premise);
    end(&told);
    tell(&told, "a blob", "SELECT d FROM t WHERE a = 3", NULL);
    cr_expect(says(&told, "a blob of 100000 bytes"), "%s", told.e->premise);
    end(&told);
    tell(&told, "a long text", "SELECT b FROM t WHERE a = 3", NULL);
    cr_expect(says(&told, "long long"), "%s", told.e->premise);
    cr_expect(strlen(told.e->premise) < 1000, "%zu bytes", strlen(told.e->premise));
    end(&told);
    tell(&told, "nothing but NULL", "SELECT avg(c), c FROM t", NULL);
    cr_expect(says(&told, "column 1 is NULL"), "%s", told.e->premise);
    end(&told);
}

Test(explain_hostile, long_literals_are_cut_between_characters)
{
    char *sql = repeat("SELECT a FROM t WHERE b = '", "\xc3\xa9", "", 5000, "'");
    struct told told;
    tell(&told, "a long literal", sql, NULL);
    cr_expect(says(&told, "\xc3\xa9\xe2\x80\xa6'"), "%s", told.e->premise);
    cr_expect(told.e->cut);
    g_free(sql);
    end(&told);
}

Test(explain_hostile, long_lists_are_truncated)
{
    char *sql = repeat("SELECT a FROM t WHERE a IN (", "7", ", ", 3000, ")");
    struct told told;
    tell(&told, "a long list", sql, NULL);
    cr_expect(says(&told, "7 and 2952 more"), "%s", told.e->premise);
    cr_expect(told.e->cut);
    g_free(sql);
    end(&told);
}

Test(explain_hostile, many_tables_are_bounded)
{
    char *sql = repeat("SELECT t1.a FROM t AS t1", " JOIN t USING (a)", "", 39, "");
    struct told told;
    tell(&told, "40 tables", sql, NULL);
    cr_expect(says(&told, "It reads 40 tables"), "%s", told.e->premise);
    g_free(sql);
    end(&told);
}

Test(explain_hostile, many_columns_are_bounded)
{
    char *sql = repeat("SELECT ", "a + 1", ", ", 1500, " FROM t");
    struct told told;
    tell(&told, "1,500 columns", sql, NULL);
    cr_expect(says(&told, "1500 columns"), "%s", told.e->premise);
    cr_expect(told.e->cut);
    g_free(sql);
    end(&told);
}

/* A chain of operators makes a tree that is as deep as the chain is long. Parentheses nest directly. */
Test(explain_hostile, deep_nesting_is_bounded)
{
    struct told told;
    char *chain = repeat("SELECT a FROM t WHERE ", "a = 1", " OR ", 350, "");
    tell(&told, "a long chain", chain, NULL);
    end(&told);
    char *deep = repeat("SELECT a FROM t WHERE ", "NOT (", "", 150, "a = 1");
    char *sql = repeat(deep, ")", "", 150, "");
    tell(&told, "deep conditions", sql, NULL);
    cr_expect_not_null(told.e->missing);
    g_free(chain);
    g_free(deep);
    g_free(sql);
    end(&told);
}

Test(explain_hostile, many_inner_queries_are_bounded)
{
    struct told told;
    char *deep = repeat("SELECT a FROM t WHERE a IN (", "SELECT a FROM t WHERE a IN (", "", 60, "1");
    char *sql = repeat(deep, ")", "", 61, "");
    struct explain_options options = explain_defaults;
    options.max_text = 1 << 16;
    tell(&told, "queries 60 deep", sql, &options);
    cr_expect(says(&told, "a further query"), "%s", told.e->premise);
    cr_expect_not_null(told.e->missing);
    g_free(deep);
    g_free(sql);
    end(&told);
    sql = repeat("", "SELECT a FROM t", " UNION ALL ", 200, "");
    tell(&told, "200 arms", sql, NULL);
    cr_expect(told.e->cut);
    g_free(sql);
    end(&told);
}

Test(explain_hostile, slow_query_is_stopped)
{
    char *sql = repeat("SELECT count(*) FROM t", ", t", "", 29, "");
    struct told told;
    tell(&told, "endless", sql, NULL);
    cr_expect(says(&told, "It reads 30 tables"), "%s", told.e->premise);
    cr_expect_not_null(told.e->missing, "nothing says that its rows are not explained");
    g_free(sql);
    end(&told);
}

Test(explain_hostile, small_text_limit_is_kept)
{
    for (uint32_t max = 1; max < 200; max += 7) {
        struct told told;
        struct explain_options options = explain_defaults;
        options.max_text = max;
        char *why = ground_open(&told.ground, SCHEMA, NULL, NULL);
        cr_assert_null(why, "%s", why);
        arena_init(&told.arena, 0);
        told.source = ground_source(&told.ground, &told.arena, "SELECT b FROM t WHERE b > 'x' ORDER BY c LIMIT 2");
        cr_assert(explain_query(&told.arena, told.source, &options, &told.e, NULL) == ERR_OK);
        const char *wrong = ground_check(&told.ground, told.source, &options, told.e);
        cr_expect_null(wrong, "%u bytes: %s", max, wrong);
        cr_expect(told.e->cut);
        end(&told);
    }
}

/* For any size of the arena, the outcome is an explanation or the memory error. */
Test(explain_hostile, small_arena_is_reported)
{
    struct ground ground;
    char *why = ground_open(&ground, SCHEMA, NULL, NULL);
    cr_assert_null(why, "%s", why);
    unsigned failed = 0, told = 0;
    for (size_t cap = 1 << 12; cap < 1 << 20; cap += 1 << 13) {
        struct arena reading, arena;
        arena_init(&reading, 0);
        arena_init(&arena, cap);
        struct explain_source *source = ground_source(
            &ground, &reading, "SELECT b, count(*) FROM t WHERE a IN (SELECT a FROM t WHERE b <> 'x') GROUP BY b");
        struct explanation *e = NULL;
        enum err_code code = explain_query(&arena, source, NULL, &e, NULL);
        cr_expect(code == ERR_OK ? e != NULL : code == ERR_LIMIT_MEMORY && !e, "%zu bytes: %s", cap, err_name(code));
        failed += code != ERR_OK;
        told += code == ERR_OK;
        arena_free(&arena);
        arena_free(&reading);
    }
    cr_expect(failed > 0 && told > 0, "%u failed, %u told", failed, told);
    ground_close(&ground);
    leak_check();
}

Test(explain_hostile, kinds_have_names)
{
    for (int kind = 0; kind < EXPLAIN_KIND_COUNT; kind++) {
        cr_expect_str_neq(explain_kind_name((enum explain_kind)kind), "unknown");
        cr_expect_str_neq(explain_kind_meaning((enum explain_kind)kind), "unknown");
    }
    cr_expect_str_eq(explain_kind_name((enum explain_kind)999), "unknown");
    leak_check();
}
