#include "lib/base/backoff.h"

int64_t backoff_wait_ns(const struct backoff *backoff, uint32_t retry, GRand *random)
{
    int64_t wait = backoff->first_ns;
    for (uint32_t i = 0; i < MIN(retry, 62) && wait < backoff->most_ns; i++) wait = MIN(wait, INT64_MAX / 2) * 2;
    wait = MIN(wait, backoff->most_ns);
    if (backoff->jitter_low == 1 && backoff->jitter_high == 1) return wait;
    double drawn = random ? g_rand_double(random) : g_random_double();
    return (int64_t)((backoff->jitter_low + drawn * (backoff->jitter_high - backoff->jitter_low)) * (double)wait);
}
