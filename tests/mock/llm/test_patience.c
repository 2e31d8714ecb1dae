/* Waits, budget and breaker, with time moved by hand. */
#include "lib/llm/patience.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>

TestSuite(patience, .fini = leak_check);

static const int64_t second = 1000000000;

static struct patience make(uint32_t failures)
{
    struct patience p;
    struct patience_limits limits = {.backoff_ns = 100,
                                     .backoff_cap_ns = 1000,
                                     .retry_share = 0.5,
                                     .breaker_failures = failures,
                                     .breaker_open_ns = 10 * second};
    patience_init(&p, &limits, 11);
    return p;
}

Test(patience, waits_are_drawn_from_zero_to_a_doubling_cap)
{
    struct patience p = make(0);
    const int64_t caps[] = {100, 200, 400, 800, 1000, 1000};
    for (unsigned retry = 0; retry < 6; retry++) {
        int64_t longest = 0, shortest = INT64_MAX;
        for (int i = 0; i < 2000; i++) {
            int64_t wait = patience_backoff(&p, retry);
            longest = wait > longest ? wait : longest;
            shortest = wait < shortest ? wait : shortest;
        }
        cr_assert_leq(longest, caps[retry]);
        cr_assert_gt(longest, caps[retry] * 9 / 10, "retry %u reaches its cap", retry);
        cr_assert_lt(shortest, caps[retry] / 10, "jitter is full: retry %u may come at once", retry);
    }
    cr_assert_leq(patience_backoff(&p, 4000000000U), 1000, "no overflow");
    patience_free(&p);
}

Test(patience, equal_seeds_wait_alike)
{
    struct patience a = make(0), b = make(0);
    for (unsigned i = 0; i < 20; i++) cr_assert_eq(patience_backoff(&a, 3), patience_backoff(&b, 3));
    patience_free(&a);
    patience_free(&b);
}

Test(patience, retries_have_a_budget_that_calls_earn)
{
    struct patience p = make(0);
    for (int i = 0; i < PATIENCE_BURST; i++) cr_assert(patience_spend(&p));
    cr_assert_not(patience_spend(&p), "the burst is used up");
    patience_earn(&p);
    cr_assert_not(patience_spend(&p), "half a retry a call");
    patience_earn(&p);
    cr_assert(patience_spend(&p));
    for (int i = 0; i < 1000; i++) patience_earn(&p);
    for (int i = 0; i < PATIENCE_BURST; i++) cr_assert(patience_spend(&p));
    cr_assert_not(patience_spend(&p), "no more than the burst is saved up");
    patience_free(&p);
}

Test(patience, the_breaker_opens_tries_one_and_closes)
{
    struct patience p = make(3);
    uint64_t opened = 0, refused = 0;
    for (int i = 0; i < 2; i++) {
        cr_assert(patience_admit(&p, 0));
        patience_report(&p, 0, PATIENCE_FAILED);
    }
    cr_assert(patience_admit(&p, 0));
    patience_report(&p, 0, PATIENCE_ALIVE);
    for (int i = 0; i < 3; i++) {
        cr_assert(patience_admit(&p, second), "an answer in between starts the count anew");
        patience_report(&p, second, PATIENCE_FAILED);
    }
    cr_assert(patience_is_open(&p, second));
    cr_assert_not(patience_admit(&p, 10 * second));
    cr_assert(patience_admit(&p, 11 * second), "one may try");
    cr_assert_not(patience_admit(&p, 11 * second), "only one");
    patience_report(&p, 11 * second, PATIENCE_FAILED);
    cr_assert_not(patience_admit(&p, 20 * second), "open again, from then on");
    cr_assert(patience_admit(&p, 21 * second));
    patience_report(&p, 21 * second, PATIENCE_UNKNOWN);
    cr_assert(patience_admit(&p, 21 * second), "a try that was called off lets the next one try");
    patience_report(&p, 21 * second, PATIENCE_ALIVE);
    cr_assert(patience_admit(&p, 21 * second) && patience_admit(&p, 21 * second), "closed");
    patience_counts(&p, &opened, &refused);
    cr_assert_eq(opened, 2);
    cr_assert_eq(refused, 3);
    patience_free(&p);
}

Test(patience, without_a_limit_the_breaker_never_opens)
{
    struct patience p = make(0);
    for (int i = 0; i < 100; i++) {
        cr_assert(patience_admit(&p, 0));
        patience_report(&p, 0, PATIENCE_FAILED);
    }
    patience_free(&p);
}

Test(patience, the_longest_pause_counts)
{
    struct patience p = make(0);
    patience_pause(&p, 5 * second);
    patience_pause(&p, 2 * second);
    cr_assert_eq(patience_pause_until(&p), 5 * second);
    patience_free(&p);
}
