/* Lists the places where a query depends on the order of a column's values. These are <, <=, >, >= and BETWEEN with
 * literals, ORDER BY, MAX and MIN. */
#ifndef ASSAY_SIGNALS_SUPPORT_ORDERING_H
#define ASSAY_SIGNALS_SUPPORT_ORDERING_H

#include "signals/support/predicate.h"

struct vsig_ordering {
    const struct sql_node *node; /* the comparison, the ORDER BY term, or the call of MAX or MIN */
    const struct schema_column *column;
    const struct vsig_predicate *predicate; /* the comparison as a predicate; NULL for ORDER BY, MAX and MIN */
};

typedef void vsig_ordering_fn(void *ctx, const struct vsig_ordering *ordering);

/* Calls `each` for each place: first the comparisons, then the others in the order of the text. Only plain columns
 * count. Comparisons beyond VSIG_MAX_PREDICATES are not listed. Thread: eval. */
void vsig_each_ordering(struct vsig_subject *subject, vsig_ordering_fn *each, void *ctx);

/* Returns "sorted" for a term of ORDER BY, else "compared". */
const char *vsig_ordering_verb(const struct vsig_ordering *ordering);

#endif
