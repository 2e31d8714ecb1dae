/* Metrics of quality, with intervals. "Positive" is the class to detect; when errors are detected, it is "wrong". A
 * higher score means that "positive" is more likely. Undefined values (no positives, no predictions) are NAN. Pure
 * functions; thread: any. */
#ifndef ASSAY_LIB_LEARN_METRICS_H
#define ASSAY_LIB_LEARN_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct learn_interval {
    double low, high;
};

/* Returns the area under the ROC curve; ties count half. Returns NAN if there is only one class or memory runs out. */
double learn_auc(const double *score, const uint8_t *positive, size_t n);

struct learn_confusion {
    size_t tp, fp, tn, fn;
};
/* Counts the outcomes if each row with score >= threshold is predicted positive. */
struct learn_confusion learn_confusion(const double *score, const uint8_t *positive, size_t n, double threshold);
double learn_accuracy(struct learn_confusion c);
double learn_precision(struct learn_confusion c);
double learn_recall(struct learn_confusion c);
double learn_f1(struct learn_confusion c);

/* Returns Spearman's rank correlation, with mean ranks for ties. Returns NAN for fewer than two pairs or if one
 * variable is constant. */
double learn_spearman(const double *x, const double *y, size_t n);

/* Returns Wilson's score interval of the share k of n. z = 1.96 gives 95 %. For n = 0, returns [0, 1]. */
struct learn_interval learn_wilson(size_t k, size_t n, double z);

/* Returns the p-value of the exact two-sided sign test, which is McNemar's exact test of paired answers. It is the
 * probability that fair coin tosses split the differing pairs at least as unevenly. Returns 1 if no pair differs. */
double learn_sign_test(uint64_t wins, uint64_t losses);

/* Returns the expected calibration error, over bins of equal width of the predicted probability. */
double learn_ece(const double *p, const uint8_t *positive, size_t n, unsigned bins);

/* Finds the largest set of highest-scored items whose precision is at least `target`. Ties are included or excluded
 * together. Returns the size of the set. *threshold is the lowest score in it, or INFINITY if the set is empty. */
size_t learn_threshold_at(const double *score, const uint8_t *positive, size_t n, double target, double *threshold);

/* Assigns group numbers from 0, in order of first appearance. Returns the number of groups; 0 if memory runs out or n
 * is 0. */
uint32_t learn_groups(const char *const *names, size_t n, uint32_t *group);

/* Splits the rows by group into k folds of about equal size. Equal seeds give equal folds. Returns false if k < 2,
 * there are too few groups, or memory runs out. */
bool learn_folds(const uint32_t *group, size_t n, unsigned k, uint64_t seed, uint8_t *fold);

/* Computes a statistic of a multiset of rows. If it returns NAN, the draw is ignored. */
typedef double (*learn_statistic)(const void *data, const uint32_t *rows, size_t n);

/* Returns the percentile interval of a statistic, from draws of whole groups with replacement. If `group` is NULL,
 * single rows are drawn. `level` is the confidence, such as 0.95. For a paired difference, pass a statistic that
 * returns the difference. Both ends are NAN if no draw gave a value. */
struct learn_interval learn_bootstrap(learn_statistic statistic, const void *data, const uint32_t *group, size_t n,
                                      unsigned rounds, double level, uint64_t seed);

/* Predefined statistics. Each struct is the data of the statistics named beside it. */
struct learn_scored { /* data of learn_stat_auc */
    const double *score;
    const uint8_t *positive;
};
/* Data of learn_stat_mean (mean of a), learn_stat_difference (mean of a - b) and learn_stat_auc_difference. */
struct learn_pair {
    const double *a, *b;
    const uint8_t *positive;
};
struct learn_vote { /* data of learn_stat_lift and learn_stat_vote_precision */
    const uint8_t *fired, *positive;
};
double learn_stat_auc(const void *scored, const uint32_t *rows, size_t n);
double learn_stat_mean(const void *pair, const uint32_t *rows, size_t n);
double learn_stat_difference(const void *pair, const uint32_t *rows, size_t n);
double learn_stat_auc_difference(const void *pair, const uint32_t *rows, size_t n);
double learn_stat_lift(const void *vote, const uint32_t *rows, size_t n);
double learn_stat_vote_precision(const void *vote, const uint32_t *rows, size_t n);

/* A small random number generator (splitmix64), so that results do not depend on the C library. */
uint64_t learn_random(uint64_t *state);
double learn_random_unit(uint64_t *state); /* in [0, 1) */

#endif
