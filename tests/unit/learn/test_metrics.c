#include "lib/learn/learn.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

TestSuite(metrics, .fini = leak_check);

Test(metrics, auc_matches_manual_values)
{
    static const double score[] = {0.1, 0.4, 0.35, 0.8};
    static const uint8_t label[] = {0, 0, 1, 1};
    cr_expect_float_eq(learn_auc(score, label, 4), 0.75, 1e-12);
    static const double tied[] = {0.5, 0.5, 0.5, 0.9};
    /* two pairs of 0.5 and 0.5 count 1/2 each, two pairs of 0.9 and 0.5 count 1 each */
    cr_expect_float_eq(learn_auc(tied, label, 4), 0.75, 1e-12);
    static const double same[] = {1, 1, 1, 1};
    cr_expect_float_eq(learn_auc(same, label, 4), 0.5, 1e-12);
    cr_expect(isnan(learn_auc(score, (uint8_t[]){0, 0, 0, 0}, 4)));
    cr_expect(isnan(learn_auc(score, label, 0)));
}

Test(metrics, confusion_counts_match_manual_values)
{
    static const double score[] = {0.9, 0.6, 0.4, 0.2, 0.5};
    static const uint8_t label[] = {1, 0, 1, 0, 1};
    struct learn_confusion c = learn_confusion(score, label, 5, 0.5);
    cr_expect(c.tp == 2 && c.fp == 1 && c.fn == 1 && c.tn == 1);
    cr_expect_float_eq(learn_accuracy(c), 0.6, 1e-12);
    cr_expect_float_eq(learn_precision(c), 2.0 / 3, 1e-12);
    cr_expect_float_eq(learn_recall(c), 2.0 / 3, 1e-12);
    cr_expect_float_eq(learn_f1(c), 2.0 / 3, 1e-12);
    cr_expect(isnan(learn_precision((struct learn_confusion){0})));
}

Test(metrics, spearman_matches_manual_values)
{
    static const double x[] = {1, 2, 3, 4, 5}, up[] = {2, 4, 9, 16, 99}, ties[] = {1, 1, 2, 2, 3},
                        flat[] = {1, 1, 1, 1, 1};
    cr_expect_float_eq(learn_spearman(x, up, 5), 1, 1e-12);
    cr_expect_float_eq(learn_spearman(x, ties, 5), 0.948683, 1e-6);
    cr_expect(isnan(learn_spearman(x, flat, 5)) && isnan(learn_spearman(x, up, 1)));
}

Test(metrics, wilson_and_ece_match_manual_values)
{
    struct learn_interval w = learn_wilson(8, 10, 1.96);
    cr_expect_float_eq(w.low, 0.4902, 1e-3);
    cr_expect_float_eq(w.high, 0.9433, 1e-3);
    cr_expect_float_eq(learn_wilson(0, 0, 1.96).high, 1, 0);
    cr_expect_float_eq(learn_wilson(0, 10, 1.96).low, 0, 0);
    static const double p[] = {0.05, 0.05, 0.95, 0.95};
    static const uint8_t y[] = {0, 0, 1, 0};
    /* low bin: predicted 0.1, observed 0; high bin: predicted 1.9, observed 1 */
    cr_expect_float_eq(learn_ece(p, y, 4, 10), (0.1 + 0.9) / 4, 1e-12);
    cr_expect_float_eq(learn_ece((double[]){0, 1}, (uint8_t[]){0, 1}, 2, 10), 0, 1e-12);
}

Test(metrics, threshold_keeps_ties_together)
{
    static const double score[] = {0.9, 0.8, 0.8, 0.7, 0.1};
    static const uint8_t right[] = {1, 1, 0, 1, 0};
    double threshold;
    cr_expect_eq(learn_threshold_at(score, right, 5, 0.75, &threshold), 4);
    cr_expect_float_eq(threshold, 0.7, 0);
    cr_expect_eq(learn_threshold_at(score, right, 5, 0.95, &threshold), 1);
    cr_expect_eq(learn_threshold_at(score, (uint8_t[]){0, 1, 1, 1, 1}, 5, 0.99, &threshold), 0);
    cr_expect(isinf(threshold));
}

