/* A queue that serves its flows round robin.
 *
 * An item belongs to a path of flows, from the widest to the narrowest: tenant, database, request. The queue serves the
 * flows of a level in turn, and within each of them the flows of the next level. Items of one path keep their order.
 *
 * A level may have a limit. An item is in flight from fair_queue_take to fair_queue_release. The queue skips a flow
 * while as many of its items are in flight as the limit allows. Flow 0 of a level has no limit: it holds items without
 * an owner.
 *
 * Thread: one at a time.
 */
#ifndef ASSAY_PROTO_BUS_FAIR_QUEUE_H
#define ASSAY_PROTO_BUS_FAIR_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

enum { FAIR_LEVELS = 3 };

struct fair_flow;

/* Embedded in each queued object. */
struct fair_item {
    struct fair_item *previous, *next; /* private to the queue, like `flow` */
    struct fair_flow *flow;
    int64_t order; /* order within its path */
};

struct fair_queue;

/* Returns a new queue; never NULL. `limits` has the limit for each flow of a level; 0 means no limit. Free with
 * fair_queue_free. */
struct fair_queue *fair_queue_new(const uint32_t limits[FAIR_LEVELS]);
/* Frees the queue and calls `free_item` on each waiting item. Items in flight belong to their holders. */
void fair_queue_free(struct fair_queue *queue, void (*free_item)(struct fair_item *item));

/* Queues the item after the items of its path with a lower order. */
void fair_queue_add(struct fair_queue *queue, struct fair_item *item, const uint64_t path[FAIR_LEVELS]);
/* Returns the next item to serve. Returns NULL if no item waits or if all waiting flows are at their limit. */
struct fair_item *fair_queue_first(const struct fair_queue *queue);
/* Moves the item of fair_queue_first from waiting to in flight. */
void fair_queue_take(struct fair_item *item);
/* Reports that an item is no longer in flight. */
void fair_queue_release(struct fair_item *item);
/* Removes a waiting item of that path from the queue and returns it. Returns NULL if none waits. */
struct fair_item *fair_queue_remove(struct fair_queue *queue, const uint64_t path[FAIR_LEVELS]);

#endif
