/* Tests assay calibrate, and how check uses the file that it writes. */
#include "tests/unit/cli/spawn.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <jansson.h>
#include <string.h>

TestSuite(calibrate_program, .init = scratch_begin, .fini = scratch_end);

#define ASKED "\"db\":\"shop\",\"question\":\"How many customers are there?\""
#define RIGHT "SELECT count(*) FROM customer"

/* Writes sixty correct answers of one parser, three answers of another parser that are labelled wrong, and lines
 * without a label. */
static void write_log(void)
{
    GString *log = g_string_new(NULL);
    for (int i = 0; i < 60; i++)
        g_string_append_printf(log,
                               "{\"id\":\"a%d\"," ASKED ",\"gold\":\"" RIGHT "\",\"candidates\":[{\"sql\":\"" RIGHT
                               "\",\"generators\":[\"able\"]}]}\n",
                               i);
    for (int i = 0; i < 3; i++)
        g_string_append_printf(log,
                               "{\"id\":\"b%d\"," ASKED ",\"candidates\":[{\"sql\":\"" RIGHT
                               "\",\"generators\":[\"other\"]}]}\n"
                               "{\"feedback_version\":1,\"id\":\"b%d\",\"candidate\":0,\"right\":false}\n",
                               i, i);
    g_string_append(log, "not JSON\n{\"id\":\"c\"," ASKED ",\"candidates\":[\"" RIGHT "\"]}\n");
    write_file("log.jsonl", log->str);
    g_string_free(log, TRUE);
}

#define CALIBRATE(...) assay("calibrate", "log.jsonl", "--db-root", ".", "--out", "calibration.json", __VA_ARGS__)

static json_t *check(const char *option, const char *value)
{
    struct run run =
        assay("check", "--db", "shop/shop.sqlite", "--question", "How many customers are there?", "--format=json",
              "--alpha=0.05", "--policy=abstain", "--calibration=calibration.json", option, value, RIGHT);
    json_t *json = json_loads(run.out, 0, NULL);
    cr_assert(json, "%s%s", run.out, run.err);
    run_free(&run);
    return json;
}

Test(calibrate_program, calibration_reports_and_writes_its_guarantees)
{
    write_log();
    struct run run = CALIBRATE("--alpha", "0.05");
    cr_expect_eq(run.status, 0, "%s", run.err);
    cr_expect(strstr(run.out, "At most 5 % of the answers wrong, with confidence 90 %"), "%s", run.out);
    cr_expect(g_regex_match_simple("able +60 +100.0 held +0\\.\\d+ +100.0 +60", run.out, 0, 0), "%s", run.out);
    cr_expect(g_regex_match_simple("other +3 +0.0 too few +none +no number", run.out, 0, 0), "%s", run.out);
    cr_expect(strstr(run.err, "log.jsonl:67"), "the broken line is named: %s", run.err);
    run_free(&run);
    json_t *verdict = check("--delta", "0.1");
    const json_t *guarantee = json_object_get(verdict, "guarantee");
    cr_expect_str_eq(json_string_value(json_object_get(guarantee, "status")), "too_few", "a query of nobody's");
    cr_expect_str_eq(json_string_value(json_object_get(verdict, "status")), "abstained");
    json_decref(verdict);
}

Test(calibrate_program, file_of_other_models_is_refused)
{
    write_log();
    struct run run = CALIBRATE("--verifier", "none");
    cr_assert_eq(run.status, 0, "%s", run.err);
    run_free(&run);
    run = assay("check", "--db", "shop/shop.sqlite", "--question", "q", "--alpha=0.05",
                "--calibration=calibration.json", RIGHT);
    cr_expect_eq(run.status, 2);
    cr_expect(strstr(run.err, "another verifier") && strstr(run.err, "assay calibrate"), "%s", run.err);
    run_free(&run);
}

Test(calibrate_program, log_without_labels_is_error)
{
    write_file("log.jsonl", "{\"id\":\"c\"," ASKED ",\"candidates\":[\"" RIGHT "\"]}\n");
    struct run run = CALIBRATE("--alpha", "0.05");
    cr_expect_eq(run.status, 2);
    cr_expect(strstr(run.err, "candidates with a gold query or feedback"), "%s", run.err);
    run_free(&run);
    run = assay("calibrate", "log.jsonl", "--db-root", ".");
    cr_expect_eq(run.status, 2);
    cr_expect(strstr(run.err, "--out"), "%s", run.err);
    run_free(&run);
}
