#include "lib/base/digits.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

Test(digits, shortest_digits_identify_number)
{
    static const struct {
        double first, second;
        const char *texts[2];
    } cases[] = {
        {0.25, 0.5, {"0.25", "0.50"}},       {0.4996, 0.5, {"0.4996", "0.5000"}},
        {0.5, 0.5, {"0.50", "0.50"}},        {0.499999999, 0.5, {"0.499999999", "0.500000000"}},
        {1e-6, 0, {"0.000001", "0.000000"}}, {0.996, 1, {"0.996", "1.000"}},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct digits_pair pair = digits_apart(cases[i].first, cases[i].second, 2);
        cr_expect_str_eq(pair.first, cases[i].texts[0]);
        cr_expect_str_eq(pair.second, cases[i].texts[1]);
    }
}

Test(digits, neighbours_differ_and_non_numbers_end)
{
    struct digits_pair pair = digits_apart(nextafter(0.5, 0), 0.5, 2);
    cr_expect_str_neq(pair.first, pair.second);
    pair = digits_apart((double)NAN, 0.5, 3);
    cr_expect_str_eq(pair.second, "0.500");
    pair = digits_apart(nextafter(0, 1), 0, 2);
    cr_expect_lt(strlen(pair.first), sizeof pair.first, "bounded");
}

Test(digits, whole_numbers_match_printf)
{
    const int64_t numbers[] = {0, 1, -1, 9, 10, -10, 99, 100, INT32_MIN, UINT32_MAX, INT64_MAX, INT64_MIN};
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char expected[32], text[DIGITS_WHOLE_MAX];
        int len = snprintf(expected, sizeof expected, "%lld", (long long)numbers[i]);
        cr_expect_eq(digits_whole(numbers[i], text), (size_t)len);
        cr_expect_str_eq(text, expected);
    }
}
