/* Tests calibration curves: logit, Platt and isotonic fits, on small cases computed by hand and on random data. The
 * ends of an isotonic curve are bounded by the number of their rows. */
#include "lib/learn/learn.h"
#include "lib/learn/logit.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

TestSuite(calibrate, .fini = leak_check);

Test(calibrate, logit_matches_manual_values)
{
    cr_expect_eq(learn_logit(0.5, 1e-9), 0);
    cr_expect_float_eq(learn_logit(0.8, 1e-9), log(4), 1e-12);
    cr_expect_eq(learn_logit(0.2, 0), log(0.2 / 0.8), "within its bounds to the bit");
    cr_expect_eq(learn_logit(0, 1e-4), learn_logit(1e-4, 0));
    cr_expect_eq(learn_logit(1, 1e-4), learn_logit(1 - 1e-4, 0));
    cr_expect(isinf(learn_logit(0, 0)) && isinf(learn_logit(1, 0)), "nothing bounds them");
    cr_expect(isnan(learn_logit((double)NAN, 1e-4)));
}

Test(calibrate, isotonic_fit_matches_manual_values)
{
    double value[] = {1, 3, 2, 4, 0}, weight[] = {1, 1, 1, 1, 2};
    static const double want[] = {1, 1.8, 1.8, 1.8, 1.8};
    learn_isotonic(value, weight, 5);
    for (int i = 0; i < 5; i++) cr_expect_float_eq(value[i], want[i], 1e-12, "%d: %g", i, value[i]);
    double rising[] = {1, 2, 3}, ones[] = {1, 1, 1};
    learn_isotonic(rising, ones, 3);
    cr_expect(rising[0] == 1 && rising[1] == 2 && rising[2] == 3);
}

/* Checks three properties: the curve never falls, it preserves the weighted sum, and a second fit does not change
 * it. */
Test(calibrate, isotonic_fit_is_monotone_and_idempotent)
{
    enum { N = 200 };
    uint64_t state = 3;
    double value[N], weight[N], copy[N], before = 0, after = 0, all[N];
    for (int i = 0; i < N; i++) {
        value[i] = learn_random_unit(&state) + i * 0.002;
        all[i] = weight[i] = 0.1 + learn_random_unit(&state);
        before += value[i] * weight[i];
    }
    learn_isotonic(value, weight, N);
    for (int i = 0; i < N; i++) {
        if (i) cr_assert_geq(value[i], value[i - 1]);
        after += value[i] * all[i];
        copy[i] = value[i];
    }
    cr_expect_float_eq(before, after, 1e-9);
    learn_isotonic(value, all, N);
    for (int i = 0; i < N; i++) cr_expect_float_eq(value[i], copy[i], 1e-12);
}

static void expect_calibrated(enum learn_calibration_kind kind, double most)
{
    enum { N = 4000 };
    static double score[N], label[N], p[N];
    static uint8_t positive[N];
    uint64_t state = 11;
    for (int i = 0; i < N; i++) {
        double truth = learn_random_unit(&state);
        positive[i] = learn_random_unit(&state) < truth;
        label[i] = positive[i];
        double z = log(truth / (1 - truth)) * 2 + 0.5; /* overconfident and shifted */
        score[i] = 1 / (1 + exp(-z));
    }
    struct learn_calibration c;
    cr_assert(learn_calibrate(kind, score, label, NULL, N, &c));
    double last = -1;
    for (int i = 0; i < N; i++) p[i] = learn_calibrated(&c, score[i]);
    for (int i = 0; i <= 100; i++) {
        double now = learn_calibrated(&c, i / 100.0);
        cr_expect(now >= last && now >= 0 && now <= 1);
        last = now;
    }
    cr_expect_gt(learn_ece(score, positive, N, 10), 0.08);
    cr_expect_lt(learn_ece(p, positive, N, 10), most);
    learn_calibration_free(&c);
}

Test(calibrate, platt_fit_corrects_overconfidence)
{
    expect_calibrated(LEARN_PLATT, 0.03);
}

Test(calibrate, isotonic_fit_corrects_overconfidence)
{
    expect_calibrated(LEARN_ISOTONIC, 0.03);
}

Test(calibrate, platt_recovers_its_own_curve)
{
    enum { N = 2000 };
    static double score[N], label[N];
    for (int i = 0; i < N; i++) {
        score[i] = (i + 0.5) / N;
        double z = log(score[i] / (1 - score[i]));
        label[i] = 1 / (1 + exp(-(0.5 * z + 0.3))); /* soft labels */
    }
    struct learn_calibration c;
    cr_assert(learn_calibrate(LEARN_PLATT, score, label, NULL, N, &c));
    cr_expect_float_eq(-c.a, 0.5, 0.01);
    cr_expect_float_eq(-c.b, 0.3, 0.01);
    learn_calibration_free(&c);
}

/* Scores are confident but have no information. The fitted curve must be flat; it must not stay at its starting
 * value. */
