/* Tests the measures of assay eval on constructed verdicts, for which each figure is known. */
#include "eval/eval.h"
#include "eval/plots/plots.h"
#include "eval/triggering.h"
#include "tests/support/leak.h"
#include "tests/unit/cli/spawn.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void begin(void)
{
    scratch_begin();
}

static void end(void)
{
    scratch_end();
    leak_check();
}

TestSuite(measures, .init = begin, .fini = end);

/* One question: the labels of its candidates ("r" right, "w" wrong, "f" failed) and P(correct) of each. `chosen` is the
 * number of the chosen one, from 1, or 0. */
struct made {
    const char *labels;
    uint32_t chosen, majority;
    double p[4];
    const char *gold;
    char repair; /* label of the repair; 0 if none is shown */
    uint32_t of; /* number of the candidate that the repair changes, from 1 */
    bool applied;
    bool fires; /* a signal fires on the first candidate */
};

static void add(struct eval_data *data, const struct made *made)
{
    struct msg_judged judged[4] = {0};
    struct msg_signal fired = {.id = VSIG_ID_empty_predicate, .state = MSG_FIRED};
    enum label of[4];
    const char *errors[4] = {0};
    uint32_t n = (uint32_t)strlen(made->labels);
    struct labels labels = {.n = n,
                            .of = of,
                            .errors = errors,
                            .first_executable = LABEL_NONE,
                            .majority = made->majority,
                            .repair = made->repair == 'r' ? LABEL_RIGHT : LABEL_WRONG};
    for (uint32_t i = 0; i < n; i++) {
        of[i] = made->labels[i] == 'r' ? LABEL_RIGHT : made->labels[i] == 'w' ? LABEL_WRONG : LABEL_FAILED;
        if (of[i] != LABEL_FAILED && labels.first_executable == LABEL_NONE) labels.first_executable = i;
        judged[i] = (struct msg_judged){.sql = {"SELECT 1", 8}, .count = 1, .judged = true, .p_correct = made->p[i]};
        if (i == 0 && made->fires) judged[i].signals = &fired, judged[i].n_signals = 1;
    }
    struct msg_verdict verdict = {.db = "shop",
                                  .candidates = judged,
                                  .n_candidates = n,
                                  .chosen = made->chosen,
                                  .iterations = n,
                                  .p_correct = made->chosen ? made->p[made->chosen - 1] : (double)NAN,
                                  .gold = made->gold};
    struct msg_repaired repair = {.sql = "SELECT 2", .of = made->of, .applied = made->applied};
    if (made->repair) verdict.repair = &repair;
    eval_add(data, &verdict, &labels, NULL);
}

static const char easy[] = "SELECT a FROM t", hard[] = "SELECT a FROM t WHERE b IN (SELECT c FROM u)";

static const struct made log_of_five[] = {
    {"wr", 2, 0, {0.25, 0.95}, easy},       /* fixed in comparison with all three baselines */
    {"rw", 1, 0, {0.85, 0.15}, easy},       /* right in all baselines and in the answer */
    {"fwr", 3, 1, {0, 0.35, 0.75}, hard},   /* fixed */
    {"rww", 2, 2, {0.45, 0.55, 0.1}, hard}, /* broken compared with the first, but not with the majority */
    {"fww", 0, 1, {0, 0.05, 0.05}, hard},   /* no candidate is right, and there is no answer */
};

static struct eval_report *measured(struct eval_data **data, unsigned rounds, uint32_t max_iterations)
{
    static const struct vsig_options none = {0};
    *data = eval_data_new(false);
    (*data)->max_iterations = max_iterations;
    for (unsigned i = 0; i < G_N_ELEMENTS(log_of_five); i++) add(*data, &log_of_five[i]);
    return eval_measure(*data, &none, rounds);
}

static void expect_contrast(const struct eval_contrast *c, enum eval_choice against, double gain, unsigned fixed,
                            unsigned broken)
{
    cr_expect_eq(c->against, against);
    cr_expect_float_eq(c->gain.value, gain, 1e-9);
    cr_expect_eq(c->fixed, fixed);
    cr_expect_eq(c->broken, broken);
}

