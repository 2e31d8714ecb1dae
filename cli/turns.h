/* Verdicts in the order of their requests, though they come in order of completion. Single-threaded. */
#ifndef ASSAY_CLI_TURNS_H
#define ASSAY_CLI_TURNS_H

#include "proto/message/msg.h"

#include <glib.h>

struct turns {
    GQueue pending;       /* tags of those that are out, in order */
    GHashTable *finished; /* tag → verdict that waits for its turn */
    guint bound;
};

/* window: how many requests the engine judges at once; a few times as many may be out before turns_full says so, so
 * that others go on while one is slow. The caller owes turns_free. */
void turns_init(struct turns *turns, uint32_t window);
void turns_free(struct turns *turns);

/* The request of this tag is the next in order. Each tag once, none 0. */
void turns_expect(struct turns *turns, uint64_t tag);

/* Takes a verdict over whose tag is expected. */
void turns_put(struct turns *turns, struct msg_verdict *verdict);

/* The verdict whose turn it is; the caller owes msg_verdict_free. NULL: it has not come yet, or nothing is out. */
struct msg_verdict *turns_next(struct turns *turns);

/* Enough verdicts wait for one that is slow: ask for no further. What was expected last may itself wait to be asked. */
bool turns_full(const struct turns *turns);

#endif
