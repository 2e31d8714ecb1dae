/* Checks conditions on periods that have a start and an end column, for questions such as "in force on 15 March". */
#ifndef ASSAY_SIGNALS_SUPPORT_PERIOD_H
#define ASSAY_SIGNALS_SUPPORT_PERIOD_H

#include "signals/vsig.h"

/* A comparison of a period's start or end with the day of the question, in the wrong direction. */
struct vsig_period_slip {
    const struct sql_node *at; /* the comparison */
    const struct schema_column *column;
    bool start; /* true if the query requires a start on or after the day; false if it requires an end on or before the
                 * day */
};

/* Finds the first such comparison, if the question asks for things that are in force on a day. Returns false if there
 * is none. */
bool vsig_period_slip_find(const struct vsig_subject *subject, struct vsig_period_slip *slip);

#endif
