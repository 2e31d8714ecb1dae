/* DESIGN: an LRU cache in memory in front of Redis, with one caller of the model for each key.
 *
 * `asked` holds the keys for which a thread of this process is calling the model or waits for another process. The
 * other threads wait on `heard`. A lease in Redis has the same purpose between processes; waiters poll with a backoff.
 * Without Redis, processes do not share calls.
 */
#include "worker/cache_replies.h"

#include "lib/base/backoff.h"
#include "lib/base/clock.h"
#include "worker/cache_link.h"
#include "worker/lease_keeper.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES = 4096, LEASE_MS = 30000 };
static const int64_t DAY_MS = 86400000;
static const struct backoff PAUSES = {10000000, 250000000, 0.5, 1.5};

struct reply {
    char *key, *text;
    int64_t ends_ns;
    GList *place; /* link of the reply in `recent` */
};

struct replies {
    struct links links;
    bool linked;
    char *prefix;
    uint32_t entries;
    int64_t ttl_ms, lease_ms;
    char token[LEASE_TOKEN]; /* token of this process's leases */

    pthread_mutex_t lock; /* guards the fields below */
    pthread_cond_t heard;
    GHashTable *known; /* key → struct reply */
    GQueue recent;     /* queue of struct reply, most recently used first */
    GHashTable *asked; /* keys that this process is requesting */
};

static void reply_free(gpointer p)
{
    struct reply *reply = p;
    g_free(reply->key);
    g_free(reply->text);
    g_free(reply);
}

/* --- cache in memory; the caller holds the lock --- */

static void forget(struct replies *replies, struct reply *reply)
{
    g_queue_delete_link(&replies->recent, reply->place);
    g_hash_table_remove(replies->known, reply->key);
}

static char *recall(struct replies *replies, const char *key)
{
    struct reply *reply = g_hash_table_lookup(replies->known, key);
    if (!reply) return NULL;
    if (reply->ends_ns < clock_now_ns()) {
        forget(replies, reply);
        return NULL;
    }
    g_queue_unlink(&replies->recent, reply->place);
    g_queue_push_head_link(&replies->recent, reply->place);
    return strdup(reply->text);
}

static void remember(struct replies *replies, const char *key, const char *text)
{
    struct reply *old = g_hash_table_lookup(replies->known, key);
    if (old) forget(replies, old);
    struct reply *reply = g_new0(struct reply, 1);
    reply->key = g_strdup(key);
    reply->text = g_strdup(text);
    reply->ends_ns = clock_now_ns() + replies->ttl_ms * 1000000;
    g_queue_push_head(&replies->recent, reply);
    reply->place = replies->recent.head;
    g_hash_table_insert(replies->known, reply->key, reply);
    if (replies->recent.length > replies->entries) forget(replies, replies->recent.tail->data);
}

/* --- Redis -------------------------------------------------------------------------------------------------------- */

/* Returns the reply to a command of `argc` words, or NULL if Redis is unavailable. Free with links_free_replies. */
static redisReply *call(struct replies *replies, int argc, const char *const *argv)
{
    struct link_command command = {.argc = argc};
    redisReply *reply = NULL;
    for (int i = 0; i < argc; i++) {
        command.argv[i] = argv[i];
        command.lens[i] = strlen(argv[i]);
    }
    return replies->linked && links_call(&replies->links, &command, 1, false, &reply, NULL) == ERR_OK ? reply : NULL;
}

static char *fetch(struct replies *replies, const char *key)
{
    char *name = g_strdup_printf("%s:llm:%s", replies->prefix, key);
    redisReply *reply = call(replies, 2, (const char *const[]){"GET", name});
    char *text =
        reply && reply->type == REDIS_REPLY_STRING && !memchr(reply->str, 0, reply->len) ? strdup(reply->str) : NULL;
    if (reply) links_free_replies(&reply, 1);
    g_free(name);
    return text;
}

/* Takes the lease of a key. Also returns true if Redis is unavailable; every process then calls the model. */
static bool take_lease(struct replies *replies, const char *key)
{
    char *name = g_strdup_printf("%s:llm:%s:asked", replies->prefix, key), ms[24];
    g_snprintf(ms, sizeof ms, "%lld", (long long)replies->lease_ms);
    redisReply *reply = call(replies, 6, (const char *const[]){"SET", name, replies->token, "NX", "PX", ms});
    bool taken = !reply || reply->type != REDIS_REPLY_NIL;
    if (reply) links_free_replies(&reply, 1);
    g_free(name);
    return taken;
}

