/* A literal that the question does not contain, in a column for which it gives another value. */
#ifndef ASSAY_SIGNALS_SUPPORT_CONTRADICTION_H
#define ASSAY_SIGNALS_SUPPORT_CONTRADICTION_H

#include "lib/question/forms.h"
#include "signals/support/predicate.h"

struct vsig_contradiction {
    const struct vsig_predicate *predicate;
    const struct sql_node *literal;
    struct question_said said; /* the question's value for the column */
    bool sure;                 /* false if the words may mean something else */
};
enum { VSIG_MAX_CONTRADICTIONS = 8 };

struct vsig_contradictions {
    struct vsig_predicate predicates[VSIG_MAX_PREDICATES];
    struct vsig_contradiction items[VSIG_MAX_CONTRADICTIONS];
    uint32_t n_predicates, n;
};

/* Finds contradictions: women and sex = 'M'; Europe and continent = 'Asia'. Excludes literals that the question or the
 * evidence says in any form (its name in another column of the row counts), and values that another literal of the
 * query expresses. Needs subject->analysis. Computed once a subject; NULL if the arena is full. */
const struct vsig_contradictions *vsig_contradictions(struct vsig_subject *subject);

/* True if some literal of a predicate expresses the value of that column: in a form of it, or as its code in another
 * column of the row. */
bool vsig_stands_for(struct vsig_subject *subject, const struct vsig_predicate *all, uint32_t n,
                     const struct schema_column *column, const char *stored);

#endif
