/* Tests a remote verifier through the program: the effect of its settings, the premise that it receives, and failures.
 * A failure is not a verdict. */
#include "tests/support/fake_model.h"
#include "tests/support/leak.h"
#include "tests/unit/cli/spawn.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <jansson.h>
#include <string.h>

static struct fake_model *fake;

static void begin(void)
{
    scratch_begin();
    fake = fake_model_start();
}

static void end(void)
{
    fake_model_stop(fake);
    scratch_end();
    leak_check();
}

TestSuite(remote, .init = begin, .fini = end);

static const struct fake_step info[] = {
    {.body = "{\"model_type\":{\"classifier\":{\"id2label\":{\"0\":\"entailment\",\"1\":\"contradiction\"}}}}"}};

#define CHECK                                                                                                          \
    "check", "--db", "shop/shop.sqlite", "--question", "How many customers are there?", "--verifier-backend=tei",      \
        "--verifier-timeout-ms=200", "--format=json", "--verifier-endpoint", fake_model_url(fake)

/* Returns the entry of the only candidate. *verdict receives the verdict that owns it. */
static json_t *candidate_of(const struct run *run, json_t **verdict)
{
    *verdict = json_loads(run->out, JSON_REJECT_DUPLICATES, NULL);
    cr_assert(*verdict, "%s %s", run->out, run->err);
    return json_array_get(json_object_get(*verdict, "candidates"), 0);
}

Test(remote, remote_answer_is_the_entailment)
{
    static const struct fake_step answer[] = {
        {.body = "[[{\"label\":\"contradiction\",\"score\":0.25},{\"label\":\"entailment\",\"score\":0.75}]]"}};
    fake_model_script(fake, "/info", info, 1);
    fake_model_script(fake, "/predict", answer, 1);
    write_file("key", "s3cret\n");
    struct run run = assay(CHECK, "--verifier-key-file=key", "SELECT count(*) FROM customer");
    json_t *verdict, *candidate = candidate_of(&run, &verdict);
    cr_expect_float_eq(json_number_value(json_object_get(candidate, "entailment")), 0.75, 1e-9, "%s", run.out);
    cr_assert_eq(fake_model_requests(fake, "/predict"), 1);
    cr_expect(strstr(fake_model_head(fake, "/predict", 0), "Authorization: Bearer s3cret\r\n"));
    cr_expect_null(strstr(run.out, "s3cret"));
    cr_expect_null(strstr(run.err, "s3cret"));
    json_t *body = json_loads(fake_model_body(fake, "/predict", 0), 0, NULL);
    json_t *pair = json_array_get(json_array_get(json_object_get(body, "inputs"), 0), 0);
    const char *premise = json_string_value(pair);
    cr_expect(premise && strstr(premise, "count(*)"), "the premise holds the SQL: %s", premise);
    json_decref(body);
    json_decref(verdict);
    run_free(&run);
}

Test(remote, denied_values_are_not_sent)
{
    static const struct fake_step answer[] = {
        {.body = "[[{\"label\":\"contradiction\",\"score\":0.25},{\"label\":\"entailment\",\"score\":0.75}]]"}};
    fake_model_script(fake, "/info", info, 1);
    fake_model_script(fake, "/predict", answer, 1);
    struct run run = assay(CHECK, "--expose=none", "SELECT name FROM customer WHERE id = 2");
    run_free(&run);
    cr_assert_eq(fake_model_requests(fake, "/predict"), 1);
    cr_expect_null(strstr(fake_model_body(fake, "/predict", 0), "Bo"), "%s", fake_model_body(fake, "/predict", 0));
    run = assay(CHECK, "--expose=rows", "SELECT name FROM customer WHERE id = 2");
    run_free(&run);
    cr_expect(strstr(fake_model_body(fake, "/predict", 1), "Bo"), "else the check above could not fail");
}

Test(remote, failure_is_reported_and_not_used)
{
    static const struct fake_step bad[] = {
        {.body = "garbage"}, {.act = FAKE_HANG}, {.status = 401}, {.act = FAKE_FLOOD}};
    fake_model_script(fake, "/info", info, 1);
    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        fake_model_script(fake, "/predict", &bad[i], 1);
        struct run run = assay(CHECK, "SELECT count(*) FROM customer");
        json_t *verdict, *candidate = candidate_of(&run, &verdict);
        const char *by = json_string_value(json_object_get(candidate, "verifier"));
        cr_expect(run.status == 0 || run.status == 1, "case %u: %d %s", i, run.status, run.err);
        cr_expect(!by || strncmp(by, "tei", 3) != 0, "case %u: %s", i, by);
        cr_expect_gt(json_array_size(json_object_get(verdict, "notes")), 0, "case %u: %s", i, run.out);
        json_decref(verdict);
        run_free(&run);
    }
}

Test(remote, unusable_settings_stop_program)
{
    struct run run = assay(CHECK, "--verifier-endpoint=ftp://verifier.example", "SELECT 1");
    cr_expect_eq(run.status, 2);
    cr_expect(strstr(run.err, "neither http nor https"), "%s", run.err);
    run_free(&run);
    run = assay(CHECK, "--verifier-key-file=nowhere", "SELECT 1");
    cr_expect_eq(run.status, 2, "%s", run.err);
    run_free(&run);
}
