/* Finds subtractions of two dates by the minus sign. Not all engines return a number of days. */
#ifndef ASSAY_SIGNALS_SUPPORT_ELAPSED_H
#define ASSAY_SIGNALS_SUPPORT_ELAPSED_H

#include "signals/vsig.h"

enum vsig_elapsed {
    VSIG_ELAPSED_NONE,  /* not a subtraction of two dates, or the engine returns days */
    VSIG_ELAPSED_YEARS, /* the dates are texts, and the engine subtracts the years at their start */
    VSIG_ELAPSED_DIGITS /* the engine turns the dates into numbers such as 20240131 */
};

/* Returns what the engine computes if `node` subtracts two dates. Returns NONE if the query uses only the sign of the
 * difference. */
enum vsig_elapsed vsig_elapsed_of(const struct vsig_subject *subject, const struct sql_node *node);

#endif
