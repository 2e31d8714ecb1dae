/* Fits the models that read the signals' votes, the label model and the classifier, to collected vectors
 * (eval/vectors.h).
 *
 * Thread: one at a time. The same vectors and the same seed give the same model. */
#ifndef ASSAY_TRAIN_SIGNAL_MODELS_H
#define ASSAY_TRAIN_SIGNAL_MODELS_H

#include "eval/vectors.h"
#include "lib/learn/classifier.h"
#include "lib/learn/label_model.h"

/* --- the label model: no labels are needed --- */

struct label_model_fit {
    double prior;        /* assumed share of right candidates; if negative, the labelled share */
    double target_prior; /* share of right candidates where the model is used; `prior` unless in 0..1 */
    double trust;        /* weight of the prior that a signal is more often right than wrong */
    const char *command; /* command line, recorded in the file; may be NULL */
};

/* Fits the label model. Returns NULL with `err` set. Free with lm_free. */
struct lm_model *label_model_fit(const struct vectors *vectors, const struct label_model_fit *how, struct err *err);

/* Returns the precision of a column: the share of wrong candidates among the labelled ones on which it fired. Returns
 * NAN if it never fired, or if `signal` is not a column. */
double label_model_labelled_precision(const struct vectors *vectors, const char *signal);

/* --- the classifier --- */

/* Rows for learn_fit, and the arrays that `data` points into. */
struct classifier_rows {
    struct learn_data data;
    float *x;
    double *y, *weight, *calibration_weight;
    uint8_t *made;
    uint32_t *group;
};

/* Collects labelled rows with their labels or, with a `teacher`, all rows with its probabilities (SQLens's weak
 * supervision). Made-up candidates are wrong more often than real ones. If `target_prior` is within 0 and 1, rows are
 * weighted so that this share is right. Free with classifier_rows_free. */
void classifier_rows(const struct vectors *vectors, const struct lm_model *teacher, double target_prior,
                     struct classifier_rows *out);
void classifier_rows_free(struct classifier_rows *rows);

/* Returns the calibration error (ECE, 10 bins) of `p` as it would be in use. It is computed on a random sample of the
 * calibration rows, drawn by weight. */
double classifier_served_error(const struct classifier_rows *rows, const double *p);

#endif
