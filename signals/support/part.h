/* Parts of dates: those that the query extracts (year, month, day, weekday) against those that the question names. */
#ifndef ASSAY_SIGNALS_SUPPORT_PART_H
#define ASSAY_SIGNALS_SUPPORT_PART_H

#include "signals/vsig.h"

enum vsig_date_part {
    VSIG_PART_NONE,
    VSIG_PART_YEAR,
    VSIG_PART_MONTH, /* of the year: all Augusts are one */
    VSIG_PART_DAY,   /* of the month */
    VSIG_PART_WEEKDAY,
    VSIG_PART_YEAR_MONTH, /* a month of one year */
    VSIG_PART_COUNT
};

struct vsig_parts {
    uint32_t n;                          /* parts taken */
    uint32_t match, mismatch;            /* compared with a part that the question names: the right part, or another */
    const struct sql_node *at;           /* the first at odds */
    enum vsig_date_part wanted, taken;   /* of that one */
    const struct sql_node *monthless;    /* the first strftime of year and day alone */
    const struct sql_node *unreadable;   /* a call that gives NULL for every value that the column is known by */
    const struct schema_column *column;  /* of that one */
    float grouped_match, grouped_misfit; /* parts grouped by or shown that the question names, and those it does not */
};

/* Bounded by the statement's nodes. */
void vsig_parts_look(const struct vsig_subject *subject, struct vsig_parts *parts);

/* "month", "day of the month" ... Never NULL. */
const char *vsig_part_name(enum vsig_date_part part);

#endif