static void store(struct replies *replies, const char *key, const char *text)
{
    static const char GIVE[] =
        "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";
    char *name = g_strdup_printf("%s:llm:%s", replies->prefix, key), ms[24];
    char *lease = g_strdup_printf("%s:asked", name);
    g_snprintf(ms, sizeof ms, "%lld", (long long)replies->ttl_ms);
    redisReply *reply = text ? call(replies, 5, (const char *const[]){"SET", name, text, "PX", ms}) : NULL;
    if (reply) links_free_replies(&reply, 1);
    reply = call(replies, 5, (const char *const[]){"EVAL", GIVE, "1", lease, replies->token});
    if (reply) links_free_replies(&reply, 1);
    g_free(lease);
    g_free(name);
}

/* --- one caller for each key --- */

/* Returns true if this thread must request the key. Otherwise waits for the thread of this process that requests it.
 * Returns false when *text is known or until_ns has passed. */
static bool enter(struct replies *replies, const char *key, int64_t until_ns, char **text)
{
    pthread_mutex_lock(&replies->lock);
    while (!(*text = recall(replies, key)) && g_hash_table_contains(replies->asked, key)) {
        struct timespec due = clock_after_ns(MAX(until_ns - clock_now_ns(), 0));
        if (pthread_cond_timedwait(&replies->heard, &replies->lock, &due)) break;
    }
    bool mine = !*text && !g_hash_table_contains(replies->asked, key);
    if (mine) g_hash_table_add(replies->asked, g_strdup(key));
    pthread_mutex_unlock(&replies->lock);
    return mine;
}

/* Waits until the next attempt is due, or until this process has received a reply. */
static void pause_some(struct replies *replies, uint32_t attempt, int64_t until_ns)
{
    int64_t left_ns = until_ns - clock_now_ns();
    struct timespec due = clock_after_ns(MAX(MIN(left_ns, backoff_wait_ns(&PAUSES, attempt, NULL)), 0));
    pthread_mutex_lock(&replies->lock);
    pthread_cond_timedwait(&replies->heard, &replies->lock, &due);
    pthread_mutex_unlock(&replies->lock);
}

/* Waits for the reply of another process. Returns NULL if this process must call the model. */
static char *wait_for_others(struct replies *replies, const char *key, int64_t until_ns)
{
    char *text = fetch(replies, key);
    for (uint32_t attempt = 0; !text && !take_lease(replies, key); attempt++) {
        if (clock_now_ns() >= until_ns) return NULL;
        pause_some(replies, attempt, until_ns);
        text = fetch(replies, key);
    }
    return text;
}

enum replies_found replies_find(struct replies *replies, const char *key, int64_t until_ns, char **text)
{
    pthread_mutex_lock(&replies->lock);
    *text = recall(replies, key);
    pthread_mutex_unlock(&replies->lock);
    if (*text) return REPLIES_HERE;
    if (!enter(replies, key, until_ns, text)) return *text ? REPLIES_SHARED : REPLIES_TO_ASK;
    if (!replies->linked || !(*text = wait_for_others(replies, key, until_ns))) return REPLIES_TO_ASK;
    replies_put(replies, key, *text);
    return REPLIES_SHARED;
}

void replies_put(struct replies *replies, const char *key, const char *text)
{
    if (replies->linked) store(replies, key, text);
    pthread_mutex_lock(&replies->lock);
    if (text) remember(replies, key, text);
    g_hash_table_remove(replies->asked, key);
    pthread_cond_broadcast(&replies->heard);
    pthread_mutex_unlock(&replies->lock);
}

/* --- open, close -------------------------------------------------------------------------------------------------- */

enum err_code replies_open(const struct replies_config *config, struct replies **out, struct err *err)
{
    struct link_config link;
    bool linked = config->redis.address != NULL;
    *out = NULL;
    enum err_code code = linked ? cache_read_config(&config->redis, &link, err) : ERR_OK;
    if (code) return code;
    struct replies *replies = g_new0(struct replies, 1);
    replies->linked = linked;
    if (linked) links_init(&replies->links, &link);
    replies->prefix = g_strdup(config->redis.prefix && *config->redis.prefix ? config->redis.prefix : "assay");
    replies->entries = config->entries ? config->entries : ENTRIES;
    replies->ttl_ms = config->ttl_ms > 0 ? config->ttl_ms : DAY_MS;
    replies->lease_ms = config->lease_ms > 0 ? config->lease_ms : LEASE_MS;
    lease_token(replies->token);
    replies->known = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, reply_free);
    replies->asked = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_queue_init(&replies->recent);
    pthread_mutex_init(&replies->lock, NULL);
    clock_cond_init(&replies->heard);
    *out = replies;
    return ERR_OK;
}

void replies_close(struct replies *replies)
{
    if (!replies) return;
    if (replies->linked) links_free(&replies->links);
    g_queue_clear(&replies->recent);
    g_hash_table_destroy(replies->known);
    g_hash_table_destroy(replies->asked);
    pthread_cond_destroy(&replies->heard);
    pthread_mutex_destroy(&replies->lock);
    g_free(replies->prefix);
    g_free(replies);
}
