/* Calibration: maps a score to a probability that matches observed frequencies. Thread: any; a fitted calibration is
 * read-only. */
#ifndef ASSAY_LIB_LEARN_CALIBRATE_H
#define ASSAY_LIB_LEARN_CALIBRATE_H

#include <stdbool.h>
#include <stddef.h>

enum learn_calibration_kind { LEARN_UNCALIBRATED, LEARN_PLATT, LEARN_ISOTONIC, LEARN_CALIBRATION_COUNT };

enum { LEARN_MAX_KNOTS = 1024 };

struct learn_calibration {
    enum learn_calibration_kind kind;
    double a, b; /* Platt: the probability is 1 / (1 + exp(a * logit(score) + b)) */
    /* Isotonic: number of knots. Scores rise, probabilities do not fall, and the curve is straight between knots. */
    unsigned n;
    double *x, *y;
};

/* Fits a calibration to scores in [0, 1] and their labels, which may be soft. `weight` NULL means 1 for each row.
 * Returns false if there are fewer than two rows or memory runs out; *out is then LEARN_UNCALIBRATED. An isotonic curve
 * never reaches 0 or 1: the value of each end block is (k + 1) / (n + 2), for k positive rows of n. Free *out with
 * learn_calibration_free. */
bool learn_calibrate(enum learn_calibration_kind kind, const double *score, const double *label, const double *weight,
                     size_t n, struct learn_calibration *out);
/* Bounds curves from older files that reach 0 or 1 at their ends. Such an end gets the value of the most extreme block
 * that contains both classes. If the bound of a single row is more extreme, the end gets this bound. The curve still
 * does not fall. Curves of learn_calibrate do not change. */
void learn_calibration_bound(struct learn_calibration *calibration);
double learn_calibrated(const struct learn_calibration *calibration, double score);
void learn_calibration_free(struct learn_calibration *calibration);
const char *learn_calibration_name(enum learn_calibration_kind kind);
int learn_calibration_by_name(const char *name); /* returns -1 if there is no such kind */

/* Replaces the `n` items of `value` by the closest non-falling sequence under `weight`, by pooling adjacent violators.
 * Weights are above 0. Changes `weight` too. */
void learn_isotonic(double *value, double *weight, size_t n);

#endif
