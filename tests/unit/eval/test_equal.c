/* Tests the equality of results. The expected outcomes follow from the rules of the reference labeller. */
#include "eval/equal.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(equal, .fini = leak_check);

#define N(x)                                                                                                           \
    {                                                                                                                  \
        .type = DB_INT, .i = (x)                                                                                       \
    }
#define F(x)                                                                                                           \
    {                                                                                                                  \
        .type = DB_FLOAT, .f = (x)                                                                                     \
    }
#define T(x)                                                                                                           \
    {                                                                                                                  \
        .type = DB_TEXT, .text = (x), .len = sizeof(x) - 1                                                             \
    }
#define B(x)                                                                                                           \
    {                                                                                                                  \
        .type = DB_BLOB, .text = (x), .len = sizeof(x) - 1                                                             \
    }
#define NIL                                                                                                            \
    {                                                                                                                  \
        .type = DB_NULL                                                                                                \
    }
#define ROWS(...)                                                                                                      \
    (const struct db_value[])                                                                                          \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

static bool equal(unsigned columns, unsigned rows, const struct db_value *a, const struct db_value *b, bool ordered)
{
    struct db_result left = {.n_columns = columns, .n_rows = rows, .values = a};
    struct db_result right = {.n_columns = columns, .n_rows = rows, .values = b};
    struct fingerprint x, y;
    cr_assert(fingerprint_make(&left, &x) && fingerprint_make(&right, &y));
    bool result = fingerprint_equal(&x, &y, ordered);
    fingerprint_free(&x);
    fingerprint_free(&y);
    return result;
}

static bool value_equal(struct db_value a, struct db_value b)
{
    return equal(1, 1, &a, &b, false);
}

static bool votes_alike(struct db_value a, struct db_value b)
{
    struct db_result left = {.n_columns = 1, .n_rows = 1, .values = &a},
                     right = {.n_columns = 1, .n_rows = 1, .values = &b};
    struct fingerprint x, y;
    cr_assert(fingerprint_make(&left, &x) && fingerprint_make(&right, &y));
    bool result = XXH128_isEqual(x.bag, y.bag);
    fingerprint_free(&x);
    fingerprint_free(&y);
    return result;
}

#define V(literal) (struct db_value) literal

Test(equal, numbers_match_as_text_and_value)
{
    cr_assert(value_equal(V(N(1)), V(N(1))));
    cr_assert(value_equal(V(F(0.1)), V(F(0.1))));
    cr_assert_not(value_equal(V(N(1)), V(F(1.0))), "'1' and '1.0' differ as text");
    cr_assert_not(value_equal(V(N(1)), V(T("1"))), "a number is no text");
    cr_assert_not(value_equal(V(N(0)), V(NIL)));
    cr_assert_not(value_equal(V(T("None")), V(NIL)), "equal as text, not as value");
    cr_assert_not(value_equal(V(N(9007199254740993)), V(F(9007199254740992.0))));
}

Test(equal, votes_compare_text_only)
{
    cr_assert(votes_alike(V(N(1)), V(T("1"))));
    cr_assert(votes_alike(V(T("None")), V(NIL)));
    cr_assert_not(votes_alike(V(N(1)), V(F(1.0))));
}

Test(equal, floats_print_like_reference)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {{1.0, "1.0"},
                 {0.1, "0.1"},
                 {1e15, "1000000000000000.0"},
                 {1e16, "1e+16"},
                 {1234567890123456.0, "1234567890123456.0"},
                 {0.0001, "0.0001"},
                 {0.00012, "0.00012"},
                 {1e-5, "1e-05"},
                 {1.5e-7, "1.5e-07"},
                 {-2.5, "-2.5"},
                 {1e100, "1e+100"},
                 {1.0 / 3, "0.3333333333333333"},
                 {5e-324, "5e-324"},
                 {1.7976931348623157e308, "1.7976931348623157e+308"},
                 {100.25, "100.25"},
                 {0.0, "0.0"},
                 {-0.0, "-0.0"},
                 {123456789.125, "123456789.125"},
                 {2e22, "2e+22"}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct db_value text = {.type = DB_TEXT, .text = cases[i].text, .len = strlen(cases[i].text)};
        cr_expect(votes_alike(V(F(cases[i].value)), text), "%s", cases[i].text);
    }
}

