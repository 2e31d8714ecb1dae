#include "lib/llm/retry_policy.h"

void retry_policy_init(struct retry_policy *policy, const struct retry_limits *limits, uint64_t seed)
{
    struct backoff pause = {limits->breaker_open_ns, limits->breaker_open_ns, 1, 1};
    *policy = (struct retry_policy){.backoff = {limits->backoff_ns, limits->backoff_cap_ns, 0, 1},
                                    .breaker_config = {limits->breaker_failures, pause},
                                    .share = limits->retry_share,
                                    .tokens = RETRY_BURST};
    pthread_mutex_init(&policy->lock, NULL);
    guint32 words[] = {(guint32)seed, (guint32)(seed >> 32)};
    policy->random = seed ? g_rand_new_with_seed_array(words, G_N_ELEMENTS(words)) : g_rand_new();
}

void retry_policy_free(struct retry_policy *policy)
{
    g_rand_free(policy->random);
    pthread_mutex_destroy(&policy->lock);
}

bool retry_policy_admit(struct retry_policy *policy, int64_t now)
{
    pthread_mutex_lock(&policy->lock);
    bool admitted = breaker_admit(&policy->breaker, now);
    policy->refused += !admitted;
    pthread_mutex_unlock(&policy->lock);
    return admitted;
}

void retry_policy_report(struct retry_policy *policy, int64_t now, enum breaker_outcome outcome)
{
    pthread_mutex_lock(&policy->lock);
    policy->opened += breaker_report(&policy->breaker, &policy->breaker_config, now, outcome);
    pthread_mutex_unlock(&policy->lock);
}

void retry_policy_earn(struct retry_policy *policy)
{
    pthread_mutex_lock(&policy->lock);
    policy->tokens = MIN(policy->tokens + policy->share, RETRY_BURST);
    pthread_mutex_unlock(&policy->lock);
}

bool retry_policy_spend(struct retry_policy *policy)
{
    pthread_mutex_lock(&policy->lock);
    bool enough = policy->tokens >= 1;
    if (enough) policy->tokens -= 1;
    pthread_mutex_unlock(&policy->lock);
    return enough;
}

int64_t retry_policy_backoff(struct retry_policy *policy, uint32_t retry)
{
    pthread_mutex_lock(&policy->lock);
    int64_t wait = backoff_wait_ns(&policy->backoff, retry, policy->random);
    pthread_mutex_unlock(&policy->lock);
    return wait;
}

void retry_policy_pause(struct retry_policy *policy, int64_t until)
{
    pthread_mutex_lock(&policy->lock);
    policy->pause_until = MAX(policy->pause_until, until);
    pthread_mutex_unlock(&policy->lock);
}

int64_t retry_policy_pause_until(struct retry_policy *policy)
{
    pthread_mutex_lock(&policy->lock);
    int64_t until = policy->pause_until;
    pthread_mutex_unlock(&policy->lock);
    return until;
}

bool retry_policy_is_open(struct retry_policy *policy, int64_t now)
{
    pthread_mutex_lock(&policy->lock);
    bool open = breaker_refuses(&policy->breaker, now);
    pthread_mutex_unlock(&policy->lock);
    return open;
}

void retry_policy_counts(struct retry_policy *policy, uint64_t *opened, uint64_t *refused)
{
    pthread_mutex_lock(&policy->lock);
    *opened = policy->opened;
    *refused = policy->refused;
    pthread_mutex_unlock(&policy->lock);
}
