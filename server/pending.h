/* Which caller waits for the verdict of which request.
 *
 * A verdict carries the position of its request, partition and offset, and is matched by it, since two callers may use
 * the same id. But the position is known only when the brokers have acknowledged the request, and by then the verdict
 * may have come. So the newest verdicts are kept, bounded in bytes: a caller whose position is known late finds its
 * verdict among them, and one that has stopped waiting can ask for it by id, as long as it is kept.
 *
 * Thread: any, for all calls; answers are given on the thread that brought them about, and without a lock held.
 */
#ifndef ASSAY_SERVER_PENDING_H
#define ASSAY_SERVER_PENDING_H

#include "proto/message/msg.h"

#include <glib.h>

/* What became of a request. */
struct outcome {
    struct msg_key position;
    uint16_t tenant;           /* whose request it was (server/tokens.h); 0: there are none */
    char id[MSG_MAX_NAME + 1]; /* of a verdict; "": not known */
    bool letter;               /* no verdict, but a dead letter */
    GBytes *body;              /* the verdict, or the letter's reason, as JSON */
};

/* Why a caller stops waiting. */
enum pending_end { PENDING_ANSWERED, PENDING_LATE, PENDING_CLOSED };

/* Called once. `outcome` (NULL unless answered) is the callee's for the time of the call. */
typedef void pending_done(void *ctx, enum pending_end end, const struct outcome *outcome);

struct pending;
struct waiter;

/* At most max_waiters at a time; of outcomes the newest of kept_bytes. NULL: no memory. */
struct pending *pending_new(uint32_t max_waiters, size_t kept_bytes);
/* After the bus is closed: nobody may be told a place any more. NULL is fine. */
void pending_free(struct pending *pending);

/* Begin to wait, before the request is sent, so that nothing is missed. `id` is the request's, `tenant` its caller's; the waiter's place is
 * told by pending_position. ERR_FULL: too many wait, or pending_close was called. */
enum err_code pending_begin(struct pending *pending, uint16_t tenant, const char *id, int64_t until_ns,
                            pending_done *done, void *ctx, struct waiter **out);
/* As it was told; until pending_position or pending_cancel. */
uint16_t pending_tenant(const struct waiter *waiter);
/* What is learned of its request before the verdict (pending_tell): `told` is called under a lock, and is not to call back. Before
 * the request is sent. */
void pending_watch(struct waiter *waiter, void (*told)(void *ctx, const void *progress));
/* Nobody but its caller can ask for the verdict: if he leaves, it is lost (pending_on_lost). Before the request is
 * sent. */
void pending_only_caller(struct waiter *waiter);
/* Where the request lies; once. An offset below 0: taken, and nobody knows where; then the id decides. */
void pending_position(struct waiter *waiter, int32_t partition, int64_t offset);
/* The request was not sent after all. True: `done` will not be called; false: it has been, time was up meanwhile. */
bool pending_cancel(struct waiter *waiter);

/* The caller of `ctx` stops waiting, if it still did: PENDING_LATE. */
void pending_leave(struct pending *pending, const void *ctx);

/* Something was learned of the request at that place; `progress` goes to whoever watches it. */
void pending_tell(struct pending *pending, const struct msg_key *position, const void *progress);

/* An outcome came; copied, with a reference to its body. */
void pending_outcome(struct pending *pending, const struct outcome *outcome);
/* End those whose time is up. */
void pending_expire(struct pending *pending, int64_t now_ns);
/* End all, and take no more. */
void pending_close(struct pending *pending);

/* The newest kept verdict of that id, of that tenant's: a reference for the caller, or NULL. */
GBytes *pending_find(struct pending *pending, uint16_t tenant, const char *id);

/* Each verdict that comes is told to `on_verdict` too, from now on, without a lock held. Before the first outcome. */
void pending_on_verdict(struct pending *pending, void (*on_verdict)(void *ctx, const struct outcome *verdict),
                        void *ctx);

/* Of each waiter of pending_only_caller that leaves, once its place is known: the place is told, without a lock held.
 * Before the first wait. */
void pending_on_lost(struct pending *pending, void (*on_lost)(void *ctx, const struct msg_key *position), void *ctx);

struct pending_stats {
    uint64_t answered, letters, late, refused; /* callers, by how their wait ended; those not let in */
    uint64_t early;                            /* verdicts that came before their place was known */
    uint32_t pending;                          /* now */
    uint32_t kept;                             /* outcomes, now */
    size_t kept_bytes;
};
void pending_get_stats(struct pending *pending, struct pending_stats *out);

#endif
