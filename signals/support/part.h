/* Compares the parts of dates that the query extracts (year, month, day, weekday) with those that the question
 * names. */
#ifndef ASSAY_SIGNALS_SUPPORT_PART_H
#define ASSAY_SIGNALS_SUPPORT_PART_H

#include "signals/vsig.h"

enum vsig_date_part {
    VSIG_PART_NONE,
    VSIG_PART_YEAR,
    VSIG_PART_MONTH, /* month number without the year */
    VSIG_PART_DAY,   /* day of the month */
    VSIG_PART_WEEKDAY,
    VSIG_PART_YEAR_MONTH, /* month together with its year */
    VSIG_PART_COUNT
};

struct vsig_parts {
    uint32_t n;                          /* number of extracted parts */
    uint32_t match, mismatch;            /* numbers of compared parts that the question means, and that it does not
                                          * mean */
    const struct sql_node *at;           /* the first mismatch */
    enum vsig_date_part wanted, taken;   /* the part that the question means and the part that the query extracts, for
                                          * the mismatch `at` */
    const struct sql_node *monthless;    /* the first strftime format with year and day but without month; NULL if there
                                          * is none */
    const struct sql_node *unreadable;   /* the first call that returns NULL or a wrong part for all known values of its
                                          * column; NULL if there is none */
    const struct schema_column *column;  /* the column of `unreadable` */
    float grouped_match, grouped_misfit; /* numbers of other parts, such as grouping keys, that the question names, and
                                          * that it does not name */
};

/* Fills `parts`. The work is bounded by the statement's nodes. */
void vsig_parts_look(const struct vsig_subject *subject, struct vsig_parts *parts);

/* Returns "month", "day of the month" and so on. Never NULL. */
const char *vsig_part_name(enum vsig_date_part part);

#endif
