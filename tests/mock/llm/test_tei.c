/* text-embeddings-inference as backend: the request, the recognition of labels, and the replies that are rejected. */
#include "tests/mock/llm/fixture.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

TestSuite(tei, .fini = leak_check);

static enum err_code answered(const char *info, const char *wanted, const char *answer, double *p)
{
    struct fixture f;
    fixture_start(&f, "tei");
    f.config.entail_label = wanted;
    struct fake_step about = {.status = info ? 200 : 404, .body = info}, step = {.body = answer};
    fake_model_script(f.fake, "/info", &about, 1);
    fake_model_script(f.fake, "/predict", &step, 1);
    enum err_code code = ask(&f);
    cr_assert_leq(fake_model_requests(f.fake, "/predict"), 1, "an answer is not asked for again");
    *p = f.p;
    fixture_stop(&f);
    return code;
}

static const char *const generic =
    "{\"model_type\":{\"classifier\":{\"id2label\":{\"0\":\"LABEL_0\",\"1\":\"LABEL_1\"}}}}";
static const char *const binary =
    "{\"model_type\":{\"classifier\":{\"id2label\":{\"0\":\"not_entailment\",\"1\":\"Entailment\"}}}}";
static const char *const single = "{\"model_type\":{\"classifier\":{\"id2label\":{\"0\":\"entailment\"}}}}";

Test(tei, request_holds_one_text_pair)
{
    struct fixture f;
    fixture_start(&f, "tei");
    script(&f, "/predict", {.body = tei_answer});
    assert_code(&f, ask_within(&f, "say \"hi\"\n\xc3\xa9", "who?", 10000), ERR_OK);
    json_t *json = json_loads(fake_model_body(f.fake, "/predict", 0), 0, NULL);
    json_t *pair = json_array_get(json_array_get(json_object_get(json, "inputs"), 0), 0);
    cr_assert_str_eq(json_string_value(pair), "say \"hi\"\n\xc3\xa9");
    pair = json_array_get(json_array_get(json_object_get(json, "inputs"), 0), 1);
    cr_assert_str_eq(json_string_value(pair), "who?");
    cr_assert_eq(json_array_size(json_object_get(json, "inputs")), 1, "a batch of one");
    cr_assert(json_is_true(json_object_get(json, "truncate")));
    cr_assert(json_is_false(json_object_get(json, "raw_scores")));
    json_decref(json);
    cr_assert_eq(f.info.attempts, 2, "/info and /predict");
    fixture_stop(&f);
}

Test(tei, labels_are_matched_in_any_order)
{
    double p = 0;
    cr_assert_eq(answered(tei_info, NULL, tei_answer, &p), ERR_OK);
    cr_assert_float_eq(p, 0.625, 1e-12);
    const char *other = "[[{\"label\":\"entailment\",\"score\":0.5},{\"label\":\"contradiction\",\"score\":0.25},"
                        "{\"label\":\"neutral\",\"score\":0.25}]]";
    cr_assert_eq(answered(tei_info, NULL, other, &p), ERR_OK);
    cr_assert_float_eq(p, 0.5, 1e-12);
}

Test(tei, flat_answer_to_one_pair_is_accepted)
{
    double p = 0;
    const char *flat = "[{\"label\":\"not_entailment\",\"score\":0.9},{\"label\":\"Entailment\",\"score\":0.1}]";
    cr_assert_eq(answered(binary, NULL, flat, &p), ERR_OK);
    cr_assert_float_eq(p, 0.1, 1e-12);
    cr_assert_eq(answered(single, NULL, "[{\"label\":\"entailment\",\"score\":0.875}]", &p), ERR_OK);
    cr_assert_float_eq(p, 0.875, 1e-12);
}

