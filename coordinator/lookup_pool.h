/* Looks up and stores cached verdicts outside the poll thread.
 *
 * DESIGN: a few threads take jobs from a bounded queue and call the cache, which blocks. The pool holds the outcomes
 * until the loop takes them. While lookups run (lookup_pool_is_looking), the loop polls with a short timeout. Sending
 * outcomes through the transport, as model_pool.h does for models' responses, would take longer than a lookup saves.
 * Storing has no outcome to wait for. If the queue is full, the verdict is not stored.
 */
#ifndef ASSAY_COORDINATOR_LOOKUP_POOL_H
#define ASSAY_COORDINATOR_LOOKUP_POOL_H

#include "coordinator/core.h"

struct lookup_pool;

/* Creates a pool. `cache` is copied. The context of the cache and the bus, which provides the clock, must outlive the
 * pool. Returns ERR_NOMEM. */
enum err_code lookup_pool_new(const struct coordinator_cache *cache, struct bus *bus, struct lookup_pool **out,
                              struct err *err);
/* Waits for running calls, drops queued jobs, and frees the pool. NULL is allowed. */
void lookup_pool_free(struct lookup_pool *pool);

/* Queue a job. Copy the arguments. Return false if the queue is full. Never block. Thread: any. */
bool lookup_pool_find(struct lookup_pool *pool, const struct core_wanted *wanted);
bool lookup_pool_keep(struct lookup_pool *pool, const struct core_kept *verdict);

/* Returns true while a lookup is outstanding or an outcome has not been taken. Thread: any. */
bool lookup_pool_is_looking(struct lookup_pool *pool);

/* Takes the next outcome and the key of its request. The bytes live until the next call. Returns false if there is no
 * outcome. Thread: that of the loop. */
bool lookup_pool_take(struct lookup_pool *pool, struct msg_key *request, struct core_found *found);

#endif
