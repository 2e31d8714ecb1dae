/* Tests the classifier: both kinds of content models on synthetic features, files that round-trip, cross-prediction by
 * groups, weights, and refusal of invalid data and files. */
#include "lib/learn/learn.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(classifier, .fini = leak_check);

enum { N = 3000, FEATURES = 6 };
static const char *const NAMES[FEATURES] = {"a", "b", "c", "noise", "gaps", "constant"};

struct sample {
    float x[N * FEATURES];
    double y[N];
    uint8_t label[N];
    uint32_t group[N];
};

/* P(positive) depends on a, on b, and on a and c together. 10 % of the values of "gaps" are missing. */
static struct sample *make(uint64_t seed, bool soft)
{
    struct sample *s = malloc(sizeof *s);
    for (unsigned i = 0; i < N; i++) {
        float *x = s->x + i * FEATURES;
        for (unsigned j = 0; j < FEATURES; j++) x[j] = (float)learn_random_unit(&seed);
        x[0] = x[0] > 0.7F;
        x[2] = x[2] > 0.5F;
        x[5] = 3;
        double z =
            -1 + 2 * (double)x[0] - 3 * ((double)x[1] - 0.5) + 2 * (double)x[0] * (double)x[2] + 0.5 * (double)x[4];
        if (learn_random_unit(&seed) < 0.1) x[4] = NAN;
        double p = 1 / (1 + exp(-z));
        s->label[i] = learn_random_unit(&seed) < p;
        s->y[i] = soft ? p : s->label[i];
        s->group[i] = i % 40;
    }
    return s;
}

static struct learn_data data_of(const struct sample *s)
{
    return (struct learn_data){.n = N, .m = FEATURES, .x = s->x, .y = s->y, .group = s->group, .names = NAMES};
}

static struct learn_model *fit(const char *kind, const struct learn_data *data, const struct learn_options *options)
{
    struct learn_model *model = NULL;
    struct err err = {0};
    cr_assert_eq(learn_fit(kind, data, options, &model, &err), ERR_OK, "%s", err.text);
    return model;
}

static void skip_unless_trained(const char *kind)
{
    if (learn_unsupported(kind)) cr_skip("%s: %s", kind, learn_unsupported(kind));
}

static void learns(const char *kind, double least, double most_ece, bool soft)
{
    struct sample *train = make(1, soft), *test = make(2, false);
    struct learn_data data = data_of(train);
    struct learn_options options = learn_options_default();
    struct learn_model *model = fit(kind, &data, &options);
    static double p[N];
    for (unsigned i = 0; i < N; i++) p[i] = learn_predict(model, test->x + i * FEATURES);
    double auc = learn_auc(p, test->label, N), ece = learn_ece(p, test->label, N, 10);
    cr_expect_gt(auc, least, "%s: AUC %g", kind, auc);
    cr_expect_lt(ece, most_ece, "%s: ECE %g", kind, ece);
    double sum = 0;
    for (unsigned i = 0; i < FEATURES; i++) sum += learn_importance(model, i);
    cr_expect_float_eq(sum, 1, 1e-9);
    cr_expect_gt(learn_importance(model, 1), learn_importance(model, 3));
    cr_expect_float_eq(learn_importance(model, 5), 0, 0);
    learn_free(model);
    free(train);
    free(test);
}

Test(classifier, logistic_learns)
{
    learns("logistic", 0.80, 0.05, false);
    learns("logistic", 0.80, 0.05, true);
}

Test(classifier, trees_learn)
{
    skip_unless_trained("trees");
    learns("trees", 0.80, 0.05, false);
    learns("trees", 0.80, 0.05, true);
}

