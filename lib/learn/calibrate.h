/* Calibration: maps a score to a probability that matches observed frequencies. Thread: any; a fitted one is
 * read-only. */
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

/* Fits on scores in [0, 1] and labels (soft ones too). A NULL `weight` means 1 each. Returns false if there are fewer
 * than two rows or memory runs out; *out is then LEARN_UNCALIBRATED. An isotonic curve never reaches 0 or 1: its ends
 * are (k + 1) / (n + 2) of their rows. The caller owes learn_calibration_free. */
bool learn_calibrate(enum learn_calibration_kind kind, const double *score, const double *label, const double *weight,
                     size_t n, struct learn_calibration *out);
/* Bounds old curves that reach 0 or 1 at their ends. Such an end becomes the value of the most extreme block with a
 * counter-example, or the bound of a single row if that is more extreme. The curve stays non-falling. Curves of
 * learn_calibrate do not change. */
void learn_calibration_bound(struct learn_calibration *calibration);
double learn_calibrated(const struct learn_calibration *calibration, double score);
void learn_calibration_free(struct learn_calibration *calibration);
const char *learn_calibration_name(enum learn_calibration_kind kind);
int learn_calibration_by_name(const char *name); /* -1: no such kind */

/* Pools adjacent violators in place: `value` becomes the closest non-falling sequence under `weight` (both n; weight >
 * 0). */
void learn_isotonic(double *value, double *weight, size_t n);

#endif
