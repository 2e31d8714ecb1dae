/* Computes functional dependencies in one block: which columns are fixed if other columns are. They follow from keys,
 * equalities and constants.
 *
 * A computation starts with the columns that WHERE compares with constants. Add columns, call vsig_keys_close, then
 * query. If the columns of GROUP BY were added, a fixed column has one value in each group. If no columns were added, a
 * FROM item that is fixed as a whole contributes at most one row. */
#ifndef ASSAY_SIGNALS_SUPPORT_KEYS_H
#define ASSAY_SIGNALS_SUPPORT_KEYS_H

#include "signals/support/shape.h"

struct vsig_keys;

/* Starts a computation. If `measured` is true, columns without repeated values in the data count as keys, like declared
 * keys. Returns NULL if the arena is full. */
struct vsig_keys *vsig_keys_new(struct vsig_subject *subject, const struct vsig_block_shape *shape, bool measured);
void vsig_keys_add_column(struct vsig_keys *keys, const struct sql_ref *ref);
void vsig_keys_add_source(struct vsig_keys *keys, const struct sql_source *source);
/* Applies all dependencies until the set of fixed columns no longer grows. */
void vsig_keys_close(struct vsig_keys *keys);

bool vsig_keys_has_column(const struct vsig_keys *keys, const struct sql_ref *ref);
/* Returns the FROM items whose columns are all fixed. */
vsig_sources vsig_keys_whole(const struct vsig_keys *keys);

/* True if this CTE or derived table returns at most one row: an aggregate without GROUP BY, LIMIT 1, or a single row of
 * VALUES. */
bool vsig_is_one_row(const struct sql_source *source);

/* True if the query has LIMIT 1. */
bool vsig_limits_to_one(const struct sql_node *query);

#endif
