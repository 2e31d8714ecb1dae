/* Finds signals that fire together within a class (see label_model.c, "Dependence").
 *
 * With a posterior, the weight of an edge is the conditional mutual information I(A; B | class). Without one, pairs
 * that only share the class must be told from pairs that depend on each other. One hidden cause makes a matrix of rank
 * one: for signals that are independent given the class, cov(A, B) = v_A v_B for some v. A robust fit of v leaves large
 * residuals only for pairs with another cause. Those pairs are the first edges. The heaviest spanning forest gives each
 * signal at most one parent (Chow and Liu). */
#include "lib/learn/internal.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct signal_edge {
    unsigned a, b; /* a < b */
    double gain;   /* in nats for each candidate, above the penalty */
};

struct pair_counts { /* expected number of candidates at each pair of levels, if neither vote is missing */
    double cell[2][LM_MAX_LEVELS][LM_MAX_LEVELS];
    double total;
};

static void count_pair(struct pair_counts *counts, const struct patterns *patterns, const double *wrong, unsigned a,
                       unsigned b)
{
    memset(counts, 0, sizeof *counts);
    for (size_t i = 0; i < patterns->n; i++) {
        uint8_t x = patterns->votes[i][a], y = patterns->votes[i][b];
        if (x == LM_MISSING || y == LM_MISSING) continue;
        double w = patterns->weight[i], p = wrong ? wrong[i] : 1;
        counts->cell[1][x][y] += w * p;
        counts->cell[0][x][y] += w * (1 - p);
        counts->total += w;
    }
}

/* Returns I(A; B | class) in nats. */
static double conditional_information(const struct pair_counts *counts, unsigned levels_a, unsigned levels_b)
{
    double sum = 0;
    for (unsigned class = 0; class < 2; class ++) {
        double all = 0, row[LM_MAX_LEVELS] = {0}, column[LM_MAX_LEVELS] = {0};
        for (unsigned x = 0; x < levels_a; x++)
            for (unsigned y = 0; y < levels_b; y++) {
                double n = counts->cell[class][x][y];
                all += n;
                row[x] += n;
                column[y] += n;
            }
        for (unsigned x = 0; x < levels_a; x++)
            for (unsigned y = 0; y < levels_b; y++) {
                double n = counts->cell[class][x][y];
                if (n > 0) sum += n * log(n * all / (row[x] * column[y]));
            }
    }
    return counts->total > 0 ? sum / counts->total : 0;
}

/* Returns the information that an edge must exceed: the BIC penalty of its extra parameters, plus a fixed minimum. */
static double penalty(const struct lm_options *options, double total, unsigned levels_a, unsigned levels_b)
{
    double parameters = 2.0 * (levels_a - 1) * (levels_b - 1);
    return parameters * log(total + 1) / (2 * (total + 1)) + options->edge_bits * G_LN2;
}

/* Returns the value of a vote in the rank-one fit. For a signal it is 1 if the signal fired, otherwise 0. For a view it
 * is the level, with the sign that makes high values mean "wrong". Returns NAN if the vote is missing or the view has
 * no order. */
static double score_of(const struct lm_signal *signal, uint8_t vote)
{
    if (vote == LM_MISSING || signal->order == LM_FREE) return NAN;
    return signal->order == LM_MORE_RIGHT ? -(double)vote : signal->kind == LM_SIGNAL ? vote > 0 : (double)vote;
}

struct moments { /* moments of all pairs, with scores scaled to unit variance; NAN if undefined */
    unsigned m;
    double *correlation, *error; /* m x m */
    double *v;                   /* the rank-one fit */
};

