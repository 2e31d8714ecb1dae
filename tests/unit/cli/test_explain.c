/* Tests assay explain through the program, and the explanations in the output of check. */
#include "tests/unit/cli/spawn.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <jansson.h>
#include <string.h>

TestSuite(explain_program, .init = scratch_begin, .fini = scratch_end);

#define EXPLAIN "explain", "--db", "shop/shop.sqlite"

static json_t *parse(const char *text)
{
    json_error_t error;
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    cr_assert(json, "line %d: %s\n%.500s", error.line, error.text, text);
    return json;
}

Test(explain_program, prose_and_premise_are_selectable)
{
    struct run prose = assay(EXPLAIN, "--format=text", "SELECT count(*) FROM customer");
    struct run premise = assay(EXPLAIN, "--premise", "SELECT count(*) FROM customer");
    cr_expect_eq(prose.status, 0, "%s", prose.err);
    cr_expect_eq(premise.status, 0, "%s", premise.err);
    cr_expect(strstr(prose.out, "customer"), "%s", prose.out);
    cr_expect(strstr(premise.out, "customer"), "%s", premise.out);
    cr_expect_str_neq(prose.out, premise.out);
    run_free(&prose);
    run_free(&premise);
}

Test(explain_program, meaning_has_one_line_per_part)
{
    struct run run = assay(EXPLAIN, "--meaning", "SELECT count(*) FROM customer AS c WHERE 3 < c.id");
    cr_expect_eq(run.status, 0, "%s", run.err);
    cr_expect_str_eq(run.out, "from     customer\n"
                              "where    customer.id > 3\n"
                              "grain    one row\n"
                              "1 measure count of rows\n");
    run_free(&run);
}

/* --- against a question --- */

static json_t *explained(const char *question, const char *sql)
{
    char *asked = g_strconcat("--question=", question, NULL);
    struct run run = assay(EXPLAIN, "--format=json", asked, sql);
    cr_assert_eq(run.status, 0, "%s", run.err);
    json_t *json = parse(run.out);
    g_free(asked);
    run_free(&run);
    return json;
}

/* Returns the words of the question that have no counterpart in the query, joined by "|", each as in the question. */
static char *unanswered(const char *question, const char *sql)
{
    size_t i;
    json_t *gap, *json = explained(question, sql);
    GString *text = g_string_new(NULL);
    cr_assert(json_is_array(json_object_get(json, "unanswered")));
    json_array_foreach(json_object_get(json, "unanswered"), i, gap)
    {
        const char *words = json_string_value(json_object_get(gap, "text"));
        json_int_t start = json_integer_value(json_object_get(gap, "start"));
        json_int_t end = json_integer_value(json_object_get(gap, "end"));
        cr_expect(words && strlen(words) == (size_t)(end - start) &&
                  strncmp(question + start, words, strlen(words)) == 0);
        g_string_append_printf(text, "%s%s", text->len ? "|" : "", words);
    }
    json_decref(json);
    return g_string_free(text, FALSE);
}

Test(explain_program, uncovered_words_of_question_are_listed)
{
    static const struct {
        const char *question, *sql, *left;
    } cases[] = {
        {"How many customers are there?", "SELECT count(*) FROM customer", ""},
        {"What is the name of each customer?", "SELECT name FROM customer", ""},
        {"How many purple customers with very green umbrellas are there?", "SELECT count(*) FROM customer",
         "purple|green umbrellas"},
        {"", "SELECT count(*) FROM customer", ""},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *left = unanswered(cases[i].question, cases[i].sql);
        cr_expect_str_eq(left, cases[i].left, "%s: %s", cases[i].question, left);
        g_free(left);
    }
}

/* Compares two ways to compute the same number: assay explain, and a request with this one candidate. */
Test(explain_program, entailment_equals_that_of_request)
{
    static const char question[] = "How many customers are there?", right[] = "SELECT count(*) FROM customer";
    struct run run =
        assay("check", "--db", "shop/shop.sqlite", "--question", question, "--format=json", "--strategy=rerank", right);
    json_t *verdict = parse(run.out), *good = explained(question, right), *bad = explained(question, "SELECT 7");
    double asked =
        json_number_value(json_object_get(json_array_get(json_object_get(verdict, "candidates"), 0), "entailment"));
    double told = json_number_value(json_object_get(good, "entailment"));
    cr_expect(told > 0 && told <= 1, "%g", told);
    cr_expect_float_eq(told, asked, 1e-5, "%g %g", told, asked);
    cr_expect_lt(json_number_value(json_object_get(bad, "entailment")), told);
    struct run text = assay(EXPLAIN, "--format=text", "--question", question, right);
    cr_expect(strstr(text.out, "P(entails) "), "%s", text.out);
    struct run none = assay(EXPLAIN, "--format=text", "--question", question, "--verifier=none", right);
    cr_expect_null(strstr(none.out, "P(entails)"), "%s", none.out);
    json_decref(verdict);
    json_decref(good);
    json_decref(bad);
    run_free(&run);
    run_free(&text);
    run_free(&none);
}

