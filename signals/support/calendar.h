/* Months without their year, and numbers of days of the week, in all engines' functions. */
#ifndef ASSAY_SIGNALS_SUPPORT_CALENDAR_H
#define ASSAY_SIGNALS_SUPPORT_CALENDAR_H

#include "signals/vsig.h"

/* A number of a day of the week that is not the day meant. */
struct vsig_weekday_slip {
    const struct sql_node *at; /* the comparison */
    const char *meant;         /* the day that the question or a label of the query names; NULL if it names none */
    const char *taken;         /* the day of the number; NULL if no day has it */
    int sunday, monday;        /* the function's numbers of these days */
    bool labelled;             /* `meant` is a label of the query's own CASE */
};

/* Finds the first slip. Returns false if there is none. */
bool vsig_weekday_slip_find(const struct vsig_subject *subject, struct vsig_weekday_slip *slip);

/* Finds a GROUP BY of months without their year that puts the same month of two years into one group, although the
 * question asks for each month. A probe on the rows after WHERE proves it. Returns the extracted month, or NULL. *code
 * gets the reason if the probe failed. */
const struct sql_node *vsig_merged_months(struct vsig_subject *subject, enum err_code *code);

/* True if the node extracts the number of a month from a date. */
bool vsig_extracts_month(const struct sql_node *node);

#endif
