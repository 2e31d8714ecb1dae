/* A literal that the question does not contain, compared with a column for which the question gives another value. */
#ifndef ASSAY_SIGNALS_SUPPORT_CONTRADICTION_H
#define ASSAY_SIGNALS_SUPPORT_CONTRADICTION_H

#include "lib/question/forms.h"
#include "signals/support/predicate.h"

struct vsig_contradiction {
    const struct vsig_predicate *predicate;
    const struct sql_node *literal;
    struct question_said said; /* the value that the question gives for the column */
    bool sure;                 /* false if the question's words may have another meaning */
};
enum { VSIG_MAX_CONTRADICTIONS = 8 };

struct vsig_contradictions {
    struct vsig_predicate predicates[VSIG_MAX_PREDICATES];
    struct vsig_contradiction items[VSIG_MAX_CONTRADICTIONS];
    uint32_t n_predicates, n;
};

/* Finds contradictions, such as "women" and sex = 'M', or "Europe" and continent = 'Asia'. Accepts a literal that the
 * question or the evidence mentions in any form. The name of a code, from another column of its row, counts as such a
 * form. Also accepts the literal if another literal of the query expresses the question's value. Needs
 * subject->analysis. Computed once for each subject. Returns NULL if the arena is full. */
const struct vsig_contradictions *vsig_contradictions(struct vsig_subject *subject);

/* True if a literal of one of the `n` predicates expresses the value `stored` of the column. The literal may be a form
 * of the value, or its code or name in another column of the same row. */
bool vsig_stands_for(struct vsig_subject *subject, const struct vsig_predicate *all, uint32_t n,
                     const struct schema_column *column, const char *stored);

#endif
