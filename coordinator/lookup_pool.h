/* Looking for verdicts that were kept, and keeping them, off the poll thread.
 *
 * DESIGN. A few threads take jobs from a bounded queue and call the cache, which blocks. What is found waits here until the loop takes it: it
 * polls in small steps while anybody looks (lookup_pool_is_looking), for a way through the transport, as models' answers have it (model_pool.h),
 * would take longer than what it is to save. What is to be kept is not waited for, and dropped where the queue is full.
 */
#ifndef ASSAY_COORDINATOR_LOOKUP_POOL_H
#define ASSAY_COORDINATOR_LOOKUP_POOL_H

#include "coordinator/core.h"

struct lookup_pool;

/* `cache` is copied; it and the bus, whose clock it is, must outlive the pool. ERR_NOMEM. */
enum err_code lookup_pool_new(const struct coordinator_cache *cache, struct bus *bus, struct lookup_pool **out,
                              struct err *err);
/* Waits for the calls that run, and leaves the rest. NULL is fine. */
void lookup_pool_free(struct lookup_pool *pool);

/* Copied. False: too much waits. Never block. Thread: any. */
bool lookup_pool_find(struct lookup_pool *pool, const struct core_wanted *wanted);
bool lookup_pool_keep(struct lookup_pool *pool, const struct core_kept *verdict);

/* Is anything looked for, or found and not yet taken? Thread: any. */
bool lookup_pool_is_looking(struct lookup_pool *pool);

/* The next one that was looked for: whose request it is, and what was found; the bytes live until the next call. False: none. Thread: the loop's. */
bool lookup_pool_take(struct lookup_pool *pool, struct msg_key *request, struct core_found *found);

#endif
