/* Conformal sets: sets of labels that contain the right label with a guaranteed probability. Also merges the sets of
 * several classifiers.
 *
 * DESIGN. A classifier estimates P(positive). The nonconformity of a point with label y is 1 - P(y). A label is in a
 * point's set if its nonconformity is at most a threshold. The threshold is chosen so that a share of 1 - alpha of the
 * calibration points is within it. If calibration and test points are exchangeable, the set misses the right label with
 * probability alpha at most. Calibration on all points (marginal) guarantees this on average over all points, so the
 * error of a rare label may be higher. Calibration by label guarantees it for each label. If points are not
 * exchangeable, each calibration point is weighted by its similarity to the test point (Barber et al. 2023). The
 * guarantee then weakens by the remaining difference between the similar points and the test point.
 *
 * Sources: Reliable Text-to-SQL with Adaptive Abstention, sections 3.2.1 to 3.2.3, for two labels. Merging follows
 * Gasparin and Ramdas (2024). Pure functions; thread: any. */
#ifndef ASSAY_LIB_LEARN_CONFORMAL_H
#define ASSAY_LIB_LEARN_CONFORMAL_H

#include <stddef.h>
#include <stdint.h>

/* A set of labels: CONFORMAL_NEGATIVE, CONFORMAL_POSITIVE, both or neither. */
typedef uint8_t conformal_set;
enum { CONFORMAL_NEGATIVE = 1, CONFORMAL_POSITIVE = 2, CONFORMAL_MAX_SETS = 64 };

/* Returns the nonconformity 1 - P(label), where p = P(positive). */
double conformal_score(double p, int positive);

void conformal_sort(double *scores, size_t n);

/* Returns the ceil((n + 1)(1 - alpha))-th smallest of the `sorted` nonconformity scores. Returns INFINITY if there are
 * fewer scores, because too few points guarantee nothing. Every label is then in the set. */
double conformal_threshold(const double *sorted, size_t n, double alpha);

/* Returns the least number of points that gives a threshold below INFINITY: ceil(1 / alpha) - 1. */
size_t conformal_points_needed(double alpha);

struct conformal_neighbour {
    double score;    /* nonconformity of the calibration point */
    double distance; /* squared distance from the test point */
};

/* Returns the threshold at a test point, from calibration points near it. A point weighs exp(-distance / temperature).
 * The test point itself weighs 1 and has the score INFINITY. Sorts `near` by score. Distances are >= 0, temperature >
 * 0. */
double conformal_threshold_near(struct conformal_neighbour *near, size_t n, double temperature, double alpha);

/* Returns the set of labels whose nonconformity is within the threshold of the label. The two thresholds are equal if
 * calibration is marginal. */
conformal_set conformal_predict(double p, double threshold_negative, double threshold_positive);

/* Returns the labels that at least a share tau of the sets contains (Theorem 1). The result misses the right label with
 * probability alpha / (1 - tau) at most. The sets may depend on each other. For n = 0, returns both labels. 0 < tau <
 * 1. */
conformal_set conformal_majority(const conformal_set *sets, size_t n, double tau);

/* Shuffles the sets with `seed`. Returns the labels that, for every i, at least half of the first i sets contain
 * (Algorithm 1). The result is a subset of conformal_majority with tau = 1/2. It misses the right label with
 * probability 2 alpha at most. At most CONFORMAL_MAX_SETS sets. */
conformal_set conformal_permuted(const conformal_set *sets, size_t n, uint64_t seed);

#endif
