#include "lib/llm/answers.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <stdio.h>

TestSuite(answers, .fini = leak_check);

static void put(struct answers *answers, const char *key, double p)
{
    struct answer answer = {.p = p};
    snprintf(answer.key, sizeof answer.key, "%s", key);
    answers_put(answers, &answer);
}

static double get(struct answers *answers, const char *key)
{
    struct answer answer = {.p = -1};
    return answers_get(answers, key, &answer) ? answer.p : -1;
}

Test(answers, least_recently_used_answer_is_evicted_first)
{
    struct answers *answers = answers_new(2);
    put(answers, "a", 0.1);
    put(answers, "b", 0.2);
    cr_assert_eq(get(answers, "a"), 0.1);
    put(answers, "c", 0.3);
    cr_assert_eq(get(answers, "b"), -1, "b was used longest ago");
    cr_assert_eq(get(answers, "a"), 0.1);
    cr_assert_eq(get(answers, "c"), 0.3);
    answers_free(answers);
}

Test(answers, first_answer_to_request_is_cached)
{
    struct answers *answers = answers_new(2);
    put(answers, "a", 0.1);
    put(answers, "a", 0.9);
    cr_assert_eq(get(answers, "a"), 0.1);
    answers_free(answers);
}

Test(answers, cache_of_size_zero_stores_nothing)
{
    struct answers *answers = answers_new(0);
    put(answers, "a", 0.1);
    cr_assert_eq(get(answers, "a"), -1);
    answers_free(answers);
}
