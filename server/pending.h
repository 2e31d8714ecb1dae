/* Matches verdicts to their waiting callers.
 *
 * A verdict contains the position of its request (partition and offset) and is matched by it, since two callers may use
 * the same id. The position is known only after the brokers have acknowledged the request, and the verdict may arrive
 * earlier. So the newest verdicts are stored, up to a limit in bytes. A caller whose position becomes known late finds
 * its verdict among them. A caller that has stopped waiting can get its verdict by id, as long as it is stored.
 *
 * Thread: any, for all functions. A callback runs on the thread that caused it. It runs without a lock unless its
 * contract says otherwise.
 */
#ifndef ASSAY_SERVER_PENDING_H
#define ASSAY_SERVER_PENDING_H

#include "proto/message/msg.h"

#include <glib.h>

/* The outcome of a request. */
struct outcome {
    struct msg_key position;
    uint16_t tenant;           /* owner of the request (server/tokens.h); 0 without tenants */
    char id[MSG_MAX_NAME + 1]; /* id of a verdict; "" if unknown */
    bool letter;               /* a dead letter instead of a verdict */
    GBytes *body;              /* the verdict, or the reason of the dead letter, as JSON */
};

/* The reason why a caller stops waiting. */
enum pending_end { PENDING_ANSWERED, PENDING_LATE, PENDING_CLOSED };

/* Called once per waiter. `outcome` is NULL unless answered, and valid only during the call. */
typedef void pending_done(void *ctx, enum pending_end end, const struct outcome *outcome);

struct pending;
struct waiter;

/* Makes the table, for at most max_waiters at a time. It stores the newest outcomes up to kept_bytes. */
struct pending *pending_new(uint32_t max_waiters, size_t kept_bytes);
/* Frees the table. Call it after the bus is closed, since no position may be reported afterwards. NULL is allowed. */
void pending_free(struct pending *pending);

/* Begins a wait, before the request is sent, so that no outcome is missed. `id` is the request's id, `tenant` its
 * caller's tenant. `until_ns` is the deadline. Report the request's position with pending_position. Returns ERR_FULL if
 * too many callers wait or after pending_close. */
enum err_code pending_begin(struct pending *pending, uint16_t tenant, const char *id, int64_t until_ns,
                            pending_done *done, void *ctx, struct waiter **out);
/* Returns the tenant of pending_begin. Valid until pending_position or pending_cancel. */
uint16_t pending_tenant(const struct waiter *waiter);
/* Makes pending_tell call `told` with the request's progress before its verdict. `told` runs under a lock and must not
 * call this module. Call it before the request is sent. */
void pending_watch(struct waiter *waiter, void (*told)(void *ctx, const void *progress));
/* Declares that only the caller can get the verdict, which is lost if it disconnects (pending_on_lost). Call it before
 * the request is sent. */
void pending_only_caller(struct waiter *waiter);
/* Reports the position of the request; once. A negative offset means that the request was accepted at an unknown
 * position; the outcome is then matched by id. */
void pending_position(struct waiter *waiter, int32_t partition, int64_t offset);
/* Cancels a wait whose request was not sent. Returns true if `done` will not be called, false if the wait timed out and
 * `done` was already called. */
bool pending_cancel(struct waiter *waiter);

/* Ends the wait of the caller `ctx` with PENDING_LATE, unless it has ended already. */
void pending_leave(struct pending *pending, const void *ctx);

/* Passes `progress` to the waiter of the request at that position, if that waiter uses pending_watch. */
void pending_tell(struct pending *pending, const struct msg_key *position, const void *progress);

/* Handles an outcome: ends its wait and stores it. Copies it, with a reference to its body. */
void pending_outcome(struct pending *pending, const struct outcome *outcome);
/* Ends the waits whose deadline has passed. */
void pending_expire(struct pending *pending, int64_t now_ns);
/* Ends all waits, and accepts no more. */
void pending_close(struct pending *pending);

/* Returns a reference to the tenant's newest stored verdict of that id, or NULL. */
GBytes *pending_find(struct pending *pending, uint16_t tenant, const char *id);

/* Calls `on_verdict` for each verdict from now on, without a lock. Call it before the first outcome. */
void pending_on_verdict(struct pending *pending, void (*on_verdict)(void *ctx, const struct outcome *verdict),
                        void *ctx);

/* Calls `on_lost` when a waiter of pending_only_caller disconnects at a known position, without a lock. Call it before
 * the first wait. */
void pending_on_lost(struct pending *pending, void (*on_lost)(void *ctx, const struct msg_key *position), void *ctx);

struct pending_stats {
    uint64_t answered, letters, late, refused; /* callers, by how their wait ended; `refused`: by pending_begin */
    uint64_t early;                            /* verdicts that arrived before their position was known */
    uint32_t pending;                          /* current waits */
    uint32_t kept;                             /* currently stored outcomes */
    size_t kept_bytes;
};
void pending_get_stats(struct pending *pending, struct pending_stats *out);

#endif
