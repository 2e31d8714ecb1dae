/* How a query uses a definition of the evidence. */
#ifndef ASSAY_SIGNALS_SUPPORT_DEFINITION_H
#define ASSAY_SIGNALS_SUPPORT_DEFINITION_H

#include "signals/support/query.h"

enum definition_how {
    DEFINITION_UNKNOWN,    /* the query may express the definition in another way */
    DEFINITION_KEPT,       /* the query uses the definition as it is */
    DEFINITION_IGNORED,    /* the query does not use it */
    DEFINITION_INVERTED,   /* the query reverses it: numerator and denominator, above and below, equal and unequal, or
                            * plus and minus */
    DEFINITION_OTHER_VALUE /* the query compares its column with another column, or with a literal that neither question
                            * nor evidence mentions */
};

struct definition_use {
    enum definition_how how;
    const struct sql_node *node; /* the place of the use; the select list if there is none */
};

/* Returns how the query uses the definition. `subject` must be bound and have an analysis. Thread: eval. */
struct definition_use definition_look(const struct vsig_subject *subject, const struct question_definition *definition);

#endif
