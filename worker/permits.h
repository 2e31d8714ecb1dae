/* How many statements of a database may run at a time, over the whole fleet.
 *
 * A permit is held while a worker looks at tasks of that database. Permits are members of a sorted set in Redis,
 * `assay:permits:<db>`, each a random token with the time at which it ends, by the server's clock. Taking one first
 * drops what has ended, then adds a token if there is room, in one script. A holder that dies frees its place when its
 * lease ends; one that takes long renews it; a token that was lost meanwhile (a paused process, a Redis that restarted)
 * is only taken again where there is room, so that a late holder never pushes the number past the cap. A statement that
 * still runs then is bounded by its own time limit.
 *
 * Redis down, slow or answering rubbish: each process has its share of the cap, cap / processes and at least one, which
 * is counted here. With more processes than were assumed the cap may be exceeded then; work goes on in any case. When
 * Redis comes back what was taken meanwhile is not in it, for as long as those permits are held (HOLD_MS of
 * dispatch.c).
 *
 * Rejected: a counter with INCR and DECR (a process that dies never gives back); a semaphore of BLPOP (no lease);
 * holding a permit for each statement (two round trips for what often takes less than one).
 */
#ifndef ASSAY_WORKER_PERMITS_H
#define ASSAY_WORKER_PERMITS_H

#include "worker/cache.h"

struct permits_config {
    struct cache_config redis; /* no address: shares only */
    uint32_t processes;        /* assumed when Redis does not count them; 0: 8 */
    int64_t lease_ms;          /* 0: 15,000 */
};

/* counter, what it counts */
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

/* `config` is copied. Does not connect. ERR_CONFIG as cache_open. */
enum err_code permits_open(const struct permits_config *config, struct permits **out, struct err *err);
/* After the last permit was given back. NULL is fine. */
void permits_close(struct permits *permits);

/* One of `cap` permits of a database (its name is copied), waiting until clock_now_ns reaches `until_ns` at most.
 * ERR_FULL (retry): none was free. The caller owes permits_give. Thread: any. */
enum err_code permits_take(struct permits *permits, const char *db, uint32_t cap, int64_t until_ns, struct permit **out,
                           struct err *err);
/* NULL is fine. Thread: any. */
void permits_give(struct permits *permits, struct permit *permit);

/* Thread: any. */
void permits_get_stats(struct permits *permits, struct permits_stats *out);

#endif
