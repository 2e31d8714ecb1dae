/* Two columns of one table that play opposite parts: source and destination, home and away, winner and loser; and the
 * two ends of a self-join: who manages and who is managed. Which one the question means stands beside the value: "from
 * Oslo", "finished at Ulm", "the boss of Ann", "who reports to Ann". */
#ifndef ASSAY_SIGNALS_SUPPORT_ROLE_H
#define ASSAY_SIGNALS_SUPPORT_ROLE_H

#include "signals/support/shape.h"

struct vsig_roles {
    uint32_t match, mismatch;           /* values that stand for the part that the question gives them, or the other */
    const struct sql_node *at;          /* the first value's predicate at odds; NULL */
    const struct schema_column *used;   /* the part it is given */
    const struct schema_column *wanted; /* the part that the question names */
    uint32_t ends_match, ends_mismatch; /* the same for the ends of self-joins */
    const struct sql_node *ends_at;     /* the join whose ends are exchanged; NULL */
    uint32_t words_match, words_mismatch; /* parts used that the question names, and used where it names the other */
};

/* Looked at once a subject; NULL when the arena is full. All zero without a question. Bounded by the predicates that are
 * looked at. */
const struct vsig_roles *vsig_roles_look(struct vsig_subject *subject);

#endif
