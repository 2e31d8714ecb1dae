#include "worker/breaker.h"

#include "lib/base/clock.h"

#include <glib.h>
#include <pthread.h>
#include <string.h>

enum { FAILURES = 5, PAUSE_MS = 1000, MOST_PAUSE_MS = 30000, PROBE_MS = 100 };

/* The state of a database that has failed; a healthy one has none. */
struct breaker {
    uint32_t failures;
    int64_t pause_ms; /* 0: closed */
    int64_t until_ns;
    bool probing; /* half open: one has gone */
};

struct breakers {
    struct breakers_config config;
    pthread_mutex_t lock;
    GHashTable *all; /* name → struct breaker; only databases that exist ever fail to answer */
    uint64_t opened;
};

struct breakers *breakers_new(const struct breakers_config *config)
{
    struct breakers *breakers = g_new0(struct breakers, 1);
    if (config) breakers->config = *config;
    struct breakers_config *own = &breakers->config;
    if (!own->failures) own->failures = FAILURES;
    if (own->pause_ms <= 0) own->pause_ms = PAUSE_MS;
    if (own->most_pause_ms <= 0) own->most_pause_ms = MAX(MOST_PAUSE_MS, own->pause_ms);
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

enum err_code breaker_ask(struct breakers *breakers, const char *db, int64_t *wait_ms, struct err *err)
{
    int64_t now = clock_now_ns();
    *wait_ms = 0;
    pthread_mutex_lock(&breakers->lock);
    struct breaker *breaker = g_hash_table_lookup(breakers->all, db);
    bool shut = breaker && breaker->pause_ms && (now < breaker->until_ns || breaker->probing);
    if (shut) *wait_ms = MAX((breaker->until_ns - now) / 1000000 + 1, PROBE_MS);
    if (breaker && breaker->pause_ms && !shut) breaker->probing = true;
    pthread_mutex_unlock(&breakers->lock);
    if (!shut) return ERR_OK;
    return err_set(err, ERR_DB_UNAVAILABLE, "database '%.100s' has not answered several times and is left alone", db);
}

static void pause_more(struct breakers *breakers, struct breaker *breaker)
{
    const struct breakers_config *config = &breakers->config;
    breaker->pause_ms = breaker->pause_ms ? MIN(breaker->pause_ms * 2, config->most_pause_ms) : config->pause_ms;
    double jitter = g_random_double_range(0.75, 1.25);
    breaker->until_ns = clock_now_ns() + (int64_t)((double)breaker->pause_ms * jitter) * 1000000;
    breakers->opened++;
}

static void note_failure(struct breakers *breakers, const char *db)
{
    struct breaker *breaker = g_hash_table_lookup(breakers->all, db);
    if (!breaker) {
        breaker = g_new0(struct breaker, 1);
        g_hash_table_insert(breakers->all, g_strdup(db), breaker);
    }
    /* Those that were under way when it opened say nothing new. */
    bool probe = breaker->probing;
    breaker->probing = false;
    breaker->failures++;
    if (probe || (!breaker->pause_ms && breaker->failures >= breakers->config.failures)) pause_more(breakers, breaker);
}

void breaker_tell(struct breakers *breakers, const char *db, enum breaker_news news)
{
    pthread_mutex_lock(&breakers->lock);
    if (news == BREAKER_WELL)
        g_hash_table_remove(breakers->all, db);
    else if (news == BREAKER_FAILED)
        note_failure(breakers, db);
    else {
        struct breaker *breaker = g_hash_table_lookup(breakers->all, db);
        if (breaker) breaker->probing = false;
    }
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
    while (g_hash_table_iter_next(&iter, NULL, &value)) n += ((struct breaker *)value)->pause_ms != 0;
    pthread_mutex_unlock(&breakers->lock);
    return n;
}
