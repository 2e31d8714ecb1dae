/* Quarters calculated from the number of a month, and other whole numbers of dates. */
#ifndef ASSAY_SIGNALS_SUPPORT_QUARTER_H
#define ASSAY_SIGNALS_SUPPORT_QUARTER_H

#include "signals/vsig.h"

enum vsig_quarter { VSIG_QUARTER_NONE, VSIG_QUARTER_RIGHT, VSIG_QUARTER_WRONG };

/* Judges a division of a month's number by 3, rounded to a whole number: (month + 2) / 3 and (month - 1) / 3 keep the
 * months of a quarter together, and month / 3 does not. NONE for any other node. */
enum vsig_quarter vsig_quarter_of(const struct vsig_subject *subject, const struct sql_node *node);

/* True if a part of a date, such as its year or hour, is divided by a literal: such a quotient is a whole number by
 * intent. */
bool vsig_divides_date_part(const struct sql_node *division);

#endif
