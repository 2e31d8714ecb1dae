/* What a query makes of a definition of the evidence. */
#ifndef ASSAY_SIGNALS_SUPPORT_DEFINITION_H
#define ASSAY_SIGNALS_SUPPORT_DEFINITION_H

#include "signals/support/query.h"

enum definition_how {
    DEFINITION_UNKNOWN,  /* it cannot be told */
    DEFINITION_KEPT,     /* as it stands */
    DEFINITION_IGNORED,  /* nothing of it */
    DEFINITION_INVERTED, /* numerator and denominator, above and below, equal and unequal, plus and minus exchanged */
    DEFINITION_OTHER_VALUE /* its column meets a literal of which neither question nor evidence speaks, or another column */
};

struct definition_use {
    enum definition_how how;
    const struct sql_node *node; /* the place; the select list where there is none */
};

/* How the query uses it. `subject` is bound and has an analysis. Thread: eval. */
struct definition_use definition_look(const struct vsig_subject *subject, const struct question_definition *definition);

#endif