Test(equal, text_loses_its_invalid_bytes)
{
    cr_assert(value_equal(V(T("caf\xC3\xA9")), V(T("caf\xC3\xA9"))));
    cr_assert(value_equal(V(T("caf\xE9!")), V(T("caf!"))), "a lone Latin-1 byte is dropped");
    cr_assert(value_equal(V(T("a\xED\xA0\x80z")), V(T("az"))), "surrogates are not UTF-8");
    cr_assert(value_equal(V(T("\xC0\xAF.")), V(T("."))), "nor are overlong forms");
    cr_assert_not(value_equal(V(T("a")), V(B("a"))));
}

Test(equal, columns_may_be_permuted)
{
    const struct db_value *a = ROWS(N(1), T("x"), N(2), T("y")), *b = ROWS(T("y"), N(2), T("x"), N(1));
    cr_assert(equal(2, 2, a, b, false));
    cr_assert_not(equal(2, 2, a, b, true), "rows come in another order");
    cr_assert(equal(2, 2, a, ROWS(T("x"), N(1), T("y"), N(2)), true));
}

/* Each column and each row of both results has the same multiset of values. But no permutation of the columns makes the
 * rows equal. */
Test(equal, rows_are_paired_as_whole)
{
    const struct db_value *a = ROWS(N(1), N(2), N(3), N(2), N(3), N(1), N(3), N(1), N(2));
    const struct db_value *b = ROWS(N(1), N(3), N(2), N(2), N(1), N(3), N(3), N(2), N(1));
    cr_assert(equal(3, 3, a, b, false), "swap the last two columns");
    const struct db_value *c = ROWS(N(1), N(2), N(2), N(1), N(1), N(2), N(2), N(1));
    const struct db_value *d = ROWS(N(1), N(2), N(1), N(2), N(2), N(1), N(2), N(1));
    cr_assert(equal(2, 4, c, d, false));
    const struct db_value *e = ROWS(N(1), N(2), N(3), N(1), N(3), N(2), N(2), N(1), N(3));
    cr_assert_not(equal(3, 3, a, e, false), "two of the three rows turn the other way round");
}

Test(equal, repeated_rows_count)
{
    cr_assert_not(equal(1, 3, ROWS(N(1), N(1), N(2)), ROWS(N(1), N(2), N(2)), false));
    struct db_result one = {.n_columns = 1, .n_rows = 1, .values = ROWS(N(1))},
                     two = {.n_columns = 1, .n_rows = 2, .values = ROWS(N(1), N(1))};
    struct fingerprint x, y;
    cr_assert(fingerprint_make(&one, &x) && fingerprint_make(&two, &y));
    cr_assert_not(fingerprint_equal(&x, &y, false));
    fingerprint_free(&x);
    fingerprint_free(&y);
}

Test(equal, empty_results_are_equal_regardless_of_columns)
{
    struct db_result one = {.n_columns = 1}, three = {.n_columns = 3};
    struct fingerprint x, y;
    cr_assert(fingerprint_make(&one, &x) && fingerprint_make(&three, &y));
    cr_assert(fingerprint_equal(&x, &y, true));
    fingerprint_free(&x);
    fingerprint_free(&y);
}

Test(equal, top_level_order_counts)
{
    cr_assert(orders_at_top("SELECT a FROM t ORDER BY a"));
    cr_assert(orders_at_top("select a from t where b in (select c from u) order\n  by count(*)"));
    cr_assert_not(orders_at_top("SELECT * FROM (SELECT a FROM t ORDER BY a LIMIT 1)"));
    cr_assert_not(orders_at_top("SELECT a FROM t WHERE a = (SELECT max(b) FROM (SELECT b FROM u ORDER BY b))"));
    cr_assert(orders_at_top("SELECT a FROM t WHERE (a ORDER BY b"), "an unmatched parenthesis hides nothing");
    cr_assert(orders_at_top("SELECT x AS border by FROM t"), "the reference looks for the letters, so do we");
}
