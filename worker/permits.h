/* Limits the concurrent statements of a database, over the whole fleet.
 *
 * A permit is held while a worker judges tasks of that database. Permits are members of a sorted set in Redis,
 * `assay:permits:<db>`, each a random token with its expiry, by the server's clock. Taking one removes expired tokens
 * and adds a token if there is capacity, in one script. The slot of a dead holder becomes free when its lease expires;
 * a slow holder renews it. A token may be lost meanwhile (a paused process, a restarted Redis). It is then taken again
 * only if there is capacity, so a late holder never exceeds the cap. A statement that still runs then is bounded by its
 * own time limit.
 *
 * If Redis is down, slow or corrupt, each process has its share of the cap: cap / processes and at least one, counted
 * locally. With more processes than assumed, the cap may then be exceeded; work continues in any case. When Redis is
 * available again, permits taken meanwhile are missing in it for as long as they are held (HOLD_MS of dispatch.c).
 *
 * Rejected: a counter with INCR and DECR (a process that dies never gives back). Rejected: a semaphore of BLPOP (no
 * lease). Rejected: a permit for each statement (two round trips for statements that often take less than one).
 */
#ifndef ASSAY_WORKER_PERMITS_H
#define ASSAY_WORKER_PERMITS_H

#include "worker/cache.h"

struct permits_config {
    struct cache_config redis; /* without an address: shares only */
    uint32_t processes;        /* assumed if Redis is unavailable; 0: 8 */
    int64_t lease_ms;          /* 0: 15,000 */
};

/* counter, meaning */
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
/* Frees the permits, after the last one was given back. NULL is allowed. */
void permits_close(struct permits *permits);

/* Takes one of `cap` permits of a database (its name is copied). Waits at most until clock_now_ns reaches `until_ns`.
 * Returns ERR_FULL (retry) if none was free. The caller must call permits_give. Thread: any. */
enum err_code permits_take(struct permits *permits, const char *db, uint32_t cap, int64_t until_ns, struct permit **out,
                           struct err *err);
/* Gives a permit back. NULL is allowed. Thread: any. */
void permits_give(struct permits *permits, struct permit *permit);

/* Copies the statistics. Thread: any. */
void permits_get_stats(struct permits *permits, struct permits_stats *out);

#endif