/* Shows each word of the question with its counterpart in the query. Also shows the parts of the query that no word
 * asks for. */
Test(explain_program, words_are_shown_with_their_counterparts)
{
    struct run words = assay(EXPLAIN, "--format=text", "--words", "--question", "How many customers are there?",
                             "SELECT count(*) FROM customer");
    cr_expect_eq(words.status, 0, "%s", words.err);
    cr_expect(strstr(words.out, "customers") && strstr(words.out, "table") && strstr(words.out, "operator"), "%s",
              words.out);
    cr_expect_not(strstr(words.out, "no word of the question asks for"), "%s", words.out);
    run_free(&words);
}

/* Without a terminal, lines have 80 columns. The premise is a single line, because programs read it. */
Test(explain_program, prose_is_wrapped)
{
    static const char sql[] = "SELECT name, id FROM customer WHERE id > 3 AND name <> 'x' AND id < 700 ORDER BY name";
    struct run prose = assay(EXPLAIN, "--format=text", sql), premise = assay(EXPLAIN, "--premise", sql);
    char **lines = g_strsplit(prose.out, "\n", -1);
    unsigned n = 0, longest = 0;
    for (char **line = lines; *line; line++) {
        n += **line != '\0';
        longest = MAX(longest, (unsigned)g_utf8_strlen(*line, -1));
        cr_expect_not(g_str_has_prefix(*line, " ") || g_str_has_suffix(*line, " "), "'%s'", *line);
    }
    cr_expect(n > 2 && longest > 60 && longest <= 80, "%u lines, %u: %s", n, longest, prose.out);
    cr_expect_eq(strchr(premise.out, '\n') + 1, premise.out + strlen(premise.out), "%s", premise.out);
    g_strfreev(lines);
    run_free(&prose);
    run_free(&premise);
}

/* Shows the rewritten statement and its source rows: none, one, or all, as the policy allows. */
Test(explain_program, json_has_exposed_source_rows)
{
    static const struct {
        const char *flag;
        size_t rows;
        bool sql;
    } cases[] = {{"--expose=none", 0, false}, {"--expose=values", 1, true}, {"--expose=rows", 3, true}};
    for (unsigned i = 0; i < 3; i++) {
        struct run run = assay(EXPLAIN, "--format=json", cases[i].flag, "SELECT count(*) FROM customer WHERE id <= 3");
        cr_assert_eq(run.status, 0, "%s", run.err);
        json_t *json = parse(run.out), *provenance = json_object_get(json, "provenance");
        json_t *arm = json_array_get(json_object_get(provenance, "arms"), 0);
        cr_expect_str_eq(json_string_value(json_object_get(provenance, "status")), "rows", "%s", run.out);
        cr_expect_eq(json_array_size(json_object_get(arm, "rows")), cases[i].rows, "%s: %s", cases[i].flag, run.out);
        cr_expect_eq(json_is_string(json_object_get(arm, "sql")), cases[i].sql);
        cr_expect_gt(json_array_size(json_object_get(json, "phrases")), 0);
        cr_expect_null(json_object_get(json, "features"), "there is no question");
        json_decref(json);
        run_free(&run);
    }
}

Test(explain_program, empty_result_names_excluding_condition)
{
    struct run run = assay(EXPLAIN, "--format=json", "--question=Who?", "SELECT id FROM customer WHERE id = 4711");
    cr_assert_eq(run.status, 0, "%s", run.err);
    json_t *json = parse(run.out), *why = json_object_get(json, "why_not");
    json_t *culprit = json_array_get(json_object_get(why, "culprits"), 0);
    cr_expect_str_eq(json_string_value(json_object_get(why, "status")), "found", "%s", run.out);
    cr_expect_str_eq(json_string_value(json_object_get(culprit, "text")), "id = 4711");
    cr_expect(json_is_object(json_object_get(json, "features")), "with a question there are features");
    json_decref(json);
    run_free(&run);
}

