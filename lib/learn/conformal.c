#include "lib/learn/conformal.h"

#include "lib/learn/metrics.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

double conformal_score(double p, int positive)
{
    return positive ? 1 - p : p;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void conformal_sort(double *scores, size_t n)
{
    if (n > 1) qsort(scores, n, sizeof *scores, by_size);
}

/* Returns the rank of the threshold, rounded up. Without the subtraction, a rounding error could raise a product such
 * as 10 x 0.9 by one. */
static double rank_of(double n, double alpha)
{
    return ceil(n * (1 - alpha) - 1e-9);
}

double conformal_threshold(const double *sorted, size_t n, double alpha)
{
    double rank = rank_of((double)n + 1, alpha);
    if (rank > (double)n) return INFINITY;
    return rank < 1 ? -INFINITY : sorted[(size_t)rank - 1];
}

size_t conformal_points_needed(double alpha)
{
    return (size_t)ceil(1 / alpha - 1e-9) - 1;
}

static int neighbours_by_score(const void *a, const void *b)
{
    return by_size(&((const struct conformal_neighbour *)a)->score, &((const struct conformal_neighbour *)b)->score);
}

double conformal_threshold_near(struct conformal_neighbour *near, size_t n, double temperature, double alpha)
{
    double total = 1, sum = 0;
    if (n > 1) qsort(near, n, sizeof *near, neighbours_by_score);
    for (size_t i = 0; i < n; i++) total += exp(-near[i].distance / temperature);
    for (size_t i = 0; i < n; i++) {
        sum += exp(-near[i].distance / temperature);
        if (sum >= (1 - alpha) * total) return near[i].score;
    }
    return INFINITY;
}

conformal_set conformal_predict(double p, double threshold_negative, double threshold_positive)
{
    conformal_set set = 0;
    if (conformal_score(p, false) <= threshold_negative) set |= CONFORMAL_NEGATIVE;
    if (conformal_score(p, true) <= threshold_positive) set |= CONFORMAL_POSITIVE;
    return set;
}

static bool holds(conformal_set set, int label)
{
    return (set & (label ? CONFORMAL_POSITIVE : CONFORMAL_NEGATIVE)) != 0;
}

/* Returns the labels that at least a share `tau` of the n sets contains. held[label] is the number of sets that contain
 * the label. */
static conformal_set reaching(const size_t held[2], size_t n, double tau)
{
    conformal_set out = 0;
    for (int label = 0; label < 2; label++)
        if ((double)held[label] >= tau * (double)n - 1e-9) out |= (conformal_set)(1U << label);
    return out;
}

conformal_set conformal_majority(const conformal_set *sets, size_t n, double tau)
{
    size_t held[2] = {0, 0};
    for (size_t i = 0; i < n; i++)
        for (int label = 0; label < 2; label++) held[label] += holds(sets[i], label);
    return reaching(held, n, tau);
}

conformal_set conformal_permuted(const conformal_set *sets, size_t n, uint64_t seed)
{
    conformal_set drawn[CONFORMAL_MAX_SETS], out = CONFORMAL_NEGATIVE | CONFORMAL_POSITIVE;
    if (n > CONFORMAL_MAX_SETS) n = CONFORMAL_MAX_SETS;
    for (size_t i = 0; i < n; i++) drawn[i] = sets[i];
    for (size_t i = n; i > 1; i--) { /* Fisher-Yates shuffle */
        size_t j = (size_t)(learn_random(&seed) % i);
        conformal_set swap = drawn[i - 1];
        drawn[i - 1] = drawn[j];
        drawn[j] = swap;
    }
    size_t held[2] = {0, 0};
    for (size_t i = 0; i < n; i++) {
        for (int label = 0; label < 2; label++) held[label] += holds(drawn[i], label);
        out &= reaching(held, i + 1, 0.5);
    }
    return out;
}
