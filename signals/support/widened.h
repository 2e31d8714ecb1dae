/* Extends a sorted query with its sort keys as further columns, so a signal can inspect the effect of the order. */
#ifndef ASSAY_SIGNALS_SUPPORT_WIDENED_H
#define ASSAY_SIGNALS_SUPPORT_WIDENED_H

#include "signals/vsig.h"

/* Returns the count of LIMIT. Returns 0 if there is no ORDER BY or the count is not a number from 1 to 1,000. */
long vsig_cut_of(const struct sql_node *query);

/* Returns the expression that an ORDER BY term sorts by. A position or an alias is resolved to its select item. Returns
 * NULL if there is no such item. */
const struct sql_node *vsig_term_expression(const struct sql_node *term, const struct sql_node *items);

/* Returns the query with its sort keys as further columns and LIMIT `rows`. Sets *n_keys to their number. Returns NULL
 * if the query cannot be extended (DISTINCT, a set operation, OFFSET) or the arena is full. */
const char *vsig_widened(struct vsig_subject *subject, const struct sql_node *query, long rows, uint32_t *n_keys);

#endif
