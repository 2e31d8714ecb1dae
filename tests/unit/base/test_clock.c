#include "lib/base/clock.h"

#include <criterion/criterion.h>
#include <errno.h>

static int64_t ns_of(struct timespec at)
{
    return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

Test(clock, deadline_is_requested_distance_ahead)
{
    static const int64_t ms[] = {0, 1, 999, 1000, 1001, 1999, 86400000};
    for (unsigned i = 0; i < sizeof ms / sizeof *ms; i++) {
        int64_t before = clock_now_ns();
        struct timespec by_ms = clock_after_ms(ms[i]), by_ns = clock_after_ns(ms[i] * 1000000);
        int64_t after = clock_now_ns();
        cr_expect(by_ms.tv_nsec < 1000000000 && by_ns.tv_nsec < 1000000000, "%lld", (long long)ms[i]);
        cr_expect(ns_of(by_ms) - ms[i] * 1000000 >= before && ns_of(by_ns) - ms[i] * 1000000 <= after, "%lld",
                  (long long)ms[i]);
    }
}

/* The nanoseconds of the current time and of the wait may add up to more than a second. */
Test(clock, seconds_are_carried)
{
    for (int64_t start = clock_now_ns(); clock_now_ns() - start < INT64_C(300000000);)
        cr_assert_lt(clock_after_ns(800000000).tv_nsec, 1000000000);
}

/* If the deadline were on another clock, it would be years in the past or in the future. */
Test(clock, condition_wait_lasts_requested_time, .timeout = 30)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t never;
    clock_cond_init(&never);
    int64_t start = clock_now_ns();
    struct timespec until = clock_after_ms(30);
    pthread_mutex_lock(&lock);
    int error = 0;
    while (!error) error = pthread_cond_timedwait(&never, &lock, &until);
    pthread_mutex_unlock(&lock);
    cr_expect_eq(error, ETIMEDOUT);
    cr_expect_geq(clock_now_ns() - start, 30000000);
    pthread_cond_destroy(&never);
}
