/* Prediction sets must hold their guarantee in the mean of many draws from worlds with known truth. A deviation of
 * three standard errors is allowed. See Reliable Text-to-SQL with Adaptive Abstention, equation 1 and theorems 1 to
 * 3. */
#include "lib/learn/conformal.h"
#include "lib/learn/metrics.h"

#include <criterion/criterion.h>
#include <math.h>

enum { DRAWS = 2000, CALIBRATION = 120, FRESH = 60, LAYERS = 5 };
static const double ALPHAS[] = {0.02, 0.05, 0.1, 0.3};

static uint64_t state;

static double uniform(void)
{
    return learn_random_unit(&state);
}

/* The output of a classifier on one point. It is more often right than wrong, and sometimes confidently wrong. */
struct point {
    int label;
    double p[LAYERS];
};

/* Draws a point. With `together` 0 the layers err independently; with 1 all layers err at once. */
static struct point draw(double positives, double together)
{
    struct point out = {.label = uniform() < positives};
    double common = uniform();
    for (int l = 0; l < LAYERS; l++) {
        double luck = uniform() < together ? common : uniform();
        double toward = luck < 0.15 ? 0.9 * luck / 0.15 : 0.5 + 0.5 * (luck - 0.15) / 0.85; /* P of the true label */
        out.p[l] = out.label ? toward : 1 - toward;
    }
    return out;
}

struct world {
    double positives, together;
};
static const struct world WORLDS[] = {{0.5, 0}, {0.08, 0}, {0.3, 1}, {0.08, 0.5}};

/* Fits the threshold of a layer: one for each label, or one for both. */
static void calibrate(const struct point *points, int layer, double alpha, bool by_label, double threshold[2])
{
    double scores[2][CALIBRATION];
    size_t n[2] = {0, 0};
    for (int i = 0; i < CALIBRATION; i++) {
        int of = by_label ? points[i].label : 0;
        scores[of][n[of]++] = conformal_score(points[i].p[layer], points[i].label);
    }
    for (int y = 0; y < 2; y++) {
        int of = by_label ? y : 0;
        conformal_sort(scores[of], n[of]);
        threshold[y] = conformal_threshold(scores[of], n[of], alpha);
    }
}

/* The shares of fresh points whose label is in the prediction set, in one draw of the world: of all points, and of
 * positive ones. */
struct held {
    double single, majority, permuted, positive;
    bool has_positive;
};

static bool holds(conformal_set set, int label)
{
    return (set & (label ? CONFORMAL_POSITIVE : CONFORMAL_NEGATIVE)) != 0;
}

static struct held one_draw(const struct world *world, double alpha, bool by_label)
{
    struct point points[CALIBRATION];
    double threshold[LAYERS][2];
    struct held out = {0};
    int positives = 0;
    for (int i = 0; i < CALIBRATION; i++) points[i] = draw(world->positives, world->together);
    for (int l = 0; l < LAYERS; l++) calibrate(points, l, alpha, by_label, threshold[l]);
    for (int i = 0; i < FRESH; i++) {
        struct point fresh = draw(world->positives, world->together);
        conformal_set sets[LAYERS];
        for (int l = 0; l < LAYERS; l++) sets[l] = conformal_predict(fresh.p[l], threshold[l][0], threshold[l][1]);
        out.single += holds(sets[0], fresh.label);
        out.majority += holds(conformal_majority(sets, LAYERS, 0.5), fresh.label);
        out.permuted += holds(conformal_permuted(sets, LAYERS, state), fresh.label);
        positives += fresh.label;
        out.positive += fresh.label && holds(sets[0], 1);
    }
    out.single /= FRESH;
    out.majority /= FRESH;
    out.permuted /= FRESH;
    out.has_positive = positives > 0;
    out.positive = positives ? out.positive / positives : 0;
    return out;
}

struct mean {
    double sum, squares;
    int n;
};

static void add(struct mean *mean, double x)
{
    mean->sum += x;
    mean->squares += x * x;
    mean->n++;
}

static void at_least(const struct mean *mean, double promise, const char *what)
{
    double m = mean->sum / mean->n, variance = fmax(0, mean->squares / mean->n - m * m);
    cr_assert(m + 3 * sqrt(variance / mean->n) >= promise, "%s: %g of %g promised", what, m, promise);
}

Test(conformal, single_and_merged_sets_hold_guarantee)
{
    state = 7;
    for (unsigned w = 0; w < sizeof WORLDS / sizeof *WORLDS; w++)
        for (unsigned a = 0; a < sizeof ALPHAS / sizeof *ALPHAS; a++) {
            struct mean single = {0}, majority = {0}, permuted = {0};
            for (int i = 0; i < DRAWS; i++) {
                struct held held = one_draw(&WORLDS[w], ALPHAS[a], false);
                add(&single, held.single);
                add(&majority, held.majority);
                add(&permuted, held.permuted);
            }
            at_least(&single, 1 - ALPHAS[a], "one layer");
            at_least(&majority, 1 - 2 * ALPHAS[a], "majority");
            at_least(&permuted, 1 - 2 * ALPHAS[a], "in random order");
        }
}

