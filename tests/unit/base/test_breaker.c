/* Tests the backoff and the circuit breaker, under a clock that the tests set. */
#include "lib/base/breaker.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>

TestSuite(backoff, .fini = leak_check);
TestSuite(breaker, .fini = leak_check);

Test(backoff, backoff_doubles_up_to_its_bound)
{
    const struct backoff backoff = {.first_ns = 100, .most_ns = 1000, .jitter_low = 1, .jitter_high = 1};
    static const int64_t want[] = {100, 200, 400, 800, 1000, 1000};
    for (uint32_t retry = 0; retry < G_N_ELEMENTS(want); retry++)
        cr_expect_eq(backoff_wait_ns(&backoff, retry, NULL), want[retry]);
    cr_expect_eq(backoff_wait_ns(&backoff, UINT32_MAX, NULL), 1000);
    const struct backoff none = {.jitter_low = 1, .jitter_high = 1};
    cr_expect_eq(backoff_wait_ns(&none, UINT32_MAX, NULL), 0);
    const struct backoff ever = {.first_ns = INT64_MAX / 3, .most_ns = INT64_MAX, .jitter_low = 1, .jitter_high = 1};
    cr_expect_gt(backoff_wait_ns(&ever, 60, NULL), INT64_MAX / 3, "no overflow");
}

Test(backoff, jitter_is_drawn_from_its_whole_range)
{
    const struct backoff backoff = {.first_ns = 1000, .most_ns = 1000, .jitter_low = 0.5, .jitter_high = 1.5};
    GRand *random = g_rand_new_with_seed(7);
    int64_t shortest = INT64_MAX, longest = 0;
    for (int i = 0; i < 2000; i++) {
        int64_t wait = backoff_wait_ns(&backoff, 3, i % 2 ? random : NULL);
        shortest = MIN(shortest, wait);
        longest = MAX(longest, wait);
    }
    cr_expect(shortest >= 500 && shortest < 520, "%d", (int)shortest);
    cr_expect(longest < 1500 && longest > 1480, "%d", (int)longest);
    g_rand_free(random);
}

static const struct breaker_config config = {.failures = 3, .pause = {40, 100, 1, 1}};

static unsigned fail_times(struct breaker *breaker, unsigned n, int64_t now)
{
    unsigned opened = 0;
    for (unsigned i = 0; i < n; i++) opened += breaker_report(breaker, &config, now, BREAKER_FAILED);
    return opened;
}

Test(breaker, opens_after_failures_in_a_row)
{
    struct breaker breaker = {0};
    cr_expect_eq(fail_times(&breaker, 2, 0), 0);
    cr_expect(breaker_admit(&breaker, 0));
    breaker_report(&breaker, &config, 0, BREAKER_ALIVE);
    cr_expect_eq(fail_times(&breaker, 2, 0), 0, "an answer in between starts the count anew");
    breaker_report(&breaker, &config, 0, BREAKER_UNKNOWN);
    cr_expect(breaker_admit(&breaker, 0));
    cr_expect_eq(fail_times(&breaker, 1, 0), 1, "no news does not");
    cr_expect(breaker_refuses(&breaker, 39) && !breaker_admit(&breaker, 39));
}

Test(breaker, half_open_breaker_passes_one_decisive_call)
{
    struct breaker breaker = {0};
    fail_times(&breaker, 3, 0);
    cr_expect_not(breaker_refuses(&breaker, 40));
    cr_assert(breaker_admit(&breaker, 40), "after the pause one goes");
    cr_expect(breaker_refuses(&breaker, 40) && !breaker_admit(&breaker, 1000), "and only one");
    cr_expect_eq(fail_times(&breaker, 1, 50), 1, "it failed: open again");
    cr_expect_not(breaker_admit(&breaker, 129), "and for twice as long");
    cr_assert(breaker_admit(&breaker, 130));
    fail_times(&breaker, 1, 130);
    cr_expect_not(breaker_admit(&breaker, 229), "for 100 at most");
    cr_assert(breaker_admit(&breaker, 230));
    breaker_report(&breaker, &config, 230, BREAKER_ALIVE);
    cr_expect(breaker_admit(&breaker, 230) && breaker_admit(&breaker, 230), "it is closed");
    fail_times(&breaker, 3, 300);
    cr_expect(breaker_admit(&breaker, 340), "and its pauses start anew");
}

Test(breaker, trial_without_outcome_permits_another_trial)
{
    struct breaker breaker = {0};
    fail_times(&breaker, 3, 0);
    cr_assert(breaker_admit(&breaker, 40));
    breaker_report(&breaker, &config, 41, BREAKER_UNKNOWN);
    cr_expect(breaker_admit(&breaker, 41));
}

/* Calls that were in flight when the breaker opened fail one by one. They do not lengthen the pause. */
Test(breaker, late_failures_are_ignored)
{
    struct breaker breaker = {0};
    cr_expect_eq(fail_times(&breaker, 40, 0), 1);
    cr_expect(breaker_admit(&breaker, 40));
}

Test(breaker, breaker_without_failure_limit_never_opens)
{
    const struct breaker_config never = {.pause = {40, 40, 1, 1}};
    struct breaker breaker = {0};
    for (int i = 0; i < 100; i++) {
        cr_assert(breaker_admit(&breaker, 0));
        cr_assert_not(breaker_report(&breaker, &never, 0, BREAKER_FAILED));
    }
}
