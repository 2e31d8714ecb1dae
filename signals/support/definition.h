/* How a query uses a definition of the evidence. */
#ifndef ASSAY_SIGNALS_SUPPORT_DEFINITION_H
#define ASSAY_SIGNALS_SUPPORT_DEFINITION_H

#include "signals/support/query.h"

enum definition_how {
    DEFINITION_UNKNOWN,    /* unknown */
    DEFINITION_KEPT,       /* used as given */
    DEFINITION_IGNORED,    /* not used */
    DEFINITION_INVERTED,   /* reversed: numerator and denominator, above and below, equal and unequal, plus and minus */
    DEFINITION_OTHER_VALUE /* its column is compared with a literal that neither question nor evidence mentions, or
                            * with another column */
};

struct definition_use {
    enum definition_how how;
    const struct sql_node *node; /* the node; the select list if there is none */
};

/* Returns how the query uses it. `subject` is bound and has an analysis. Thread: eval. */
struct definition_use definition_look(const struct vsig_subject *subject, const struct question_definition *definition);

#endif