static void pair_moment(struct moments *moments, const struct lm_model *model, const struct patterns *patterns,
                        unsigned a, unsigned b)
{
    double n = 0, sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0;
    for (size_t i = 0; i < patterns->n; i++) {
        double x = score_of(&model->signals[a], patterns->votes[i][a]);
        double y = score_of(&model->signals[b], patterns->votes[i][b]), w = patterns->weight[i];
        if (isnan(x) || isnan(y)) continue;
        n += w;
        sx += w * x;
        sy += w * y;
        sxx += w * x * x;
        syy += w * y * y;
        sxy += w * x * y;
    }
    double vx = sxx / n - sx * sx / n / n, vy = syy / n - sy * sy / n / n;
    double c = n > 0 && vx > 0 && vy > 0 ? (sxy / n - sx * sy / n / n) / sqrt(vx * vy) : NAN;
    moments->correlation[a * moments->m + b] = moments->correlation[b * moments->m + a] = c;
    moments->error[a * moments->m + b] = moments->error[b * moments->m + a] = 1 / sqrt(n + 1) + 0.01;
}

static int by_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Refits v_a as the median of c_ab / v_b over all other signals. An unweighted median is enough, because outliers are a
 * minority. */
static double refit_one(const struct moments *moments, unsigned a)
{
    double ratio[LM_MAX_COLUMNS];
    unsigned n = 0;
    for (unsigned b = 0; b < moments->m; b++) {
        double c = moments->correlation[a * moments->m + b];
        if (b != a && !isnan(c) && moments->v[b] > 0.02) ratio[n++] = c / moments->v[b];
    }
    if (n == 0) return moments->v[a];
    qsort(ratio, n, sizeof *ratio, by_double);
    double middle = n % 2 ? ratio[n / 2] : (ratio[n / 2 - 1] + ratio[n / 2]) / 2;
    return fmin(0.95, fmax(0.01, middle));
}

static void fit_rank_one(struct moments *moments)
{
    for (unsigned i = 0; i < moments->m; i++) moments->v[i] = 0.2;
    for (unsigned round = 0; round < 50; round++)
        for (unsigned i = 0; i < moments->m; i++) moments->v[i] = (moments->v[i] + refit_one(moments, i)) / 2;
}

static bool moments_init(struct moments *moments, const struct lm_model *model, const struct patterns *patterns)
{
    unsigned m = moments->m = model->n_signals;
    moments->correlation = g_try_malloc0_n((size_t)m * m, sizeof(double));
    moments->error = g_try_malloc0_n((size_t)m * m, sizeof(double));
    moments->v = g_try_new0(double, m);
    if (!moments->correlation || !moments->error || !moments->v) return false;
    for (unsigned a = 0; a < m; a++)
        for (unsigned b = 0; b <= a; b++) {
            bool derived = model->signals[a].kind == LM_POSITIVE || model->signals[b].kind == LM_POSITIVE;
            if (a == b || derived)
                moments->correlation[a * m + b] = moments->correlation[b * m + a] = NAN;
            else
                pair_moment(moments, model, patterns, a, b);
        }
    fit_rank_one(moments);
    return true;
}

static void moments_free(struct moments *moments)
{
    g_free(moments->correlation);
    g_free(moments->error);
    g_free(moments->v);
}

/* Returns the information, in nats, of a correlation that exceeds the common cause, assuming normal variables. Returns
 * 0 if the excess is within noise. */
static double residual_gain(const struct moments *moments, unsigned a, unsigned b)
{
    double c = moments->correlation[a * moments->m + b], error = moments->error[a * moments->m + b];
    double residual = fabs(c - moments->v[a] * moments->v[b]);
    if (isnan(c) || residual < 4 * error) return 0;
    residual = fmin(residual, 0.999);
    return -0.5 * log(1 - residual * residual);
}

static int heavier_first(const void *a, const void *b)
{
    const struct signal_edge *x = a, *y = b;
    if (x->gain != y->gain) return x->gain > y->gain ? -1 : 1;
    if (x->a != y->a) return x->a < y->a ? -1 : 1;
    return x->b < y->b ? -1 : x->b > y->b;
}

static unsigned root_of(unsigned *tree, unsigned at)
{
    while (tree[at] != at) at = tree[at] = tree[tree[at]];
    return at;
}

/* Directs the edges of the tree that contains `at`, with `at` as the root. adjacent[a][b] is the gain of an edge of the
 * forest, otherwise 0. */
