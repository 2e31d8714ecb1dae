/* Tests values: the engine's order, literals, quoted names, real numbers as Python prints them, and digests of
 * results. */
#include "tests/unit/db/fixture.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <math.h>
#include <string.h>

static struct db_value integer(int64_t i)
{
    return (struct db_value){.type = DB_INT, .i = i};
}
static struct db_value real(double f)
{
    return (struct db_value){.type = DB_FLOAT, .f = f};
}
static struct db_value text(const char *s)
{
    return (struct db_value){.type = DB_TEXT, .text = s, .len = strlen(s)};
}
static struct db_value blob(const char *s)
{
    return (struct db_value){.type = DB_BLOB, .text = s, .len = strlen(s)};
}

Test(values, order_matches_engine)
{
    const struct db_value rising[] = {
        {.type = DB_NULL},
        real(-INFINITY),
        integer(INT64_MIN),
        integer(-1),
        real(-0.5),
        integer(0),
        real(0.5),
        integer(1),
        real(9007199254740992.0),
        integer(9007199254740993),
        real(9.3e18),
        real(INFINITY),
        text(""),
        text("A"),
        text("a"),
        text("aa"),
        blob(""),
        blob("A"),
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rising); i++)
        for (size_t j = 0; j < G_N_ELEMENTS(rising); j++) {
            int want = (i > j) - (i < j);
            cr_assert_eq(db_value_compare(&rising[i], &rising[j]), want, "%zu against %zu", i, j);
        }
    struct db_value one = integer(1), also_one = real(1.0);
    cr_assert_eq(db_value_compare(&one, &also_one), 0);
}

Test(values, literals_round_trip)
{
    struct fixture f;
    fixture_init(&f, "CREATE TABLE t(a)");
    fixture_open(&f, NULL);
    struct db_value nul = {.type = DB_TEXT, .text = "a\0'b", .len = 4}, broken = text("\xff'x");
    const struct db_value values[] = {
        {.type = DB_NULL},
        integer(0),
        integer(INT64_MAX),
        integer(INT64_MIN),
        real(1),
        real(-0.1),
        real(1e300),
        real(1e-300),
        real(123456789.125),
        real(0.1 + 0.2),
        real(INFINITY),
        real(-INFINITY),
        text(""),
        text("it's"),
        text("日本"),
        nul,
        broken,
        blob(""),
        blob("\x01\xff"),
    };
    for (size_t i = 0; i < G_N_ELEMENTS(values); i++) {
        struct db_result r;
        struct err err;
        char *sql = arena_printf(&f.arena, "SELECT %s", db_quote_value(&f.arena, &values[i]));
        cr_assert_eq(fixture_query(&f, sql, &r, &err), ERR_OK, "%s", sql);
        cr_assert_eq(r.values[0].type, values[i].type, "%s", sql);
        cr_assert_eq(db_value_compare(&r.values[0], &values[i]), 0, "%s", sql);
    }
    fixture_end(&f);
}

Test(values, names_are_quoted)
{
    struct arena arena;
    arena_init(&arena, 0);
    cr_assert_str_eq(db_quote_name(&arena, "a\"b; DROP", 9), "\"a\"\"b; DROP\"");
    cr_assert_str_eq(db_quote_name(&arena, "", 0), "\"\"");
    arena_free(&arena);
}

