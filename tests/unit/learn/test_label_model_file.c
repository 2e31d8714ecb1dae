/* Tests label model files: round trip, deterministic bytes, matching of signals by name, and refusal of hostile
 * files. */
#include "synth.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(label_model_file, .fini = leak_check);

static const struct synth_signal SIGNALS[] = {{0.40, 0.02, -1, 0, 0.1},
                                              {0.30, 0.10, -1, 0, 0},
                                              {0.25, 0.05, -1, 0, 0},
                                              {0.50, 0.20, -1, 0, 0},
                                              {0.3, 0.1, 1, 0.8, 0}};
enum { M = sizeof SIGNALS / sizeof *SIGNALS };

static struct synth make(void)
{
    return synth_make(SIGNALS, M, 1, 0.3, 4000, 2);
}

static struct lm_model *fit(const struct synth *synth)
{
    struct lm_options options = lm_options_default();
    options.command = "assay train label-model \"x\".jsonl";
    struct lm_model *model;
    cr_assert_eq(lm_fit(synth->matrix, &options, &model, NULL), ERR_OK);
    return model;
}

Test(label_model_file, file_round_trips_deterministically)
{
    struct synth synth = make();
    struct lm_model *model = fit(&synth), *again = fit(&synth), *loaded;
    char *one = lm_save_text(model), *two = lm_save_text(again);
    cr_assert_str_eq(one, two);
    struct err err;
    cr_assert_eq(lm_load_text(one, strlen(one), &loaded, &err), ERR_OK, "%s", err.text);
    char *three = lm_save_text(loaded);
    cr_expect_str_eq(one, three);
    double *p = synth_scores(&synth, model), *q = synth_scores(&synth, loaded);
    cr_expect_eq(memcmp(p, q, synth.n * sizeof *p), 0);
    char path[] = "/tmp/assay-test-XXXXXX";
    close(mkstemp(path));
    lm_free(loaded);
    cr_expect_eq(lm_save(model, path, &err), ERR_OK);
    cr_expect_eq(lm_load(path, &loaded, &err), ERR_OK, "%s", err.text);
    unlink(path);
    cr_expect_str_eq(loaded->command, "assay train label-model \"x\".jsonl");
    free(p);
    free(q);
    free(one);
    free(two);
    free(three);
    lm_free(model);
    lm_free(again);
    lm_free(loaded);
    synth_free(&synth);
}

Test(label_model_file, signals_are_matched_by_name)
{
    struct synth synth = make();
    struct lm_model *model = fit(&synth);
    static const char *const straight[] = {"s0", "s1", "s2", "s3", "s4", "v5"};
    static const char *const turned[] = {"zzz", "v5", "s4", "s3", "s2", "s1", "s0"};
    struct lm_map a, b;
    lm_map_init(&a, model, straight, 6);
    lm_map_init(&b, model, turned, 7);
    cr_expect_float_eq(lm_p_correct(model, &a, (uint8_t[]){1, 0, 0, 1, 0, 2}),
                       lm_p_correct(model, &b, (uint8_t[]){1, 2, 0, 1, 0, 0, 1}), 0);
    /* a level above the model's range counts as its highest */
    cr_expect_float_eq(lm_p_correct(model, &a, (uint8_t[]){7, 0, 0, 0, 0, 2}),
                       lm_p_correct(model, &a, (uint8_t[]){1, 0, 0, 0, 0, 2}), 0);
    lm_free(model);
    synth_free(&synth);
}

