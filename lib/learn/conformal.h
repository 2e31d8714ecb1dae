/* Sets of labels that hold the right one with a promised probability, and how sets of several classifiers become one.
 *
 * DESIGN. A classifier says P(positive). The nonconformity of a point with label y is 1 - P(y); a label goes into a point's set when its
 * nonconformity is at most a threshold that a share of 1 - alpha of the calibration points keep to. As long as calibration
 * and test points are exchangeable the set misses the right label with probability alpha at most. Calibrated on all points
 * (marginal) that is a promise about all of them, which a rare label may break; calibrated by label it holds for each label alone.
 * Where points are not exchangeable each calibration point weighs by its likeness to the test point (Barber et al. 2023): the
 * promise is looser by how far the likely ones still differ.
 *
 * Sources: Reliable Text-to-SQL with Adaptive Abstention, sections 3.2.1 to 3.2.3, for two labels; merging after Gasparin and Ramdas
 * (2024). Pure functions; thread: any.
 */
#ifndef ASSAY_LIB_LEARN_CONFORMAL_H
#define ASSAY_LIB_LEARN_CONFORMAL_H

#include <stddef.h>
#include <stdint.h>

/* A set of labels: CONFORMAL_NEGATIVE, CONFORMAL_POSITIVE, both or neither. */
typedef uint8_t conformal_set;
enum { CONFORMAL_NEGATIVE = 1, CONFORMAL_POSITIVE = 2, CONFORMAL_MAX_SETS = 64 };

/* 1 - P(label), where p = P(positive). */
double conformal_score(double p, int positive);

void conformal_sort(double *scores, size_t n);

/* The ceil((n + 1)(1 - alpha))-th smallest of `sorted` nonconformity scores; INFINITY when there are fewer than that, so that every label
 * is in the set: too few points promise nothing. */
double conformal_threshold(const double *sorted, size_t n, double alpha);

/* How many points a threshold below INFINITY needs: ceil(1 / alpha) - 1. */
size_t conformal_points_needed(double alpha);

struct conformal_neighbour {
    double score;    /* nonconformity of the calibration point */
    double distance; /* squared, from the test point */
};

/* The threshold at a test point, from calibration points near it: a point weighs exp(-distance / temperature), the test point itself 1
 * at INFINITY. Orders `near` by score. Distances are >= 0, temperature > 0. */
double conformal_threshold_near(struct conformal_neighbour *near, size_t n, double temperature, double alpha);

/* The set at thresholds of the two labels, which are the same where calibration is marginal. */
conformal_set conformal_predict(double p, double threshold_negative, double threshold_positive);

/* Labels in at least a share tau of the sets (Theorem 1): misses the right label with probability alpha / (1 - tau) at most, whatever the
 * sets have to do with each other. n = 0 gives both labels. 0 < tau < 1. */
conformal_set conformal_majority(const conformal_set *sets, size_t n, double tau);

/* Algorithm 1: labels that at least half of the first i sets hold, for every i, the sets in an order that `seed` draws. Never more labels
 * than conformal_majority at one half, and misses the right one with probability 2 alpha at most. At most CONFORMAL_MAX_SETS sets. */
conformal_set conformal_permuted(const conformal_set *sets, size_t n, uint64_t seed);

#endif
