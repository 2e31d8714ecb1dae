/* Differences of dates by the minus sign, which is no number of days in all engines. */
#ifndef ASSAY_SIGNALS_SUPPORT_ELAPSED_H
#define ASSAY_SIGNALS_SUPPORT_ELAPSED_H

#include "signals/vsig.h"

enum vsig_elapsed {
    VSIG_ELAPSED_NONE,  /* no subtraction of two dates, or the engine gives days */
    VSIG_ELAPSED_YEARS, /* dates as text: the years at their beginning are subtracted */
    VSIG_ELAPSED_DIGITS /* dates become numbers such as 20240131 */
};

/* Returns the result of `node` if it subtracts two dates. NONE if only the sign of the difference is used. */
enum vsig_elapsed vsig_elapsed_of(const struct vsig_subject *subject, const struct sql_node *node);

#endif
