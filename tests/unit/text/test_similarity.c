#include "lib/text/text.h"

#include <criterion/criterion.h>

Test(similarity, same_meaning)
{
    static const char *const SAME[][2] = {
        {"customer", "clients"},   {"salary", "wage"},     {"paid", "salary"},    {"earns", "salaries"},
        {"teacher", "instructor"}, {"city", "towns"},      {"cost", "price"},     {"oldest", "age"},
        {"tallest", "height"},     {"heaviest", "weight"}, {"longest", "length"}, {"when", "date"},
        {"where", "location"},     {"who", "name"},        {"song", "track"},     {"movie", "films"},
        {"email", "e-mail"},       {"dept", "department"}, {"people", "person"},  {"teach", "teacher"},
        {"win", "winner"},         {"children", "child"},  {"colour", "color"},   {"stadiums", "stadium"},
        {"qty", "amount"},
    };
    for (size_t i = 0; i < sizeof SAME / sizeof *SAME; i++) {
        double ab = text_word_similarity(SAME[i][0], SAME[i][1]), ba = text_word_similarity(SAME[i][1], SAME[i][0]);
        cr_expect_gt(ab, 0.5, "%s %s", SAME[i][0], SAME[i][1]);
        cr_expect_float_eq(ab, ba, 1e-12);
    }
    cr_expect_float_eq(text_word_similarity("Singer", "singers"), 1, 0);
}

Test(similarity, other_meaning)
{
    static const char *const OTHER[][2] = {{"singer", "stadium"}, {"age", "height"},  {"city", "country"}, {"", ""},
                                           {"year", "weight"},    {"number", "numb"}, {"dog", "cat"},      {"a", "b"}};
    for (size_t i = 0; i < sizeof OTHER / sizeof *OTHER; i++)
        cr_expect_lt(text_word_similarity(OTHER[i][0], OTHER[i][1]), 0.5, "%s %s", OTHER[i][0], OTHER[i][1]);
}

Test(similarity, stop_words)
{
    cr_expect(text_is_stop("the") && text_is_stop("show") && text_is_stop("doesn't"));
    cr_expect(!text_is_stop("singer") && !text_is_stop("") && !text_is_stop("average"));
}
