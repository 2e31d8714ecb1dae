/* Computes shares with bootstrapped intervals. The seed is fixed, so two runs print the same intervals. */
#include "eval/eval.h"

#include <math.h>

enum { BOOTSTRAP_SEED = 20240501 };
static const double level = 0.95, nothing = (double)NAN;

struct eval_share eval_interval(learn_statistic statistic, const void *context, size_t n, unsigned rounds, double scale)
{
    struct eval_share share = {nothing, nothing, nothing};
    if (n == 0) return share;
    uint32_t *all = g_new(uint32_t, n);
    for (size_t i = 0; i < n; i++) all[i] = (uint32_t)i;
    share.value = scale * statistic(context, all, n);
    g_free(all);
    if (rounds && !isnan(share.value)) {
        struct learn_interval range = learn_bootstrap(statistic, context, NULL, n, rounds, level, BOOTSTRAP_SEED);
        share.low = scale * range.low;
        share.high = scale * range.high;
    }
    return share;
}

struct scored {
    const double *score;
    const uint8_t *wrong;
    double threshold;
    double (*measure)(struct learn_confusion c);
};

static double confusion_statistic(const void *context, const uint32_t *rows, size_t n)
{
    const struct scored *s = context;
    struct learn_confusion c = {0};
    for (size_t i = 0; i < n; i++) {
        bool predicted = s->score[rows[i]] >= s->threshold, wrong = s->wrong[rows[i]];
        c.tp += predicted && wrong;
        c.fp += predicted && !wrong;
        c.fn += !predicted && wrong;
        c.tn += !predicted && !wrong;
    }
    return s->measure(c);
}

struct eval_detection eval_detect(const char *name, const double *score, const uint8_t *wrong, uint32_t n,
                                  double threshold, unsigned rounds)
{
    struct eval_detection out = {.name = name, .n = n};
    for (uint32_t i = 0; i < n; i++) out.positives += wrong[i];
    struct learn_scored plain = {score, wrong};
    struct scored s = {score, wrong, threshold, learn_accuracy};
    out.auc = eval_interval(learn_stat_auc, &plain, n, rounds, 100);
    out.accuracy = eval_interval(confusion_statistic, &s, n, rounds, 100);
    s.measure = learn_precision;
    out.precision = eval_interval(confusion_statistic, &s, n, rounds, 100);
    s.measure = learn_recall;
    out.recall = eval_interval(confusion_statistic, &s, n, rounds, 100);
    s.measure = learn_f1;
    out.f1 = eval_interval(confusion_statistic, &s, n, rounds, 100);
    return out;
}