Test(calibrate, platt_flattens_noise)
{
    enum { N = 1000 };
    static double score[N], label[N];
    uint64_t state = 8;
    for (int i = 0; i < N; i++) {
        score[i] = learn_random_unit(&state) < 0.5 ? 1e-6 : 1 - 1e-6;
        label[i] = learn_random_unit(&state) < 0.5;
    }
    struct learn_calibration c;
    cr_assert(learn_calibrate(LEARN_PLATT, score, label, NULL, N, &c));
    cr_expect_float_eq(learn_calibrated(&c, 1e-6), 0.5, 0.06);
    cr_expect_float_eq(learn_calibrated(&c, 1 - 1e-6), 0.5, 0.06);
    learn_calibration_free(&c);
}

/* Rows beyond the last counter-example never justify certainty. Their number bounds the ends of the curve. */
Test(calibrate, isotonic_ends_match_their_rows)
{
    /* 8 wrong rows, then right and wrong alternately, then 18 right. The ends of the curve are (k + 1) / (n + 2). */
    enum { N = 66 };
    double score[N], label[N], weight[N];
    for (int i = 0; i < N; i++) {
        score[i] = (i + 0.5) / N;
        label[i] = i < 8 ? 0 : i >= N - 18 ? 1 : i % 2 == 0;
        weight[i] = 0.25; /* the bound counts rows, not weights */
    }
    struct learn_calibration c;
    for (int weighed = 0; weighed < 2; weighed++) {
        cr_assert(learn_calibrate(LEARN_ISOTONIC, score, label, weighed ? weight : NULL, N, &c));
        cr_expect_float_eq(learn_calibrated(&c, 0), 1.0 / 10, 1e-12, "%g", learn_calibrated(&c, 0));
        cr_expect_float_eq(learn_calibrated(&c, 1), 19.0 / 20, 1e-12, "%g", learn_calibrated(&c, 1));
        cr_expect_float_eq(learn_calibrated(&c, 0.5), 0.5, 1e-12);
        learn_calibration_free(&c);
    }
}

/* Two rows lie above a block in which 99 of 100 are right. They join this block, and do not make the curve fall. */
Test(calibrate, isotonic_ends_do_not_fall)
{
    enum { N = 202 };
    double score[N], label[N], last = 0;
    for (int i = 0; i < N; i++) {
        score[i] = i < 200 ? 0.5 : 0.9;
        label[i] = i != 50 && i != 150;
    }
    struct learn_calibration c;
    cr_assert(learn_calibrate(LEARN_ISOTONIC, score, label, NULL, N, &c));
    for (int i = 0; i <= 20; i++) {
        double now = learn_calibrated(&c, i / 20.0);
        cr_expect(now >= last && now < 1, "%d: %g", i, now);
        last = now;
    }
    cr_expect_float_eq(last, (200 + 1) / (202 + 2.0), 1e-12, "%g", last);
    learn_calibration_free(&c);
}

/* Tests curves in files of older versions. */
Test(calibrate, certain_end_without_count_takes_neighbours_value)
{
    struct learn_calibration c = {.kind = LEARN_ISOTONIC, .n = 4};
    c.x = g_memdup2((double[]){0.1, 0.2, 0.8, 0.9}, 4 * sizeof(double));
    c.y = g_memdup2((double[]){0, 0.05, 0.97, 1}, 4 * sizeof(double));
    learn_calibration_bound(&c);
    cr_expect(c.y[0] == 0.05 && c.y[1] == 0.05 && c.y[2] == 0.97 && c.y[3] == 0.97);
    memcpy(c.y, (double[]){0, 0, 1, 1}, 4 * sizeof(double));
    learn_calibration_bound(&c);
    cr_expect_float_eq(learn_calibrated(&c, 0), 1.0 / 3, 1e-12);
    cr_expect_float_eq(learn_calibrated(&c, 1), 2.0 / 3, 1e-12);
    memcpy(c.y, (double[]){0.4, 0.4, 0.5, 0.6}, 4 * sizeof(double));
    learn_calibration_bound(&c);
    cr_expect(c.y[0] == 0.4 && c.y[3] == 0.6, "what is not certain stays");
    learn_calibration_free(&c);
}

Test(calibrate, edge_cases_are_finite)
{
    struct learn_calibration c;
    double x[] = {0.2, 0.8}, y[] = {0, 1};
    cr_expect_not(learn_calibrate(LEARN_ISOTONIC, x, y, NULL, 1, &c));
    cr_expect_eq(c.kind, LEARN_UNCALIBRATED);
    cr_expect_float_eq(learn_calibrated(&c, 0.4), 0.4, 0);
    cr_assert(learn_calibrate(LEARN_PLATT, x, y, NULL, 2, &c)); /* separable data must still give finite numbers */
    cr_expect(isfinite(c.a) && isfinite(c.b));
    cr_assert(learn_calibrate(LEARN_ISOTONIC, x, y, NULL, 2, &c));
    cr_expect_float_eq(learn_calibrated(&c, 0.5), 0.5, 1e-12);
    cr_expect_float_eq(learn_calibrated(&c, 0.0), 1.0 / 3, 1e-12);
    cr_expect_float_eq(learn_calibrated(&c, 1.0), 2.0 / 3, 1e-12);
    cr_expect(!isnan(learn_calibrated(&c, NAN)));
    learn_calibration_free(&c);
    for (int i = 0; i < LEARN_CALIBRATION_COUNT; i++)
        cr_expect_eq(learn_calibration_by_name(learn_calibration_name((enum learn_calibration_kind)i)), i);
    cr_expect_eq(learn_calibration_by_name("x"), -1);
}
