#include "lib/text/text.h"

#include <criterion/criterion.h>
#include <string.h>

Test(distance, distances_match_expected_values)
{
    static const struct {
        const char *a, *b;
        unsigned limit, want;
    } CASES[] = {
        {"", "", 3, 0},
        {"abc", "abc", 3, 0},
        {"abc", "", 3, 3},
        {"abc", "", 2, 3},
        {"kitten", "sitting", 5, 3},
        {"ab", "ba", 3, 1},
        {"ca", "abc", 5, 3},
        {"singer", "snigers", 3, 2},
        {"S\xC3\xA3o", "Sao", 3, 1},
        {"abcdef", "uvwxyz", 2, 3},
        {"abcd", "badc", 1, 2},
        {"abcd", "badc", 2, 2},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        cr_expect_eq(text_distance(CASES[i].a, CASES[i].b, CASES[i].limit), CASES[i].want, "%s %s", CASES[i].a,
                     CASES[i].b);
        cr_expect_eq(text_distance(CASES[i].b, CASES[i].a, CASES[i].limit), CASES[i].want);
    }
}

Test(distance, long_words_are_compared)
{
    char a[2000], b[2000];
    memset(a, 'x', sizeof a);
    a[200] = '\0';
    memcpy(b, a, sizeof b);
    b[100] = 'y';
    cr_expect_eq(text_distance(a, b, 4), 1);
    a[200] = 'x';
    a[1999] = '\0';
    cr_expect_eq(text_distance(a, a, 4), 0);
    cr_expect_eq(text_distance(a, b, 4), 5);
}

Test(distance, jaro_winkler_matches_expected_values)
{
    cr_expect_float_eq(text_similarity("martha", "marhta"), 0.9611, 1e-4);
    cr_expect_float_eq(text_similarity("dwayne", "duane"), 0.84, 1e-4);
    cr_expect_float_eq(text_similarity("abc", "xyz"), 0, 1e-9);
    cr_expect_float_eq(text_similarity("", ""), 1, 1e-9);
    cr_expect_float_eq(text_similarity("a", ""), 0, 1e-9);
    cr_expect_float_eq(text_similarity("a", "b"), 0, 1e-9);
}
