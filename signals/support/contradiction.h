/* A literal that the question does not say, in a column of which it says another value. */
#ifndef ASSAY_SIGNALS_SUPPORT_CONTRADICTION_H
#define ASSAY_SIGNALS_SUPPORT_CONTRADICTION_H

#include "lib/question/forms.h"
#include "signals/support/predicate.h"

struct vsig_contradiction {
    const struct vsig_predicate *predicate;
    const struct sql_node *literal;
    struct question_said said; /* what the question says of the column */
    bool sure;                 /* else the words may mean something else */
};
enum { VSIG_MAX_CONTRADICTIONS = 8 };

struct vsig_contradictions {
    struct vsig_predicate predicates[VSIG_MAX_PREDICATES];
    struct vsig_contradiction items[VSIG_MAX_CONTRADICTIONS];
    uint32_t n_predicates, n;
};

/* Women and sex = 'M'; Europe and continent = 'Asia'. Not where the question or the evidence says the literal in any
 * form (its name in another column of the row counts), nor where another literal of the query stands for what it says.
 * Needs subject->analysis. Looked for once a subject; NULL when the arena is full. */
const struct vsig_contradictions *vsig_contradictions(struct vsig_subject *subject);

/* Does some literal of a predicate stand for the value of that column: in a form of it, or as its code in another column
 * of the row? */
bool vsig_stands_for(struct vsig_subject *subject, const struct vsig_predicate *all, uint32_t n,
                     const struct schema_column *column, const char *stored);

#endif
