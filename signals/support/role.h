/* Detects exchanged roles. Two columns of one table may have opposite roles: source and destination, home and away,
 * winner and loser. The two sides of a self-join also have roles, such as manager and managed. Words beside a value
 * tell which role the question means: "from Oslo", "finished at Ulm", "the boss of Ann", "who reports to Ann". */
#ifndef ASSAY_SIGNALS_SUPPORT_ROLE_H
#define ASSAY_SIGNALS_SUPPORT_ROLE_H

#include "signals/support/shape.h"

struct vsig_roles {
    uint32_t match, mismatch;             /* numbers of values that have the same role in query and question, and
                                           * opposite roles */
    const struct sql_node *at;            /* the predicate of the first value with the wrong role; NULL if there is
                                           * none */
    const struct schema_column *used;     /* the column that `at` compares with the value */
    const struct schema_column *wanted;   /* the column that the question means */
    uint32_t ends_match, ends_mismatch;   /* the same numbers for the sides of self-joins */
    const struct sql_node *ends_at;       /* the join whose sides are exchanged; NULL if there is none */
    uint32_t words_match, words_mismatch; /* numbers of used columns whose role the question names, and of which it
                                           * names only the opposite role */
};

/* Returns the roles, computed once for each subject. All fields are zero without a question. Returns NULL if the arena
 * is full. The work is bounded by the number of inspected predicates. */
const struct vsig_roles *vsig_roles_look(struct vsig_subject *subject);

#endif
