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

/* Training rows, all owned by the caller. */
struct learn_data {
    size_t n;
    unsigned m;
    const float *x;                   /* n rows of m features; NAN: not known */
    const double *y;                  /* P(positive) of each row: 0 or 1, or a soft label between */
    const double *weight;             /* NULL: 1 each */
    const double *calibration_weight; /* weight of a row in calibration, 0 to leave it out; NULL means `weight` */
    const uint32_t *group;            /* rows of one group stay in one fold (database, question); NULL: each its own */
    const uint32_t *list;             /* adjacent rows with one number are alternatives, see `rank`; may be NULL */
    const char *const *names;         /* m feature names, unique */
    const signed char *monotone;      /* m of -1, 0, 1: direction in which P(positive) may move with the feature; NULL:
                                  * free. Trees only */
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
    double rank; /* trees, above 0: adds this multiple of the loss of each wrong row against the right ones of its
                  * list */
    const char *command; /* stored in the file; NULL: "" */
};
struct learn_options learn_options_default(void);

struct learn_model; /* fitted or loaded */

/* Fits a classifier of kind "logistic" or "trees". Returns ERR_CONFIG, with the reason in `err`, if the kind is unknown
 * or this build cannot train it. Returns ERR_CONFIG too if the data have only one class, no rows, or repeated names. */
enum err_code learn_fit(const char *kind, const struct learn_data *data, const struct learn_options *options,
                        struct learn_model **out, struct err *err);
void learn_free(struct learn_model *model);

/* Returns the calibrated P(positive) of a row in the model's feature order; NAN features are unknown. Trees: about 3 µs
 * for 100 trees of depth 6. */
double learn_predict(const struct learn_model *model, const float *x);
/* Returns the uncalibrated P(positive), for tests and curves. */
double learn_predict_raw(const struct learn_model *model, const float *x);

/* Replaces the calibration by a copy of another, fitted elsewhere on rows that the model has not seen. */
void learn_set_calibration(struct learn_model *model, const struct learn_calibration *calibration);

const char *learn_kind(const struct learn_model *model);
unsigned learn_n_features(const struct learn_model *model);
const char *learn_feature(const struct learn_model *model, unsigned index);
const char *learn_command(const struct learn_model *model);
/* Returns the importance of a feature: |weight| of the standardised feature, or total gain of its splits; sums to 1. */
double learn_importance(const struct learn_model *model, unsigned index);

/* Maps features by name: from[i] is the caller's index of the model's feature i, or -1 (then unknown). from has
 * n_features items. */
void learn_map(const struct learn_model *model, const char *const *names, unsigned n, int *from);

/* Computes out-of-fold predictions by group, calibrated inside each fold, as cross-validation reports them. out[n]. */
enum err_code learn_cross_predict(const char *kind, const struct learn_data *data, const struct learn_options *options,
                                  unsigned folds, double *out, struct err *err);

/* Save and load files like the label model. */
enum err_code learn_save(const struct learn_model *model, const char *path, struct err *err);
enum err_code learn_load(const char *path, struct learn_model **out, struct err *err);
enum err_code learn_load_text(const char *text, size_t len, struct learn_model **out, struct err *err);
/* Load and save a classifier inside another file; `root` is jansson's. `blocks` are those of its binary form
 * (lib/learn/blocks.h), or NULL. */
struct json_t;
struct model_blocks;
enum err_code learn_load_json(const struct json_t *root, const struct model_blocks *blocks, struct learn_model **out,
                              struct err *err);
/* Moves the large parts of a classifier's JSON into blocks. */
enum err_code learn_move(struct json_t *root, struct model_blocks *blocks, struct err *err);
char *learn_save_text(const struct learn_model *model); /* malloc'd; NULL: out of memory */

/* Returns NULL if this build can train the kind, else the reason. */
const char *learn_unsupported(const char *kind);

#endif
