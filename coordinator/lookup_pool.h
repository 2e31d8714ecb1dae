/* Looks up and stores cached verdicts off the poll thread.
 *
 * DESIGN: a few threads take jobs from a bounded queue and call the cache, which blocks. Outcomes stay here until the
 * loop takes them. The loop polls in small steps during lookups (lookup_pool_is_looking). Sending outcomes through the
 * transport, like models' responses (model_pool.h), would take longer than a lookup saves. Storing is not awaited, and
 * a verdict is dropped if the queue is full.
 */
#ifndef ASSAY_COORDINATOR_LOOKUP_POOL_H
#define ASSAY_COORDINATOR_LOOKUP_POOL_H

#include "coordinator/core.h"

struct lookup_pool;

/* Creates a pool. `cache` is copied; its context and the bus, which provides the clock, must outlive the pool. Returns
 * ERR_NOMEM. */
enum err_code lookup_pool_new(const struct coordinator_cache *cache, struct bus *bus, struct lookup_pool **out,
                              struct err *err);
/* Waits for running calls, drops the rest, and frees the pool. NULL is allowed. */
void lookup_pool_free(struct lookup_pool *pool);

/* Copy their arguments and queue a job. Return false if the queue is full. Never block. Thread: any. */
bool lookup_pool_find(struct lookup_pool *pool, const struct core_wanted *wanted);
bool lookup_pool_keep(struct lookup_pool *pool, const struct core_kept *verdict);

/* Returns true while a lookup is outstanding or its outcome was not taken. Thread: any. */
bool lookup_pool_is_looking(struct lookup_pool *pool);

/* Takes the next outcome and its request. The bytes live until the next call. Returns false if there is none. Thread:
 * the loop's. */
bool lookup_pool_take(struct lookup_pool *pool, struct msg_key *request, struct core_found *found);

#endif
