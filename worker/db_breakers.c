/* DESIGN: two tables by database name, guarded by one lock.
 *
 * The first table has a breaker for each database with recent failures; a success removes it. The second has the
 * databases on which a statement was ever abandoned. A database is unavailable while its breaker is open, or while its
 * server still runs more than MOST_ABANDONED abandoned statements. One thread at a time queries the server about them,
 * at most every ask_ms.
 */
#include "worker/db_breakers.h"

#include "lib/base/clock.h"

#include <pthread.h>

enum { FAILURES = 5, PAUSE_MS = 1000, MOST_PAUSE_MS = 30000, PROBE_MS = 100, ASK_MS = 1000, MOST_ABANDONED = 1 };

/* A database on which a statement was abandoned. */
struct stuck {
    struct db_abandoned count; /* count at the last check */
    int64_t ask_ns;            /* time of the next query to its server */
    bool open;
};

struct breakers {
    struct breaker_config config;
    struct breakers_config probe; /* settings for checking abandoned statements */
    pthread_mutex_t lock;
    GHashTable *all; /* name → struct breaker, for databases with recent failures; only existing databases can fail */
    GHashTable *stuck; /* name → struct stuck */
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
    breakers->config = (struct breaker_config){own.only_abandoned ? 0 : own.failures, pause};
    breakers->probe = own;
    if (!own.ask_ms) breakers->probe.ask_ms = ASK_MS;
    if (!own.count) breakers->probe.count = db_abandoned;
    if (!own.ask) breakers->probe.ask = db_abandoned_ask;
    pthread_mutex_init(&breakers->lock, NULL);
    breakers->all = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    breakers->stuck = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    return breakers;
}

void breakers_free(struct breakers *breakers)
{
    if (!breakers) return;
    g_hash_table_destroy(breakers->all);
    g_hash_table_destroy(breakers->stuck);
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
    return err_set(err, ERR_DB_UNAVAILABLE, "database '%.100s' is unavailable: circuit open after repeated failures",
                   db);
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

/* --- abandoned statements --- */

static struct stuck *stuck_of(struct breakers *breakers, const char *db)
{
    struct stuck *stuck = g_hash_table_lookup(breakers->stuck, db);
    if (stuck) return stuck;
    stuck = g_new0(struct stuck, 1);
    g_hash_table_insert(breakers->stuck, g_strdup(db), stuck);
    return stuck;
}

/* Returns true if the caller must query the server. Only one thread at a time must. */
static bool take_question(struct breakers *breakers, const char *db, int64_t now_ns)
{
    pthread_mutex_lock(&breakers->lock);
    struct stuck *stuck = stuck_of(breakers, db);
    bool due = now_ns >= stuck->ask_ns;
    if (due) stuck->ask_ns = now_ns + breakers->probe.ask_ms * 1000000;
    pthread_mutex_unlock(&breakers->lock);
    return due;
}

/* Stores the count of a database's abandoned statements. Returns true if the database may be used. */
static bool note_count(struct breakers *breakers, const char *db, const struct db_abandoned *count)
{
    bool open = count->running > MOST_ABANDONED;
    pthread_mutex_lock(&breakers->lock);
    struct stuck *stuck = stuck_of(breakers, db);
    breakers->opened += open && !stuck->open;
    stuck->count = *count;
    stuck->open = open;
    pthread_mutex_unlock(&breakers->lock);
    return !open;
}

enum err_code breakers_check_abandoned(struct breakers *breakers, const char *db, const char *path, int64_t *wait_ms,
                                       struct err *err)
{
    struct db_abandoned count = breakers->probe.count(path);
    if (!count.ever) return ERR_OK;
    if (count.running && take_question(breakers, db, clock_now_ns())) {
        breakers->probe.ask(path, NULL); /* the result is ignored: a server that does not reply may still run them */
        count = breakers->probe.count(path);
    }
    if (note_count(breakers, db, &count)) return ERR_OK;
    *wait_ms = breakers->probe.ask_ms;
    return err_set(err, ERR_DB_UNAVAILABLE, "database '%.100s' is unavailable: it still runs %u cancelled statements",
                   db, count.running);
}

void breakers_abandoned(struct breakers *breakers, breakers_abandoned_fn *each, void *ctx)
{
    GHashTableIter iter;
    void *db, *stuck;
    pthread_mutex_lock(&breakers->lock);
    g_hash_table_iter_init(&iter, breakers->stuck);
    while (g_hash_table_iter_next(&iter, &db, &stuck)) each(ctx, db, &((struct stuck *)stuck)->count);
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
    g_hash_table_iter_init(&iter, breakers->stuck);
    while (g_hash_table_iter_next(&iter, NULL, &value)) n += ((struct stuck *)value)->open;
    pthread_mutex_unlock(&breakers->lock);
    return n;
}
