/* Fits the verifier: turns samples (train/verifier_data.h) into a model file's text and held-out scores.
 *
 * Samples are split into folds by database. The expected components and the score of a sample come from models that
 * have not seen its fold. The calibration is fitted on these scores. The shipped model is fitted on all samples, with
 * that calibration. One seeded thread does all the work, so the same samples give the same bytes. */
#ifndef ASSAY_TRAIN_VERIFIER_FIT_H
#define ASSAY_TRAIN_VERIFIER_FIT_H

#include "lib/learn/classifier.h"
#include "lib/learn/hashed.h"
#include "train/verifier_data.h"

struct verifier_fit_options {
    uint64_t seed;
    unsigned folds; /* 2 .. 20 */
    struct learn_options trees;
    struct hashed_options components;
    double weight[ORIGIN_COUNT]; /* weight of a wrong sample, by origin */
    double by_chance; /* weight of a made-up sample with the gold's result; 0 if its kind always changes the meaning */
    double right_share; /* share of the right samples in the total weight */
    double wording;     /* weight of the wording's score relative to the content model */
    double hard;        /* multiplies the weight of a wrong sample by 1 + hard * (its P(right)); 0 is off */
    uint32_t without;   /* bits 1 << enum feature_group: columns to leave out */
    const char *command;
};
struct verifier_fit_options verifier_fit_options_default(void);

struct verifier_fitted {
    struct hashed_model *components;
    struct learn_model *content;
    double *held_out; /* P(right) of each sample, from models that have not seen its database; calibrated */
    uint8_t *fold;    /* fold of each database */
    /* The models that computed held_out. They score other candidates of these questions without leakage. */
    struct learn_model **without; /* trees of each fold, fitted without it */
    unsigned folds;
    double *expected;  /* SQL_COMPONENT_COUNT for each question */
    unsigned *columns; /* columns of a row (scoring/verifier_row.h) that the trees read */
    unsigned n_columns;
};

enum err_code verifier_fit(const struct verifier_data *data, const struct verifier_fit_options *options,
                           struct verifier_fitted *out, struct err *err);
/* Computes only the held-out scores, without a final model, to compare options. */
enum err_code verifier_cross(const struct verifier_data *data, const struct verifier_fit_options *options,
                             struct verifier_fitted *out, struct err *err);
void verifier_fitted_free(struct verifier_fitted *fitted);

/* Scores other samples with a fitted model: fills out[data->n] with P(right) by content alone. */
void verifier_fitted_score(const struct verifier_fitted *fitted, const struct verifier_data *data, double *out);

/* Returns the score of another candidate of a question in `data`, in uncalibrated log-odds. The model that scores it
 * has not seen its database. Thread: any. */
double verifier_fitted_blind(const struct verifier_fitted *fitted, const struct verifier_data *data,
                             const struct verifier_sample *sample);

/* Returns the text of the model file; free with free. NULL if memory runs out. */
char *verifier_fitted_text(const struct verifier_fitted *fitted, const struct verifier_fit_options *options);

#endif