static void round_trip(const char *kind, enum learn_calibration_kind calibration)
{
    struct sample *s = make(3, false);
    struct learn_data data = data_of(s);
    struct learn_options options = learn_options_default();
    options.calibration = calibration;
    options.rounds = 30;
    options.command = "assay train classifier";
    struct learn_model *model = fit(kind, &data, &options), *again = fit(kind, &data, &options), *loaded;
    char *one = learn_save_text(model), *two = learn_save_text(again);
    cr_assert_not_null(one);
    cr_expect_str_eq(one, two, "the same data gave another model");
    struct err err;
    cr_assert_eq(learn_load_text(one, strlen(one), &loaded, &err), ERR_OK, "%s", err.text);
    char *three = learn_save_text(loaded);
    cr_expect_str_eq(one, three);
    for (unsigned i = 0; i < N; i++)
        cr_assert_eq(learn_predict(model, s->x + i * FEATURES), learn_predict(loaded, s->x + i * FEATURES));
    cr_expect_str_eq(learn_command(loaded), "assay train classifier");
    cr_expect_str_eq(learn_kind(loaded), kind);
    cr_expect_str_eq(learn_feature(loaded, 3), "noise");
    int from[FEATURES];
    learn_map(loaded, (const char *const[]){"c", "x", "a"}, 3, from);
    cr_expect(from[0] == 2 && from[1] == -1 && from[2] == 0);
    for (size_t n = 0; n < strlen(one); n += 1 + strlen(one) / 60) {
        struct learn_model *cut;
        cr_expect_neq(learn_load_text(one, n, &cut, &err), ERR_OK);
        cr_expect_null(cut);
    }
    free(one);
    free(two);
    free(three);
    learn_free(model);
    learn_free(again);
    learn_free(loaded);
    free(s);
}

Test(classifier, logistic_round_trip)
{
    round_trip("logistic", LEARN_PLATT);
    round_trip("logistic", LEARN_UNCALIBRATED);
}

Test(classifier, trees_round_trip)
{
    skip_unless_trained("trees");
    round_trip("trees", LEARN_ISOTONIC);
}

Test(classifier, trees_follow_a_monotone_constraint)
{
    skip_unless_trained("trees");
    struct sample *s = make(4, false);
    struct learn_data data = data_of(s);
    data.monotone = (const signed char[]){1, -1, 0, 0, 0, 0};
    struct learn_options options = learn_options_default();
    options.rounds = 60;
    struct learn_model *model = fit("trees", &data, &options);
    for (unsigned i = 0; i < 300; i++) {
        float x[FEATURES];
        memcpy(x, s->x + i * FEATURES, sizeof x);
        double last = 1;
        for (unsigned step = 0; step <= 20; step++) {
            x[1] = (float)step / 20;
            double now = learn_predict_raw(model, x);
            cr_assert_leq(now, last + 1e-7);
            last = now;
        }
    }
    learn_free(model);
    free(s);
}

/* An out-of-fold prediction comes from a model that has not seen the row's group. */
Test(classifier, cross_prediction)
{
    struct sample *s = make(5, false);
    struct learn_data data = data_of(s);
    struct learn_options options = learn_options_default();
    static double p[N];
    struct err err;
    cr_assert_eq(learn_cross_predict("logistic", &data, &options, 5, p, &err), ERR_OK, "%s", err.text);
    double auc = learn_auc(p, s->label, N);
    cr_expect(auc > 0.78 && auc < 0.95, "%g", auc);
    /* a label that is pure noise must not be predictable out of fold */
    uint64_t state = 77;
    for (unsigned i = 0; i < N; i++) s->y[i] = s->label[i] = learn_random_unit(&state) < 0.5;
    cr_assert_eq(learn_cross_predict("logistic", &data, &options, 5, p, &err), ERR_OK);
    cr_expect_float_eq(learn_auc(p, s->label, N), 0.5, 0.04);
    free(s);
}

/* The calibration is fitted on rows that its model has not seen. So a model that has memorised noise gets low
 * confidence. */
Test(classifier, calibration_is_held_out)
{
    enum { ROWS = 400, NOISE = 150 };
    static float x[ROWS * NOISE];
    static double y[ROWS];
    static char names[NOISE][8];
    const char *list[NOISE];
    uint64_t state = 31;
    for (unsigned i = 0; i < ROWS * NOISE; i++) x[i] = (float)learn_random_unit(&state);
    for (unsigned i = 0; i < ROWS; i++) y[i] = i % 2;
    for (unsigned j = 0; j < NOISE; j++) {
        snprintf(names[j], sizeof names[j], "n%u", j);
        list[j] = names[j];
    }
    struct learn_data data = {.n = ROWS, .m = NOISE, .x = x, .y = y, .names = list};
    struct learn_options options = learn_options_default();
    options.calibration = LEARN_PLATT;
    struct learn_model *model = fit("logistic", &data, &options);
    double raw = 0, calibrated = 0;
    for (unsigned i = 0; i < ROWS; i++) {
        raw += fabs(learn_predict_raw(model, x + i * NOISE) - 0.5) / ROWS;
        calibrated += fabs(learn_predict(model, x + i * NOISE) - 0.5) / ROWS;
    }
    cr_expect_gt(raw, 0.2, "%g", raw);
    cr_expect_lt(calibrated, 0.1, "%g", calibrated);
    learn_free(model);
}

