/* Compares numbers of a query and a question by their units: "ten minutes" and milliseconds > 10 * 60 * 1000. */
#ifndef ASSAY_SIGNALS_SUPPORT_UNITS_H
#define ASSAY_SIGNALS_SUPPORT_UNITS_H

#include "lib/question/question.h"
#include "signals/vsig.h"

/* A comparison of a column with a number, rearranged to `column op number`: height * 100 > 182 becomes height >
 * 1.82. */
struct vsig_threshold {
    const struct sql_node *node;
    const struct schema_column *column;
    double number;
    bool scaled; /* true if one of the operands contains a calculation */
};
enum { VSIG_MAX_THRESHOLDS = 16 };
/* Lists all thresholds, from comparisons and BETWEEN. Returns their number. */
uint32_t vsig_thresholds(const struct vsig_subject *subject, struct vsig_threshold out[VSIG_MAX_THRESHOLDS]);

enum vsig_unit_verdict {
    VSIG_UNIT_NONE,    /* the numbers cannot be compared: one has no unit, or their units measure different things */
    VSIG_UNIT_MET,     /* the threshold equals the question's number, in the unit of the column */
    VSIG_UNIT_MISSED,  /* the threshold is the question's number without conversion, or with a wrong factor */
    VSIG_UNIT_UNKNOWN, /* only the question has a unit, and the threshold equals its number */
    VSIG_UNIT_SCALED   /* only the question has a unit, and the threshold is a usual multiple of its number, such as 60
                        * times */
};
/* Compares a threshold with a number of the question, which must be one of its values. *expected (may be NULL) gets the
 * threshold that the question asks for, in the unit of the column. It gets NAN if this is unknown. */
enum vsig_unit_verdict vsig_unit_of(const struct vsig_subject *subject, const struct vsig_threshold *threshold,
                                    const struct question_value *value, double *expected);

#endif
