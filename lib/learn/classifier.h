/* Classifiers over feature rows: logistic regression (liblinear) and boosted trees (xgboost), with one interface.
 *
 * A learned model has a kind, feature names, parameters and a calibration. It is saved as one versioned JSON file.
 * Trees are stored as flat arrays, so prediction needs no xgboost. A build without xgboost can therefore use such a
 * model but cannot train one.
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

/* Training rows. The caller owns all arrays. */
struct learn_data {
    size_t n;
    unsigned m;
    const float *x;                   /* n rows of m features; NAN means unknown */
    const double *y;                  /* P(positive) of each row: 0 or 1, or a soft label between them */
    const double *weight;             /* NULL means 1 for each row */
    const double *calibration_weight; /* weight of each row in calibration, 0 to leave it out; NULL means `weight` */
    /* For each row: its group (database, question), whose rows all go into one fold. NULL makes each row a separate
     * group. */
    const uint32_t *group;
    /* For each row: a list number. Adjacent rows with the same number are alternatives (see `rank`). May be NULL. */
    const uint32_t *list;
    const char *const *names; /* m feature names, unique */
    /* For each of the m features: the direction in which P(positive) may move as the feature rises, -1 or 1; 0 allows
     * both. NULL allows both for all features. Trees only. */
    const signed char *monotone;
};

struct learn_options {
    uint64_t seed;
    enum learn_calibration_kind calibration; /* fitted by group, on predictions for rows that the model has not seen */
    unsigned folds;                          /* number of folds of the calibration, 2 to 20 */
    double c;                                /* for logistic: inverse of the L2 penalty */
    unsigned rounds, depth;                  /* for trees */
    double eta, subsample, column_sample, min_child_weight, lambda;
    /* For trees, above 0: focal loss (Lin et al. 2017), which scales the loss of a row by (1 - p)^gamma, so easy rows
     * count less. */
    double focal_gamma;
    double focal_alpha; /* weight of positive rows under focal loss; negative rows weigh 1 - alpha */
    /* For trees, above 0: adds this multiple of a ranking loss, which compares each wrong row with the right rows of
     * its list. */
    double rank;
    const char *command; /* command line that is stored in the file; NULL means "" */
};
struct learn_options learn_options_default(void);

struct learn_model; /* a fitted or loaded model */

/* Fits a classifier of kind "logistic" or "trees". Returns ERR_CONFIG, with the reason in `err`, if the kind is unknown
 * or this build cannot train it. Also returns ERR_CONFIG if the data have only one class, no rows, or repeated
 * names. */
enum err_code learn_fit(const char *kind, const struct learn_data *data, const struct learn_options *options,
                        struct learn_model **out, struct err *err);
void learn_free(struct learn_model *model);

/* Returns the calibrated P(positive) of a row, whose features are in the model's order. NAN features are unknown. 100
 * trees of depth 6 take about 3 µs. */
double learn_predict(const struct learn_model *model, const float *x);
/* Returns the uncalibrated P(positive), for tests and calibration curves. */
double learn_predict_raw(const struct learn_model *model, const float *x);

/* Replaces the calibration by a copy of `calibration`, which was fitted elsewhere on rows that the model has not
 * seen. */
void learn_set_calibration(struct learn_model *model, const struct learn_calibration *calibration);

const char *learn_kind(const struct learn_model *model);
unsigned learn_n_features(const struct learn_model *model);
const char *learn_feature(const struct learn_model *model, unsigned index);
const char *learn_command(const struct learn_model *model);
/* Returns the importance of a feature: the |weight| of the standardised feature, or the total gain of its splits. All
 * importances sum to 1. */
double learn_importance(const struct learn_model *model, unsigned index);

/* Maps features by name. from[i] becomes the caller's index of the model's feature i, or -1 if the caller does not have
 * it. The feature is then unknown. `from` has learn_n_features items. */
void learn_map(const struct learn_model *model, const char *const *names, unsigned n, int *from);

/* Predicts each row by a model that was fitted without the row's fold and calibrated inside the other folds.
 * Cross-validation reports these predictions. `out` has n items. */
enum err_code learn_cross_predict(const char *kind, const struct learn_data *data, const struct learn_options *options,
                                  unsigned folds, double *out, struct err *err);

/* Save and load a file. Errors are those of lm_save and lm_load. */
enum err_code learn_save(const struct learn_model *model, const char *path, struct err *err);
enum err_code learn_load(const char *path, struct learn_model **out, struct err *err);
enum err_code learn_load_text(const char *text, size_t len, struct learn_model **out, struct err *err);
/* Loads a classifier that is a member of another file. `root` is a json_t of jansson. `blocks` has the blocks of the
 * file's binary form (lib/learn/blocks.h), or is NULL. */
struct json_t;
struct model_blocks;
enum err_code learn_load_json(const struct json_t *root, const struct model_blocks *blocks, struct learn_model **out,
                              struct err *err);
/* Moves the large parts of a classifier's JSON into blocks. */
enum err_code learn_move(struct json_t *root, struct model_blocks *blocks, struct err *err);
char *learn_save_text(const struct learn_model *model); /* malloc'd; NULL if memory runs out */

/* Returns NULL if this build can train the kind; otherwise returns the reason. */
const char *learn_unsupported(const char *kind);

#endif
