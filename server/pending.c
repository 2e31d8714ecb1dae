/* Matches outcomes to waiters, with one lock for all tables.
 *
 * A waiter is in `callers` until it ends. With a known position it is also in `by_place`; with an unknown offset it is
 * in `placeless` by its id. Outcomes are stored in `kept` by position and, for verdicts, in `kept_ids` by tenant and
 * id, oldest first in `oldest`. A waiter that ends before its position is known moves to `unsettled`, since the sender
 * still has a pointer to it. Functions that end waiters collect an `ending` under the lock and call `done` after it.
 */
#include "server/pending.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A caller. It is freed when it has ended and its position is known, whichever is later. The brokers' acknowledgement
 * may arrive after the caller has disconnected. */
struct waiter {
    struct pending *pending;
    GList link; /* in `callers` until it ends */
    pending_done *done;
    void (*told)(void *ctx, const void *progress); /* NULL without progress reports */
    void *ctx;
    int64_t until_ns;
    struct msg_key position;
    uint16_t tenant;
    bool placed, ended, only_caller;
    char id[MSG_MAX_NAME + 1];
};

struct kept {
    GList link; /* in `oldest` */
    struct outcome outcome;
    size_t bytes;
};

struct pending {
    pthread_mutex_t lock;
    uint32_t max_waiters;
    size_t max_bytes;
    bool closed;
    GQueue callers;         /* struct waiter that have not ended */
    GHashTable *by_place;   /* msg_key → struct waiter in `callers` */
    GHashTable *placeless;  /* id → struct waiter in `callers`, if the request was accepted at an unknown offset */
    GQueue oldest;          /* struct kept, in the order in which they are dropped */
    GHashTable *kept;       /* msg_key → struct kept */
    GHashTable *kept_ids;   /* tenant and id of a verdict → its newest struct kept */
    GHashTable *unsettled;  /* struct waiter that ended before their position was known */
    atomic_uint n_watching; /* number of waiters with progress reports */
    struct pending_stats stats;
    void (*on_verdict)(void *ctx, const struct outcome *verdict);
    void *verdict_ctx;
    void (*on_lost)(void *ctx, const struct msg_key *position);
    void *lost_ctx;
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

static guint hash_id(gconstpointer p)
{
    const struct outcome *outcome = p;
    return g_str_hash(outcome->id) ^ outcome->tenant;
}

static gboolean same_id(gconstpointer p, gconstpointer q)
{
    const struct outcome *a = p, *b = q;
    return a->tenant == b->tenant && strcmp(a->id, b->id) == 0;
}

/* --- stored outcomes --- */

static void kept_free(gpointer p)
{
    struct kept *kept = p;
    g_bytes_unref(kept->outcome.body);
    g_free(kept);
}

static void drop(struct pending *pending, struct kept *kept)
{
    g_queue_unlink(&pending->oldest, &kept->link);
    pending->stats.kept_bytes -= kept->bytes;
    if (g_hash_table_lookup(pending->kept_ids, &kept->outcome) == kept)
        g_hash_table_remove(pending->kept_ids, &kept->outcome);
    g_hash_table_remove(pending->kept, &kept->outcome.position); /* this also frees it */
}

static void keep(struct pending *pending, const struct outcome *outcome)
{
    struct kept *old = g_hash_table_lookup(pending->kept, &outcome->position);
    if (old) drop(pending, old);
    struct kept *kept = g_new0(struct kept, 1);
    kept->outcome = *outcome;
    kept->outcome.body = g_bytes_ref(outcome->body);
    kept->bytes = sizeof *kept + g_bytes_get_size(outcome->body);
    kept->link.data = kept;
    g_queue_push_tail_link(&pending->oldest, &kept->link);
    pending->stats.kept_bytes += kept->bytes;
    g_hash_table_insert(pending->kept, &kept->outcome.position, kept);
    if (!outcome->letter && outcome->id[0]) g_hash_table_replace(pending->kept_ids, &kept->outcome, kept);
    while (pending->stats.kept_bytes > pending->max_bytes && pending->oldest.length > 1)
        drop(pending, pending->oldest.head->data);
}

/* --- ends: a waiter is removed under the lock, and its caller is notified without it --- */

static void take_out(struct waiter *waiter)
{
    struct pending *pending = waiter->pending;
    waiter->ended = true;
    if (waiter->told) atomic_fetch_sub(&pending->n_watching, 1);
    g_queue_unlink(&pending->callers, &waiter->link);
    if (g_hash_table_lookup(pending->by_place, &waiter->position) == waiter)
        g_hash_table_remove(pending->by_place, &waiter->position);
    if (g_hash_table_lookup(pending->placeless, waiter->id) == waiter)
        g_hash_table_remove(pending->placeless, waiter->id);
    if (!waiter->placed) g_hash_table_add(pending->unsettled, waiter);
}

/* The part of a waiter that is needed to notify its caller. */
struct ending {
    pending_done *done;
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

static void count_answer(struct pending *pending, const struct outcome *outcome)
{
    if (outcome->letter)
        pending->stats.letters++;
    else
        pending->stats.answered++;
}

/* --- the calls --- */

struct pending *pending_new(uint32_t max_waiters, size_t kept_bytes)
{
    struct pending *pending = g_new0(struct pending, 1);
    pthread_mutex_init(&pending->lock, NULL);
    pending->max_waiters = max_waiters;
    pending->max_bytes = kept_bytes;
    g_queue_init(&pending->callers);
    g_queue_init(&pending->oldest);
    pending->by_place = g_hash_table_new(hash_place, same_place);
    pending->placeless = g_hash_table_new(g_str_hash, g_str_equal);
    pending->kept = g_hash_table_new_full(hash_place, same_place, NULL, kept_free);
    pending->kept_ids = g_hash_table_new(hash_id, same_id);
    pending->unsettled = g_hash_table_new_full(NULL, NULL, g_free, NULL);
    return pending;
}

void pending_free(struct pending *pending)
{
    if (!pending) return;
    pending_close(pending);
    g_hash_table_destroy(pending->by_place);
    g_hash_table_destroy(pending->placeless);
    g_hash_table_destroy(pending->kept_ids);
    g_hash_table_destroy(pending->kept);
    g_hash_table_destroy(pending->unsettled);
    pthread_mutex_destroy(&pending->lock);
    g_free(pending);
}

enum err_code pending_begin(struct pending *pending, uint16_t tenant, const char *id, int64_t until_ns,
                            pending_done *done, void *ctx, struct waiter **out)
{
    *out = NULL;
    pthread_mutex_lock(&pending->lock);
    bool full = pending->closed || pending->callers.length >= pending->max_waiters;
    if (full) {
        pending->stats.refused++;
    } else {
        struct waiter *waiter = g_new0(struct waiter, 1);
        waiter->pending = pending;
        waiter->link.data = waiter;
        waiter->done = done;
        waiter->ctx = ctx;
        waiter->until_ns = until_ns;
        waiter->position.partition = -1;
        waiter->tenant = tenant;
        g_strlcpy(waiter->id, id, sizeof waiter->id);
        g_queue_push_tail_link(&pending->callers, &waiter->link);
        *out = waiter;
    }
    pthread_mutex_unlock(&pending->lock);
    return full ? ERR_FULL : ERR_OK;
}

void pending_watch(struct waiter *waiter, void (*told)(void *ctx, const void *progress))
{
    waiter->told = told;
    atomic_fetch_add(&waiter->pending->n_watching, 1);
}

void pending_only_caller(struct waiter *waiter)
{
    waiter->only_caller = true;
}

void pending_on_lost(struct pending *pending, void (*on_lost)(void *ctx, const struct msg_key *position), void *ctx)
{
    pending->on_lost = on_lost;
    pending->lost_ctx = ctx;
}

void pending_tell(struct pending *pending, const struct msg_key *position, const void *progress)
{
    if (!atomic_load(&pending->n_watching)) return;
    pthread_mutex_lock(&pending->lock);
    const struct waiter *waiter = g_hash_table_lookup(pending->by_place, position);
    if (waiter && waiter->told) waiter->told(waiter->ctx, progress);
    pthread_mutex_unlock(&pending->lock);
}

uint16_t pending_tenant(const struct waiter *waiter)
{
    return waiter->tenant;
}

bool pending_cancel(struct waiter *waiter)
{
    struct pending *pending = waiter->pending;
    pthread_mutex_lock(&pending->lock);
    bool waited = !waiter->ended;
    waiter->placed = true; /* the request was not sent, so it never gets a position */
    if (waited)
        end_waiter(waiter);
    else
        g_hash_table_remove(pending->unsettled, waiter);
    pthread_mutex_unlock(&pending->lock);
    return waited;
}

/* Returns the newest stored verdict of an id. The caller must hold the lock. */
static const struct kept *find_kept(const struct pending *pending, uint16_t tenant, const char *id)
{
    struct outcome key = {.tenant = tenant};
    if (strlen(id) >= sizeof key.id) return NULL;
    g_strlcpy(key.id, id, sizeof key.id);
    return g_hash_table_lookup(pending->kept_ids, &key);
}

/* Returns the outcome that arrived before the waiter's position, or NULL. */
static const struct outcome *early_outcome(const struct pending *pending, const struct waiter *waiter)
{
    const struct kept *kept = waiter->position.offset < 0 ? find_kept(pending, waiter->tenant, waiter->id)
                                                          : g_hash_table_lookup(pending->kept, &waiter->position);
    return kept ? &kept->outcome : NULL;
}

void pending_position(struct waiter *waiter, int32_t partition, int64_t offset)
{
    struct pending *pending = waiter->pending;
    pthread_mutex_lock(&pending->lock);
    if (waiter->ended) {
        g_hash_table_remove(pending->unsettled, waiter); /* this also frees it */
        pthread_mutex_unlock(&pending->lock);
        return;
    }
    waiter->position = (struct msg_key){partition, offset};
    waiter->placed = true;
    const struct outcome *early = early_outcome(pending, waiter);
    if (!early) {
        if (offset >= 0)
            g_hash_table_replace(pending->by_place, &waiter->position, waiter);
        else
            g_hash_table_replace(pending->placeless, waiter->id, waiter);
        pthread_mutex_unlock(&pending->lock);
        return;
    }
    struct outcome outcome = *early;
    g_bytes_ref(outcome.body);
    pending->stats.early++;
    count_answer(pending, &outcome);
    struct ending ending = end_waiter(waiter);
    pthread_mutex_unlock(&pending->lock);
    ending.done(ending.ctx, PENDING_ANSWERED, &outcome);
    g_bytes_unref(outcome.body);
}

void pending_outcome(struct pending *pending, const struct outcome *outcome)
{
    struct ending ending = {0};
    pthread_mutex_lock(&pending->lock);
    struct waiter *waiter = g_hash_table_lookup(pending->by_place, &outcome->position);
    if (!waiter) waiter = g_hash_table_lookup(pending->placeless, outcome->id);
    if (waiter) {
        count_answer(pending, outcome);
        ending = end_waiter(waiter);
    }
    keep(pending, outcome);
    pthread_mutex_unlock(&pending->lock);
    if (ending.done) ending.done(ending.ctx, PENDING_ANSWERED, outcome);
    if (pending->on_verdict && !outcome->letter && outcome->id[0]) pending->on_verdict(pending->verdict_ctx, outcome);
}

void pending_on_verdict(struct pending *pending, void (*on_verdict)(void *ctx, const struct outcome *verdict),
                        void *ctx)
{
    pending->on_verdict = on_verdict;
    pending->verdict_ctx = ctx;
}

/* Finds the waiter by the caller's `ctx`. A pointer to the waiter would be unsafe, since it may end and be freed
 * concurrently. */
void pending_leave(struct pending *pending, const void *ctx)
{
    struct ending ending = {0};
    struct msg_key lost = {-1, -1};
    pthread_mutex_lock(&pending->lock);
    GList *link = pending->callers.head;
    while (link && ((struct waiter *)link->data)->ctx != ctx) link = link->next;
    if (link) {
        const struct waiter *waiter = link->data;
        if (waiter->only_caller && waiter->placed) lost = waiter->position;
        ending = end_waiter(link->data);
        pending->stats.late++;
    }
    pthread_mutex_unlock(&pending->lock);
    if (ending.done) ending.done(ending.ctx, PENDING_LATE, NULL);
    if (lost.offset >= 0 && pending->on_lost) pending->on_lost(pending->lost_ctx, &lost);
}

/* Ends the waiters whose deadline is before `now_ns`. Notifies them one after the other, since `done` may begin the
 * next wait. */
static void end_before(struct pending *pending, int64_t now_ns, enum pending_end why)
{
    GArray *endings = g_array_new(FALSE, FALSE, sizeof(struct ending));
    pthread_mutex_lock(&pending->lock);
    for (GList *link = pending->callers.head, *next; link; link = next) {
        struct waiter *waiter = link->data;
        next = link->next;
        if (waiter->until_ns > now_ns) continue;
        struct ending ending = end_waiter(waiter);
        g_array_append_val(endings, ending);
    }
    pending->stats.late += endings->len;
    pthread_mutex_unlock(&pending->lock);
    for (guint i = 0; i < endings->len; i++) {
        const struct ending *ending = &g_array_index(endings, struct ending, i);
        ending->done(ending->ctx, why, NULL);
    }
    g_array_free(endings, TRUE);
}

void pending_expire(struct pending *pending, int64_t now_ns)
{
    end_before(pending, now_ns, PENDING_LATE);
}

void pending_close(struct pending *pending)
{
    pthread_mutex_lock(&pending->lock);
    pending->closed = true;
    pthread_mutex_unlock(&pending->lock);
    end_before(pending, INT64_MAX, PENDING_CLOSED);
}

GBytes *pending_find(struct pending *pending, uint16_t tenant, const char *id)
{
    pthread_mutex_lock(&pending->lock);
    const struct kept *kept = find_kept(pending, tenant, id);
    GBytes *body = kept ? g_bytes_ref(kept->outcome.body) : NULL;
    pthread_mutex_unlock(&pending->lock);
    return body;
}

void pending_get_stats(struct pending *pending, struct pending_stats *out)
{
    pthread_mutex_lock(&pending->lock);
    *out = pending->stats;
    out->pending = pending->callers.length;
    out->kept = pending->oldest.length;
    pthread_mutex_unlock(&pending->lock);
}
