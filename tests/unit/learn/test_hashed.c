#include "lib/learn/hashed.h"
#include "lib/learn/metrics.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 2000, WORDS = 6, VOCABULARY = 50, OUTPUTS = 3 };

static uint64_t keys[N][WORDS];
static struct hashed_item items[N];

static uint64_t key_of(uint64_t word)
{
    uint64_t state = word + 1;
    return learn_random(&state);
}

/* Word 0 implies output 0, word 1 without word 2 implies output 1, and no word implies output 2. */
static void make(uint64_t seed)
{
    for (unsigned i = 0; i < N; i++) {
        bool has[VOCABULARY] = {false};
        uint32_t n = 0;
        while (n < WORDS) {
            uint64_t word = learn_random(&seed) % (n < 2 ? 4 : VOCABULARY);
            if (has[word]) continue;
            has[word] = true;
            keys[i][n++] = key_of(word);
        }
        uint64_t labels = (uint64_t)has[0] | (uint64_t)(has[1] && !has[2]) << 1 | (learn_random(&seed) & 1) << 2;
        items[i] = (struct hashed_item){keys[i], n, labels};
    }
}

static struct hashed_model *fit(void)
{
    struct hashed_options options = hashed_options_default();
    struct hashed_model *model;
    struct err err = {0};
    cr_assert_eq(hashed_fit(items, N, OUTPUTS, &options, &model, &err), ERR_OK, "%s", err.text);
    return model;
}

Test(hashed, labels_are_learned_from_words)
{
    double score[OUTPUTS][N], p[HASHED_MAX_OUTPUTS];
    uint8_t label[OUTPUTS][N];
    make(1);
    struct hashed_model *model = fit();
    make(2);
    for (unsigned i = 0; i < N; i++) {
        hashed_predict(model, items[i].keys, items[i].n, p);
        for (unsigned k = 0; k < OUTPUTS; k++) {
            score[k][i] = p[k];
            label[k][i] = items[i].labels >> k & 1;
        }
    }
    cr_expect_gt(learn_auc(score[0], label[0], N), 0.99);
    cr_expect_gt(learn_auc(score[1], label[1], N), 0.95);
    double chance = learn_auc(score[2], label[2], N);
    cr_expect(chance > 0.45 && chance < 0.55, "%g", chance);
    cr_expect_lt(learn_ece(score[0], label[0], N, 10), 0.03);
    hashed_free(model);
    leak_check();
}

static char *text_of(const struct hashed_model *model)
{
    json_t *object = hashed_save(model);
    char *text = json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(object);
    return text;
}

Test(hashed, training_is_deterministic_and_files_round_trip)
{
    double p[HASHED_MAX_OUTPUTS], q[HASHED_MAX_OUTPUTS];
    make(1);
    struct hashed_model *a = fit(), *b = fit();
    char *x = text_of(a), *y = text_of(b);
    cr_expect_str_eq(x, y);
    json_t *object = json_loads(x, 0, NULL);
    struct hashed_model *back = hashed_load(object, NULL);
    cr_assert(back);
    cr_expect_eq(hashed_outputs(back), OUTPUTS);
    for (unsigned i = 0; i < 100; i++) {
        hashed_predict(a, items[i].keys, items[i].n, p);
        hashed_predict(back, items[i].keys, items[i].n, q);
        for (unsigned k = 0; k < OUTPUTS; k++) cr_expect_float_eq(p[k], q[k], 1e-12);
    }
    json_decref(object);
    free(x);
    free(y);
    hashed_free(a);
    hashed_free(b);
    hashed_free(back);
    leak_check();
}

/* A file is untrusted. It may have inconsistent sizes, or numbers out of range. */
Test(hashed, invalid_files_are_refused)
{
    static const char *const BAD[] = {
        "{}",
        "{\"bits\": 40, \"outputs\": 1, \"bias\": [0], \"scale\": [1], \"weights\": \"AAAA\"}",
        "{\"bits\": 1, \"outputs\": 0, \"bias\": [], \"scale\": [], \"weights\": \"\"}",
        "{\"bits\": 1, \"outputs\": 1, \"bias\": [0], \"scale\": [1], \"weights\": \"AAAAAAAA\"}",
        "{\"bits\": 1, \"outputs\": 1, \"bias\": [0], \"scale\": [-1], \"weights\": \"AAA=\"}",
        "{\"bits\": 1, \"outputs\": 1, \"bias\": [0, 0], \"scale\": [1], \"weights\": \"AAA=\"}",
        "{\"bits\": 1, \"outputs\": 1, \"bias\": [0], \"scale\": [1], \"weights\": 7}",
        "{\"bits\": 1, \"outputs\": 1, \"bias\": [0], \"scale\": [1], \"used\": 7, \"weights\": \"AAA=\"}",
        "{\"bits\": 1, \"outputs\": 1, \"bias\": [0], \"scale\": [1], \"used\": \"AgA=\", \"weights\": \"BQ==\"}",
        "{\"bits\": 1, \"outputs\": 1, \"bias\": [0], \"scale\": [1], \"used\": \"Ag==\", \"weights\": \"AAA=\"}",
    };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        json_t *object = json_loads(BAD[i], 0, NULL);
        cr_expect_null(hashed_load(object, NULL), "%s", BAD[i]);
        json_decref(object);
    }
    json_t *good =
        json_loads("{\"bits\": 1, \"outputs\": 1, \"bias\": [0], \"scale\": [1], \"weights\": \"AAA=\"}", 0, NULL);
    struct hashed_model *model = hashed_load(good, NULL);
    cr_expect(model);
    hashed_free(model);
    json_decref(good);
    good = json_loads(
        "{\"bits\": 1, \"outputs\": 1, \"bias\": [0], \"scale\": [1], \"used\": \"Ag==\", \"weights\": \"BQ==\"}", 0,
        NULL);
    model = hashed_load(good, NULL); /* only the second bucket has a weight */
    cr_assert(model);
    double low, high;
    hashed_predict(model, &(uint64_t){1}, 1, &low);
    hashed_predict(model, &(uint64_t){UINT64_MAX}, 1, &high);
    cr_expect_float_eq(low, 0.5, 1e-9);
    cr_expect_float_eq(high, 1 / (1 + exp(-5)), 1e-9);
    hashed_free(model);
    json_decref(good);
    struct hashed_options options = hashed_options_default();
    struct hashed_model *none;
    cr_expect_eq(hashed_fit(items, 0, 1, &options, &none, NULL), ERR_CONFIG);
    cr_expect_eq(hashed_fit(items, N, HASHED_MAX_OUTPUTS + 1, &options, &none, NULL), ERR_CONFIG);
    leak_check();
}
