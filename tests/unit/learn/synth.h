/* Synthetic votes with known truth. */
#ifndef ASSAY_TESTS_UNIT_LEARN_SYNTH_H
#define ASSAY_TESTS_UNIT_LEARN_SYNTH_H

#include "lib/learn/learn.h"

enum { SYNTH_MAX = 40 };

struct synth_signal {
    double wrong, right; /* P(fires | wrong), P(fires | right) */
    int copy_of;         /* -1; else repeats that signal with probability `copy`, else fires on its own */
    double copy;
    double missing; /* P(unavailable) */
};

struct synth {
    struct lm_matrix *matrix;
    uint8_t *wrong; /* truth */
    size_t n;
};

/* Signals, then `views` of 4 levels where a higher level is more right, then a positive labeler over all signals. */
struct synth synth_make(const struct synth_signal *signals, unsigned m, unsigned views, double prior_wrong, size_t n,
                        uint64_t seed);
void synth_free(struct synth *synth);

/* P(level | class) of the views that synth_make draws: [class][level]. */
extern const double synth_view[2][4];

/* P(wrong) of each row under a model. The caller frees. */
double *synth_scores(const struct synth *synth, const struct lm_model *model);
double *synth_counts(const struct synth *synth); /* the number of fired signals */

#endif
