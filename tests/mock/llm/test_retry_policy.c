/* Waits, retry budget and circuit breaker, under a clock that the tests set. */
#include "lib/llm/retry_policy.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>

TestSuite(retry_policy, .fini = leak_check);

static const int64_t second = 1000000000;

static struct retry_policy make(uint32_t failures)
{
    struct retry_policy p;
    struct retry_limits limits = {.backoff_ns = 100,
                                  .backoff_cap_ns = 1000,
                                  .retry_share = 0.5,
                                  .breaker_failures = failures,
                                  .breaker_open_ns = 10 * second};
    retry_policy_init(&p, &limits, 11);
    return p;
}

Test(retry_policy, waits_are_random_up_to_doubling_cap)
{
    struct retry_policy p = make(0);
    const int64_t caps[] = {100, 200, 400, 800, 1000, 1000};
    for (unsigned retry = 0; retry < 6; retry++) {
        int64_t longest = 0, shortest = INT64_MAX;
        for (int i = 0; i < 2000; i++) {
            int64_t wait = retry_policy_backoff(&p, retry);
            longest = wait > longest ? wait : longest;
            shortest = wait < shortest ? wait : shortest;
        }
        cr_assert_leq(longest, caps[retry]);
        cr_assert_gt(longest, caps[retry] * 9 / 10, "retry %u reaches its cap", retry);
        cr_assert_lt(shortest, caps[retry] / 10, "jitter is full: retry %u may come at once", retry);
    }
    cr_assert_leq(retry_policy_backoff(&p, 4000000000U), 1000, "no overflow");
    retry_policy_free(&p);
}

Test(retry_policy, equal_seeds_give_equal_waits)
{
    struct retry_policy a = make(0), b = make(0);
    for (unsigned i = 0; i < 20; i++) cr_assert_eq(retry_policy_backoff(&a, 3), retry_policy_backoff(&b, 3));
    retry_policy_free(&a);
    retry_policy_free(&b);
}

Test(retry_policy, calls_earn_retry_budget)
{
    struct retry_policy p = make(0);
    for (int i = 0; i < RETRY_BURST; i++) cr_assert(retry_policy_spend(&p));
    cr_assert_not(retry_policy_spend(&p), "the burst is used up");
    retry_policy_earn(&p);
    cr_assert_not(retry_policy_spend(&p), "half a retry a call");
    retry_policy_earn(&p);
    cr_assert(retry_policy_spend(&p));
    for (int i = 0; i < 1000; i++) retry_policy_earn(&p);
    for (int i = 0; i < RETRY_BURST; i++) cr_assert(retry_policy_spend(&p));
    cr_assert_not(retry_policy_spend(&p), "no more than the burst is saved up");
    retry_policy_free(&p);
}

Test(retry_policy, outcomes_reach_breaker_and_are_counted)
{
    struct retry_policy p = make(3);
    uint64_t opened = 0, refused = 0;
    for (int i = 0; i < 3; i++) {
        cr_assert(retry_policy_admit(&p, second));
        retry_policy_report(&p, second, BREAKER_FAILED);
    }
    cr_assert(retry_policy_is_open(&p, second));
    cr_assert_not(retry_policy_admit(&p, 10 * second));
    cr_assert_not(retry_policy_is_open(&p, 11 * second), "the pause is over");
    cr_assert(retry_policy_admit(&p, 11 * second), "one may try");
    cr_assert(retry_policy_is_open(&p, 11 * second));
    cr_assert_not(retry_policy_admit(&p, 11 * second), "only one");
    retry_policy_report(&p, 11 * second, BREAKER_FAILED);
    cr_assert_not(retry_policy_admit(&p, 20 * second), "open again, from then on, for as long");
    cr_assert(retry_policy_admit(&p, 21 * second));
    retry_policy_report(&p, 21 * second, BREAKER_ALIVE);
    cr_assert(retry_policy_admit(&p, 21 * second) && retry_policy_admit(&p, 21 * second), "closed");
    retry_policy_counts(&p, &opened, &refused);
    cr_assert_eq(opened, 2);
    cr_assert_eq(refused, 3);
    retry_policy_free(&p);
}

Test(retry_policy, longest_pause_takes_effect)
{
    struct retry_policy p = make(0);
    retry_policy_pause(&p, 5 * second);
    retry_policy_pause(&p, 2 * second);
    cr_assert_eq(retry_policy_pause_until(&p), 5 * second);
    retry_policy_free(&p);
}
