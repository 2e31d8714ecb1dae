/* Classifiers over feature rows: logistic regression (liblinear) and boosted trees (xgboost), behind one table.
 *
 * A learned model is kind + feature names + parameters + calibration, saved as one versioned JSON file. Trees are kept
 * as flat arrays: predicting needs no xgboost, so a build without it can use a model but not train one.
 *
 * Thread: training is single-threaded; a fitted or loaded model is read-only and may be shared.
 */
#ifndef ASSAY_LIB_LEARN_CLASSIFIER_H
#define ASSAY_LIB_LEARN_CLASSIFIER_H

#include "lib/base/error.h"
#include "lib/learn/calibrate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LEARN_MAX_FEATURES = 4096, LEARN_FILE_VERSION = 1 };

/* Rows to learn from; the caller owns all of it. */
struct learn_data {
    size_t n;
    unsigned m;
    const float *x;       /* n rows of m features; NAN: not known */
    const double *y;      /* P(positive) of each row: 0 or 1, or a soft label between */
    const double *weight; /* NULL: 1 each */
    const double
        *calibration_weight;     /* what a row weighs when probabilities are calibrated, 0: nothing; NULL: weight */
    const uint32_t *group;       /* rows of one group stay in one fold (database, question); NULL: each its own */
    const uint32_t *list;        /* rows next to each other with one number are alternatives, see `rank`; NULL: none */
    const char *const *names;    /* m feature names, unique */
    const signed char *monotone; /* m of -1, 0, 1: how P(positive) may move with the feature; NULL: free. Trees only */
};

struct learn_options {
    uint64_t seed;
    enum learn_calibration_kind calibration; /* fitted on out-of-fold predictions, by group */
    unsigned folds;                          /* of the calibration, 2 .. 20 */
    double c;                                /* logistic: inverse of the L2 penalty */
    unsigned rounds, depth;                  /* trees */
    double eta, subsample, column_sample, min_child_weight, lambda;
    double focal_gamma; /* trees: above 0, focal loss (Lin et al. 2017): easy rows count for less by (1 - p)^gamma */
    double focal_alpha; /* and positive rows by alpha, negative ones by 1 - alpha */
    double rank; /* trees, above 0: adds so many times the loss of each wrong row against the right ones of its list */
    const char *command; /* kept in the file; NULL: "" */
};
struct learn_options learn_options_default(void);

struct learn_model; /* fitted or loaded */

/* Kinds are "logistic" and "trees". ERR_CONFIG: no such kind, or it cannot be trained in this build (says so); also for
 * data that cannot be learned from (one class only, no rows, names twice). */
enum err_code learn_fit(const char *kind, const struct learn_data *data, const struct learn_options *options,
                        struct learn_model **out, struct err *err);
void learn_free(struct learn_model *model);

/* Calibrated P(positive) of a row in the model's feature order; NAN features are unknown. Trees: about 3 µs a 100 trees
 * of depth 6. */
double learn_predict(const struct learn_model *model, const float *x);
/* Before calibration, for tests and curves. */
double learn_predict_raw(const struct learn_model *model, const float *x);

/* Replace the calibration by a copy of another, fitted elsewhere on rows that the model has not seen. */
void learn_set_calibration(struct learn_model *model, const struct learn_calibration *calibration);

const char *learn_kind(const struct learn_model *model);
unsigned learn_n_features(const struct learn_model *model);
const char *learn_feature(const struct learn_model *model, unsigned index);
const char *learn_command(const struct learn_model *model);
/* How much a feature matters: |weight| of the standardised feature, or total gain of its splits; sums to 1. */
double learn_importance(const struct learn_model *model, unsigned index);

/* from[i]: which of the caller's features is the model's feature i, -1: none (then unknown). from has n_features items.
 */
void learn_map(const struct learn_model *model, const char *const *names, unsigned n, int *from);

/* Out-of-fold predictions by group, calibrated inside each fold: what cross-validation reports. out[n]. */
enum err_code learn_cross_predict(const char *kind, const struct learn_data *data, const struct learn_options *options,
                                  unsigned folds, double *out, struct err *err);

/* Files: as for the label model. */
enum err_code learn_save(const struct learn_model *model, const char *path, struct err *err);
enum err_code learn_load(const char *path, struct learn_model **out, struct err *err);
enum err_code learn_load_text(const char *text, size_t len, struct learn_model **out, struct err *err);
/* The same, where it stands inside of another file; `root` is jansson's. `blocks`: of its binary form (lib/learn/blocks.h), or NULL. */
struct json_t;
struct model_blocks;
enum err_code learn_load_json(const struct json_t *root, const struct model_blocks *blocks, struct learn_model **out,
                              struct err *err);
/* What is large in a classifier's JSON becomes blocks. */
enum err_code learn_move(struct json_t *root, struct model_blocks *blocks, struct err *err);
char *learn_save_text(const struct learn_model *model); /* malloc'd; NULL: out of memory */

/* NULL where this build can train the kind, else why not. */
const char *learn_unsupported(const char *kind);

#endif
