/* DESIGN: a tree of flows, with one level of the tree for each level of the path.
 *
 * A flow counts the waiting items below it and the items in flight. Its children with waiting items form a ring. When a
 * child is served, it moves to the end of its ring, and so does each of its parents. Finding the next item therefore
 * costs time only for the flows that are skipped because of their limits. A flow without items is freed, so the tree is
 * only as large as its contents.
 *
 * Rejected: virtual finish times. They need a weight for each flow, which no caller sets, and a clock that must be
 * reset.
 */
#include "proto/bus/fair_queue.h"

#include <glib.h>
#include <string.h>

struct fair_flow {
    uint64_t id;
    struct fair_flow *parent; /* NULL for the root */
    unsigned level;           /* level of its children; at FAIR_LEVELS the flow has items instead of children */
    uint32_t waiting, in_flight;
    GHashTable *children;           /* id → flow */
    GQueue ready;                   /* ring of the children with a waiting item; the next one to serve is first */
    GList link;                     /* link in the parent's ring */
    struct fair_item *first, *last; /* waiting items, in order */
};

struct fair_queue {
    uint32_t limits[FAIR_LEVELS];
    struct fair_flow root;
};

/* --- flows -------------------------------------------------------------------------------------------------------- */

static void init_flow(struct fair_flow *flow, struct fair_flow *parent, uint64_t id)
{
    *flow = (struct fair_flow){.id = id, .parent = parent, .level = parent ? parent->level + 1 : 0};
    flow->link.data = flow;
    g_queue_init(&flow->ready);
    if (flow->level < FAIR_LEVELS) flow->children = g_hash_table_new(g_int64_hash, g_int64_equal);
}

static struct fair_flow *find_child(struct fair_flow *parent, uint64_t id, bool make)
{
    struct fair_flow *child = g_hash_table_lookup(parent->children, &id);
    if (child || !make) return child;
    child = g_new(struct fair_flow, 1);
    init_flow(child, parent, id);
    g_hash_table_insert(parent->children, &child->id, child);
    return child;
}

/* Frees the flow if it is empty, and then its parents as long as they are empty. */
static void free_empty(struct fair_flow *flow)
{
    while (flow->parent && !flow->waiting && !flow->in_flight) {
        struct fair_flow *parent = flow->parent;
        g_hash_table_remove(parent->children, &flow->id);
        if (flow->children) g_hash_table_destroy(flow->children);
        g_free(flow);
        flow = parent;
    }
}

/* Adds `change`, 1 or -1, to the waiting items of the flow and its parents. With `served`, moves each of these flows to
 * the end of its ring. */
static void count_waiting(struct fair_flow *flow, int change, bool served)
{
    for (; flow->parent; flow = flow->parent) {
        GQueue *ring = &flow->parent->ready;
        bool stood = flow->waiting != 0;
        flow->waiting += (uint32_t)change;
        if (stood && (served || !flow->waiting)) g_queue_unlink(ring, &flow->link);
        if (flow->waiting && (served || !stood)) g_queue_push_tail_link(ring, &flow->link);
    }
}

static void count_in_flight(struct fair_flow *flow, int change)
{
    for (; flow->parent; flow = flow->parent) flow->in_flight += (uint32_t)change;
}

static bool is_at_limit(const struct fair_queue *queue, const struct fair_flow *flow)
{
    uint32_t limit = queue->limits[flow->level - 1];
    return flow->id && limit && flow->in_flight >= limit;
}

/* Returns the next item below the flow. Returns NULL if no item waits there, or if the limits exclude all of them. */
static struct fair_item *first_below(const struct fair_queue *queue, const struct fair_flow *flow)
{
    struct fair_item *item = flow->first;
    for (const GList *at = flow->ready.head; at && !item; at = at->next)
        if (!is_at_limit(queue, at->data)) item = first_below(queue, at->data);
    return item;
}

/* --- items -------------------------------------------------------------------------------------------------------- */

static void insert_item(struct fair_flow *flow, struct fair_item *item)
{
    struct fair_item *before = flow->last;
    while (before && before->order > item->order) before = before->previous;
    item->previous = before;
    item->next = before ? before->next : flow->first;
    *(item->next ? &item->next->previous : &flow->last) = item;
    *(before ? &before->next : &flow->first) = item;
}

static void unlink_item(struct fair_flow *flow, struct fair_item *item)
{
    *(item->previous ? &item->previous->next : &flow->first) = item->next;
    *(item->next ? &item->next->previous : &flow->last) = item->previous;
    item->previous = item->next = NULL;
}

/* --- the calls ---------------------------------------------------------------------------------------------------- */

struct fair_queue *fair_queue_new(const uint32_t limits[FAIR_LEVELS])
{
    struct fair_queue *queue = g_new0(struct fair_queue, 1);
    memcpy(queue->limits, limits, sizeof queue->limits);
    init_flow(&queue->root, NULL, 0);
    return queue;
}

static void free_below(struct fair_flow *flow, void (*free_item)(struct fair_item *item))
{
    GHashTableIter iter;
    gpointer child;
    for (struct fair_item *item = flow->first, *next; item; item = next) {
        next = item->next;
        free_item(item);
    }
    if (!flow->children) return;
    g_hash_table_iter_init(&iter, flow->children);
    while (g_hash_table_iter_next(&iter, NULL, &child)) {
        free_below(child, free_item);
        g_free(child);
    }
    g_hash_table_destroy(flow->children);
}

void fair_queue_free(struct fair_queue *queue, void (*free_item)(struct fair_item *item))
{
    free_below(&queue->root, free_item);
    g_free(queue);
}

void fair_queue_add(struct fair_queue *queue, struct fair_item *item, const uint64_t path[FAIR_LEVELS])
{
    struct fair_flow *flow = &queue->root;
    for (unsigned level = 0; level < FAIR_LEVELS; level++) flow = find_child(flow, path[level], true);
    item->flow = flow;
    insert_item(flow, item);
    count_waiting(flow, 1, false);
}

struct fair_item *fair_queue_first(const struct fair_queue *queue)
{
    return first_below(queue, &queue->root);
}

void fair_queue_take(struct fair_item *item)
{
    unlink_item(item->flow, item);
    count_waiting(item->flow, -1, true);
    count_in_flight(item->flow, 1);
}

void fair_queue_release(struct fair_item *item)
{
    count_in_flight(item->flow, -1);
    free_empty(item->flow);
    item->flow = NULL;
}

struct fair_item *fair_queue_remove(struct fair_queue *queue, const uint64_t path[FAIR_LEVELS])
{
    struct fair_flow *flow = &queue->root;
    for (unsigned level = 0; level < FAIR_LEVELS && flow; level++) flow = find_child(flow, path[level], false);
    struct fair_item *item = flow ? flow->first : NULL;
    if (!item) return NULL;
    unlink_item(flow, item);
    item->flow = NULL;
    count_waiting(flow, -1, false);
    free_empty(flow);
    return item;
}
