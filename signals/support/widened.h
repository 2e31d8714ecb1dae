/* A sorted query with its order keys as further columns, to see what the order made of them. */
#ifndef ASSAY_SIGNALS_SUPPORT_WIDENED_H
#define ASSAY_SIGNALS_SUPPORT_WIDENED_H

#include "signals/vsig.h"

/* LIMIT's count, or 0 when it is no number up to 1,000 or there is no order that it cuts. */
long vsig_cut_of(const struct sql_node *query);

/* The expression that a term orders by: a position and an alias stand for a select item. NULL: there is no such item. */
const struct sql_node *vsig_term_expression(const struct sql_node *term, const struct sql_node *items);

/* The text of the query with its *n_keys order keys as further columns and a limit of `rows`. NULL if it cannot be
 * widened (DISTINCT, a set operation, OFFSET), or the arena is full. */
const char *vsig_widened(struct vsig_subject *subject, const struct sql_node *query, long rows, uint32_t *n_keys);

#endif
