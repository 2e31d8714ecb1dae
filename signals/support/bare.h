/* Finds columns of a grouped block that may have several values in one group. */
#ifndef ASSAY_SIGNALS_SUPPORT_BARE_H
#define ASSAY_SIGNALS_SUPPORT_BARE_H

#include "signals/support/keys.h"

struct vsig_bare {
    const struct sql_block *block;
    const struct sql_node *group; /* the GROUP BY clause, or NULL */
    struct vsig_keys *keys;       /* the dependencies after vsig_keys_close, with the grouping columns fixed */
};

/* Prepares the search in one block. Returns false if the arena is full. */
bool vsig_bare_init(struct vsig_bare *bare, struct vsig_subject *subject, const struct vsig_block_shape *shape);

/* Returns the first column below `expr` that may have several values in a group, or NULL. Skips aggregates, window
 * functions, subqueries and grouped expressions. */
const struct sql_node *vsig_bare_find(const struct vsig_bare *bare, const struct sql_node *expr);

#endif