Test(values, reals_match_python_text)
{
    static const struct {
        double real;
        const char *text;
    } cases[] = {
        {1, "1.0"},
        {-2.5, "-2.5"},
        {0.1, "0.1"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1e16, "1e+16"},
        {1e15, "1000000000000000.0"},
        {123456789012345680.0, "1.2345678901234568e+17"},
        {1e-5, "1e-05"},
        {0.0001, "0.0001"},
        {1.5e300, "1.5e+300"},
        {-0.0, "-0.0"},
        {INFINITY, "inf"},
        {5e-324, "5e-324"},
        {2.0 / 3, "0.6666666666666666"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        char out[DB_REAL_TEXT];
        size_t len = db_real_text(cases[i].real, out);
        cr_assert_str_eq(out, cases[i].text);
        cr_assert_eq(len, strlen(out));
    }
}

/* --- digests ------------------------------------------------------------------------------------------------------ */

struct digests {
    uint64_t bag[2], ordered[2];
};

static struct digests digests_of(struct fixture *f, const char *sql)
{
    struct db_result r;
    struct err err = {0};
    struct digests d;
    cr_assert_eq(fixture_query(f, sql, &r, &err), ERR_OK, "%s: %s", sql, err.text);
    memcpy(d.bag, r.digest, sizeof d.bag);
    memcpy(d.ordered, r.ordered_digest, sizeof d.ordered);
    return d;
}

static bool same_bag(struct fixture *f, const char *a, const char *b)
{
    struct digests x = digests_of(f, a), y = digests_of(f, b);
    return memcmp(x.bag, y.bag, sizeof x.bag) == 0;
}

static bool same_order(struct fixture *f, const char *a, const char *b)
{
    struct digests x = digests_of(f, a), y = digests_of(f, b);
    return memcmp(x.ordered, y.ordered, sizeof x.ordered) == 0;
}

Test(digest, digest_matches_reference_labeller)
{
    struct fixture f;
    fixture_init(&f, "CREATE TABLE t(a, b); INSERT INTO t VALUES(1,'x'),(2,'y'),(2,'y'),(3,NULL);");
    fixture_open(&f, NULL);
    const char *all = "SELECT a, b FROM t";
    cr_assert(same_bag(&f, all, "SELECT b, a FROM t"), "order of columns");
    cr_assert(same_bag(&f, all, "SELECT a, b FROM t ORDER BY a DESC"), "order of rows");
    cr_assert_not(same_bag(&f, all, "SELECT DISTINCT a, b FROM t"), "repeats count");
    cr_assert_not(same_bag(&f, all, "SELECT a FROM t"));
    cr_assert_not(same_bag(&f, all, "SELECT a, b, b FROM t"));
    cr_assert_not(same_bag(&f, "SELECT 1, 2 UNION ALL SELECT 3, 4", "SELECT 1, 4 UNION ALL SELECT 3, 2"),
                  "rows hold together");
    cr_assert(same_bag(&f, "SELECT 1", "SELECT '1'"), "as Python prints them");
    cr_assert_not(same_bag(&f, "SELECT 1", "SELECT 1.0"));
    cr_assert(same_bag(&f, "SELECT 1.0", "SELECT '1.0'"));
    cr_assert(same_bag(&f, "SELECT 0.1 + 0.2", "SELECT '0.30000000000000004'"));
    cr_assert(same_bag(&f, "SELECT 'ab'", "SELECT CAST(x'61ff62' AS TEXT)"), "what is not UTF-8 does not count");
    cr_assert(same_bag(&f, "SELECT 'aé'", "SELECT CAST(x'61c3a9e282' AS TEXT)"));
    cr_assert_not(same_bag(&f, "SELECT 'ab'", "SELECT x'6162'"));
    cr_assert_not(same_bag(&f, "SELECT NULL", "SELECT ''"));
    cr_assert_not(same_bag(&f, "SELECT NULL", "SELECT 'None'"), "here the labeller errs");
    cr_assert(same_bag(&f, "SELECT 1 WHERE 0", "SELECT 1, 2 WHERE 0"), "empty is empty");
    cr_assert_not(same_bag(&f, "SELECT 1 WHERE 0", "SELECT NULL"));
    cr_assert(same_bag(&f, "SELECT -9223372036854775808", "SELECT '-9223372036854775808'"));
    fixture_end(&f);
}

Test(digest, ordered_digest_depends_on_row_order)
{
    struct fixture f;
    fixture_init(&f, "CREATE TABLE t(a, b); INSERT INTO t VALUES(1,'x'),(2,'y');");
    fixture_open(&f, NULL);
    cr_assert(same_order(&f, "SELECT a, b FROM t ORDER BY a", "SELECT a, b FROM t ORDER BY b"));
    cr_assert_not(same_order(&f, "SELECT a, b FROM t ORDER BY a", "SELECT a, b FROM t ORDER BY a DESC"));
    cr_assert_not(same_order(&f, "SELECT a, b FROM t", "SELECT b, a FROM t"));
    cr_assert_not(same_order(&f, "SELECT 1, 2 UNION ALL SELECT 3, 4",
                             "SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4"));
    fixture_end(&f);
}

Test(digest, wide_rows_are_sorted_too)
{
    struct fixture f;
    fixture_init(&f, "CREATE TABLE t(a)");
    fixture_open(&f, NULL);
    GString *up = g_string_new("SELECT 0"), *down = g_string_new("SELECT 99");
    for (int i = 1; i < 100; i++) {
        g_string_append_printf(up, ", %d", i);
        g_string_append_printf(down, ", %d", 99 - i);
    }
    cr_assert(same_bag(&f, up->str, down->str));
    g_string_free(up, TRUE);
    g_string_free(down, TRUE);
    fixture_end(&f);
}