/* Returns the text with the first `from` replaced by `to`. The caller frees it. */
static char *edited(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    cr_assert_not_null(at, "%s", from);
    char *out = malloc(strlen(text) + strlen(to) + 1);
    sprintf(out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return out;
}

Test(label_model_file, hostile_files_are_refused)
{
    static const struct {
        const char *from, *to;
        enum err_code code;
    } CASES[] = {
        {"\"version\": 1", "\"version\": 2", ERR_VERSION},
        {"\"version\": 1", "\"version\": \"1\"", ERR_MALFORMED},
        {"assay-label-model", "assay-classifier", ERR_MALFORMED},
        {"\"prior_wrong\": 0.25", "\"prior_wrong\": 0", ERR_MALFORMED},
        {"\"prior_wrong\": 0.25", "\"prior_wrong\": 1e999", ERR_MALFORMED},
        {"\"prior_wrong\": 0.25", "\"prior_wrong\": NaN", ERR_MALFORMED},
        {"\"name\": \"s1\"", "\"name\": \"s0\"", ERR_MALFORMED},
        {"\"levels\": 2", "\"levels\": 3", ERR_MALFORMED},
        {"\"levels\": 2", "\"levels\": 100000000", ERR_MALFORMED},
        {"\"kind\": \"signal\"", "\"kind\": \"oracle\"", ERR_MALFORMED},
        {"\"p_wrong\": [", "\"p_wrong\": [-0.5, ", ERR_MALFORMED},
        {"\"p_wrong\": [", "\"p_wrong\": [0.5, ", ERR_MALFORMED},
        {"\"parent\": \"s", "\"parent\": \"nobody", ERR_MALFORMED},
        {"\"signals\": [", "\"signals\": 7, \"x\": [", ERR_MALFORMED},
        {"\"signals\": [", "\"signals\": [[], ", ERR_MALFORMED},
        {"\"command\": \"", "\"command\": \"\\u0000", ERR_MALFORMED},
        {"{", "[", ERR_MALFORMED},
    };
    struct synth synth = make();
    struct lm_model *model = fit(&synth), *loaded;
    struct err err;
    char *text = lm_save_text(model);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char *bad = edited(text, CASES[i].from, CASES[i].to);
        cr_expect_eq(lm_load_text(bad, strlen(bad), &loaded, &err), CASES[i].code, "case %zu: %s", i, err.text);
        cr_expect_null(loaded);
        free(bad);
    }
    for (size_t n = 0; n < strlen(text); n += 97) {
        cr_expect_neq(lm_load_text(text, n, &loaded, &err), ERR_OK);
        cr_expect_null(loaded);
    }
    cr_expect_eq(lm_load("/nonexistent/model.json", &loaded, &err), ERR_IO);
    free(text);
    lm_free(model);
    synth_free(&synth);
}

/* Evaluating a model whose parents form a cycle would never end. */
Test(label_model_file, cyclic_parents_are_refused)
{
    static const char TEXT[] =
        "{\"format\":\"assay-label-model\",\"version\":1,\"command\":\"\",\"n\":1,\"prior_wrong\":0.2,\"log_"
        "likelihood\":-1,"
        "\"iterations\":1,\"rounds\":1,\"converged\":true,\"signals\":["
        "{\"name\":\"a\",\"kind\":\"signal\",\"order\":\"more_wrong\",\"levels\":2,\"coverage\":0.5,\"available\":1,"
        "\"p_wrong\":[0.5,0.5],\"p_right\":[0.5,0.5],\"parent\":\"b\",\"parent_bits\":1,"
        "\"given_wrong\":[[0.5,0.5],[0.5,0.5]],\"given_right\":[[0.5,0.5],[0.5,0.5]]},"
        "{\"name\":\"b\",\"kind\":\"signal\",\"order\":\"more_wrong\",\"levels\":2,\"coverage\":0.5,\"available\":1,"
        "\"p_wrong\":[0.5,0.5],\"p_right\":[0.5,0.5],\"parent\":\"a\",\"parent_bits\":1,"
        "\"given_wrong\":[[0.5,0.5],[0.5,0.5]],\"given_right\":[[0.5,0.5],[0.5,0.5]]}]}";
    struct lm_model *model;
    struct err err;
    cr_expect_eq(lm_load_text(TEXT, strlen(TEXT), &model, &err), ERR_MALFORMED);
    cr_expect(strstr(err.text, "cycle"));
}
