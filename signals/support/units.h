/* Numbers with their units: "ten minutes" against milliseconds > 10 * 60 * 1000. */
#ifndef ASSAY_SIGNALS_SUPPORT_UNITS_H
#define ASSAY_SIGNALS_SUPPORT_UNITS_H

#include "lib/question/question.h"
#include "signals/vsig.h"

/* A comparison of a column with a number, brought to the form column op number: height * 100 > 182 is height > 1.82. */
struct vsig_threshold {
    const struct sql_node *node;
    const struct schema_column *column;
    double number;
    bool scaled; /* one of the sides is calculated */
};
enum { VSIG_MAX_THRESHOLDS = 16 };
/* Lists all thresholds, from comparisons and BETWEEN. Returns their count. */
uint32_t vsig_thresholds(const struct vsig_subject *subject, struct vsig_threshold out[VSIG_MAX_THRESHOLDS]);

enum vsig_unit_verdict {
    VSIG_UNIT_NONE,    /* one of the sides has no unit, or they measure different things */
    VSIG_UNIT_MET,     /* the number equals the question's in the unit of the column */
    VSIG_UNIT_MISSED,  /* the question's number unchanged, or with a wrong factor */
    VSIG_UNIT_UNKNOWN, /* only the question has a unit, and the number equals the question's */
    VSIG_UNIT_SCALED   /* only the question has a unit, and the number is a usual multiple */
};
/* Classifies how a threshold meets a number of the question, which must be one of its values. *expected (may be NULL)
 * gets the number that would meet it; NAN if unknown. */
enum vsig_unit_verdict vsig_unit_of(const struct vsig_subject *subject, const struct vsig_threshold *threshold,
                                    const struct question_value *value, double *expected);

#endif
