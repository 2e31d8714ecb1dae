/* Tests a perceptron of two layers. It learns a function that one layer cannot represent, is deterministic, and refuses
 * unusable data. */
#include "lib/learn/metrics.h"
#include "lib/learn/perceptron.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { ROWS = 1200, INPUTS = 12 };

static float x[ROWS * INPUTS];
static uint8_t positive[ROWS];

/* Makes rows that are positive if two inputs have different signs. No line separates these rows. The last input is
 * constant. */
static void make_rows(uint64_t seed)
{
    for (int r = 0; r < ROWS; r++) {
        for (int i = 0; i < INPUTS; i++) x[r * INPUTS + i] = (float)(5 * learn_random_unit(&seed) - 2.5);
        x[r * INPUTS + INPUTS - 1] = 3;
        positive[r] = (x[r * INPUTS] > 0) != (x[r * INPUTS + 1] > 0);
    }
}

static double auc_of(const struct perceptron *p)
{
    static double score[ROWS];
    for (int r = 0; r < ROWS; r++) {
        score[r] = perceptron_predict(p, x + (size_t)r * INPUTS);
        cr_assert(score[r] >= 0 && score[r] <= 1);
    }
    return learn_auc(score, positive, ROWS);
}

Test(perceptron, nonlinear_function_is_learned_deterministically)
{
    struct perceptron *p = NULL, *again = NULL;
    struct err err = {0};
    struct perceptron_options options = perceptron_options_default();
    options.dropout = 0; /* so that both inputs are used: each of them alone has no information */
    options.hidden = 64;
    options.epochs = 30;
    make_rows(1);
    cr_assert_eq(perceptron_train(x, positive, ROWS, INPUTS, &options, &p, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(perceptron_train(x, positive, ROWS, INPUTS, &options, &again, &err), ERR_OK);
    cr_assert_arr_eq(p->weight, again->weight, (size_t)INPUTS * options.hidden * sizeof(float));
    make_rows(2); /* rows outside of the training set */
    double auc = auc_of(p);
    cr_assert_gt(auc, 0.95, "%g", auc);
    perceptron_free(p);
    perceptron_free(again);
}

enum { WIDE = 150, FEW = 600 };

/* Makes few rows in which two noisy inputs determine the label, and 148 inputs have no information. */
static void make_wide(float *rows, uint64_t seed)
{
    for (int r = 0; r < FEW; r++) {
        positive[r] = learn_random_unit(&seed) < 0.2;
        for (int i = 0; i < WIDE; i++)
            rows[r * WIDE + i] = (float)(2 * learn_random_unit(&seed) - 1 + (i < 2 && positive[r] ? 1.0 : 0));
    }
}

static double auc_on(const struct perceptron *p, const float *rows)
{
    double score[FEW];
    for (int r = 0; r < FEW; r++) score[r] = perceptron_predict(p, rows + (size_t)r * WIDE);
    return learn_auc(score, positive, FEW);
}

/* The AUC on the training rows, and on other rows. */
struct aucs {
    double learned, fresh;
};

static struct aucs aucs_with(double dropout)
{
    static float rows[FEW * WIDE];
    struct aucs sum = {0};
    struct err err = {0};
    struct perceptron_options options = perceptron_options_default();
    options.dropout = dropout;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct perceptron *p = NULL;
        make_wide(rows, seed);
        cr_assert_eq(perceptron_train(rows, positive, FEW, WIDE, &options, &p, &err), ERR_OK, "%s", err.text);
        sum.learned += auc_on(p, rows) / 5;
        make_wide(rows, seed + 100);
        sum.fresh += auc_on(p, rows) / 5;
        perceptron_free(p);
    }
    return sum;
}

Test(perceptron, dropout_reduces_overfitting)
{
    struct aucs without = aucs_with(0), with = aucs_with(perceptron_options_default().dropout);
    cr_expect_gt(without.learned, 0.99, "%g: the test asks nothing", without.learned);
    cr_expect_lt(with.learned, without.learned - 0.01, "%g", with.learned);
    cr_expect_gt(with.fresh, without.fresh - 0.01, "%g, %g", with.fresh, without.fresh);
    cr_expect_gt(with.fresh, 0.7, "%g", with.fresh);
}

Test(perceptron, single_class_and_invalid_options_are_refused)
{
    struct perceptron *p = NULL;
    struct err err = {0};
    struct perceptron_options options = perceptron_options_default();
    make_rows(1);
    memset(positive, 0, sizeof positive);
    cr_assert_eq(perceptron_train(x, positive, ROWS, INPUTS, &options, &p, &err), ERR_CONFIG);
    cr_assert_null(p);
    cr_assert_eq(perceptron_train(x, positive, 0, INPUTS, &options, &p, &err), ERR_CONFIG);
    cr_assert_null(perceptron_new(PERCEPTRON_MAX_INPUTS + 1, 4));
    cr_assert_null(perceptron_new(4, 0));
}
