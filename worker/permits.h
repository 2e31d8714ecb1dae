/* Limits the concurrent statements of a database, over the whole fleet.
 *
 * A worker holds a permit while it judges tasks of that database. The permits of a database are members of a sorted set
 * in Redis, `assay:permits:<db>`. Each member is a random token with its expiry, by the server's clock. One script
 * takes a permit: it removes expired tokens and adds a token if there is capacity. The slot of a dead holder becomes
 * free when its lease expires; a slow holder renews its lease.
 *
 * A token may be lost while it is held (a paused process, a restarted Redis). The holder then adds it again only if
 * there is capacity, so a late holder never exceeds the cap. If there is none, the holder's statement may still run,
 * until its own time limit.
 *
 * If Redis is down, slow or corrupt, each process has its share of the cap: cap / processes and at least one, counted
 * locally. With more processes than assumed, the cap may then be exceeded, but work continues. When Redis is available
 * again, it lacks the permits taken meanwhile for as long as they are held (HOLD_MS of dispatch.c).
 *
 * Rejected: a counter with INCR and DECR (a process that dies never decrements it). Rejected: a semaphore of BLPOP (no
 * lease). Rejected: a permit for each statement (two round trips for statements that often take less than one).
 */
#ifndef ASSAY_WORKER_PERMITS_H
#define ASSAY_WORKER_PERMITS_H

#include "worker/cache.h"

struct permits_config {
    struct cache_config redis; /* if it has no address, only shares are used */
    uint32_t processes;        /* number of processes assumed if Redis is unavailable; 0: 8 */
    int64_t lease_ms;          /* lifetime of a lease; 0: 15,000 */
};

/* X(counter, meaning) */
#define PERMIT_COUNTERS(X)                                                                                             \
    X(taken, "permits acquired in Redis")                                                                              \
    X(local, "permits acquired from this process's share because Redis was unavailable")                               \
    X(waits, "waits for a permit")                                                                                     \
    X(refused, "waits for a permit that timed out")                                                                    \
    X(lost, "leases that expired while they were held")

struct permits_stats {
#define X(name, help) uint64_t name;
    PERMIT_COUNTERS(X)
#undef X
};

struct permits;
struct permit;

/* Creates permits. `config` is copied. Does not connect. Returns ERR_CONFIG as cache_open does. */
enum err_code permits_open(const struct permits_config *config, struct permits **out, struct err *err);
/* Frees the permits. All permits must have been returned. NULL is allowed. */
void permits_close(struct permits *permits);

/* Takes one of `cap` permits of a database, whose name is copied. Waits at most until clock_now_ns reaches `until_ns`.
 * Returns ERR_FULL (retry) if no permit was free. The caller must return the permit with permits_give. Thread: any. */
enum err_code permits_take(struct permits *permits, const char *db, uint32_t cap, int64_t until_ns, struct permit **out,
                           struct err *err);
/* Returns a permit. NULL is allowed. Thread: any. */
void permits_give(struct permits *permits, struct permit *permit);

/* Copies the statistics. Thread: any. */
void permits_get_stats(struct permits *permits, struct permits_stats *out);

#endif
