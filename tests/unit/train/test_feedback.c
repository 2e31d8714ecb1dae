/* Tests feedback: valid records, how records and verdicts are matched to requests, and their use in calibration. */
#include "tests/support/leak.h"
#include "tests/unit/cli/spawn.h"
#include "train/feedback.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <math.h>
#include <string.h>

TestSuite(feedback, .init = scratch_begin, .fini = scratch_end);

#define F "{\"feedback_version\": 1, \"id\": "

Test(feedback, record_identifies_candidate_and_correctness)
{
    static const struct {
        const char *text;
        enum err_code code;
        const char *why;
    } cases[] = {
        {F "\"q\", \"right\": true}", ERR_OK, ""},
        {F "\"q\", \"right\": false, \"candidate\": 4095, \"generator\": \"g\", \"by\": \"me\", \"time\": 1}", ERR_OK,
         ""},
        {F "\"q\", \"right\": true, \"sql\": \"SELECT 1\", \"candidate\": null, \"anything\": []}", ERR_OK, ""},
        {"{\"feedback_version\": 2, \"id\": \"q\", \"right\": true}", ERR_VERSION, "version 2"},
        {"{\"feedback_version\": \"1\", \"id\": \"q\", \"right\": true}", ERR_MALFORMED, "feedback_version"},
        {"{\"feedback_version\": 1, \"right\": true}", ERR_MALFORMED, "\"id\" is missing"},
        {F "7, \"right\": true}", ERR_MALFORMED, "\"id\" is not a string"},
        {F "\"a\\u0000b\", \"right\": true}", ERR_MALFORMED, "NUL"},
        {F "\"q\"}", ERR_MALFORMED, "\"right\""},
        {F "\"q\", \"right\": 1}", ERR_MALFORMED, "\"right\""},
        {F "\"q\", \"right\": true, \"candidate\": -1}", ERR_MALFORMED, "\"candidate\""},
        {F "\"q\", \"right\": true, \"candidate\": 4096}", ERR_MALFORMED, "\"candidate\""},
        {F "\"q\", \"right\": true, \"candidate\": 0.5}", ERR_MALFORMED, "\"candidate\""},
        {F "\"q\", \"right\": true, \"candidate\": 0, \"sql\": \"SELECT 1\"}", ERR_MALFORMED, "cannot be combined"},
        {F "\"q\", \"right\": true, \"generator\": [\"g\"]}", ERR_MALFORMED, "\"generator\""},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct feedback_record record;
        struct err err = {0};
        json_t *json = json_loads(cases[i].text, JSON_ALLOW_NUL, NULL);
        cr_assert(json, "%s", cases[i].text);
        cr_expect_eq(feedback_parse(json, &record, &err), cases[i].code, "%s: %s", cases[i].text, err.text);
        cr_expect(strstr(err.text, cases[i].why), "%s: %s", cases[i].text, err.text);
        json_decref(json);
    }
    char *name = g_strnfill(MSG_MAX_NAME + 1, 'x');
    json_t *json = json_pack("{s:i,s:s,s:b}", "feedback_version", 1, "id", name, "right", 1);
    struct feedback_record record;
    cr_expect_eq(feedback_parse(json, &record, NULL), ERR_LIMIT_BYTES);
    json_decref(json);
    g_free(name);
    leak_check();
}

/* --- assignment to requests --- */

static unsigned told;

static void skipped(const char *where, const char *why)
{
    cr_expect(strchr(where, ':') && *why);
    told++;
}

static struct feedback *read_files(const char *const *paths, int n)
{
    struct feedback *feedback = NULL;
    struct err err = {0};
    cr_assert_eq(feedback_read(paths, n, NULL, skipped, &feedback, &err), ERR_OK, "%s", err.text);
    return feedback;
}

static const char *const SQL[] = {"SELECT 0", "SELECT 1", "SELECT 2"};

/* Returns the labels of a request, such as "2 -1 -0": the right candidate, then wrong ones. "?" is a text that is not a
 * candidate. "" means no label. */
static char *labels_of(struct feedback *feedback, const char *id)
{
    struct msg_candidate given[3] = {{.sql = {SQL[0], 8}}, {.sql = {SQL[1], 8}}, {.sql = {SQL[2], 8}}};
    struct msg_request request = {.id = id, .candidates = given, .n_candidates = 3};
    struct feedback_labels labels;
    GString *text = g_string_new(NULL);
    if (!feedback_labels(feedback, &request, &labels)) return g_string_free(text, FALSE);
    if (labels.right) g_string_append(text, labels.right + strlen("SELECT "));
    for (uint32_t i = 0; i < labels.n_wrong; i++)
        g_string_append_printf(text, " -%s", labels.wrong[i] + strlen("SELECT "));
    if (labels.generator) g_string_append_printf(text, " by %s", labels.generator);
    g_free(labels.wrong);
    return g_string_free(text, FALSE);
}