Test(measures, selection_is_compared_with_baselines)
{
    struct eval_data *data;
    struct eval_report *r = measured(&data, 0, 0);
    cr_expect_float_eq(r->selection[CHOICE_FIRST].value, 40, 1e-9);
    cr_expect_float_eq(r->selection[CHOICE_FIRST_EXECUTABLE].value, 40, 1e-9);
    cr_expect_float_eq(r->selection[CHOICE_MAJORITY].value, 20, 1e-9);
    cr_expect_float_eq(r->selection[CHOICE_ASSAY].value, 60, 1e-9);
    cr_expect_float_eq(r->selection[CHOICE_ORACLE].value, 80, 1e-9);
    expect_contrast(&r->contrasts[0], CHOICE_FIRST, 20, 2, 1);
    expect_contrast(&r->contrasts[1], CHOICE_FIRST_EXECUTABLE, 20, 2, 1);
    expect_contrast(&r->contrasts[2], CHOICE_MAJORITY, 40, 2, 0);
    cr_expect_eq(r->fixed, 2);
    cr_expect_eq(r->broken, 1);
    cr_expect_eq(r->unanswered, 1);
    cr_expect_float_eq(r->gap_closed.value, 50, 1e-9, "20 of 40 points");
    cr_expect(isnan(r->gap_closed.low), "no rounds, no interval");
    cr_expect_float_eq(r->tried, 13.0 / 5, 1e-9);
    eval_report_free(r);
    eval_data_free(data);
}

Test(measures, perfect_verifier_reaches_oracle)
{
    struct eval_data *data;
    struct eval_report *r = measured(&data, 0, 0);
    cr_expect_eq(r->ceiling, 4);
    cr_expect_float_eq(r->ceiling_tried, (2 + 1 + 3 + 1 + 3) / 5.0, 1e-9);
    eval_report_free(r);
    eval_data_free(data);
    r = measured(&data, 0, 2);
    cr_expect_eq(r->ceiling, 3, "the third candidate is out of reach");
    cr_expect_float_eq(r->ceiling_tried, (2 + 1 + 2 + 1 + 2) / 5.0, 1e-9);
    cr_expect_eq(r->right[CHOICE_ORACLE], 4);
    eval_report_free(r);
    eval_data_free(data);
}

Test(measures, levels_partition_questions)
{
    struct eval_data *data;
    struct eval_report *r = measured(&data, 0, 0);
    cr_expect_eq(r->levels[DIFFICULTY_EASY].n, 2);
    cr_expect_float_eq(r->levels[DIFFICULTY_EASY].selection[CHOICE_ASSAY].value, 100, 1e-9);
    cr_expect_float_eq(r->levels[DIFFICULTY_EASY].gain.value, 50, 1e-9);
    cr_expect_eq(r->levels[DIFFICULTY_HARD].n, 3);
    cr_expect_float_eq(r->levels[DIFFICULTY_HARD].selection[CHOICE_ASSAY].value, 100.0 / 3, 1e-9);
    cr_expect_float_eq(r->levels[DIFFICULTY_HARD].gain.value, 0, 1e-9);
    cr_expect_eq(r->levels[DIFFICULTY_UNKNOWN].n, 0);
    cr_expect(isnan(r->levels[DIFFICULTY_UNKNOWN].gain.value));
    eval_report_free(r);
    eval_data_free(data);
}

Test(measures, intervals_contain_value_and_are_repeatable)
{
    struct eval_data *data, *again;
    struct eval_report *r = measured(&data, 200, 0), *same = measured(&again, 200, 0);
    const struct eval_share *shares[] = {&r->gap_closed, &r->contrasts[0].gain, &r->ceiling_ex,
                                         &r->levels[DIFFICULTY_HARD].gain};
    for (unsigned i = 0; i < G_N_ELEMENTS(shares); i++)
        cr_expect(shares[i]->low <= shares[i]->value && shares[i]->value <= shares[i]->high &&
                      shares[i]->low < shares[i]->high,
                  "%u: %g in [%g, %g]", i, shares[i]->value, shares[i]->low, shares[i]->high);
    cr_expect_eq(r->gap_closed.low, same->gap_closed.low);
    cr_expect_eq(r->gap_closed.high, same->gap_closed.high);
    eval_report_free(r);
    eval_report_free(same);
    eval_data_free(data);
    eval_data_free(again);
}