Test(conformal, label_conditional_guarantee_holds_for_rare_label)
{
    state = 8;
    struct mean marginal = {0}, by_label = {0};
    for (int i = 0; i < DRAWS; i++) {
        struct held held = one_draw(&WORLDS[1], 0.1, true);
        if (held.has_positive) add(&by_label, held.positive);
        held = one_draw(&WORLDS[1], 0.1, false);
        if (held.has_positive) add(&marginal, held.positive);
    }
    at_least(&by_label, 0.9, "positives, calibrated by label");
    double mean = marginal.sum / marginal.n;
    cr_assert(by_label.sum / by_label.n > mean + 0.02, "of all points, the rare label gets less: %g", mean);
}

/* The layers depend on each other in the worst way. Each misses a share alpha of the points, and as many layers as
 * possible miss the same points. */
Test(conformal, theorem_1_holds_under_worst_dependence)
{
    enum { POINTS = 100000, K = 10 };
    for (int t = 1; t < 10; t++) {
        double tau = t / 10.0, alpha = 0.05;
        /* the merged set misses a point only if so many layers miss it */
        int needed = K - (int)ceil(tau * K - 1e-9) + 1;
        long missed = 0;
        long budget[K];
        for (int l = 0; l < K; l++) budget[l] = (long)(alpha * POINTS);
        for (int i = 0; i < POINTS; i++) {
            conformal_set sets[K];
            int left = 0;
            for (int l = 0; l < K; l++) left += budget[l] > 0;
            for (int l = 0, used = 0; l < K; l++) {
                int layer = (l + i) % K;
                bool miss = left >= needed && used < needed && budget[layer] > 0;
                sets[layer] = miss ? CONFORMAL_NEGATIVE : CONFORMAL_POSITIVE;
                if (miss) budget[layer]--, used++;
            }
            missed += !(conformal_majority(sets, K, tau) & CONFORMAL_POSITIVE);
        }
        cr_assert_leq(missed, (long)(alpha / (1 - tau) * POINTS) + 1, "tau %g: %ld missed", tau, missed);
        cr_assert_geq(missed, (long)(0.8 * alpha * POINTS), "tau %g: this was to be the worst case, %ld missed", tau,
                      missed);
    }
}

static unsigned size(conformal_set set)
{
    return (unsigned)holds(set, 0) + holds(set, 1);
}

Test(conformal, set_sizes_obey_theorem_2)
{
    state = 9;
    for (int i = 0; i < 100000; i++) {
        size_t n = 1 + learn_random(&state) % 9;
        conformal_set sets[9];
        double total = 0;
        for (size_t l = 0; l < n; l++) total += size(sets[l] = (conformal_set)(learn_random(&state) % 4));
        double tau = 0.1 + 0.8 * uniform();
        cr_assert_leq(size(conformal_majority(sets, n, tau)), total / ((double)n * tau) + 1e-6);
        conformal_set majority = conformal_majority(sets, n, 0.5), permuted = conformal_permuted(sets, n, state);
        cr_assert_eq(permuted & ~majority, 0);
    }
}

Test(conformal, thresholds_are_the_expected_ranks)
{
    double scores[] = {0.9, 0.1, 0.5, 0.3, 0.7, 0.2, 0.4, 0.8, 0.6};
    conformal_sort(scores, 9);
    cr_assert_eq(conformal_threshold(scores, 9, 0.1), 0.9);
    cr_assert_eq(conformal_threshold(scores, 9, 0.5), 0.5);
    cr_assert(isinf(conformal_threshold(scores, 9, 0.05)), "nine points promise no 95 %%");
    cr_assert(isinf(conformal_threshold(scores, 0, 0.5)));
    cr_assert_eq(conformal_points_needed(0.1), 9);
    cr_assert_eq(conformal_points_needed(0.02), 49);
    cr_assert_eq(conformal_predict(0.3, INFINITY, INFINITY), CONFORMAL_NEGATIVE | CONFORMAL_POSITIVE);
    cr_assert_eq(conformal_predict(0.3, 0.4, 0.4), CONFORMAL_NEGATIVE);
    cr_assert_eq(conformal_predict(0.5, 0.4, 0.4), 0, "sets may be empty");
    cr_assert_eq(conformal_majority(NULL, 0, 0.5), 0x3, "nothing was looked at: nothing is ruled out");
}

/* The world changes over time: some calibration points come from an easier world. The guarantee must hold if only the
 * nearest points calibrate. */
Test(conformal, neighbours_hold_guarantee_under_drift)
{
    enum { POINTS = 400, NEAR = 100 };
    state = 10;
    struct mean near_held = {0}, all_held = {0};
    for (int d = 0; d < DRAWS; d++) {
        struct conformal_neighbour near[POINTS];
        double all[POINTS];
        size_t n = 0;
        for (int i = 0; i < POINTS; i++) {
            bool easy = i >= NEAR; /* easy points are at x = 0; the others, and the test point, at x = 3 */
            all[i] = easy ? 0.2 * uniform() : uniform();
            near[n++] = (struct conformal_neighbour){.score = all[i], .distance = easy ? 9 : 0};
        }
        double fresh = uniform();
        conformal_sort(all, POINTS);
        add(&all_held, fresh <= conformal_threshold(all, POINTS, 0.1));
        add(&near_held, fresh <= conformal_threshold_near(near, n, 1.0, 0.1));
    }
    cr_assert_lt(all_held.sum / all_held.n, 0.8, "the promise of all points together is broken");
    at_least(&near_held, 0.9 - 0.01, "weighed by likeness");
    struct conformal_neighbour far[3] = {{0.1, 50}, {0.2, 50}, {0.3, 50}};
    cr_assert(isinf(conformal_threshold_near(far, 3, 1.0, 0.1)), "nothing is like it: every label is possible");
}
