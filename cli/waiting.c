#include "cli/waiting.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A caller. It lives until it has ended and its place has been told, whichever comes later: the brokers' word for the
 * place may come when nobody waits any more. */
struct waiter {
    struct waiting *waiting;
    GList link; /* in `callers` until it ends */
    waiting_done *done;
    void *ctx;
    int64_t until_ns;
    struct msg_key place;
    bool placed, ended;
    char id[MSG_MAX_NAME + 1];
};

struct kept {
    GList link; /* in `oldest` */
    struct outcome outcome;
    size_t bytes;
};

struct waiting {
    pthread_mutex_t lock;
    uint32_t max_waiters;
    size_t max_bytes;
    bool closed;
    GQueue callers;        /* struct waiter, that have not ended */
    GHashTable *by_place;  /* msg_key → struct waiter, of those */
    GHashTable *placeless; /* id → struct waiter, of those: taken, and nobody knows where */
    GQueue oldest;         /* struct kept, first the one that goes first */
    GHashTable *kept;      /* msg_key → struct kept */
    GHashTable *kept_ids;  /* id → struct kept, the newest; verdicts only */
    GHashTable *unsettled; /* struct waiter that ended before their place was told */
    struct waiting_stats stats;
};

/* --- keys --- */

static guint hash_place(gconstpointer p)
{
    const struct msg_key *key = p;
    return (guint)key->offset * 2654435761U ^ (guint)key->partition;
}

static gboolean same_place(gconstpointer p, gconstpointer q)
{
    const struct msg_key *a = p, *b = q;
    return a->partition == b->partition && a->offset == b->offset;
}

/* --- what is kept --- */

static void kept_free(gpointer p)
{
    struct kept *kept = p;
    g_bytes_unref(kept->outcome.body);
    g_free(kept);
}

static void drop(struct waiting *waiting, struct kept *kept)
{
    g_queue_unlink(&waiting->oldest, &kept->link);
    waiting->stats.kept_bytes -= kept->bytes;
    if (g_hash_table_lookup(waiting->kept_ids, kept->outcome.id) == kept)
        g_hash_table_remove(waiting->kept_ids, kept->outcome.id);
    g_hash_table_remove(waiting->kept, &kept->outcome.place); /* frees it */
}

static void keep(struct waiting *waiting, const struct outcome *outcome)
{
    struct kept *old = g_hash_table_lookup(waiting->kept, &outcome->place);
    if (old) drop(waiting, old);
    struct kept *kept = g_new0(struct kept, 1);
    kept->outcome = *outcome;
    kept->outcome.body = g_bytes_ref(outcome->body);
    kept->bytes = sizeof *kept + g_bytes_get_size(outcome->body);
    kept->link.data = kept;
    g_queue_push_tail_link(&waiting->oldest, &kept->link);
    waiting->stats.kept_bytes += kept->bytes;
    g_hash_table_insert(waiting->kept, &kept->outcome.place, kept);
    if (!outcome->letter && outcome->id[0]) g_hash_table_replace(waiting->kept_ids, kept->outcome.id, kept);
    while (waiting->stats.kept_bytes > waiting->max_bytes && waiting->oldest.length > 1)
        drop(waiting, waiting->oldest.head->data);
}

/* --- ends: under the lock a waiter is taken out, without it the caller is told --- */

static void take_out(struct waiter *waiter)
{
    struct waiting *waiting = waiter->waiting;
    waiter->ended = true;
    g_queue_unlink(&waiting->callers, &waiter->link);
    if (g_hash_table_lookup(waiting->by_place, &waiter->place) == waiter)
        g_hash_table_remove(waiting->by_place, &waiter->place);
    if (g_hash_table_lookup(waiting->placeless, waiter->id) == waiter)
        g_hash_table_remove(waiting->placeless, waiter->id);
    if (!waiter->placed) g_hash_table_add(waiting->unsettled, waiter);
}

/* What is left of a caller once he has been told. */
struct ending {
    waiting_done *done;
    void *ctx;
};