Test(measures, reliability_counts_each_prediction_in_its_bin)
{
    struct eval_data *data;
    struct eval_report *r = measured(&data, 0, 0);
    cr_expect_eq(r->answers.n, 4);
    cr_expect_eq(r->answers.bins[9].n, 1);
    cr_expect_eq(r->answers.bins[5].n, 1);
    cr_expect_float_eq(r->answers.bins[5].right.value, 0, 1e-9);
    cr_expect_float_eq(r->answers.bins[9].p, 95, 1e-9);
    /* |95-100| + |85-100| + |75-100| + |55-0|, a quarter each */
    cr_expect_float_eq(r->answers.ece, 25, 1e-9);
    cr_expect_eq(r->rows.n, 5, "the first executable candidate of each question");
    cr_expect_float_eq(r->rows.ece, (25 + 15 + 35 + 55 + 5) / 5.0, 1e-9);
    cr_expect(isnan(r->rows.bins[9].right.value) && r->rows.bins[9].n == 0);
    eval_report_free(r);
    eval_data_free(data);
}

static void expect_points(const struct eval_point *got, size_t n, const struct eval_point *want, size_t n_want)
{
    cr_assert_eq(n, n_want, "%zu points", n);
    for (size_t i = 0; i < n; i++)
        cr_expect(fabs(got[i].x - want[i].x) < 1e-9 && fabs(got[i].y - want[i].y) < 1e-9, "%zu: %g %g", i, got[i].x,
                  got[i].y);
}

Test(measures, curves_pass_through_the_counted_points)
{
    struct eval_data *data;
    size_t n = 0;
    eval_report_free(measured(&data, 0, 0));
    /* P(correct) of the first executable candidates, with labels: 0.05 w, 0.25 w, 0.35 w, 0.45 r, 0.85 r */
    const struct eval_point roc[] = {{0, 0}, {0, 1.0 / 3}, {0, 2.0 / 3}, {0, 1}, {0.5, 1}, {1, 1}};
    struct eval_point *points = eval_roc(data, &n);
    expect_points(points, n, roc, G_N_ELEMENTS(roc));
    g_free(points);
    /* answers to five questions: 0.95 r, 0.85 r, 0.75 r, 0.55 w */
    const struct eval_point coverage[] = {{0.2, 1}, {0.4, 1}, {0.6, 1}, {0.8, 0.75}};
    points = eval_coverage(data, &n);
    expect_points(points, n, coverage, G_N_ELEMENTS(coverage));
    g_free(points);
    eval_data_free(data);
}

Test(measures, ties_share_one_threshold)
{
    struct eval_data *data = eval_data_new(false);
    const struct made tied[] = {{"r", 1, 0, {0.5}, easy}, {"w", 1, 0, {0.5}, easy}};
    size_t n = 0;
    for (unsigned i = 0; i < 2; i++) add(data, &tied[i]);
    const struct eval_point roc[] = {{0, 0}, {1, 1}}, coverage[] = {{1, 0.5}};
    struct eval_point *points = eval_roc(data, &n);
    expect_points(points, n, roc, 2);
    g_free(points);
    points = eval_coverage(data, &n);
    expect_points(points, n, coverage, 1);
    g_free(points);
    eval_data_free(data);
}

/* --- triggering -------------------------------------------------------------------------------------------------- */

static void expect_share(double got, double want)
{
    cr_expect(isnan(want) ? isnan(got) : fabs(got - want) < 1e-9, "%g, not %g", got, want);
}

/* Answers by P(correct): 0.95 r, 0.85 r, 0.75 r, 0.55 w; the fifth question has no answer. */
Test(measures, triggering_matches_manual_count)
{
    struct eval_data *data;
    size_t n;
    eval_report_free(measured(&data, 0, 0));
    struct triggering p = triggering_measure(data, SCORE_P), truth = triggering_measure(data, SCORE_TRUTH),
                      nothing = triggering_measure(data, SCORE_NOTHING);
    cr_expect_eq(p.n, 4);
    expect_share(p.precision_area, (1 + 1 + 1 + 0.75) / 4);
    expect_share(p.precision[0], 1);
    expect_share(p.precision[2], 0.75); /* three quarters of five answers are four */
    expect_share(p.precision[3], 0.75); /* the last point of the curve */
    /* Without asking, 3 of 5 are right. Asking about the unanswered question, then about the wrong one, makes all
     * right. */
    const struct eval_point asked[] = {{0, 0.6}, {0.2, 0.8}, {0.4, 1}, {0.6, 1}, {0.8, 1}, {1, 1}};
    struct eval_point *points = triggering_interactions(data, SCORE_P, &n);
    expect_points(points, n, asked, G_N_ELEMENTS(asked));
    g_free(points);
    expect_share(p.interactions_to_95, 0.4);
    expect_share(p.accuracy_area, (0.6 + 0.8 + 4) / 6);
    expect_share(truth.precision_area, p.precision_area);
    expect_share(nothing.precision_area, 0.75); /* the right answers are evenly distributed */
    expect_share(nothing.interactions_to_95, 0.8);
    eval_data_free(data);
}