Test(tei, numbered_labels_are_resolved_by_info)
{
    double p = 0;
    const char *numbered = "[[{\"label\":\"LABEL_1\",\"score\":0.75},{\"label\":\"LABEL_0\",\"score\":0.25}]]";
    cr_assert_eq(answered(binary, NULL, numbered, &p), ERR_OK);
    cr_assert_float_eq(p, 0.75, 1e-12, "1 is Entailment there");
    cr_assert_eq(answered(generic, NULL, numbered, &p), ERR_CONFIG, "nobody can know which one it is");
    cr_assert_eq(answered(generic, "LABEL_0", numbered, &p), ERR_OK);
    cr_assert_float_eq(p, 0.25, 1e-12);
    cr_assert_eq(answered(NULL, "LABEL_1", numbered, &p), ERR_OK, "without /info the names themselves have to do");
    cr_assert_float_eq(p, 0.75, 1e-12);
    cr_assert_eq(answered(NULL, NULL, tei_answer, &p), ERR_OK);
    cr_assert_float_eq(p, 0.625, 1e-12);
}

Test(tei, malformed_reply_is_not_retried)
{
    static const char *const bad[] = {
        "",
        "null",
        "[]",
        "[[]]",
        "{}",
        "<html>busy</html>",
        "[[{\"label\":\"entailment\",\"score\":0.6",
        "[[{\"label\":\"entailment\",\"score\":NaN},{\"label\":\"neutral\",\"score\":0},{\"label\":\"contradiction\","
        "\"score\":0}]]",
        "[[{\"label\":\"entailment\",\"score\":1e999}]]",
        "[[{\"label\":\"entailment\",\"score\":\"0.9\"},{\"label\":\"neutral\",\"score\":0.1},{\"label\":"
        "\"contradiction\",\"score\":0}]]",
        "[[{\"label\":\"entailment\",\"score\":1.5},{\"label\":\"neutral\",\"score\":-0.5},{\"label\":"
        "\"contradiction\",\"score\":0}]]",
        "[[{\"label\":\"entailment\",\"score\":0.9},{\"label\":\"neutral\",\"score\":0.9},{\"label\":\"contradiction\","
        "\"score\":0.9}]]",
        "[[{\"label\":\"entailment\",\"score\":0.5},{\"label\":\"entailment\",\"score\":0.5},{\"label\":\"neutral\","
        "\"score\":0}]]",
        "[[{\"label\":\"positive\",\"score\":0.5},{\"label\":\"negative\",\"score\":0.5}]]",
        "[[{\"label\":\"entailment\",\"score\":1}]]",
        "[[{\"label\":\"entailment\",\"score\":0.6},{\"label\":\"neutral\",\"score\":0.3},{\"label\":\"contradiction\","
        "\"score\":0.1}],"
        "[{\"label\":\"entailment\",\"score\":0.6},{\"label\":\"neutral\",\"score\":0.3},{\"label\":\"contradiction\","
        "\"score\":0.1}]]",
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
    };
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        double p = 0;
        cr_assert_eq(answered(tei_info, NULL, bad[i], &p), ERR_MALFORMED, "%s", bad[i]);
    }
}

Test(tei, embedding_model_is_configuration_error)
{
    double p = 0;
    cr_assert_eq(answered("{\"model_type\":{\"embedding\":{\"pooling\":\"cls\"}}}", NULL, tei_answer, &p), ERR_CONFIG);
    cr_assert_eq(answered("{\"model_type\":{\"classifier\":{\"id2label\":{\"x\":1}}}}", NULL, tei_answer, &p),
                 ERR_CONFIG);
    cr_assert_eq(answered("not json", NULL, tei_answer, &p), ERR_MALFORMED);
}

Test(tei, changed_model_behind_endpoint_is_detected)
{
    struct fixture f;
    fixture_start(&f, "tei");
    static const struct fake_step abouts[] = {
        {.body = tei_info},
        {.body = "{\"model_type\":{\"classifier\":{\"id2label\":{\"0\":\"not_entailment\",\"1\":\"Entailment\"}}}}"}};
    fake_model_script(f.fake, "/info", abouts, 2);
    script(&f, "/predict", {.body = tei_answer},
           {.body = "[[{\"label\":\"not_entailment\",\"score\":0.75},{\"label\":\"Entailment\",\"score\":0.25}]]"});
    assert_code(&f, ask(&f), ERR_OK);
    assert_code(&f, ask(&f), ERR_MALFORMED);
    assert_code(&f, ask(&f), ERR_OK);
    cr_assert_float_eq(f.p, 0.25, 1e-12);
    cr_assert_eq(fake_model_requests(f.fake, "/info"), 2, "asked once, and once more after the odd answer");
    fixture_stop(&f);
}
