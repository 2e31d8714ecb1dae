/* Verdicts in the order of their requests, though they come in order of completion. Single-threaded. */
#ifndef ASSAY_ENGINE_REORDER_H
#define ASSAY_ENGINE_REORDER_H

#include "proto/message/msg.h"

#include <glib.h>

struct reorder {
    GQueue pending;       /* tags of those that are out, in order */
    GHashTable *finished; /* tag → verdict that waits for its turn */
    guint bound;
};

/* window: how many requests the engine judges at once; a few times as many may be out before reorder_full says so, so
 * that others go on while one is slow. The caller owes reorder_free. */
void reorder_init(struct reorder *reorder, uint32_t window);
void reorder_free(struct reorder *reorder);

/* The request of this tag is the next in order. Each tag once, none 0. */
void reorder_expect(struct reorder *reorder, uint64_t tag);

/* Takes a verdict over whose tag is expected. */
void reorder_put(struct reorder *reorder, struct msg_verdict *verdict);

/* The verdict whose turn it is; the caller owes msg_verdict_free. NULL: it has not come yet, or nothing is out. */
struct msg_verdict *reorder_next(struct reorder *reorder);

/* Enough verdicts wait for one that is slow: ask for no further. What was expected last may itself wait to be asked. */
bool reorder_full(const struct reorder *reorder);

#endif