static struct ending end_waiter(struct waiter *waiter)
{
    struct ending ending = {waiter->done, waiter->ctx};
    bool settled = waiter->placed;
    take_out(waiter);
    if (settled) g_free(waiter);
    return ending;
}

static void count_answer(struct waiting *waiting, const struct outcome *outcome)
{
    if (outcome->letter)
        waiting->stats.letters++;
    else
        waiting->stats.answered++;
}

/* --- the calls --- */

struct waiting *waiting_new(uint32_t max_waiters, size_t kept_bytes)
{
    struct waiting *waiting = g_new0(struct waiting, 1);
    pthread_mutex_init(&waiting->lock, NULL);
    waiting->max_waiters = max_waiters;
    waiting->max_bytes = kept_bytes;
    g_queue_init(&waiting->callers);
    g_queue_init(&waiting->oldest);
    waiting->by_place = g_hash_table_new(hash_place, same_place);
    waiting->placeless = g_hash_table_new(g_str_hash, g_str_equal);
    waiting->kept = g_hash_table_new_full(hash_place, same_place, NULL, kept_free);
    waiting->kept_ids = g_hash_table_new(g_str_hash, g_str_equal);
    waiting->unsettled = g_hash_table_new_full(NULL, NULL, g_free, NULL);
    return waiting;
}

void waiting_free(struct waiting *waiting)
{
    if (!waiting) return;
    waiting_close(waiting);
    g_hash_table_destroy(waiting->by_place);
    g_hash_table_destroy(waiting->placeless);
    g_hash_table_destroy(waiting->kept_ids);
    g_hash_table_destroy(waiting->kept);
    g_hash_table_destroy(waiting->unsettled);
    pthread_mutex_destroy(&waiting->lock);
    g_free(waiting);
}

enum err_code waiting_begin(struct waiting *waiting, const char *id, int64_t until_ns, waiting_done *done, void *ctx,
                            struct waiter **out)
{
    *out = NULL;
    pthread_mutex_lock(&waiting->lock);
    bool full = waiting->closed || waiting->callers.length >= waiting->max_waiters;
    if (full) {
        waiting->stats.refused++;
    } else {
        struct waiter *waiter = g_new0(struct waiter, 1);
        waiter->waiting = waiting;
        waiter->link.data = waiter;
        waiter->done = done;
        waiter->ctx = ctx;
        waiter->until_ns = until_ns;
        waiter->place.partition = -1;
        g_strlcpy(waiter->id, id, sizeof waiter->id);
        g_queue_push_tail_link(&waiting->callers, &waiter->link);
        *out = waiter;
    }
    pthread_mutex_unlock(&waiting->lock);
    return full ? ERR_FULL : ERR_OK;
}

bool waiting_cancel(struct waiter *waiter)
{
    struct waiting *waiting = waiter->waiting;
    pthread_mutex_lock(&waiting->lock);
    bool waited = !waiter->ended;
    waiter->placed = true; /* it never will be */
    if (waited)
        end_waiter(waiter);
    else
        g_hash_table_remove(waiting->unsettled, waiter);
    pthread_mutex_unlock(&waiting->lock);
    return waited;
}

/* The outcome that is there already for a waiter whose place has just been told. */
static const struct outcome *early_outcome(const struct waiting *waiting, const struct waiter *waiter)
{
    const struct kept *kept = waiter->place.offset < 0 ? g_hash_table_lookup(waiting->kept_ids, waiter->id)
                                                       : g_hash_table_lookup(waiting->kept, &waiter->place);
    return kept ? &kept->outcome : NULL;
}

