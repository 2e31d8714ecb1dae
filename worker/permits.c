/* DESIGN: a permit is a lease in a sorted set of Redis, or a unit of this process's local share.
 *
 * Each operation (take, renew, give) is one script that uses the server's clock. `held` counts this process's permits
 * of both kinds, so the local share stays correct when Redis becomes unavailable. Waiters poll with a backoff. They are
 * also woken when this process returns a permit.
 */
#include "worker/permits.h"

#include "lib/base/backoff.h"
#include "lib/base/clock.h"
#include "worker/cache_link.h"
#include "worker/lease_keeper.h"

#include <glib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { PROCESSES = 8, LEASE_MS = 15000, LEAST_LEASE_MS = 30, LEAST_PAUSE_NS = 1000000 };
static const struct backoff PAUSES = {4000000, 64000000, 0.5, 1.5};

struct permit {
    char *db;
    struct lease lease;
    bool is_local; /* taken from the local share; Redis does not know it */
};

#define X(name, help) atomic_ullong name;
struct counters {
    PERMIT_COUNTERS(X)
};
#undef X

struct permits {
    struct links links;
    bool linked;
    char *prefix;
    uint32_t processes;
    int64_t lease_ms;
    struct counters counters;

    pthread_mutex_t lock;
    pthread_cond_t given; /* signalled when a permit was returned */
    GHashTable *held;     /* db → number of permits of this process, of both kinds */

    struct lease_keeper *keeper; /* renews the permits in Redis */
};