/* A row of weight 3 equals three rows. */
Test(classifier, weighted_row_equals_repeated_rows)
{
    struct sample *s = make(6, false);
    struct learn_data data = data_of(s);
    struct learn_options options = learn_options_default();
    options.calibration = LEARN_UNCALIBRATED;
    static double weight[N];
    for (unsigned i = 0; i < N; i++) weight[i] = s->label[i] ? 3 : 1;
    data.weight = weight;
    struct learn_model *heavy = fit("logistic", &data, &options);
    data.weight = NULL;
    struct learn_model *plain = fit("logistic", &data, &options);
    double shift = 0;
    for (unsigned i = 0; i < N; i++) {
        double a = learn_predict(heavy, s->x + i * FEATURES), b = learn_predict(plain, s->x + i * FEATURES);
        shift += (log(a / (1 - a)) - log(b / (1 - b))) / N;
    }
    cr_expect_float_eq(shift, log(3), 0.15, "%g", shift);
    learn_free(heavy);
    learn_free(plain);
    free(s);
}

Test(classifier, invalid_training_data_is_refused)
{
    struct sample *s = make(7, false);
    struct learn_data data = data_of(s);
    struct learn_options options = learn_options_default();
    struct learn_model *model;
    struct err err;
    cr_expect_eq(learn_fit("oracle", &data, &options, &model, &err), ERR_CONFIG);
    data.names = (const char *const[]){"a", "b", "c", "noise", "gaps", "a"};
    cr_expect_eq(learn_fit("logistic", &data, &options, &model, &err), ERR_CONFIG);
    cr_expect(strstr(err.text, "duplicate"));
    data.names = NAMES;
    options.folds = 1;
    cr_expect_eq(learn_fit("logistic", &data, &options, &model, &err), ERR_CONFIG);
    options.folds = 5;
    s->y[3] = NAN;
    cr_expect_eq(learn_fit("logistic", &data, &options, &model, &err), ERR_CONFIG);
    for (unsigned i = 0; i < N; i++) s->y[i] = 1;
    cr_expect_eq(learn_fit("logistic", &data, &options, &model, &err), ERR_CONFIG);
    cr_expect_null(model);
    free(s);
}

#define HEAD "{\"format\":\"assay-classifier\",\"version\":1,\"command\":\"\",\"features\":[\"a\",\"b\"],"
#define NONE "\"calibration\":{\"kind\":\"none\",\"a\":0,\"b\":0,\"x\":[],\"y\":[]},"
#define TREE(feature, value, right, missing)                                                                           \
    HEAD NONE "\"kind\":\"trees\",\"parameters\":{\"base\":0,\"gain\":[1,0],\"trees\":[{\"feature\":" feature          \
              ",\"value\":" value ",\"right\":" right ",\"missing_left\":" missing "}]}}"

