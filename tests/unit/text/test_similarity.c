#include "lib/text/text.h"

#include <criterion/criterion.h>
#include <pthread.h>

Test(similarity, similar_questions_score_high)
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

Test(similarity, different_questions_score_low)
{
    static const char *const OTHER[][2] = {{"singer", "stadium"}, {"age", "height"},  {"city", "country"}, {"", ""},
                                           {"year", "weight"},    {"number", "numb"}, {"dog", "cat"},      {"a", "b"}};
    for (size_t i = 0; i < sizeof OTHER / sizeof *OTHER; i++)
        cr_expect_lt(text_word_similarity(OTHER[i][0], OTHER[i][1]), 0.5, "%s %s", OTHER[i][0], OTHER[i][1]);
}

Test(similarity, stop_words_have_low_weight)
{
    cr_expect(text_is_stop("the") && text_is_stop("show") && text_is_stop("doesn't"));
    cr_expect(!text_is_stop("singer") && !text_is_stop("") && !text_is_stop("average"));
}

static void *compare_many(void *data)
{
    unsigned *wrong = data;
    for (unsigned i = 0; i < 2000; i++) {
        *wrong += text_word_similarity("customers", "client") < 0.5;
        *wrong += text_word_similarity(i % 2 ? "singers" : "sings", i % 2 ? "singer" : "sing") < 1;
    }
    return NULL;
}

/* Each thread has its own stemmer. The first thread builds the shared tables, once. */
Test(similarity, concurrent_scores_match)
{
    pthread_t threads[4];
    unsigned wrong[4] = {0};
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, compare_many, &wrong[i]);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; i++) cr_expect_eq(wrong[i], 0);
}