Test(metrics, folds_keep_groups_together)
{
    static const char *const names[] = {"a", "b", "a", "c", "b", "d"};
    uint32_t group[6];
    cr_assert_eq(learn_groups(names, 6, group), 4);
    cr_expect(group[0] == 0 && group[1] == 1 && group[2] == 0 && group[3] == 2 && group[4] == 1 && group[5] == 3);
    enum { N = 1000 };
    uint32_t g[N];
    uint8_t fold[N], again[N], other[N];
    for (unsigned i = 0; i < N; i++) g[i] = i * i % 37;
    for (unsigned i = 0; i < N; i++) g[i] = g[i] % 37;
    cr_assert(learn_folds(g, N, 5, 1, fold) && learn_folds(g, N, 5, 1, again) && learn_folds(g, N, 5, 2, other));
    cr_expect_eq(memcmp(fold, again, N), 0);
    cr_expect_neq(memcmp(fold, other, N), 0);
    size_t size[5] = {0};
    int of[37];
    memset(of, -1, sizeof of);
    for (unsigned i = 0; i < N; i++) {
        size[fold[i]]++;
        if (of[g[i]] >= 0) cr_expect_eq(of[g[i]], fold[i]);
        of[g[i]] = fold[i];
    }
    for (int f = 0; f < 5; f++) cr_expect(size[f] > 150 && size[f] < 250, "%zu", size[f]);
    cr_expect_not(learn_folds(g, N, 1, 1, fold));
    cr_expect_not(learn_folds((uint32_t[]){0, 0, 0}, 3, 2, 1, fold));
}

/* The interval of a mean must cover the truth about as often as stated. Clustered rows must make it wider. */
Test(metrics, bootstrap_interval_covers_truth)
{
    enum { N = 400, TRIALS = 100 };
    unsigned covered = 0;
    uint64_t state = 5;
    double x[N];
    uint32_t group[N];
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        for (unsigned i = 0; i < N; i++) x[i] = learn_random_unit(&state) < 0.3;
        struct learn_pair pair = {x, x, NULL};
        struct learn_interval in = learn_bootstrap(learn_stat_mean, &pair, NULL, N, 200, 0.95, trial);
        covered += in.low <= 0.3 && 0.3 <= in.high;
    }
    cr_expect(covered >= 88 && covered <= 100, "%u", covered);
    for (unsigned i = 0; i < N; i++) {
        group[i] = i / 20;
        x[i] = group[i] % 2;
    }
    struct learn_pair pair = {x, x, NULL};
    struct learn_interval rows = learn_bootstrap(learn_stat_mean, &pair, NULL, N, 500, 0.95, 1);
    struct learn_interval groups = learn_bootstrap(learn_stat_mean, &pair, group, N, 500, 0.95, 1);
    cr_expect_gt(groups.high - groups.low, 3 * (rows.high - rows.low));
    struct learn_interval none = learn_bootstrap(learn_stat_difference, &pair, group, N, 100, 0.95, 1);
    cr_expect(none.low == 0 && none.high == 0);
    cr_expect(isnan(learn_bootstrap(learn_stat_mean, &pair, NULL, 0, 10, 0.95, 1).low));
    cr_expect(isnan(learn_bootstrap(learn_stat_mean, &pair, NULL, N, 0, 0.95, 1).low));
}

Test(metrics, lift_matches_manual_values)
{
    static const uint8_t fired[] = {1, 1, 0, 0, 0, 0}, wrong[] = {1, 1, 1, 0, 0, 0};
    static const uint32_t rows[] = {0, 1, 2, 3, 4, 5};
    struct learn_vote vote = {fired, wrong};
    cr_expect_float_eq(learn_stat_lift(&vote, rows, 6), 2, 1e-12);
    cr_expect_float_eq(learn_stat_vote_precision(&vote, rows, 6), 1, 1e-12);
    cr_expect(isnan(learn_stat_lift(&vote, rows + 3, 3)));
}