Test(explain_program, denied_columns_show_no_value)
{
    struct run open = assay(EXPLAIN, "--format=json", "--expose=rows", "SELECT max(name) FROM customer");
    struct run shut = assay(EXPLAIN, "--format=json", "--expose=rows", "--deny-column=customer.name",
                            "SELECT max(name) FROM customer");
    cr_assert_eq(shut.status, 0, "%s", shut.err);
    json_t *json = parse(open.out);
    json_t *rows =
        json_object_get(json_array_get(json_object_get(json_object_get(json, "provenance"), "arms"), 0), "rows");
    const char *name = NULL;
    size_t i;
    json_t *value;
    json_array_foreach(json_array_get(rows, 0), i, value) if (json_is_string(value)) name = json_string_value(value);
    cr_assert(name, "%s", open.out);
    cr_expect_null(strstr(shut.out, name), "%s is shown: %s", name, shut.out);
    json_decref(json);
    run_free(&open);
    run_free(&shut);
}

Test(explain_program, failing_statement_is_reported)
{
    struct run wrong = assay(EXPLAIN, "SELECT nme FROM customer"), write = assay(EXPLAIN, "DELETE FROM customer");
    struct run lost = assay("explain", "--db", "nowhere.sqlite", "SELECT 1"), none = assay("explain", "SELECT 1");
    cr_expect_eq(wrong.status, 1);
    cr_expect(strstr(wrong.err, "nme"), "%s", wrong.err);
    cr_expect_eq(write.status, 1);
    cr_expect_eq(lost.status, 2);
    cr_expect_eq(none.status, 2);
    cr_expect(strstr(none.err, "--db"));
    run_free(&wrong);
    run_free(&write);
    run_free(&lost);
    run_free(&none);
}

Test(explain_program, statement_is_read_from_standard_input)
{
    struct run run = assay_input("SELECT count(*)\nFROM customer\n", EXPLAIN, "--premise");
    cr_expect_eq(run.status, 0, "%s", run.err);
    cr_expect(strstr(run.out, "customer"));
    run_free(&run);
}

/* Returns the text with each run of white space as one space, because a verdict indents its lines and an explanation
 * does not. */
static char *on_one_line(const char *text)
{
    char **words = g_strsplit_set(text, " \n", -1);
    GString *line = g_string_new(NULL);
    for (char **word = words; *word; word++)
        if (**word) g_string_append_printf(line, "%s%s", line->len ? " " : "", *word);
    g_strfreev(words);
    return g_string_free(line, FALSE);
}

Test(explain_program, check_shows_the_explanation_of_the_answer)
{
    struct run run = assay("check", "--db", "shop/shop.sqlite", "--question", "How many customers are there?",
                           "--format=text", "--strategy=rerank", "SELECT count(*) FROM customer", "SELECT 7");
    struct run off = assay("check", "--db", "shop/shop.sqlite", "--question", "How many customers are there?",
                           "--format=json", "--explain=no", "SELECT count(*) FROM customer");
    struct run explained = assay(EXPLAIN, "--format=text", "SELECT count(*) FROM customer");
    char *shown = on_one_line(run.out), *told = on_one_line(explained.out);
    cr_expect(*told && strstr(shown, told), "%s", run.out);
    g_free(shown);
    g_free(told);
    json_t *verdict = parse(off.out);
    const json_t *one = json_array_get(json_object_get(verdict, "candidates"), 0);
    cr_expect(json_is_null(json_object_get(one, "explanation")));
    json_decref(verdict);
    run_free(&run);
    run_free(&off);
    run_free(&explained);
}

Test(explain_program, cyclesql_is_a_strategy_of_eval)
{
    char *log = shop_log(6);
    write_file("shop.jsonl", log);
    g_free(log);
    struct run run =
        assay("eval", "shop.jsonl", "--db-root=.", "--strategy=cyclesql", "--format=json", "--bootstrap=0");
    cr_expect_eq(run.status, 0, "%s", run.err);
    json_t *report = parse(run.out);
    cr_expect(json_number_value(json_object_get(report, "candidates_tried")) >= 1, "%s", run.out);
    json_decref(report);
    run_free(&run);
}