Test(feedback, records_find_their_candidates)
{
    static const char text[] =
        F "\"index\", \"candidate\": 2, \"right\": true}\n" F
          "\"index\", \"candidate\": 0, \"right\": false, \"generator\": \"g\"}\n" F
          "\"text\", \"sql\": \"SELECT 7\", \"right\": true}\n" F "\"changed\", \"candidate\": 1, \"right\": true}\n" F
          "\"changed\", \"sql\": \"SELECT 1\", \"right\": false}\n" F
          "\"taken back\", \"candidate\": 0, \"right\": true}\n" F
          "\"taken back\", \"candidate\": 1, \"right\": true}\n" F
          "\"taken back\", \"candidate\": 1, \"right\": false}\n" F "\"beyond\", \"candidate\": 3, \"right\": true}\n" F
          "\"answer\", \"right\": false}\n" F "\"unanswered\", \"right\": true}\n" F
          "\"never asked\", \"right\": true, \"candidate\": 0}\n"
          "{\"schema_version\":1,\"id\":\"unanswered\",\"db\":\"d\",\"status\":\"abstained\",\"sql\":null}\n";
    static const char verdicts[] =
        "{\"schema_version\":1,\"id\":\"answer\",\"db\":\"d\",\"status\":\"validated\",\"sql\":\"SELECT 1\"}\n"
        "{\"schema_version\":1,\"id\":\"answer\",\"db\":\"d\",\"status\":\"validated\",\"sql\":\"SELECT 2\"}\n";
    static const char *const cases[][2] = {{"index", "2 -0 by g"}, {"text", "7"},   {"changed", " -1"},
                                           {"taken back", "0 -1"}, {"beyond", ""},  {"answer", " -1"},
                                           {"unanswered", ""},     {"nobody's", ""}};
    write_file("feedback.jsonl", text);
    write_file("verdicts.jsonl", verdicts);
    struct feedback *feedback = read_files((const char *const[]){"feedback.jsonl", "verdicts.jsonl", "-"}, 3);
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        char *labels = labels_of(feedback, cases[i][0]);
        cr_expect_str_eq(labels, cases[i][1], "%s: %s", cases[i][0], labels);
        g_free(labels);
    }
    char *again = labels_of(feedback, "index");
    cr_expect_str_eq(again, "", "another request of the same id has other candidates");
    g_free(again);
    uint64_t left;
    struct feedback_counts counts = feedback_counts(feedback, &left);
    cr_expect_eq(counts.records, 12);
    cr_expect_eq(counts.bad, 0);
    cr_expect_eq(counts.requests, 5);
    cr_expect_eq(counts.unresolved, 2);
    cr_expect_eq(counts.repeated, 1);
    cr_expect_eq(left, 1);
    feedback_free(feedback);
    leak_check();
}

/* Policy ask: the answer that a user chose is right unless later feedback contradicts it. The choice "None of these"
 * does not label the returned answer. */
Test(feedback, chosen_reading_is_right)
{
#define V(id, sql, choice)                                                                                             \
    "{\"schema_version\":2,\"id\":\"" id "\",\"db\":\"d\",\"status\":\"validated\",\"sql\":\"" sql                     \
    "\",\"answers\":[{\"question\":\"q\",\"choice\":\"" choice "\"}]}\n"
    write_file("verdicts.jsonl",
               V("chosen", "SELECT 1", "00ff") V("none", "SELECT 1", "none") V("regretted", "SELECT 1", "00ff") F
               "\"regretted\", \"candidate\": 1, \"right\": false}\n");
    struct feedback *feedback = read_files((const char *const[]){"verdicts.jsonl"}, 1);
    static const char *const cases[][2] = {{"chosen", "1"}, {"none", ""}, {"regretted", " -1"}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        char *labels = labels_of(feedback, cases[i][0]);
        cr_expect_str_eq(labels, cases[i][1], "%s: %s", cases[i][0], labels);
        g_free(labels);
    }
    feedback_free(feedback);
    leak_check();
#undef V
}

