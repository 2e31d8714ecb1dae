/* DESIGN: threads with two bounded queues, one for lookups and one for verdicts to store.
 *
 * Lookups come first, because requests wait for them. A finished lookup stays in `found` until the loop takes it; the
 * loop owns the job that it took last. A lookup whose deadline has passed is not sent to the cache.
 */
#include "coordinator/lookup_pool.h"

#include <pthread.h>
#include <string.h>

enum { THREADS = 4, MAX_FINDS = 1024, MAX_KEEPS = 128 };

/* A lookup, or a verdict to store. */
struct job {
    struct msg_key request;
    int64_t until_ns;
    char *db, *state, *key; /* `state` is NULL for a lookup */
    char *bytes;
    size_t len;
    enum err_code code;
};

struct lookup_pool {
    struct coordinator_cache cache;
    struct bus *bus;
    pthread_t threads[THREADS];
    uint32_t n_threads;
    struct job *taken; /* the job that the loop took last; owned by the loop */
    pthread_mutex_t lock;
    pthread_cond_t more;
    bool stopping; /* this and the following fields are guarded by the lock */
    GQueue finds, keeps, found;
    uint32_t looking; /* number of lookups that are queued, running or finished but not taken */
};

static void job_free(gpointer p)
{
    struct job *job = p;
    if (!job) return;
    g_free(job->db);
    g_free(job->state);
    g_free(job->key);
    g_free(job->bytes);
    g_free(job);
}

/* --- threads --- */

/* Returns the next job, lookups first. Returns NULL when the pool stops. */
static struct job *next_job(struct lookup_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    while (!pool->stopping && !pool->finds.head && !pool->keeps.head) pthread_cond_wait(&pool->more, &pool->lock);
    struct job *job = pool->stopping ? NULL : g_queue_pop_head(pool->finds.head ? &pool->finds : &pool->keeps);
    pthread_mutex_unlock(&pool->lock);
    return job;
}

static void find(struct lookup_pool *pool, struct job *job)
{
    const struct coordinator_cache *cache = &pool->cache;
    bool awaited = bus_now_ns(pool->bus) < job->until_ns;
    job->code = awaited ? cache->find(cache->ctx, job->db, job->key, &job->bytes, &job->len) : ERR_DEADLINE;
    pthread_mutex_lock(&pool->lock);
    g_queue_push_tail(&pool->found, job);
    pthread_mutex_unlock(&pool->lock);
}

static void *run(void *arg)
{
    struct lookup_pool *pool = arg;
    const struct coordinator_cache *cache = &pool->cache;
    struct job *job;
    pthread_setname_np(pthread_self(), "cache");
    while ((job = next_job(pool))) {
        if (!job->state) {
            find(pool, job);
            continue;
        }
        cache->keep(cache->ctx, job->db, job->state, job->key, job->bytes, job->len);
        job_free(job);
    }
    return NULL;
}

/* --- functions called by the loop --- */

/* Queues a job, of which it takes ownership. Returns false if the queue is full. */
static bool submit(struct lookup_pool *pool, GQueue *queue, uint32_t most, struct job *job)
{
    pthread_mutex_lock(&pool->lock);
    bool room = queue->length < most;
    if (room) g_queue_push_tail(queue, job);
    pool->looking += room && !job->state;
    pthread_cond_signal(&pool->more);
    pthread_mutex_unlock(&pool->lock);
    if (!room) job_free(job);
    return room;
}

bool lookup_pool_find(struct lookup_pool *pool, const struct core_wanted *wanted)
{
    struct job *job = g_new0(struct job, 1);
    job->request = wanted->request;
    job->until_ns = wanted->until_ns;
    job->db = g_strdup(wanted->db);
    job->key = g_strdup(wanted->key);
    return submit(pool, &pool->finds, MAX_FINDS, job);
}

bool lookup_pool_keep(struct lookup_pool *pool, const struct core_kept *verdict)
{
    struct job *job = g_new0(struct job, 1);
    job->db = g_strdup(verdict->db);
    job->state = g_strdup(verdict->state);
    job->key = g_strdup(verdict->key);
    job->bytes = g_memdup2(verdict->bytes, verdict->len);
    job->len = verdict->len;
    return submit(pool, &pool->keeps, MAX_KEEPS, job);
}

bool lookup_pool_is_looking(struct lookup_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    bool looking = pool->looking > 0;
    pthread_mutex_unlock(&pool->lock);
    return looking;
}

bool lookup_pool_take(struct lookup_pool *pool, struct msg_key *request, struct core_found *found)
{
    job_free(pool->taken);
    pthread_mutex_lock(&pool->lock);
    pool->taken = g_queue_pop_head(&pool->found);
    pool->looking -= pool->taken != NULL;
    pthread_mutex_unlock(&pool->lock);
    if (!pool->taken) return false;
    *request = pool->taken->request;
    *found = (struct core_found){pool->taken->code, pool->taken->bytes, pool->taken->len};
    return true;
}

/* --- open, close --- */

enum err_code lookup_pool_new(const struct coordinator_cache *cache, struct bus *bus, struct lookup_pool **out,
                              struct err *err)
{
    struct lookup_pool *pool = g_new0(struct lookup_pool, 1);
    *out = NULL;
    pool->cache = *cache;
    pool->bus = bus;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->more, NULL);
    g_queue_init(&pool->finds);
    g_queue_init(&pool->keeps);
    g_queue_init(&pool->found);
    while (pool->n_threads < THREADS && !pthread_create(&pool->threads[pool->n_threads], NULL, run, pool))
        pool->n_threads++;
    if (pool->n_threads < THREADS) {
        lookup_pool_free(pool);
        return err_set(err, ERR_NOMEM, "cannot create a thread for verdict lookups");
    }
    *out = pool;
    return ERR_OK;
}

void lookup_pool_free(struct lookup_pool *pool)
{
    if (!pool) return;
    pthread_mutex_lock(&pool->lock);
    pool->stopping = true;
    pthread_cond_broadcast(&pool->more);
    pthread_mutex_unlock(&pool->lock);
    for (uint32_t i = 0; i < pool->n_threads; i++) pthread_join(pool->threads[i], NULL);
    job_free(pool->taken);
    g_queue_clear_full(&pool->finds, job_free);
    g_queue_clear_full(&pool->keeps, job_free);
    g_queue_clear_full(&pool->found, job_free);
    pthread_cond_destroy(&pool->more);
    pthread_mutex_destroy(&pool->lock);
    g_free(pool);
}
