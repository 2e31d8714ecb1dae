/* Finds the divisions of a query. Compares numerator and denominator with the order in which the question names them,
 * and reports whether a division loses the fraction. */
#ifndef ASSAY_SIGNALS_SUPPORT_QUOTIENT_H
#define ASSAY_SIGNALS_SUPPORT_QUOTIENT_H

#include "signals/vsig.h"

struct vsig_quotients {
    uint32_t n;
    uint32_t upright, inverted; /* number of divisions in the order of the question, or in the reverse order */
    const struct sql_node *at;  /* the first one that is certainly inverted */
    bool by_words;              /* true if the words of the question show this; otherwise the query divides a whole by
                                 * its part */
    bool by_count;              /* true if the question asks for an average count, but the query divides distinct things
                                 * by their rows */
    uint32_t whole, exact;      /* divisions of two integers, which lose the fraction, and other divisions */
    bool share_said;            /* true if the question says "percentage", "share", "proportion" or similar */
    uint32_t scaled;            /* number of multiplications by 100 */
};

/* Fills `quotients`. The work is bounded by the statement's nodes and the question's words. */
void vsig_quotients_look(const struct vsig_subject *subject, struct vsig_quotients *quotients);

/* True if a count with a condition is divided by a count without one: a part by its whole. */
bool vsig_is_share(const struct sql_node *division);

#endif
