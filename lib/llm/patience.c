#include "lib/llm/patience.h"

void patience_init(struct patience *p, const struct patience_limits *limits, uint64_t seed)
{
    *p = (struct patience){.limits = *limits, .tokens = PATIENCE_BURST};
    pthread_mutex_init(&p->lock, NULL);
    guint32 words[] = {(guint32)seed, (guint32)(seed >> 32)};
    p->random = seed ? g_rand_new_with_seed_array(words, G_N_ELEMENTS(words)) : g_rand_new();
}

void patience_free(struct patience *p)
{
    g_rand_free(p->random);
    pthread_mutex_destroy(&p->lock);
}

bool patience_admit(struct patience *p, int64_t now)
{
    pthread_mutex_lock(&p->lock);
    bool half_open = p->open_until && now >= p->open_until && !p->trying;
    bool admitted = !p->open_until || half_open;
    if (half_open) p->trying = true;
    p->refused += !admitted;
    pthread_mutex_unlock(&p->lock);
    return admitted;
}

static void failed(struct patience *p, int64_t now)
{
    if (p->failures < UINT32_MAX) p->failures++;
    bool trip =
        p->trying || (!p->open_until && p->limits.breaker_failures && p->failures >= p->limits.breaker_failures);
    if (!trip) return;
    p->open_until = now + p->limits.breaker_open_ns;
    p->opened++;
}

void patience_report(struct patience *p, int64_t now, enum patience_outcome outcome)
{
    pthread_mutex_lock(&p->lock);
    if (outcome == PATIENCE_FAILED) failed(p, now);
    if (outcome == PATIENCE_ALIVE) {
        p->failures = 0;
        p->open_until = 0;
    }
    p->trying = false;
    pthread_mutex_unlock(&p->lock);
}

void patience_earn(struct patience *p)
{
    pthread_mutex_lock(&p->lock);
    p->tokens = MIN(p->tokens + p->limits.retry_share, PATIENCE_BURST);
    pthread_mutex_unlock(&p->lock);
}

bool patience_spend(struct patience *p)
{
    pthread_mutex_lock(&p->lock);
    bool enough = p->tokens >= 1;
    if (enough) p->tokens -= 1;
    pthread_mutex_unlock(&p->lock);
    return enough;
}

int64_t patience_backoff(struct patience *p, uint32_t retry)
{
    int64_t most = p->limits.backoff_ns;
    for (uint32_t i = 0; i < retry && most < p->limits.backoff_cap_ns; i++) most *= 2;
    most = MIN(most, p->limits.backoff_cap_ns);
    pthread_mutex_lock(&p->lock);
    double share = g_rand_double(p->random);
    pthread_mutex_unlock(&p->lock);
    return (int64_t)(share * (double)most);
}

void patience_pause(struct patience *p, int64_t until)
{
    pthread_mutex_lock(&p->lock);
    p->pause_until = MAX(p->pause_until, until);
    pthread_mutex_unlock(&p->lock);
}

int64_t patience_pause_until(struct patience *p)
{
    pthread_mutex_lock(&p->lock);
    int64_t until = p->pause_until;
    pthread_mutex_unlock(&p->lock);
    return until;
}

bool patience_is_open(struct patience *p, int64_t now)
{
    pthread_mutex_lock(&p->lock);
    bool open = p->open_until > now || p->trying;
    pthread_mutex_unlock(&p->lock);
    return open;
}

void patience_counts(struct patience *p, uint64_t *opened, uint64_t *refused)
{
    pthread_mutex_lock(&p->lock);
    *opened = p->opened;
    *refused = p->refused;
    pthread_mutex_unlock(&p->lock);
}
