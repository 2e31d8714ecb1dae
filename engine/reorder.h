/* Sorts verdicts, which arrive in order of completion, into the order of their requests. Single-threaded. */
#ifndef ASSAY_ENGINE_REORDER_H
#define ASSAY_ENGINE_REORDER_H

#include "proto/message/msg.h"

#include <glib.h>

struct reorder {
    GQueue pending;       /* tags of the requests in flight, in order */
    GHashTable *finished; /* tag → verdict that arrived early */
    guint bound;
};

/* Initializes the buffer. `window` is the number of requests that the engine judges at once. A few times as many may be
 * in flight before reorder_full returns true, so that others proceed while one is slow. Free with reorder_free. */
void reorder_init(struct reorder *reorder, uint32_t window);
void reorder_free(struct reorder *reorder);

/* Appends the request of this tag to the order. Tags are unique and not 0. */
void reorder_expect(struct reorder *reorder, uint64_t tag);

/* Adds a verdict, whose tag must be expected. Takes ownership of it. */
void reorder_put(struct reorder *reorder, struct msg_verdict *verdict);

/* Returns the next verdict in order. Returns NULL if it has not arrived or if nothing is in flight. Free with
 * msg_verdict_free. */
struct msg_verdict *reorder_next(struct reorder *reorder);

/* Returns true if no further request should be submitted, because too many verdicts already wait for a slow one. A
 * request may be expected before it is submitted. */
bool reorder_full(const struct reorder *reorder);

#endif
