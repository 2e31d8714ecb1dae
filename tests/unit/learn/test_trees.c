/* Compares our evaluation of boosted trees with xgboost's own, and evaluates from several threads at once. */
#include "lib/learn/metrics.h"
#include "lib/learn/trees.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <xgboost/c_api.h>

TestSuite(trees, .fini = leak_check);

enum { N = 2000, M = 8, THREADS = 4 };

struct pair {
    float x[N * M], label[N];
    struct trees *ours;
    DMatrixHandle matrix;
    BoosterHandle theirs;
};

/* Fills features of many kinds: flags, integers, real numbers of very different size, unknown values. */
static void fill(struct pair *pair)
{
    uint64_t state = 42;
    for (unsigned i = 0; i < N; i++) {
        float *x = pair->x + i * M;
        for (unsigned j = 0; j < M; j++) {
            double u = learn_random_unit(&state);
            x[j] = (float)(j < 2 ? u > 0.5 : j < 4 ? floor(u * 20) : j == 4 ? u * 1e-6 : j == 5 ? u * 1e9 : u - 0.5);
            if (learn_random_unit(&state) < 0.05) x[j] = NAN;
        }
        double z = (isnan(x[0]) ? 0.3 : (double)x[0]) + (isnan(x[6]) ? 0 : 3 * (double)x[6]) + (x[2] > 10 ? 1 : 0) - 1;
        pair->label[i] = learn_random_unit(&state) < 1 / (1 + exp(-z));
    }
}

static struct pair *make(const char *base_score)
{
    struct pair *pair = calloc(1, sizeof *pair);
    fill(pair);
    cr_assert_eq(XGDMatrixCreateFromMat(pair->x, N, M, NAN, &pair->matrix), 0);
    cr_assert_eq(XGDMatrixSetFloatInfo(pair->matrix, "label", pair->label, N), 0);
    cr_assert_eq(XGBoosterCreate(&pair->matrix, 1, &pair->theirs), 0);
    static const char *const SETTINGS[][2] = {{"objective", "binary:logistic"},
                                              {"tree_method", "hist"},
                                              {"nthread", "1"},
                                              {"max_depth", "6"},
                                              {"verbosity", "0"}};
    for (size_t i = 0; i < sizeof SETTINGS / sizeof *SETTINGS; i++)
        XGBoosterSetParam(pair->theirs, SETTINGS[i][0], SETTINGS[i][1]);
    XGBoosterSetParam(pair->theirs, "base_score", base_score);
    for (int round = 0; round < 80; round++) cr_assert_eq(XGBoosterUpdateOneIter(pair->theirs, round, pair->matrix), 0);
    bst_ulong len;
    const char *text;
    cr_assert_eq(XGBoosterSaveModelToBuffer(pair->theirs, "{\"format\": \"json\"}", &len, &text), 0);
    cr_assert_not_null(pair->ours = trees_from_xgboost(text, (size_t)len, M));
    return pair;
}

static void drop(struct pair *pair)
{
    trees_free(pair->ours);
    XGBoosterFree(pair->theirs);
    XGDMatrixFree(pair->matrix);
    free(pair);
}

static void agree(const char *base_score)
{
    struct pair *pair = make(base_score);
    bst_ulong n;
    const float *theirs;
    cr_assert_eq(XGBoosterPredict(pair->theirs, pair->matrix, 0, 0, 0, &n, &theirs), 0);
    cr_assert_eq(n, N);
    double worst = 0;
    for (unsigned i = 0; i < N; i++)
        worst = fmax(worst, fabs((double)theirs[i] - classifier_trees.predict(pair->ours, M, pair->x + i * M)));
    cr_expect_lt(worst, 1e-6, "%g", worst);
    drop(pair);
}

Test(trees, predictions_match_xgboost)
{
    agree("0.5");
    agree("0.2");
}

static void *predict_all(void *data)
{
    struct pair *pair = data;
    double *sum = malloc(sizeof *sum);
    *sum = 0;
    for (unsigned i = 0; i < N; i++) *sum += classifier_trees.predict(pair->ours, M, pair->x + i * M);
    return sum;
}

Test(trees, concurrent_predictions_match)
{
    struct pair *pair = make("0.5");
    double *want = predict_all(pair);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, predict_all, pair);
    for (int i = 0; i < THREADS; i++) {
        void *got;
        pthread_join(threads[i], &got);
        cr_expect_eq(*(double *)got, *want);
        free(got);
    }
    free(want);
    drop(pair);
}

Test(trees, unusual_models_are_evaluated)
{
    static const char *const BAD[] = {
        "",
        "{}",
        "{\"learner\":{\"gradient_booster\":{\"model\":{\"trees\":[]}}}}",
        "{\"learner\":{\"gradient_booster\":{\"model\":{\"trees\":[{\"left_children\":[0],\"right_children\":[0],"
        "\"split_indices\":[0],\"split_conditions\":[1],\"default_left\":[0],\"loss_changes\":[0]}]}}}}",
        "{\"learner\":{\"gradient_booster\":{\"model\":{\"trees\":[{\"left_children\":[1,-1,-1],\"right_children\":[9,-"
        "1,-1],"
        "\"split_indices\":[0,0,0],\"split_conditions\":[1,1,1],\"default_left\":[0,0,0],\"loss_changes\":[0,0,0]}]}}}"
        "}",
    };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) cr_expect_null(trees_from_xgboost(BAD[i], strlen(BAD[i]), M));
}
