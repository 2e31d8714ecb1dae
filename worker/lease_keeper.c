#include "worker/lease_keeper.h"

#include "lib/base/clock.h"

#include <errno.h>
#include <glib.h>
#include <pthread.h>
#include <string.h>
#include <sys/random.h>

struct lease_keeper {
    int64_t lease_ms;
    void (*renew)(void *ctx, const struct lease *lease);
    void *ctx;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* signalled when a lease was added or the keeper stops */
    GPtrArray *leases;      /* array of struct lease */
    pthread_t thread;
    bool running, stopping;
};

void lease_token(char token[LEASE_TOKEN])
{
    uint64_t random[2];
    if (getrandom(random, sizeof random, 0) != sizeof random)
        for (int i = 0; i < 2; i++) random[i] = (uint64_t)g_random_int() << 32 | g_random_int();
    g_snprintf(token, LEASE_TOKEN, "%016llx%016llx", (unsigned long long)random[0], (unsigned long long)random[1]);
}

static void lease_free(gpointer p)
{
    struct lease *lease = p;
    g_free(lease->key);
    g_free(lease);
}

static gpointer lease_copy(gconstpointer p, gpointer unused)
{
    struct lease *copy = g_memdup2(p, sizeof *copy);
    (void)unused;
    copy->key = g_strdup(copy->key);
    return copy;
}

/* --- the thread --------------------------------------------------------------------------------------------------- */

/* Renews copies of the leases. The calls are made without the lock, so a lease may be removed meanwhile. */
static void renew_all(struct lease_keeper *keeper)
{
    GPtrArray *leases = g_ptr_array_copy(keeper->leases, lease_copy, NULL);
    pthread_mutex_unlock(&keeper->lock);
    for (guint i = 0; i < leases->len; i++) keeper->renew(keeper->ctx, leases->pdata[i]);
    g_ptr_array_free(leases, TRUE);
    pthread_mutex_lock(&keeper->lock);
}

/* Runs the keeper's thread. A lease that is added while others are held is renewed with them, earlier than needed. */
static void *keep(void *arg)
{
    struct lease_keeper *keeper = arg;
    pthread_setname_np(pthread_self(), "lease-keeper");
    pthread_mutex_lock(&keeper->lock);
    while (!keeper->stopping) {
        if (!keeper->leases->len) {
            pthread_cond_wait(&keeper->changed, &keeper->lock);
            continue;
        }
        struct timespec due = clock_after_ms(keeper->lease_ms / 3);
        while (!keeper->stopping && pthread_cond_timedwait(&keeper->changed, &keeper->lock, &due) != ETIMEDOUT)
            continue;
        if (!keeper->stopping) renew_all(keeper);
    }
    pthread_mutex_unlock(&keeper->lock);
    return NULL;
}

/* --- held leases --- */

/* Returns the index of the lease, or leases->len if it is not held. The caller holds the lock. */
static guint place_of(const struct lease_keeper *keeper, const struct lease *lease)
{
    guint i = 0;
    while (i < keeper->leases->len && strcmp(((struct lease *)keeper->leases->pdata[i])->token, lease->token) != 0) i++;
    return i;
}

void lease_keeper_add(struct lease_keeper *keeper, const struct lease *lease)
{
    pthread_mutex_lock(&keeper->lock);
    g_ptr_array_add(keeper->leases, lease_copy(lease, NULL));
    if (!keeper->running) keeper->running = pthread_create(&keeper->thread, NULL, keep, keeper) == 0;
    pthread_cond_signal(&keeper->changed);
    pthread_mutex_unlock(&keeper->lock);
}

void lease_keeper_remove(struct lease_keeper *keeper, const struct lease *lease)
{
    pthread_mutex_lock(&keeper->lock);
    guint place = place_of(keeper, lease);
    if (place < keeper->leases->len) g_ptr_array_remove_index_fast(keeper->leases, place);
    pthread_mutex_unlock(&keeper->lock);
}

bool lease_keeper_has(struct lease_keeper *keeper, const struct lease *lease)
{
    pthread_mutex_lock(&keeper->lock);
    bool has = place_of(keeper, lease) < keeper->leases->len;
    pthread_mutex_unlock(&keeper->lock);
    return has;
}

struct lease_keeper *lease_keeper_new(int64_t lease_ms, void (*renew)(void *ctx, const struct lease *lease), void *ctx)
{
    struct lease_keeper *keeper = g_new0(struct lease_keeper, 1);
    keeper->lease_ms = lease_ms;
    keeper->renew = renew;
    keeper->ctx = ctx;
    keeper->leases = g_ptr_array_new_with_free_func(lease_free);
    pthread_mutex_init(&keeper->lock, NULL);
    clock_cond_init(&keeper->changed);
    return keeper;
}

void lease_keeper_free(struct lease_keeper *keeper)
{
    if (!keeper) return;
    pthread_mutex_lock(&keeper->lock);
    keeper->stopping = true;
    pthread_cond_signal(&keeper->changed);
    pthread_mutex_unlock(&keeper->lock);
    if (keeper->running) pthread_join(keeper->thread, NULL);
    g_ptr_array_free(keeper->leases, TRUE);
    pthread_cond_destroy(&keeper->changed);
    pthread_mutex_destroy(&keeper->lock);
    g_free(keeper);
}
