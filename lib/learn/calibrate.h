/* Calibration: from a score to a probability that is right as often as it says. Thread: any; a fitted one is read-only.
 */
#ifndef ASSAY_LIB_LEARN_CALIBRATE_H
#define ASSAY_LIB_LEARN_CALIBRATE_H

#include <stdbool.h>
#include <stddef.h>

enum learn_calibration_kind { LEARN_UNCALIBRATED, LEARN_PLATT, LEARN_ISOTONIC, LEARN_CALIBRATION_COUNT };

enum { LEARN_MAX_KNOTS = 1024 };

struct learn_calibration {
    enum learn_calibration_kind kind;
    double a, b; /* Platt: 1 / (1 + exp(a * logit(score) + b)) */
    unsigned n;  /* isotonic: knots, scores rising, probabilities not falling; straight lines between */
    double *x, *y;
};

/* Fit on scores in [0, 1] and labels (soft ones too); weight NULL: 1 each. False: nothing to fit on (fewer than two
 * rows, or out of memory); then *out is LEARN_UNCALIBRATED. An isotonic curve is never 0 or 1: its ends are (k + 1) /
 * (n + 2) of the rows behind them. The caller owes learn_calibration_free. */
bool learn_calibrate(enum learn_calibration_kind kind, const double *score, const double *label, const double *weight,
                     size_t n, struct learn_calibration *out);
/* For curves that were fitted before the ends were bound by their rows, and say 0 or 1 there: such an end says no more
 * than the most extreme block that has a counter-example, or than one row can, if that is more. Never falls still;
 * changes nothing in a curve that learn_calibrate makes. */
void learn_calibration_bound(struct learn_calibration *calibration);
double learn_calibrated(const struct learn_calibration *calibration, double score);
void learn_calibration_free(struct learn_calibration *calibration);
const char *learn_calibration_name(enum learn_calibration_kind kind);
int learn_calibration_by_name(const char *name); /* -1: no such kind */

/* Pool adjacent violators in place: the closest non-falling sequence to `value` under `weight` (both n; weight > 0). */
void learn_isotonic(double *value, double *weight, size_t n);

#endif
