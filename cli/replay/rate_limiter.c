#include "cli/replay/rate_limiter.h"

#include <glib.h>
#include <time.h>

static const int64_t SECOND_NS = 1000000000, SAVED_NS = 500000000, NAP_NS = 20000000;

static int64_t until_token(struct rate_limiter *limiter, int64_t now_ns)
{
    if (limiter->rate <= 0) return 0;
    if (limiter->next_ns < now_ns - SAVED_NS) limiter->next_ns = limiter->next_ns ? now_ns - SAVED_NS : now_ns;
    return MAX(0, limiter->next_ns - now_ns);
}

static int64_t until_time(struct rate_limiter *limiter, int64_t time_ms, int64_t now_ns)
{
    if (limiter->speed <= 0 || time_ms < 0) return 0;
    if (!limiter->began_ns) {
        limiter->began_ns = now_ns;
        limiter->began_ms = time_ms;
    }
    double passed_ns = (double)(time_ms - limiter->began_ms) * 1e6 / limiter->speed;
    if (passed_ns <= 0) return 0;
    int64_t wait_ns = limiter->began_ns + (int64_t)MIN(passed_ns, 9e17) - now_ns;
    limiter->behind_ns = MAX(0, -wait_ns);
    return MAX(0, wait_ns);
}

int64_t rate_limiter_wait_ns(struct rate_limiter *limiter, int64_t time_ms, int64_t now_ns)
{
    int64_t token_ns = until_token(limiter, now_ns), time_ns = until_time(limiter, time_ms, now_ns);
    return MAX(token_ns, time_ns);
}

void rate_limiter_take(struct rate_limiter *limiter, int64_t now_ns)
{
    if (limiter->rate <= 0) return;
    limiter->next_ns = MAX(limiter->next_ns, now_ns - SAVED_NS) + (int64_t)((double)SECOND_NS / limiter->rate);
}

void rate_limiter_sleep(int64_t wait_ns)
{
    struct timespec nap = {.tv_nsec = (long)CLAMP(wait_ns, 0, NAP_NS)};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
}