static void count(atomic_ullong *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* --- scripts, which use the server's clock --- */

/* Keys: the sorted set. Arguments: token, lease in ms, cap. */
#define NOW                                                                                                            \
    "local t = redis.call('TIME') local now = t[1] * 1000 + math.floor(t[2] / 1000) "                                  \
    "redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now) "
#define ENTER "redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1]) redis.call('PEXPIRE', KEYS[1], 2 * ARGV[2]) "

static const char TAKE[] =
    NOW "if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end " ENTER "return 1";

/* Renews a permit. Returns 2 if the permit was lost and taken again, and 0 if it is lost. */
static const char RENEW[] =
    NOW "local held = redis.call('ZSCORE', KEYS[1], ARGV[1]) "
        "if not held and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end " ENTER
        "if held then return 1 end return 2";

static const char GIVE[] = "return redis.call('ZREM', KEYS[1], ARGV[1])";

/* Runs a script and returns the number that it returned. Returns a value below 0 if Redis is unavailable or replies
 * otherwise. */
static long long run(struct permits *permits, const char *script, const struct lease *held)
{
    char lease[24], cap[16];
    g_snprintf(lease, sizeof lease, "%lld", (long long)permits->lease_ms);
    g_snprintf(cap, sizeof cap, "%u", held->cap);
    struct link_command command = {.argc = 7, .argv = {"EVAL", script, "1", held->key, held->token, lease, cap}};
    redisReply *reply;
    if (!permits->linked) return -1;
    for (int i = 0; i < command.argc; i++) command.lens[i] = strlen(command.argv[i]);
    if (links_call(&permits->links, &command, 1, false, &reply, NULL)) return -1;
    long long answer = reply->type == REDIS_REPLY_INTEGER && reply->integer >= 0 ? reply->integer : -1;
    links_free_replies(&reply, 1);
    return answer;
}

/* --- renewing ----------------------------------------------------------------------------------------------------- */

static void permit_free(struct permit *permit)
{
    g_free(permit->db);
    g_free(permit->lease.key);
    g_free(permit);
}

/* Renews a permit, or takes a lost permit again. If the permit was returned meanwhile, removes it from Redis again. */
static void renew(void *ctx, const struct lease *lease)
{
    struct permits *permits = ctx;
    long long answer = run(permits, RENEW, lease);
    if (answer == 1 || answer < 0) return;
    if (lease_keeper_has(permits->keeper, lease))
        count(&permits->counters.lost);
    else
        run(permits, GIVE, lease);
}

/* --- taking ------------------------------------------------------------------------------------------------------- */

static uint32_t held_count(const struct permits *permits, const char *db)
{
    return GPOINTER_TO_UINT(g_hash_table_lookup(permits->held, db));
}

static void change_held(struct permits *permits, const char *db, int by)
{
    uint32_t now = (uint32_t)((int)held_count(permits, db) + by);
    if (now)
        g_hash_table_replace(permits->held, g_strdup(db), GUINT_TO_POINTER(now));
    else
        g_hash_table_remove(permits->held, db);
}

/* INVARIANT share: without Redis this process never takes a permit beyond its share of the cap. Permits taken earlier
 * count too. */
static bool take_local_share(struct permits *permits, struct permit *permit)
{
    uint32_t share = MAX(permit->lease.cap / permits->processes, 1);
    pthread_mutex_lock(&permits->lock);
    bool free = held_count(permits, permit->db) < share;
    if (free) change_held(permits, permit->db, 1);
    pthread_mutex_unlock(&permits->lock);
    permit->is_local = free;
    if (free) count(&permits->counters.local);
    return free;
}

static void note_leased(struct permits *permits, const struct permit *permit)
{
    pthread_mutex_lock(&permits->lock);
    change_held(permits, permit->db, 1);
    pthread_mutex_unlock(&permits->lock);
    lease_keeper_add(permits->keeper, &permit->lease);
    count(&permits->counters.taken);
}

static bool try_take(struct permits *permits, struct permit *permit)
{
    long long answer = run(permits, TAKE, &permit->lease);
    if (answer < 0) return take_local_share(permits, permit);
    if (answer == 1) note_leased(permits, permit);
    return answer == 1;
}

/* Waits until the next attempt is due, this process returns a permit, or until_ns has passed. */
static void pause_some(struct permits *permits, uint32_t attempt, int64_t until_ns)
{
    int64_t left_ns = until_ns - clock_now_ns();
    struct timespec due = clock_after_ns(MAX(MIN(left_ns, backoff_wait_ns(&PAUSES, attempt, NULL)), LEAST_PAUSE_NS));
    pthread_mutex_lock(&permits->lock);
    pthread_cond_timedwait(&permits->given, &permits->lock, &due);
    pthread_mutex_unlock(&permits->lock);
}

static struct permit *permit_new(const struct permits *permits, const char *db, uint32_t cap)
{
    struct permit *permit = g_new0(struct permit, 1);
    permit->db = g_strdup(db);
    permit->lease.key = g_strdup_printf("%s:permits:%s", permits->prefix, db);
    permit->lease.cap = cap;
    lease_token(permit->lease.token);
    return permit;
}

enum err_code permits_take(struct permits *permits, const char *db, uint32_t cap, int64_t until_ns, struct permit **out,
                           struct err *err)
{
    struct permit *permit = permit_new(permits, db, cap);
    *out = NULL;
    for (uint32_t attempt = 0; !try_take(permits, permit); attempt++) {
        if (!attempt) count(&permits->counters.waits);
        if (clock_now_ns() >= until_ns) {
            permit_free(permit);
            count(&permits->counters.refused);
            return err_set(err, ERR_FULL, "the limit of %u concurrent statements of database '%.100s' is reached", cap,
                           db);
        }
        pause_some(permits, attempt, until_ns);
    }
    *out = permit;
    return ERR_OK;
}

void permits_give(struct permits *permits, struct permit *permit)
{
    if (!permit) return;
    pthread_mutex_lock(&permits->lock);
    change_held(permits, permit->db, -1);
    pthread_mutex_unlock(&permits->lock);
    if (!permit->is_local) {
        lease_keeper_remove(permits->keeper, &permit->lease);
        run(permits, GIVE, &permit->lease);
    }
    pthread_cond_broadcast(&permits->given);
    permit_free(permit);
}

/* --- open, close -------------------------------------------------------------------------------------------------- */

enum err_code permits_open(const struct permits_config *config, struct permits **out, struct err *err)
{
    struct link_config link;
    *out = NULL;
    bool linked = config->redis.address != NULL;
    enum err_code code = linked ? cache_read_config(&config->redis, &link, err) : ERR_OK;
    if (code) return code;
    struct permits *permits = g_new0(struct permits, 1);
    permits->linked = linked;
    if (linked) links_init(&permits->links, &link);
    permits->prefix = g_strdup(config->redis.prefix && *config->redis.prefix ? config->redis.prefix : "assay");
    permits->processes = config->processes ? config->processes : PROCESSES;
    permits->lease_ms = config->lease_ms > 0 ? MAX(config->lease_ms, LEAST_LEASE_MS) : LEASE_MS;
    permits->held = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    permits->keeper = lease_keeper_new(permits->lease_ms, renew, permits);
    pthread_mutex_init(&permits->lock, NULL);
    clock_cond_init(&permits->given);
    *out = permits;
    return ERR_OK;
}

void permits_close(struct permits *permits)
{
    if (!permits) return;
    lease_keeper_free(permits->keeper);
    if (permits->linked) links_free(&permits->links);
    g_hash_table_destroy(permits->held);
    pthread_cond_destroy(&permits->given);
    pthread_mutex_destroy(&permits->lock);
    g_free(permits->prefix);
    g_free(permits);
}

void permits_get_stats(struct permits *permits, struct permits_stats *out)
{
#define X(name, help) out->name = atomic_load_explicit(&permits->counters.name, memory_order_relaxed);
    PERMIT_COUNTERS(X)
#undef X
}
