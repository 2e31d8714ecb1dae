/* Metrics of scores and probabilities (metrics.h): AUC, confusion counts, rank correlation, intervals, tests and
 * calibration error.
 *
 * The order of rows with equal scores never matters. AUC counts a tied pair as half, ties have their mean rank, and a
 * threshold includes all rows of a score or none. An undefined metric is NAN. Pure functions. */
#include "lib/learn/metrics.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct ranked {
    double value;
    size_t row;
};

static int by_value(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Returns the rows in ascending order of value. The caller frees the array. Returns NULL if memory runs out or n is
 * 0. */
static struct ranked *rank_rows(const double *value, size_t n)
{
    struct ranked *ranked = n ? g_try_new(struct ranked, n) : NULL;
    if (!ranked) return NULL;
    for (size_t i = 0; i < n; i++) ranked[i] = (struct ranked){value[i], i};
    qsort(ranked, n, sizeof *ranked, by_value);
    return ranked;
}

/* Returns the index after the last row that ties with `start`. */
static size_t tie_end(const struct ranked *ranked, size_t n, size_t start)
{
    size_t end = start + 1;
    while (end < n && ranked[end].value == ranked[start].value) end++;
    return end;
}

double learn_auc(const double *score, const uint8_t *positive, size_t n)
{
    struct ranked *ranked = rank_rows(score, n);
    if (!ranked) return NAN;
    double below = 0, won = 0, positives = 0; /* number of negatives so far; of pairs won; of positives so far */
    for (size_t i = 0, end; i < n; i = end) {
        double up = 0, down = 0;
        end = tie_end(ranked, n, i);
        for (size_t j = i; j < end; j++) *(positive[ranked[j].row] ? &up : &down) += 1;
        won += up * (below + down / 2);
        below += down;
        positives += up;
    }
    g_free(ranked);
    return positives > 0 && below > 0 ? won / (positives * below) : NAN;
}

struct learn_confusion learn_confusion(const double *score, const uint8_t *positive, size_t n, double threshold)
{
    struct learn_confusion c = {0};
    for (size_t i = 0; i < n; i++) {
        bool said = score[i] >= threshold;
        if (positive[i])
            *(said ? &c.tp : &c.fn) += 1;
        else
            *(said ? &c.fp : &c.tn) += 1;
    }
    return c;
}

static double share(size_t part, size_t whole)
{
    return whole ? (double)part / (double)whole : NAN;
}

double learn_accuracy(struct learn_confusion c)
{
    return share(c.tp + c.tn, c.tp + c.tn + c.fp + c.fn);
}

double learn_precision(struct learn_confusion c)
{
    return share(c.tp, c.tp + c.fp);
}

double learn_recall(struct learn_confusion c)
{
    return share(c.tp, c.tp + c.fn);
}

double learn_f1(struct learn_confusion c)
{
    return share(2 * c.tp, 2 * c.tp + c.fp + c.fn);
}

/* Returns the ranks, with the mean rank for ties. The caller frees the array. */
static double *mean_ranks(const double *value, size_t n)
{
    struct ranked *ranked = rank_rows(value, n);
    double *rank = ranked ? g_try_new(double, n) : NULL;
    for (size_t i = 0, end; rank && i < n; i = end) {
        end = tie_end(ranked, n, i);
        for (size_t j = i; j < end; j++) rank[ranked[j].row] = (double)(i + end - 1) / 2;
    }
    g_free(ranked);
    return rank;
}

static double correlation(const double *x, const double *y, size_t n)
{
    double mean_x = 0, mean_y = 0, xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < n; i++) {
        mean_x += x[i] / (double)n;
        mean_y += y[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        double dx = x[i] - mean_x, dy = y[i] - mean_y;
        xx += dx * dx;
        yy += dy * dy;
        xy += dx * dy;
    }
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
}

double learn_spearman(const double *x, const double *y, size_t n)
{
    if (n < 2) return NAN;
    double *rank_x = mean_ranks(x, n), *rank_y = mean_ranks(y, n);
    double r = rank_x && rank_y ? correlation(rank_x, rank_y, n) : NAN;
    g_free(rank_x);
    g_free(rank_y);
    return r;
}

struct learn_interval learn_wilson(size_t k, size_t n, double z)
{
    if (!n) return (struct learn_interval){0, 1};
    double trials = (double)n, p = (double)k / trials, zz = z * z / trials;
    double middle = (p + zz / 2) / (1 + zz);
    double half = z * sqrt(p * (1 - p) / trials + zz / (4 * trials)) / (1 + zz);
    return (struct learn_interval){fmax(0, middle - half), fmin(1, middle + half)};
}

static double log_choose(double n, double k)
{
    int sign; /* plain lgamma stores the sign in a global variable */
    return lgamma_r(n + 1, &sign) - lgamma_r(k + 1, &sign) - lgamma_r(n - k + 1, &sign);
}

/* Computes twice the smaller tail of the binomial. The terms are computed by logarithms and summed from the largest
 * down. So a million pairs do not overflow, and negligible terms take no time. */
double learn_sign_test(uint64_t wins, uint64_t losses)
{
    double n = (double)wins + (double)losses, k = (double)MIN(wins, losses);
    double term = exp(log_choose(n, k) - n * log(2)), sum = 0;
    for (double i = k; i >= 0 && term > sum * 1e-17; i--) {
        sum += term;
        term *= i / (n - i + 1);
    }
    return MIN(1, 2 * sum);
}

double learn_ece(const double *p, const uint8_t *positive, size_t n, unsigned bins)
{
    if (!n || !bins) return NAN;
    double error = 0;
    for (unsigned bin = 0; bin < bins; bin++) {
        double said = 0, was = 0;
        for (size_t i = 0; i < n; i++) {
            unsigned at = p[i] >= 1 ? bins - 1 : p[i] > 0 ? (unsigned)(p[i] * bins) : 0;
            if (at != bin) continue;
            said += p[i];
            was += positive[i] != 0;
        }
        error += fabs(said - was);
    }
    return error / (double)n;
}

size_t learn_threshold_at(const double *score, const uint8_t *positive, size_t n, double target, double *threshold)
{
    *threshold = INFINITY;
    struct ranked *ranked = rank_rows(score, n);
    if (!ranked) return 0;
    size_t best = 0, right = 0;
    for (size_t end = n; end > 0;) {
        size_t start = end - 1;
        while (start > 0 && ranked[start - 1].value == ranked[end - 1].value) start--;
        for (size_t i = start; i < end; i++) right += positive[ranked[i].row] != 0;
        size_t taken = n - start;
        if ((double)right >= target * (double)taken) {
            best = taken;
            *threshold = ranked[start].value;
        }
        end = start;
    }
    g_free(ranked);
    return best;
}

uint32_t learn_groups(const char *const *names, size_t n, uint32_t *group)
{
    GHashTable *seen = g_hash_table_new(g_str_hash, g_str_equal);
    uint32_t count = 0;
    for (size_t i = 0; i < n; i++) {
        gpointer known = g_hash_table_lookup(seen, names[i]);
        if (!known) {
            known = GUINT_TO_POINTER(++count);
            g_hash_table_insert(seen, (gpointer)names[i], known);
        }
        group[i] = GPOINTER_TO_UINT(known) - 1;
    }
    g_hash_table_unref(seen);
    return count;
}
