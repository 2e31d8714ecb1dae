/* A sorted query with its order keys as further columns, to inspect the effect of the order. */
#ifndef ASSAY_SIGNALS_SUPPORT_WIDENED_H
#define ASSAY_SIGNALS_SUPPORT_WIDENED_H

#include "signals/vsig.h"

/* Returns LIMIT's count; 0 if it is not a number up to 1,000 or there is no order. */
long vsig_cut_of(const struct sql_node *query);

/* Returns the expression that a term orders by: a position or an alias refers to a select item. NULL if there is no
 * such item. */
const struct sql_node *vsig_term_expression(const struct sql_node *term, const struct sql_node *items);

/* Returns the query with its *n_keys order keys as further columns and a limit of `rows`. NULL if the query cannot be
 * extended (DISTINCT, a set operation, OFFSET), or the arena is full. */
const char *vsig_widened(struct vsig_subject *subject, const struct sql_node *query, long rows, uint32_t *n_keys);

#endif