void waiting_place(struct waiter *waiter, int32_t partition, int64_t offset)
{
    struct waiting *waiting = waiter->waiting;
    pthread_mutex_lock(&waiting->lock);
    if (waiter->ended) {
        g_hash_table_remove(waiting->unsettled, waiter); /* frees it */
        pthread_mutex_unlock(&waiting->lock);
        return;
    }
    waiter->place = (struct msg_key){partition, offset};
    waiter->placed = true;
    const struct outcome *early = early_outcome(waiting, waiter);
    if (!early) {
        if (offset >= 0)
            g_hash_table_replace(waiting->by_place, &waiter->place, waiter);
        else
            g_hash_table_replace(waiting->placeless, waiter->id, waiter);
        pthread_mutex_unlock(&waiting->lock);
        return;
    }
    struct outcome outcome = *early;
    g_bytes_ref(outcome.body);
    waiting->stats.early++;
    count_answer(waiting, &outcome);
    struct ending ending = end_waiter(waiter);
    pthread_mutex_unlock(&waiting->lock);
    ending.done(ending.ctx, WAITING_ANSWERED, &outcome);
    g_bytes_unref(outcome.body);
}

void waiting_outcome(struct waiting *waiting, const struct outcome *outcome)
{
    struct ending ending = {0};
    pthread_mutex_lock(&waiting->lock);
    struct waiter *waiter = g_hash_table_lookup(waiting->by_place, &outcome->place);
    if (!waiter) waiter = g_hash_table_lookup(waiting->placeless, outcome->id);
    if (waiter) {
        count_answer(waiting, outcome);
        ending = end_waiter(waiter);
    }
    keep(waiting, outcome);
    pthread_mutex_unlock(&waiting->lock);
    if (ending.done) ending.done(ending.ctx, WAITING_ANSWERED, outcome);
}

/* By the caller and not by his waiter, which is gone when its end and this cross. */
void waiting_leave(struct waiting *waiting, const void *ctx)
{
    struct ending ending = {0};
    pthread_mutex_lock(&waiting->lock);
    GList *link = waiting->callers.head;
    while (link && ((struct waiter *)link->data)->ctx != ctx) link = link->next;
    if (link) {
        ending = end_waiter(link->data);
        waiting->stats.late++;
    }
    pthread_mutex_unlock(&waiting->lock);
    if (ending.done) ending.done(ending.ctx, WAITING_LATE, NULL);
}

/* Those whose time is up before `now_ns`, told one after the other: `done` may begin the next wait. */
static void end_before(struct waiting *waiting, int64_t now_ns, enum waiting_end why)
{
    GArray *endings = g_array_new(FALSE, FALSE, sizeof(struct ending));
    pthread_mutex_lock(&waiting->lock);
    for (GList *link = waiting->callers.head, *next; link; link = next) {
        struct waiter *waiter = link->data;
        next = link->next;
        if (waiter->until_ns > now_ns) continue;
        struct ending ending = end_waiter(waiter);
        g_array_append_val(endings, ending);
    }
    waiting->stats.late += endings->len;
    pthread_mutex_unlock(&waiting->lock);
    for (guint i = 0; i < endings->len; i++) {
        const struct ending *ending = &g_array_index(endings, struct ending, i);
        ending->done(ending->ctx, why, NULL);
    }
    g_array_free(endings, TRUE);
}

void waiting_expire(struct waiting *waiting, int64_t now_ns)
{
    end_before(waiting, now_ns, WAITING_LATE);
}

void waiting_close(struct waiting *waiting)
{
    pthread_mutex_lock(&waiting->lock);
    waiting->closed = true;
    pthread_mutex_unlock(&waiting->lock);
    end_before(waiting, INT64_MAX, WAITING_CLOSED);
}

GBytes *waiting_find(struct waiting *waiting, const char *id)
{
    pthread_mutex_lock(&waiting->lock);
    const struct kept *kept = g_hash_table_lookup(waiting->kept_ids, id);
    GBytes *body = kept ? g_bytes_ref(kept->outcome.body) : NULL;
    pthread_mutex_unlock(&waiting->lock);
    return body;
}

void waiting_get_stats(struct waiting *waiting, struct waiting_stats *out)
{
    pthread_mutex_lock(&waiting->lock);
    *out = waiting->stats;
    out->waiting = waiting->callers.length;
    out->kept = waiting->oldest.length;
    pthread_mutex_unlock(&waiting->lock);
}
