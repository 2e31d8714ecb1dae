#include "lib/base/breaker.h"

bool breaker_refuses(const struct breaker *breaker, int64_t now_ns)
{
    return breaker->state == BREAKER_HALF_OPEN || (breaker->state == BREAKER_OPEN && now_ns < breaker->until_ns);
}

bool breaker_admit(struct breaker *breaker, int64_t now_ns)
{
    if (breaker_refuses(breaker, now_ns)) return false;
    if (breaker->state == BREAKER_OPEN) breaker->state = BREAKER_HALF_OPEN;
    return true;
}

static bool fail(struct breaker *breaker, const struct breaker_config *config, int64_t now_ns)
{
    if (breaker->failures < UINT32_MAX) breaker->failures++;
    bool enough = config->failures && breaker->failures >= config->failures;
    if (breaker->state == BREAKER_OPEN || (breaker->state == BREAKER_CLOSED && !enough)) return false;
    breaker->state = BREAKER_OPEN;
    breaker->until_ns = now_ns + backoff_wait_ns(&config->pause, breaker->opened, NULL);
    if (breaker->opened < UINT32_MAX) breaker->opened++;
    return true;
}

bool breaker_report(struct breaker *breaker, const struct breaker_config *config, int64_t now_ns,
                    enum breaker_outcome outcome)
{
    if (outcome == BREAKER_FAILED) return fail(breaker, config, now_ns);
    if (outcome == BREAKER_ALIVE)
        *breaker = (struct breaker){0};
    else if (breaker->state == BREAKER_HALF_OPEN)
        breaker->state = BREAKER_OPEN; /* its pause has ended, so the next attempt is admitted */
    return false;
}
