#include "worker/db_breakers.h"

#include "lib/base/clock.h"

#include <pthread.h>

enum { FAILURES = 5, PAUSE_MS = 1000, MOST_PAUSE_MS = 30000, PROBE_MS = 100 };

struct breakers {
    struct breaker_config config;
    pthread_mutex_t lock;
    GHashTable *all; /* name → struct breaker, of databases that failed; only those that exist ever fail to answer */
    uint64_t opened;
};

struct breakers *breakers_new(const struct breakers_config *config)
{
    struct breakers *breakers = g_new0(struct breakers, 1);
    struct breakers_config own = config ? *config : (struct breakers_config){0};
    if (!own.failures) own.failures = FAILURES;
    if (own.pause_ms <= 0) own.pause_ms = PAUSE_MS;
    if (own.most_pause_ms <= 0) own.most_pause_ms = MAX(MOST_PAUSE_MS, own.pause_ms);
    struct backoff pause = {own.pause_ms * 1000000, own.most_pause_ms * 1000000, 0.75, 1.25};
    breakers->config = (struct breaker_config){own.failures, pause};
    pthread_mutex_init(&breakers->lock, NULL);
    breakers->all = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    return breakers;
}

void breakers_free(struct breakers *breakers)
{
    if (!breakers) return;
    g_hash_table_destroy(breakers->all);
    pthread_mutex_destroy(&breakers->lock);
    g_free(breakers);
}

enum err_code breakers_admit(struct breakers *breakers, const char *db, int64_t *wait_ms, struct err *err)
{
    int64_t now = clock_now_ns();
    *wait_ms = 0;
    pthread_mutex_lock(&breakers->lock);
    struct breaker *breaker = g_hash_table_lookup(breakers->all, db);
    bool admitted = !breaker || breaker_admit(breaker, now);
    if (!admitted) *wait_ms = MAX((breaker->until_ns - now) / 1000000 + 1, PROBE_MS);
    pthread_mutex_unlock(&breakers->lock);
    if (admitted) return ERR_OK;
    return err_set(err, ERR_DB_UNAVAILABLE, "database '%.100s' has not answered several times and is left alone", db);
}

static struct breaker *breaker_of(struct breakers *breakers, const char *db)
{
    struct breaker *breaker = g_hash_table_lookup(breakers->all, db);
    if (breaker) return breaker;
    breaker = g_new0(struct breaker, 1);
    g_hash_table_insert(breakers->all, g_strdup(db), breaker);
    return breaker;
}

void breakers_report(struct breakers *breakers, const char *db, enum breaker_outcome outcome)
{
    pthread_mutex_lock(&breakers->lock);
    if (outcome == BREAKER_ALIVE)
        g_hash_table_remove(breakers->all, db);
    else if (outcome == BREAKER_FAILED || g_hash_table_contains(breakers->all, db))
        breakers->opened += breaker_report(breaker_of(breakers, db), &breakers->config, clock_now_ns(), outcome);
    pthread_mutex_unlock(&breakers->lock);
}

uint64_t breakers_opened(struct breakers *breakers)
{
    pthread_mutex_lock(&breakers->lock);
    uint64_t opened = breakers->opened;
    pthread_mutex_unlock(&breakers->lock);
    return opened;
}

uint32_t breakers_open_now(struct breakers *breakers)
{
    GHashTableIter iter;
    void *value;
    uint32_t n = 0;
    pthread_mutex_lock(&breakers->lock);
    g_hash_table_iter_init(&iter, breakers->all);
    while (g_hash_table_iter_next(&iter, NULL, &value)) n += ((struct breaker *)value)->state != BREAKER_CLOSED;
    pthread_mutex_unlock(&breakers->lock);
    return n;
}
