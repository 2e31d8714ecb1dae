#include "cli/replay/rate_limiter.h"

#include <glib.h>
#include <time.h>

static const int64_t SECOND_NS = 1000000000, SAVED_NS = 500000000, NAP_NS = 20000000;

static int64_t until_token(struct pace *pace, int64_t now_ns)
{
    if (pace->rate <= 0) return 0;
    if (pace->next_ns < now_ns - SAVED_NS) pace->next_ns = pace->next_ns ? now_ns - SAVED_NS : now_ns;
    return MAX(0, pace->next_ns - now_ns);
}

static int64_t until_time(struct pace *pace, int64_t time_ms, int64_t now_ns)
{
    if (pace->speed <= 0 || time_ms < 0) return 0;
    if (!pace->began_ns) {
        pace->began_ns = now_ns;
        pace->began_ms = time_ms;
    }
    double passed_ns = (double)(time_ms - pace->began_ms) * 1e6 / pace->speed;
    if (passed_ns <= 0) return 0;
    int64_t wait_ns = pace->began_ns + (int64_t)MIN(passed_ns, 9e17) - now_ns;
    pace->behind_ns = MAX(0, -wait_ns);
    return MAX(0, wait_ns);
}

int64_t pace_wait_ns(struct pace *pace, int64_t time_ms, int64_t now_ns)
{
    int64_t token_ns = until_token(pace, now_ns), time_ns = until_time(pace, time_ms, now_ns);
    return MAX(token_ns, time_ns);
}

void pace_take(struct pace *pace, int64_t now_ns)
{
    if (pace->rate <= 0) return;
    pace->next_ns = MAX(pace->next_ns, now_ns - SAVED_NS) + (int64_t)((double)SECOND_NS / pace->rate);
}

void pace_nap(int64_t wait_ns)
{
    struct timespec nap = {.tv_nsec = (long)CLAMP(wait_ns, 0, NAP_NS)};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
}