static void orient(struct lm_model *model, const double *adjacent, unsigned at)
{
    unsigned m = model->n_signals, stack[LM_MAX_COLUMNS], depth = 0;
    stack[depth++] = at;
    while (depth) {
        at = stack[--depth];
        for (unsigned b = 0; b < m; b++) {
            if (adjacent[at * m + b] <= 0 || model->signals[at].parent == (int)b) continue;
            model->signals[b].parent = (int)at;
            model->signals[b].parent_bits = adjacent[at * m + b] / G_LN2;
            stack[depth++] = b;
        }
    }
}

/* Keeps the edges of the heaviest forest, by Kruskal's algorithm. `adjacent` has m x m zeros on entry. */
static void keep_forest(struct lm_model *model, struct signal_edge *edges, size_t n, double *adjacent)
{
    unsigned tree[LM_MAX_COLUMNS], m = model->n_signals;
    for (unsigned i = 0; i < m; i++) tree[i] = i;
    qsort(edges, n, sizeof *edges, heavier_first);
    for (size_t i = 0; i < n; i++) {
        unsigned a = root_of(tree, edges[i].a), b = root_of(tree, edges[i].b);
        if (a == b) continue;
        tree[a > b ? a : b] = a > b ? b : a; /* the lower number becomes the root */
        adjacent[edges[i].a * m + edges[i].b] = adjacent[edges[i].b * m + edges[i].a] = edges[i].gain;
    }
    for (unsigned i = 0; i < m; i++) {
        model->signals[i].parent = -1;
        model->signals[i].parent_bits = 0;
    }
    for (unsigned i = 0; i < m; i++)
        if (root_of(tree, i) == i) orient(model, adjacent, i);
}

static size_t collect(const struct lm_model *model, const struct patterns *patterns, const double *wrong,
                      const struct lm_options *options, struct moments *moments, struct signal_edge *edges)
{
    size_t n = 0;
    for (unsigned b = 0; b < model->n_signals; b++)
        for (unsigned a = 0; a < b; a++) {
            const struct lm_signal *x = &model->signals[a], *y = &model->signals[b];
            if (x->kind == LM_POSITIVE || y->kind == LM_POSITIVE) continue;
            if (options->views_follow && x->kind != y->kind) continue; /* a view must not replace a signal */
            struct pair_counts counts;
            double gain;
            if (wrong) {
                count_pair(&counts, patterns, wrong, a, b);
                gain = conditional_information(&counts, x->levels, y->levels);
            } else {
                gain = residual_gain(moments, a, b);
                counts.total = patterns->total;
            }
            gain -= penalty(options, counts.total, x->levels, y->levels);
            if (gain > 0) edges[n++] = (struct signal_edge){a, b, gain};
        }
    return n;
}

bool lm_learn_structure(struct lm_model *model, const struct patterns *patterns, const double *wrong,
                        const struct lm_options *options)
{
    unsigned m = model->n_signals;
    int before[LM_MAX_COLUMNS];
    for (unsigned i = 0; i < m; i++) before[i] = model->signals[i].parent;
    struct moments moments = {0};
    struct signal_edge *edges = g_try_new(struct signal_edge, (size_t)m * m);
    double *adjacent = g_try_new0(double, (size_t)m *m);
    if (edges && adjacent && (wrong || moments_init(&moments, model, patterns)))
        keep_forest(model, edges, collect(model, patterns, wrong, options, &moments, edges), adjacent);
    moments_free(&moments);
    g_free(edges);
    g_free(adjacent);
    lm_sort_signals(model);
    bool changed = false;
    for (unsigned i = 0; i < m; i++) changed |= before[i] != model->signals[i].parent;
    return changed;
}

bool lm_sort_signals(struct lm_model *model)
{
    bool placed[LM_MAX_COLUMNS] = {false};
    unsigned n = 0;
    for (unsigned last = UINT_MAX; n < model->n_signals && n != last;) {
        last = n;
        for (unsigned i = 0; i < model->n_signals; i++) {
            int parent = model->signals[i].parent;
            if (placed[i] || (parent >= 0 && !placed[parent])) continue;
            placed[i] = true;
            model->order[n++] = i;
        }
    }
    return n == model->n_signals;
}
