/* Two columns of one table with opposite roles: source and destination, home and away, winner and loser. The two ends
 * of a self-join are similar: the manager and the managed. Words beside the value tell which one the question means:
 * "from Oslo", "finished at Ulm", "the boss of Ann", "who reports to Ann". */
#ifndef ASSAY_SIGNALS_SUPPORT_ROLE_H
#define ASSAY_SIGNALS_SUPPORT_ROLE_H

#include "signals/support/shape.h"

struct vsig_roles {
    uint32_t match, mismatch;             /* values compared with the column of the role that the question gives them,
                                         * or with the other */
    const struct sql_node *at;            /* predicate of the first value with the wrong role; NULL */
    const struct schema_column *used;     /* the column that it is compared with */
    const struct schema_column *wanted;   /* the column that the question means */
    uint32_t ends_match, ends_mismatch;   /* likewise for the ends of self-joins */
    const struct sql_node *ends_at;       /* the join whose ends are exchanged; NULL */
    uint32_t words_match, words_mismatch; /* roles that the question names, and opposites of such roles */
};

/* Computed once a subject; NULL if the arena is full. All zero without a question. Bounded by the inspected
 * predicates. */
const struct vsig_roles *vsig_roles_look(struct vsig_subject *subject);

#endif
