/* Tests the uncertainty of a schema linker through the program: requests with such data, and invalid recordings. */
#include "tests/unit/cli/spawn.h"
#include "tests/unit/linking/made.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <jansson.h>
#include <string.h>

TestSuite(linking_program, .init = scratch_begin, .fini = scratch_end);

static json_t *parse(const char *text)
{
    json_error_t error;
    json_t *json = json_loads(text, JSON_DISABLE_EOF_CHECK, &error);
    cr_assert(json, "%s\n%.500s", error.text, text);
    return json;
}

static const char *text_at(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));
    return text ? text : "";
}

/* Judges a request for the number of customers with this output of a linker. Returns the verdict. */
static json_t *judged(const char *linking, const char *policy)
{
    char *line = g_strdup_printf("{\"id\":\"q\",\"db\":\"shop\",\"question\":\"How many customers are there?\","
                                 "\"candidates\":[\"SELECT count(*) FROM customer\"],\"policy\":\"%s\"%s}\n",
                                 policy, linking);
    write_file("log.jsonl", line);
    struct run run = assay("replay", "log.jsonl", "--db-root=.", "--quiet");
    json_t *verdict = parse(run.out);
    run_free(&run);
    g_free(line);
    return verdict;
}

Test(linking_program, answer_on_uncertain_table_is_abstained)
{
    json_t *plain = judged("", "abstain"), *sure = judged(",\"linking\":{\"tables\":[\"customer\"]}", "abstain"),
           *unsure = judged(",\"linking\":{\"tables\":[\"customer\"],\"uncertain\":[{\"stage\":\"tables\",\"name\":"
                            "\"customer\",\"p\":0.7}]}",
                            "abstain"),
           *elsewhere = judged(",\"linking\":{\"uncertain\":[{\"stage\":\"tables\",\"name\":\"orders\"}]}", "abstain");
    cr_expect_str_eq(text_at(plain, "status"), "validated");
    cr_expect_str_eq(text_at(sure, "status"), "validated");
    cr_expect_str_eq(text_at(elsewhere, "status"), "validated", "it does not use what the linker was unsure of");
    cr_expect_str_eq(text_at(unsure, "status"), "abstained");
    cr_expect_str_eq(text_at(unsure, "cause"), "question ambiguity");
    cr_expect(strstr(text_at(unsure, "message"), "the schema linker was not sure"), "%s", text_at(unsure, "message"));
    json_decref(plain);
    json_decref(sure);
    json_decref(unsure);
    json_decref(elsewhere);
}

Test(linking_program, uncertain_table_is_asked_about)
{
    json_t *verdict = judged(",\"linking\":{\"uncertain\":[{\"stage\":\"tables\",\"name\":\"customer\"}]}", "ask");
    const char *question = json_string_value(json_array_get(json_object_get(verdict, "questions"), 0));
    cr_expect_str_eq(text_at(verdict, "status"), "ask");
    cr_assert_str_eq(question, "Do you mean the customer? The schema linker was not sure.");
    json_decref(verdict);
    verdict = judged(",\"linking\":{\"uncertain\":[{\"stage\":\"columns\"}]}", "ask");
    question = json_string_value(json_array_get(json_object_get(verdict, "questions"), 0));
    cr_assert(strstr(question, "Does the answer need other tables or columns too?"), "%s", question);
    json_decref(verdict);
}

Test(linking_program, recordings_train_measure_and_judge)
{
    struct made made = {.questions = 150, .layers = 2, .hidden = 6, .wrong = 0.15, .plain = 1.5, .seed = 1};
    made_write("learn", &made);
    made.seed = 2;
    made_write("calibrate", &made);
    made.seed = 3;
    made_write("fresh", &made);
    struct run run =
        assay("link", "train", "learn", "--calibrate-on=calibrate", "--out=linker", "--units=8", "--epochs=10");
    cr_expect_eq(run.status, 0, "%s", run.err);
    cr_expect(strstr(run.err, "tables: ") && strstr(run.err, "AUC"), "%s", run.err);
    run_free(&run);
    run = assay("link", "eval", "fresh.jsonl", "--predictor=linker", "--format=json", "--ablation");
    cr_expect_eq(run.status, 0, "%s", run.err);
    json_t *measures = parse(run.out), *tables = json_object_get(measures, "tables");
    cr_expect_eq(json_integer_value(json_object_get(tables, "questions")), 150);
    cr_expect_gt(json_array_size(json_object_get(measures, "coverage")), 20);
    cr_expect_eq(json_array_size(json_object_get(measures, "outcomes")), 6);
    cr_expect_geq(json_array_size(json_object_get(measures, "ablation")), 16);
    json_decref(measures);
    run_free(&run);
    run = assay("link", "judge", "fresh", "--predictor=linker");
    cr_expect_eq(run.status, 0, "%s", run.err);
    json_t *first = parse(run.out);
    cr_expect_str_eq(text_at(first, "id"), "q0");
    cr_expect(json_is_array(json_object_get(json_object_get(first, "linking"), "uncertain")));
    json_decref(first);
    run_free(&run);
}

