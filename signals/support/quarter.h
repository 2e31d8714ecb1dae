/* Checks calculations of the quarter from the month, and recognizes divisions of other whole numbers from dates. */
#ifndef ASSAY_SIGNALS_SUPPORT_QUARTER_H
#define ASSAY_SIGNALS_SUPPORT_QUARTER_H

#include "signals/vsig.h"

enum vsig_quarter { VSIG_QUARTER_NONE, VSIG_QUARTER_RIGHT, VSIG_QUARTER_WRONG };

/* Checks a division of the month by 3 that is rounded to a whole number. (month + 2) / 3 and (month - 1) / 3 give the
 * three months of a quarter the same number; month / 3 does not. Returns NONE for any other node. */
enum vsig_quarter vsig_quarter_of(const struct vsig_subject *subject, const struct sql_node *node);

/* True if the division divides a part of a date, such as its year or hour, by a literal. The quotient is then meant to
 * be a whole number. */
bool vsig_divides_date_part(const struct sql_node *division);

#endif
