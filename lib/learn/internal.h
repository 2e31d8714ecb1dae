/* Internal to lib/learn. */
#ifndef ASSAY_LIB_LEARN_INTERNAL_H
#define ASSAY_LIB_LEARN_INTERNAL_H

#include "lib/learn/classifier.h"
#include "lib/learn/label_model.h"
#include "lib/learn/logit.h"

struct lm_matrix {
    struct lm_column *columns;
    unsigned m;
    uint8_t *votes; /* n rows of m levels */
    double *weight;
    size_t n, room;
};

/* Distinct rows with their total weights. */
struct patterns {
    const uint8_t **votes;
    double *weight;
    size_t n;
    double total; /* sum of weight */
};

/* Bound of learn_logit within lib/learn, which makes it finite at 0 and 1. */
#define LEARN_LEAST_P 1e-9

double learn_sigmoid(double z);

/* Computes log P(votes | class) for both classes, summed over the levels of missing votes. `votes` has one level for
 * each signal of the model. */
void lm_log_likelihood(const struct lm_model *model, const uint8_t *votes, double out[2]);

/* Learns the parents of the signals, and with them the order of evaluation, from dependencies between signals. `wrong`
 * is P(wrong) of each pattern, or NULL before the first estimate. Returns true if a parent changed. */
bool lm_learn_structure(struct lm_model *model, const struct patterns *patterns, const double *wrong,
                        const struct lm_options *options);

/* Sorts parents before children. Returns false if the parents form a cycle. */
bool lm_sort_signals(struct lm_model *model);

#endif