Test(feedback, bad_records_are_skipped_and_counted)
{
    write_file("feedback.jsonl",
               F "\"q\", \"right\": true, \"sql\": \"SELECT 1\"}\n" F "\"q\", \"right\": tr\n" F
                 "\"q\", \"right\": true, \"right\": false}\n"
                 "[\"feedback_version\"]\n"
                 "{\"id\": \"q\", \"db\": \"d\", \"question\": \"what is \\\"feedback_version\\\"?\"}\n"
                 "\xff \"feedback_version\"\n");
    struct feedback *feedback = read_files((const char *const[]){"feedback.jsonl"}, 1);
    uint64_t left;
    struct feedback_counts counts = feedback_counts(feedback, &left);
    cr_expect_eq(counts.records, 1);
    cr_expect_eq(counts.bad, 3, "%u", (unsigned)counts.bad);
    cr_expect_eq(told, 3);
    feedback_free(feedback);
    cr_expect_neq(feedback_read((const char *const[]){"nowhere.jsonl"}, 1, NULL, NULL, &feedback, &(struct err){0}),
                  ERR_OK);
    cr_expect_null(feedback);
    leak_check();
}

/* --- by the program --- */

#define CALIBRATE "train", "calibration", "--db-root", ".", "--verifier", SOURCE_ROOT "/models/verifier.json", "--out"

enum { REQUESTS = 30 };

/* Returns requests about the shop whose third candidate is right. Its result differs from that of the first two, so the
 * first candidate of this generator is unreliable. `with_gold` adds the gold queries. */
static char *shop_requests(bool with_gold)
{
    GString *text = g_string_new(NULL);
    for (unsigned i = 0; i < REQUESTS; i++) {
        g_string_append_printf(
            text,
            "{\"id\": \"r-%u\", \"db\": \"shop\", \"question\": \"How many customers have an id over "
            "%u?\", \"candidates\": [\"SELECT max(id) + %u FROM customer\", \"SELECT -%u\", \"SELECT "
            "count(*) FROM customer WHERE id > %u\"]",
            i, i, 100 + i, i + 1, i);
        if (with_gold) g_string_append_printf(text, ", \"gold\": \"SELECT count(id) FROM customer WHERE id > %u\"", i);
        g_string_append(text, "}\n");
    }
    return g_string_free(text, FALSE);
}

/* Reads the parameters of the generator from a verifier's file: vote, first, none, temperature. Returns false if the
 * file has none for this generator. */
static bool prior_of(const char *path, const char *generator, double out[4])
{
    static const char *const keys[] = {"vote", "first", "none", "temperature"};
    json_t *root = json_load_file(path, 0, NULL);
    const json_t *prior = json_object_get(json_object_get(root, "generators"), generator);
    for (unsigned i = 0; prior && i < 4; i++) out[i] = json_number_value(json_object_get(prior, keys[i]));
    bool found = prior != NULL;
    json_decref(root);
    return found;
}

static void calibrate(const char *out, const char *const *files, const char *expected)
{
    const char *args[16] = {CALIBRATE, out};
    unsigned n = 8;
    for (; *files; files++) args[n++] = *files;
    struct run run = assay_with(NULL, args);
    cr_expect_eq(run.status, 0, "%s", run.err);
    cr_expect(strstr(run.out, expected), "%s", run.out);
    run_free(&run);
}

static char *feedback_on(const char *rest, bool right)
{
    GString *text = g_string_new(NULL);
    for (unsigned i = 0; i < REQUESTS; i++)
        g_string_append_printf(text, F "\"r-%u\"%s, \"right\": %s}\n", i, rest, right ? "true" : "false");
    return g_string_free(text, FALSE);
}

#define FILES(...) ((const char *const[]){__VA_ARGS__, NULL})

Test(feedback, feedback_labels_match_gold, .timeout = 300)
{
    char *labelled = shop_requests(true), *plain = shop_requests(false),
         *words = feedback_on(", \"candidate\": 2", true);
    double gold[4], said[4];
    write_file("labelled.jsonl", labelled);
    write_file("requests.jsonl", plain);
    write_file("feedback.jsonl", words);
    calibrate("gold.json", FILES("labelled.jsonl"), "temperature");
    calibrate("said.json", FILES("feedback.jsonl", "requests.jsonl"), "feedback: 30 records for 30 requests");
    cr_assert(prior_of("gold.json", "", gold) && prior_of("said.json", "", said));
    for (unsigned i = 0; i < 4; i++) cr_expect_float_eq(gold[i], said[i], 1e-9, "%u: %g %g", i, gold[i], said[i]);
    cr_expect_lt(said[1], 0.7, "the first one that runs is never right here: %g", said[1]);
    g_free(labelled);
    g_free(plain);
    g_free(words);
}

/* The only label is that the answers were wrong. It must lower the prior of the first candidate for the named
 * generator. */
