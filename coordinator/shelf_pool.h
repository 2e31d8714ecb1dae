/* Looking for verdicts that were kept, and keeping them, off the poll thread.
 *
 * DESIGN. A few threads take jobs from a bounded queue and call the shelf, which blocks. What is found waits here until the loop takes it: it
 * polls in small steps while anybody looks (shelf_pool_is_looking), for a way through the transport, as models' answers have it (model_pool.h),
 * would take longer than what it is to save. What is to be kept is not waited for, and dropped where the queue is full.
 */
#ifndef ASSAY_COORDINATOR_SHELF_POOL_H
#define ASSAY_COORDINATOR_SHELF_POOL_H

#include "coordinator/core.h"

struct shelf_pool;

/* `shelf` is copied; it and the bus, whose clock it is, must outlive the pool. ERR_NOMEM. */
enum err_code shelf_pool_new(const struct coordinator_shelf *shelf, struct bus *bus, struct shelf_pool **out,
                             struct err *err);
/* Waits for the calls that run, and leaves the rest. NULL is fine. */
void shelf_pool_free(struct shelf_pool *pool);

/* Copied. False: too much waits. Never block. Thread: any. */
bool shelf_pool_find(struct shelf_pool *pool, const struct core_wanted *wanted);
bool shelf_pool_keep(struct shelf_pool *pool, const struct core_kept *verdict);

/* Is anything looked for, or found and not yet taken? Thread: any. */
bool shelf_pool_is_looking(struct shelf_pool *pool);

/* The next one that was looked for: whose request it is, and what was found; the bytes live until the next call. False: none. Thread: the loop's. */
bool shelf_pool_take(struct shelf_pool *pool, struct msg_key *request, struct core_found *found);

#endif
