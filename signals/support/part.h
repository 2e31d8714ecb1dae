/* Parts of dates: those that the query extracts (year, month, day, weekday) against those that the question names. */
#ifndef ASSAY_SIGNALS_SUPPORT_PART_H
#define ASSAY_SIGNALS_SUPPORT_PART_H

#include "signals/vsig.h"

enum vsig_date_part {
    VSIG_PART_NONE,
    VSIG_PART_YEAR,
    VSIG_PART_MONTH, /* of the year: the same for all years */
    VSIG_PART_DAY,   /* of the month */
    VSIG_PART_WEEKDAY,
    VSIG_PART_YEAR_MONTH, /* a month of one year */
    VSIG_PART_COUNT
};

struct vsig_parts {
    uint32_t n;                          /* number of extracted parts */
    uint32_t match, mismatch;            /* compared with the part that the question names, or with another one */
    const struct sql_node *at;           /* the first mismatch */
    enum vsig_date_part wanted, taken;   /* of that mismatch */
    const struct sql_node *monthless;    /* the first strftime of year and day without month */
    const struct sql_node *unreadable;   /* a call that returns NULL for all known values of the column */
    const struct schema_column *column;  /* its column */
    float grouped_match, grouped_misfit; /* parts grouped by or shown that the question names, or does not */
};

/* Fills `parts`. Bounded by the statement's nodes. */
void vsig_parts_look(const struct vsig_subject *subject, struct vsig_parts *parts);

/* Returns "month", "day of the month" and so on. Never NULL. */
const char *vsig_part_name(enum vsig_date_part part);

#endif