Test(classifier, hostile_files_are_refused)
{
    static const struct {
        enum err_code code;
        const char *text;
    } CASES[] = {
        {ERR_OK, TREE("[0,-1,-1]", "[0.5,-1,1]", "[2,0,0]", "[1,0,0]")},
        {ERR_MALFORMED, TREE("[0,-1,-1]", "[0.5,-1,1]", "[0,0,0]", "[1,0,0]")}, /* the right child is its own parent */
        {ERR_MALFORMED, TREE("[0,-1,-1]", "[0.5,-1,1]", "[3,0,0]", "[1,0,0]")}, /* child outside of the tree */
        {ERR_MALFORMED, TREE("[0,-1,0]", "[0.5,-1,1]", "[2,0,2]", "[1,0,0]")},  /* no node is left for its children */
        {ERR_MALFORMED, TREE("[2,-1,-1]", "[0.5,-1,1]", "[2,0,0]", "[1,0,0]")}, /* the feature does not exist */
        {ERR_MALFORMED, TREE("[-2,-1,-1]", "[0.5,-1,1]", "[2,0,0]", "[1,0,0]")},
        {ERR_MALFORMED, TREE("[0,-1,-1]", "[0.5,-1]", "[2,0,0]", "[1,0,0]")}, /* arrays of different lengths */
        {ERR_MALFORMED, TREE("[0,-1,-1]", "[0.5,-1,1e300]", "[2,0,0]", "[1,0,0]")},
        {ERR_MALFORMED, TREE("[]", "[]", "[]", "[]")},
        {ERR_MALFORMED, TREE("7", "[]", "[]", "[]")},
        {ERR_MALFORMED, HEAD NONE "\"kind\":\"oracle\",\"parameters\":{}}"},
        {ERR_MALFORMED, HEAD NONE "\"kind\":\"logistic\",\"parameters\":{}}"},
        {ERR_MALFORMED,
         HEAD NONE "\"kind\":\"logistic\",\"parameters\":{\"bias\":0,\"weight\":[1],\"scale\":[1,1],\"mean\":[0,0]}}"},
        {ERR_OK, HEAD NONE
         "\"kind\":\"logistic\",\"parameters\":{\"bias\":0,\"weight\":[1,0],\"scale\":[1,1],\"mean\":[0,0]}}"},
        {ERR_MALFORMED, HEAD
         "\"calibration\":{\"kind\":\"isotonic\",\"a\":0,\"b\":0,\"x\":[0.5,0.4],\"y\":[0,1]},\"kind\":\"logistic\","
         "\"parameters\":{\"bias\":0,\"weight\":[1,0],\"scale\":[1,1],\"mean\":[0,0]}}"},
        {ERR_MALFORMED,
         HEAD "\"calibration\":{\"kind\":\"isotonic\",\"a\":0,\"b\":0,\"x\":[],\"y\":[]},\"kind\":\"logistic\","
              "\"parameters\":{\"bias\":0,\"weight\":[1,0],\"scale\":[1,1],\"mean\":[0,0]}}"},
        {ERR_VERSION, "{\"format\":\"assay-classifier\",\"version\":99}"},
        {ERR_MALFORMED, "{\"format\":\"assay-classifier\",\"version\":1,\"version\":1}"},
        {ERR_MALFORMED, ""},
        {ERR_MALFORMED, "null"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct learn_model *model;
        struct err err = {0};
        cr_expect_eq(learn_load_text(CASES[i].text, strlen(CASES[i].text), &model, &err), CASES[i].code, "case %zu: %s",
                     i, err.text);
        if (model) cr_expect(isfinite(learn_predict(model, (float[]){NAN, 1})));
        learn_free(model);
    }
}

Test(classifier, tree_matches_manual_values)
{
    static const char TEXT[] = TREE("[0,-1,1,-1,-1]", "[0.5,-1,2,1,3]", "[2,0,4,0,0]", "[1,0,0,0,0]");
    struct learn_model *model;
    cr_assert_eq(learn_load_text(TEXT, strlen(TEXT), &model, NULL), ERR_OK);
    cr_expect_float_eq(learn_predict(model, (float[]){0, 9}), 1 / (1 + exp(1)), 1e-7);
    cr_expect_float_eq(learn_predict(model, (float[]){NAN, 9}), 1 / (1 + exp(1)), 1e-7);
    cr_expect_float_eq(learn_predict(model, (float[]){0.5F, 1}), 1 / (1 + exp(-1)), 1e-7);
    cr_expect_float_eq(learn_predict(model, (float[]){1, NAN}), 1 / (1 + exp(-3)), 1e-7);
    learn_free(model);
}

/* Files of older versions do not bound the ends by the number of their rows. */
Test(classifier, older_files_are_never_certain)
{
    static const char TEXT[] =
        HEAD "\"calibration\":{\"kind\":\"isotonic\",\"a\":0,\"b\":0,\"x\":[0.3,0.4,0.5,0.6],\"y\":[0,0.1,0.9,1]},"
             "\"kind\":\"logistic\",\"parameters\":{\"bias\":0,\"weight\":[1,0],\"scale\":[1,1],\"mean\":[0,0]}}";
    struct learn_model *model;
    struct err err;
    cr_assert_eq(learn_load_text(TEXT, strlen(TEXT), &model, &err), ERR_OK, "%s", err.text);
    cr_expect_float_eq(learn_predict(model, (float[]){50, 0}), 0.9, 1e-12);
    cr_expect_float_eq(learn_predict(model, (float[]){-50, 0}), 0.1, 1e-12);
    learn_free(model);
}