Test(feedback, wrong_answers_alone_change_fit, .timeout = 300)
{
    char *plain = shop_requests(false), *words = feedback_on(", \"generator\": \"g\"", false);
    GString *all = g_string_new(words);
    for (unsigned i = 0; i < REQUESTS; i++)
        g_string_append_printf(all,
                               "{\"schema_version\":1,\"id\":\"r-%u\",\"db\":\"shop\",\"status\":\"validated\",\"sql\":"
                               "\"SELECT max(id) + %u FROM customer\"}\n",
                               i, 100 + i);
    g_string_append(all, plain);
    g_string_append(all, "neither of them\n");
    write_file("all.jsonl", all->str);
    double said[4];
    calibrate("said.json", FILES("all.jsonl"), "feedback: 30 records for 30 requests");
    cr_assert(prior_of("said.json", "g", said));
    cr_expect_not(prior_of("said.json", "", said), "the requests name no generator, the feedback does");
    cr_assert(prior_of("said.json", "g", said));
    cr_expect(said[1] < 0.7 || said[2] > 0.7, "%g %g", said[1], said[2]);
    struct run run = assay(CALIBRATE, "again.json", "all.jsonl");
    cr_expect(strstr(run.err, "all.jsonl:91: skipped: ") && strstr(run.err, "1 records cannot be read"), "%s", run.err);
    cr_expect(strstr(run.out, "skipped: 1 unreadable records"), "%s", run.out);
    run_free(&run);
    g_string_free(all, TRUE);
    g_free(plain);
    g_free(words);
}

/* A request with gold does not use its feedback, but is not reported as missing. A verdict on a request that cannot be
 * read is also not reported. */
Test(feedback, gold_counts_without_missing_requests, .timeout = 300)
{
    char *labelled = shop_requests(true), *words = feedback_on(", \"candidate\": 2", true);
    GString *all = g_string_new(words);
    g_string_append(all, labelled);
    g_string_append(all, F "\"silent\", \"right\": true, \"candidate\": 0}\n"
                           "{\"id\": \"silent\", \"db\": \"shop\", \"candidates\": [\"SELECT 1\"]}\n"
                           "{\"schema_version\":2,\"id\":\"r-1\",\"db\":null,\"status\":\"failed\",\"sql\":null}\n"
                           "neither of them\n" F "\"r-1\", \"right\": 7}\n");
    write_file("all.jsonl", all->str);
    struct run run = assay(CALIBRATE, "said.json", "all.jsonl");
    cr_expect(strstr(run.out, "0 requests are not in the files, 0 are repeated, 31 need no feedback"), "%s", run.out);
    cr_expect(strstr(run.out, "skipped: 2 unreadable records"), "%s", run.out);
    cr_expect(strstr(run.err, "2 records cannot be read"), "%s", run.err);
    run_free(&run);
    g_string_free(all, TRUE);
    g_free(labelled);
    g_free(words);
}

/* Two questions are too few for a fit. A message reports this. */
Test(feedback, too_few_questions_are_reported, .timeout = 300)
{
    char *labelled = shop_requests(true);
    write_file("labelled.jsonl", labelled);
    double prior[4];
    struct run run = assay(CALIBRATE, "few.json", "labelled.jsonl", "--limit=2");
    cr_expect(strstr(run.err, "generator (no name): too few usable questions: 2, at least 10 are needed"), "%s",
              run.err);
    run_free(&run);
    cr_expect_not(prior_of("few.json", "", prior));
    run = assay(CALIBRATE, "enough.json", "labelled.jsonl", "--limit=10");
    cr_expect_null(strstr(run.err, "too few"), "%s", run.err);
    run_free(&run);
    cr_expect(prior_of("enough.json", "", prior));
    g_free(labelled);
}

Test(feedback, empty_feedback_is_no_error)
{
    write_file("feedback.jsonl", F "\"r-1\", \"right\": true}\n");
    calibrate("said.json", FILES("feedback.jsonl"), "1 requests are not in the files");
}

Test(feedback, topic_is_only_for_calibration)
{
    static const struct {
        const char *kind, *flag, *value, *says;
    } cases[] = {
        {"verifier", "--from-topic", "assay.feedback", "--from-topic is supported by train calibration only"},
        {"label-model", "--from-topic", "assay.feedback", "--from-topic is supported by train calibration only"},
        {"calibration", "--from-offset", "3",
         "--from-offset, --from-time, --to-offset and --to-time need --from-topic"},
        {"calibration", "--to-time", "0", "--from-offset, --from-time, --to-offset and --to-time need --from-topic"}};
    write_file("log.jsonl", "");
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct run run =
            assay("train", cases[i].kind, "log.jsonl", "--db-root", ".", "--out", "o", cases[i].flag, cases[i].value);
        cr_expect(run.status == 2 && strstr(run.err, cases[i].says), "%s: %d %s", cases[i].kind, run.status, run.err);
        run_free(&run);
    }
}
