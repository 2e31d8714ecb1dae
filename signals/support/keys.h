/* Which columns of a block are fixed if others are: functional dependencies from keys, equalities and constants.
 *
 * A computation starts with the constants of WHERE. Add columns, close, then query. A column is "fixed" per group: if
 * the columns of GROUP BY were added, a fixed column has one value in each group. If no columns were added, a FROM item
 * that is fixed as a whole contributes at most one row. */
#ifndef ASSAY_SIGNALS_SUPPORT_KEYS_H
#define ASSAY_SIGNALS_SUPPORT_KEYS_H

#include "signals/support/shape.h"

struct vsig_keys;

/* Starts a computation. If `measured`, columns without repeated values count as keys, besides declared ones. NULL if
 * the arena is full. */
struct vsig_keys *vsig_keys_new(struct vsig_subject *subject, const struct vsig_block_shape *shape, bool measured);
void vsig_keys_add_column(struct vsig_keys *keys, const struct sql_ref *ref);
void vsig_keys_add_source(struct vsig_keys *keys, const struct sql_source *source);
/* Follows all dependencies until nothing changes. */
void vsig_keys_close(struct vsig_keys *keys);

bool vsig_keys_has_column(const struct vsig_keys *keys, const struct sql_ref *ref);
/* Returns the FROM items that are fixed as a whole. */
vsig_sources vsig_keys_whole(const struct vsig_keys *keys);

/* True if this CTE or derived table gives at most one row (an aggregate without GROUP BY, LIMIT 1, one row of
 * VALUES). */
bool vsig_is_one_row(const struct sql_source *source);

/* True for LIMIT 1. */
bool vsig_limits_to_one(const struct sql_node *query);

#endif
