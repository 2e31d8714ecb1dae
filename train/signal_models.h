/* Fitting what reads the signals' votes: the label model and the classifier, from collected vectors (eval/vectors.h).
 *
 * Thread: one at a time. The same vectors and the same seed give the same model.
 */
#ifndef ASSAY_TRAIN_SIGNAL_MODELS_H
#define ASSAY_TRAIN_SIGNAL_MODELS_H

#include "eval/vectors.h"
#include "lib/learn/classifier.h"
#include "lib/learn/label_model.h"

/* --- the label model: no labels are needed --- */

struct label_model_fit {
    double prior;        /* share of right candidates that anchors it; below 0: as labelled */
    double target_prior; /* share of right ones where it will serve; not within 0 and 1: the same */
    double trust;        /* weight of the belief that a signal is more often right than not */
    const char *command; /* for the file; may be NULL */
};

/* NULL with `err` set. The caller owes lm_free. */
struct lm_model *label_model_fit(const struct vectors *vectors, const struct label_model_fit *how, struct err *err);

/* What the labels say of a column's precision: the share of wrong candidates among the labelled ones where it fired;
 * NAN when it never did, or when `signal` names no column. */
double label_model_labelled_precision(const struct vectors *vectors, const char *signal);

/* --- the classifier --- */

/* Rows for learn_fit, with the memory behind them. */
struct classifier_rows {
    struct learn_data data;
    float *x;
    double *y, *weight, *calibration_weight;
    uint8_t *made;
    uint32_t *group;
};

/* Labelled rows with their labels or, with a `teacher`, all rows with its probabilities (SQLens's weak supervision).
 * Made-up candidates are wrong more often than real ones: rows are weighted so that `target_prior` of them are
 * right, where it lies within 0 and 1. The caller owes classifier_rows_free. */
void classifier_rows(const struct vectors *vectors, const struct lm_model *teacher, double target_prior,
                     struct classifier_rows *out);
void classifier_rows_free(struct classifier_rows *rows);

/* Calibration error (ECE, 10 bins) of `p` where the model will serve: over the rows that calibrate it, thinned to their
 * weights. */
double classifier_served_error(const struct classifier_rows *rows, const double *p);

#endif
