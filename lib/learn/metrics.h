/* Measures of quality, with intervals. "Positive" is the class to detect (in detection: wrong); a higher score means
 * more likely positive. Undefined values (no positives, no predictions) are NAN. Pure functions; thread: any. */
#ifndef ASSAY_LIB_LEARN_METRICS_H
#define ASSAY_LIB_LEARN_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct learn_interval {
    double low, high;
};

/* Area under the ROC curve; ties count half. NAN with one class only or out of memory. */
double learn_auc(const double *score, const uint8_t *positive, size_t n);

struct learn_confusion {
    size_t tp, fp, tn, fn;
};
/* Predicted positive: score >= threshold. */
struct learn_confusion learn_confusion(const double *score, const uint8_t *positive, size_t n, double threshold);
double learn_accuracy(struct learn_confusion c);
double learn_precision(struct learn_confusion c);
double learn_recall(struct learn_confusion c);
double learn_f1(struct learn_confusion c);

/* Returns the rank correlation with mean ranks for ties; NAN for fewer than two pairs or a constant side. */
double learn_spearman(const double *x, const double *y, size_t n);

/* Wilson's score interval of a share k of n; z = 1.96 for 95 %. n = 0: [0, 1]. */
struct learn_interval learn_wilson(size_t k, size_t n, double z);

/* Returns the p-value of the exact two-sided sign test, which is McNemar's exact test of paired answers. It is the
 * probability of a split of the differing pairs at least this uneven, if each were a fair coin; 1 if none differ. */
double learn_sign_test(uint64_t wins, uint64_t losses);

/* Expected calibration error over equal-width bins of predicted probability. */
double learn_ece(const double *p, const uint8_t *positive, size_t n, unsigned bins);

/* Finds the largest number of items, highest scores first (ties together), whose precision is at least `target`.
 * Returns it; *threshold is the lowest score among them (INFINITY if there are none). */
size_t learn_threshold_at(const double *score, const uint8_t *positive, size_t n, double target, double *threshold);

/* Assigns group numbers from 0 in order of first appearance. Returns their number; 0 if memory runs out or n is 0. */
uint32_t learn_groups(const char *const *names, size_t n, uint32_t *group);

/* Splits by group into k folds of about equal size; equal seeds give equal folds. Returns false if k < 2, for too few
 * groups, or without memory. */
bool learn_folds(const uint32_t *group, size_t n, unsigned k, uint64_t seed, uint8_t *fold);

/* A statistic over a multiset of rows. May return NAN: the draw is then left out. */
typedef double (*learn_statistic)(const void *data, const uint32_t *rows, size_t n);

/* Returns the percentile interval of a statistic by drawing whole groups with replacement (single rows if `group` is
 * NULL). `level` is such as 0.95. A paired difference is a statistic that returns the difference. Both ends are NAN if
 * nothing could be drawn. */
struct learn_interval learn_bootstrap(learn_statistic statistic, const void *data, const uint32_t *group, size_t n,
                                      unsigned rounds, double level, uint64_t seed);

/* Ready-made statistics. */
struct learn_scored { /* learn_stat_auc */
    const double *score;
    const uint8_t *positive;
};
struct learn_pair { /* learn_stat_mean: mean of a; learn_stat_difference: mean of a - b; learn_stat_auc_difference */
    const double *a, *b;
    const uint8_t *positive;
};
struct learn_vote { /* learn_stat_lift, learn_stat_vote_precision */
    const uint8_t *fired, *positive;
};
double learn_stat_auc(const void *scored, const uint32_t *rows, size_t n);
double learn_stat_mean(const void *pair, const uint32_t *rows, size_t n);
double learn_stat_difference(const void *pair, const uint32_t *rows, size_t n);
double learn_stat_auc_difference(const void *pair, const uint32_t *rows, size_t n);
double learn_stat_lift(const void *vote, const uint32_t *rows, size_t n);
double learn_stat_vote_precision(const void *vote, const uint32_t *rows, size_t n);

/* A small generator (splitmix64), so that results do not depend on the C library's. */
uint64_t learn_random(uint64_t *state);
double learn_random_unit(uint64_t *state); /* [0, 1) */

#endif
