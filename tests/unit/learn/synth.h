/* Generates synthetic votes whose truth is known. */
#ifndef ASSAY_TESTS_UNIT_LEARN_SYNTH_H
#define ASSAY_TESTS_UNIT_LEARN_SYNTH_H

#include "lib/learn/learn.h"

enum { SYNTH_MAX = 40 };

struct synth_signal {
    double wrong, right; /* P(fires | wrong), P(fires | right) */
    /* -1 for an independent signal, or the signal that this one repeats with probability `copy` */
    int copy_of;
    double copy;
    double missing; /* P(unavailable) */
};

struct synth {
    struct lm_matrix *matrix;
    uint8_t *wrong; /* 1 for each row that is wrong */
    size_t n;
};

/* Returns votes of m signals, then of `views`, then of a positive labeler over all signals. A view has 4 levels, and a
 * higher level is more likely to be right. */
struct synth synth_make(const struct synth_signal *signals, unsigned m, unsigned views, double prior_wrong, size_t n,
                        uint64_t seed);
void synth_free(struct synth *synth);

/* P(level | class) of the views that synth_make draws, indexed [class][level]. */
extern const double synth_view[2][4];

/* Returns P(wrong) of each row under a model. Free with free. */
double *synth_scores(const struct synth *synth, const struct lm_model *model);
double *synth_counts(const struct synth *synth); /* Returns the number of fired signals of each row. Free with free. */

#endif
