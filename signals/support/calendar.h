/* Finds months that are extracted without their year, and wrong numbers of weekdays. Knows the functions of all
 * engines. */
#ifndef ASSAY_SIGNALS_SUPPORT_CALENDAR_H
#define ASSAY_SIGNALS_SUPPORT_CALENDAR_H

#include "signals/vsig.h"

/* A comparison of a weekday with a number that stands for another day than the intended one. */
struct vsig_weekday_slip {
    const struct sql_node *at; /* the comparison with the wrong number */
    const char *meant;         /* name of the day that the question or a label of the query means; NULL if neither names
                                * a day */
    const char *taken;         /* name of the day that the number stands for; NULL if the number is not a weekday */
    int sunday, monday;        /* numbers that the function returns for Sunday and Monday */
    bool labelled;             /* true if a result of the query's own CASE names the day `meant` */
};

/* Finds the first such comparison. Returns false if there is none. */
bool vsig_weekday_slip_find(const struct vsig_subject *subject, struct vsig_weekday_slip *slip);

/* Finds a GROUP BY that extracts months without their year, although the question asks for each month. A probe must
 * prove that a group has the same month of two years. Returns the extracted month, or NULL. *code gets the reason if
 * the probe failed. */
const struct sql_node *vsig_merged_months(struct vsig_subject *subject, enum err_code *code);

/* True if the node extracts the month from a date, without the year. */
bool vsig_extracts_month(const struct sql_node *node);

#endif