Test(measures, triggering_without_answers_is_empty)
{
    struct eval_data *data = eval_data_new(false);
    size_t n = 1;
    struct triggering none = triggering_measure(data, SCORE_P);
    expect_share(none.precision_area, NAN);
    expect_share(none.precision[3], NAN);
    cr_expect_null(triggering_answers(data, SCORE_P, &n));
    cr_expect_eq(n, 0);
    json_t *rows = eval_triggering_json(data);
    cr_expect_eq(json_array_size(rows), SCORE_COUNT);
    json_decref(rows);
    eval_data_free(data);
}

/* --- plots ------------------------------------------------------------------------------------------------------ */

/* Checks well-formedness with GLib's parser of simple markup: tags closed, attributes quoted, text escaped. */
static void expect_markup(const char *text)
{
    static const GMarkupParser parser = {0};
    GError *error = NULL;
    GMarkupParseContext *context = g_markup_parse_context_new(&parser, 0, NULL, NULL);
    bool fine =
        g_markup_parse_context_parse(context, text, -1, &error) && g_markup_parse_context_end_parse(context, &error);
    cr_expect(fine, "%s", error ? error->message : "");
    g_clear_error(&error);
    g_markup_parse_context_free(context);
}

Test(measures, plots_are_deterministic_and_labelled)
{
    static const char *const names[] = {"calibration.svg", "coverage.svg", "roc.svg"};
    struct eval_data *data;
    struct err err = {0};
    struct eval_report *r = measured(&data, 50, 0);
    cr_assert_eq(plots_write("plots/a", r, data, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(plots_write("plots/b", r, data, &err), ERR_OK, "%s", err.text);
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
        char *first = g_strconcat("plots/a/", names[i], NULL), *second = g_strconcat("plots/b/", names[i], NULL);
        char *a = read_file(first), *b = read_file(second);
        cr_expect_str_eq(a, b);
        expect_markup(a);
        cr_expect(strstr(a, "<title id=\"title\">") && strstr(a, "<desc id=\"description\">") &&
                  strstr(a, "role=\"img\""));
        cr_expect_null(strstr(a, "nan"), "%s", a);
        g_free(first);
        g_free(second);
        g_free(a);
        g_free(b);
    }
    /* The ROC curve of a perfect classifier follows the left edge to (0, 1), then the top edge. */
    char *roc = read_file("plots/a/roc.svg");
    cr_expect(strstr(roc, "64.00,48.00"), "%s", roc);
    g_free(roc);
    cr_expect_eq(plots_write("/proc/none/there", r, data, &err), ERR_IO);
    eval_report_free(r);
    eval_data_free(data);
}

Test(measures, empty_measure_is_not_a_number)
{
    static const struct vsig_options none = {0};
    struct eval_data *data = eval_data_new(false);
    struct eval_report *r = eval_measure(data, &none, 10);
    struct err err = {0};
    size_t n = 1;
    cr_expect(isnan(r->gap_closed.value) && isnan(r->rows.ece) && isnan(r->ceiling_ex.value));
    cr_expect_null(eval_roc(data, &n));
    cr_expect_eq(n, 0);
    cr_expect_eq(plots_write("none", r, data, &err), ERR_OK);
    cr_expect_not(g_file_test("none/roc.svg", G_FILE_TEST_EXISTS));
    json_t *json = eval_json(r, data, false);
    cr_expect(json_is_null(json_object_get(json_object_get(json, "selection"), "gap_closed")));
    json_decref(json);
    eval_report_free(r);
    eval_data_free(data);
}

/* --- through the program ---------------------------------------------------------------------------------------- */

static double at(const json_t *json, const char *path)
{
    gchar **keys = g_strsplit(path, ".", -1);
    for (gchar **key = keys; *key; key++)
        json = json_is_array(json) ? json_array_get(json, (size_t)atoi(*key)) : json_object_get(json, *key);
    cr_expect(json_is_number(json), "%s", path);
    g_strfreev(keys);
    return json_number_value(json);
}

Test(measures, report_holds_all_measures)
{
    write_file("log.jsonl",
               "{\"id\":\"1\",\"db\":\"shop\",\"question\":\"Who is 31?\",\"candidates\":[\"SELECT nope\","
               "\"select T1.name from customer as T1 where 44 = T1.age\",\"SELECT name FROM customer WHERE age = 31\"],"
               "\"gold\":\"SELECT name FROM customer WHERE age = 31\"}\n"
               "{\"id\":\"2\",\"db\":\"shop\",\"question\":\"Titles and ids?\",\"candidates\":[\"SELECT title, id FROM "
               "product\"],\"gold\":\"SELECT id, title FROM product\"}\n");
    struct run run = assay("eval", "log.jsonl", "--db-root", ".", "--format=json", "--bootstrap=20", "--plots=drawn");
    cr_assert_eq(run.status, 0, "%s", run.err);
    json_t *report = json_loads(run.out, 0, NULL);
    cr_assert(report, "%s", run.out);
    cr_expect_eq(at(report, "selection.exact_match.first"), 0, "one does not parse, one has another order of columns");
    cr_expect_eq(at(report, "selection.exact_match.first_executable"), 50, "values do not count");
    cr_expect_eq(at(report, "selection.exact_match.oracle"), 50);
    cr_expect_eq(at(report, "selection.ceiling.right"), 2);
    cr_expect_eq(at(report, "selection.ceiling.candidates_tried"), 2, "three, and one");
    cr_expect_eq(at(report, "selection.contrasts.0.gain"),
                 at(report, "selection.assay") - at(report, "selection.first"));
    cr_expect_eq(at(report, "difficulty.0.questions"), 1);
    cr_expect_eq(at(report, "difficulty.1.questions"), 1);
    cr_expect_eq(json_array_size(json_object_get(report, "difficulty")), 2, "levels without questions are left out");
    cr_expect_eq(at(report, "calibration.answers.n"), 2);
    static const char *const keys[] = {"questions",      "selection",        "detection",   "signals",
                                       "answered_at_95", "candidates_tried", "localisation"};
    for (unsigned i = 0; i < G_N_ELEMENTS(keys); i++)
        cr_expect(json_object_get(report, keys[i]), "%s of the first version is still there", keys[i]);
    char *svg = read_file("drawn/calibration.svg");
    cr_expect(svg && strstr(svg, "Calibration"));
    g_free(svg);
    json_decref(report);
    run_free(&run);
}

Test(measures, repaired_answer_counts_with_label_of_repair)
{
    static const struct made log_with_repairs[] = {
        {"wr", 0, 0, {0.25, 0.3}, easy, 'r', 1, true, true}, /* fixed */
        {"rw", 0, 0, {0.4, 0.15}, easy, 'w', 1, true},       /* broken by the repair */
        {"rw", 0, 0, {0.4, 0.15}, easy, 'r', 1, true},       /* right before and after the repair */
        {"ww", 1, 0, {0.4, 0.15}, easy, 'r', 1, false},      /* shown beside the answer, and would have fixed it */
        {"rw", 1, 0, {0.9, 0.15}, easy, 0, 0, false},
    };
    static const struct vsig_options none = {0};
    struct eval_data *data = eval_data_new(false);
    for (unsigned i = 0; i < G_N_ELEMENTS(log_with_repairs); i++) add(data, &log_with_repairs[i]);
    struct eval_report *r = eval_measure(data, &none, 0);
    cr_assert_eq(r->right[CHOICE_ASSAY], 3);
    cr_assert_eq(r->unanswered, 0);
    cr_assert_eq(r->repaired.n, 3);
    cr_assert_eq(r->repaired.fixed, 1);
    cr_assert_eq(r->repaired.broken, 1);
    cr_assert_eq(r->proposed.n, 1);
    cr_assert_eq(r->proposed.fixed, 1);
    cr_assert_eq(r->proposed.broken, 0);
    cr_assert_eq(r->repaired.of[VSIG_ID_empty_predicate].n, 1);
    cr_assert_eq(r->repaired.of[VSIG_ID_empty_predicate].fixed, 1);
    cr_assert_eq(r->repaired.of[0].n, 2, "nothing fired");
    cr_assert_eq(r->repaired.of[0].broken, 1);
    eval_report_free(r);
    eval_data_free(data);
}
