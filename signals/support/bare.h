/* Columns of a grouped block that have no one value in a group. */
#ifndef ASSAY_SIGNALS_SUPPORT_BARE_H
#define ASSAY_SIGNALS_SUPPORT_BARE_H

#include "signals/support/keys.h"

struct vsig_bare {
    const struct sql_block *block;
    const struct sql_node *group; /* GROUP BY, or NULL */
    struct vsig_keys *keys;       /* closed, with the grouping columns fixed */
};

/* Returns false if the arena is full. */
bool vsig_bare_init(struct vsig_bare *bare, struct vsig_subject *subject, const struct vsig_block_shape *shape);

/* Returns the first column below `expr` that the groups do not fix, or NULL. Skips aggregates, windows, subqueries and
 * grouped expressions. */
const struct sql_node *vsig_bare_find(const struct vsig_bare *bare, const struct sql_node *expr);

#endif
