/* Periods with a start and an end: "in force on 15 March". */
#ifndef ASSAY_SIGNALS_SUPPORT_PERIOD_H
#define ASSAY_SIGNALS_SUPPORT_PERIOD_H

#include "signals/vsig.h"

/* A bound of a period that is compared with the day in the wrong direction. */
struct vsig_period_slip {
    const struct sql_node *at; /* the comparison */
    const struct schema_column *column;
    bool start; /* the start begins on or after the day; otherwise the end is on or before it */
};

/* Finds the first such bound, if the question asks for the things that are in force on a day. Returns false if there
 * is none. */
bool vsig_period_slip_find(const struct vsig_subject *subject, struct vsig_period_slip *slip);

#endif