/* Returns the share of abstentions, for recordings whose names all answers use or no answer uses. */
static double abstained_with(const char *verdicts)
{
    double out = -1;
    size_t i;
    json_t *row;
    struct run run =
        assay("link", "eval", "fresh", "--predictor=linker", "--format=json", "--db-root=.", "--surrogate", verdicts);
    cr_expect_eq(run.status, 0, "%s", run.err);
    json_t *measures = parse(run.out);
    json_array_foreach(json_object_get(measures, "outcomes"), i, row)
    {
        if (strstr(text_at(row, "what"), "judge confirms") && strcmp(text_at(row, "stage"), "tables") == 0)
            out = json_number_value(json_object_get(row, "tar")) + json_number_value(json_object_get(row, "far"));
    }
    json_decref(measures);
    run_free(&run);
    return out;
}

Test(linking_program, judge_confirms_only_names_its_answer_uses)
{
    struct made made = {
        .questions = 100, .layers = 2, .hidden = 6, .wrong = 0.15, .plain = 1.5, .seed = 3, .stage = "tables"};
    made_write("fresh", &made);
    made_predictor("linker", &made);
    GString *sure = g_string_new(NULL), *unsure = g_string_new(NULL);
    for (unsigned i = 0; i < made.questions; i++)
        for (int doubt = 0; doubt < 2; doubt++)
            g_string_append_printf(
                doubt ? unsure : sure,
                "{\"id\":\"q%u\",\"db\":\"named\",\"sql\":\"SELECT 1 FROM n0, n1, n2, n3\",\"p_correct\":%g}\n", i,
                doubt ? 0.3 : 0.9);
    g_string_append(sure, "{\"id\":\"x\",\"db\":\"named\",\"sql\":\"SELECT 1 FROM nowhere\",\"p_correct\":1}\n");
    write_file("sure.jsonl", sure->str);
    write_file("unsure.jsonl", unsure->str);
    cr_assert_eq(
        system("mkdir named && sqlite3 named/named.sqlite 'CREATE TABLE n0(a); CREATE TABLE n1(a); CREATE TABLE n2(a); "
               "CREATE TABLE n3(a);'"),
        0);
    double alone = abstained_with("unsure.jsonl"), confirmed = abstained_with("sure.jsonl");
    cr_expect_gt(alone, 20, "%g", alone);
    cr_expect_lt(confirmed, alone, "%g, %g", confirmed, alone);
    g_string_free(sure, TRUE);
    g_string_free(unsure, TRUE);
}

Test(linking_program, errors_are_reported)
{
    static const struct {
        const char *args[6], *part;
    } cases[] = {
        {{"link", "guess", "x"}, "got 'guess'"},
        {{"link", "eval", "x"}, "--predictor"},
        {{"link", "eval", "x", "--predictor=nowhere"}, "nowhere"},
        {{"link", "judge", "--predictor=x"}, "--from-topic"},
        {{"link", "judge", "x", "--from-topic=t", "--predictor=x"}, "--from-topic"},
        {{"link", "eval"}, "followed by files"},
        {{"link", "train", "x"}, "--out"},
        {{"link", "train", "x", "--out=o"}, "--calibrate-on"},
        {{"link", "train", "x", "--out=o", "--calibrate-on=y"}, "x.safetensors"},
        {{"link", "export", "x", "--db-root=."}, "--out"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run = assay_with(NULL, cases[i].args);
        cr_expect_eq(run.status, 2, "%s", cases[i].part);
        cr_expect(strstr(run.err, cases[i].part), "%s: %s", cases[i].part, run.err);
        run_free(&run);
    }
}

Test(linking_program, export_lists_question_names_and_gold_names)
{
    write_file(
        "log.jsonl",
        "{\"id\":\"a\",\"db\":\"shop\",\"question\":\"How many customers are there?\",\"gold\":\"SELECT count(*) FROM "
        "customer\"}\n{\"id\":\"b\",\"db\":\"shop\",\"question\":\"?\",\"gold\":\"SELECT nothing FROM nowhere\"}\n");
    struct run run = assay("link", "export", "log.jsonl", "--db-root=.", "--out=-");
    cr_expect_eq(run.status, 0, "%s", run.err);
    cr_expect(strstr(run.err, "log.jsonl:2: skipped"), "%s", run.err);
    json_t *line = parse(run.out), *gold = json_object_get(line, "gold"), *tables = json_object_get(line, "tables");
    cr_expect_eq(json_array_size(json_object_get(gold, "tables")), 1);
    size_t used = (size_t)json_integer_value(json_array_get(json_object_get(gold, "tables"), 0));
    cr_expect_str_eq(text_at(json_array_get(tables, used), "name"), "customer");
    cr_expect_geq(json_array_size(json_object_get(line, "names")), 1);
    json_decref(line);
    run_free(&run);
}
