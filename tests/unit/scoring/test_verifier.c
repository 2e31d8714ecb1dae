/* Tests the verifier: the effect of the other candidates, the feature row of the content model, and hostile files. */
#include "lib/learn/hashed.h"
#include "lib/learn/learn.h"
#include "scoring/verifier.h"
#include "scoring/verifier_context.h"
#include "scoring/verifier_row.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 8 };

static struct msg_execution executions[ROOM];
static struct msg_judged judged[ROOM];
static struct msg_candidate given[ROOM];
static struct msg_request request;

/* Makes candidates with these results and votes. Result 0 means that the candidate does not run. */
static void list(const uint64_t *results, const uint32_t *votes, uint32_t n)
{
    request = (struct msg_request){.question = "How many boats are there?", .candidates = given, .n_candidates = n};
    for (uint32_t i = 0; i < n; i++) {
        executions[i] = (struct msg_execution){.code = "ok", .rows = 2, .columns = 1, .digest = {results[i], 0}};
        judged[i] = (struct msg_judged){.judged = true, .invalid = !results[i], .count = votes[i]};
        given[i] = (struct msg_candidate){.count = votes[i]};
        if (results[i]) judged[i].execution = &executions[i];
    }
}

static double context(const struct verifier_prior *prior, uint32_t index, uint32_t n_seen)
{
    struct verifier_subject subject = {&request, judged, request.n_candidates, n_seen, index, NULL};
    return verifier_context(prior, &subject);
}

Test(verifier, votes_and_positions_are_used)
{
    static const uint64_t results[] = {1, 2, 1, 3};
    static const uint32_t votes[] = {1, 1, 1, 1};
    const struct verifier_prior *h = &verifier_prior_one;
    list(results, votes, 4);
    cr_expect_gt(context(h, 0, 4), context(h, 1, 4), "two votes against one");
    cr_expect_float_eq(context(h, 0, 4), context(h, 2, 4), 1e-12, "one answer, one prior");
    cr_expect_float_eq(context(h, 1, 4), context(h, 3, 4), 1e-12);
    struct verifier_prior flat = {.vote = 0, .first = 0, .none = 1, .temperature = 1};
    cr_expect_float_eq(context(&flat, 1, 4), log(1.0 / 3), 1e-12, "three answers and none of them, all alike");
    leak_check();
}

Test(verifier, unanimity_beats_single_vote)
{
    static const uint64_t results[] = {1, 1, 1};
    static const uint32_t votes[] = {2, 2, 1};
    list(results, votes, 3);
    double all = context(&verifier_prior_one, 0, 3);
    request.n_candidates = 1;
    judged[0].count = 1;
    cr_expect_gt(all, context(&verifier_prior_one, 0, 1));
    leak_check();
}

/* The position in the list counts if its entries differ, even if an entry does not run. */
Test(verifier, first_of_ranked_list_is_preferred)
{
    static const uint64_t ranked[] = {0, 1, 2, 0}, agreed[] = {1, 2, 2, 2, 2, 2, 2, 2};
    static const uint32_t votes[] = {1, 1, 1, 1, 1, 1, 1, 1};
    list(ranked, votes, 4);
    cr_expect_gt(context(&verifier_prior_ranked, 1, 4), context(&verifier_prior_ranked, 2, 4) + 0.6);
    list(agreed, votes, 8);
    cr_expect_lt(context(&verifier_prior_ranked, 0, 8), context(&verifier_prior_ranked, 1, 8),
                 "seven votes beat a place");
    list(ranked, votes, 2);
    cr_expect(isfinite(context(&verifier_prior_ranked, 0, 2)), "one that did not run has odds too");
    leak_check();
}

/* If the request does not say that the first candidate is the best guess, positions do not count. */
Test(verifier, positions_without_order_are_ignored)
{
    static const uint64_t results[] = {1, 2};
    static const uint32_t votes[] = {1, 1};
    list(results, votes, 2);
    cr_expect_float_eq(context(&verifier_prior_one, 0, 2), context(&verifier_prior_one, 1, 2), 0);
    cr_expect_float_eq(context(&verifier_prior_several, 0, 2), context(&verifier_prior_several, 1, 2), 0);
    leak_check();
}

Test(verifier, empty_results_give_no_votes)
{
    static const uint64_t results[] = {1, 2, 2};
    static const uint32_t votes[] = {1, 1, 1};
    list(results, votes, 3);
    double together = context(&verifier_prior_one, 1, 3);
    executions[1].rows = executions[2].rows = 0;
    cr_expect_lt(context(&verifier_prior_one, 1, 3), together);
    leak_check();
}

/* Candidates that were judged ahead of their turn must not count. */
Test(verifier, candidates_judged_ahead_are_ignored)
{
    static const uint64_t results[] = {1, 2, 2, 2};
    static const uint32_t votes[] = {1, 1, 1, 1};
    list(results, votes, 4);
    double before = context(&verifier_prior_one, 0, 1);
    for (unsigned i = 1; i < 4; i++) executions[i].digest[0] = 1;
    cr_expect_float_eq(context(&verifier_prior_one, 0, 1), before, 1e-12);
    cr_expect_gt(context(&verifier_prior_one, 0, 4), before);
    leak_check();
}

Test(verifier, many_candidates_are_bounded)
{
    enum { MANY = 500 };
    struct msg_judged *many = g_new0(struct msg_judged, MANY);
    struct msg_execution ran = {.code = "ok", .rows = 1, .digest = {7, 7}};
    for (unsigned i = 0; i < MANY; i++)
        many[i] = (struct msg_judged){.judged = true, .count = 100000, .execution = &ran};
    struct verifier_subject subject = {&request, many, MANY, MANY, MANY - 1, NULL};
    double z = verifier_context(&verifier_prior_several, &subject);
    cr_expect(isfinite(z) && z > 0, "%g", z);
    g_free(many);
    leak_check();
}

Test(verifier, generator_priors_are_used)
{
    static const char *const a[] = {"alpha"}, *const b[] = {"beta"};
    static const uint64_t results[] = {1, 2};
    static const uint32_t votes[] = {1, 1};
    list(results, votes, 2);
    cr_expect_str_eq(verifier_generator(&request), "");
    given[0].generators = a;
    given[1].generators = a;
    given[0].n_generators = given[1].n_generators = 1;
    cr_expect_str_eq(verifier_generator(&request), "alpha");
    given[1].generators = b;
    cr_expect_null(verifier_generator(&request));
    leak_check();
}

/* --- the row --- */

static int column(const char *name)
{
    for (unsigned i = 0; i < VERIFIER_ROW; i++)
        if (strcmp(verifier_row_names()[i], name) == 0) return (int)i;
    cr_assert_fail("no column %s", name);
    return -1;
}

Test(verifier, row_holds_surprises)
{
    float features[FEATURE_COUNT] = {0}, signals[VSIG_ID_END] = {0}, row[VERIFIER_ROW];
    double expected[SQL_COMPONENT_COUNT];
    for (unsigned i = 0; i < SQL_COMPONENT_COUNT; i++) expected[i] = 0.002;
    expected[SQL_HAS_answer_count] = 0.9;
    features[FEATURE_COMPONENTS + SQL_HAS_limit_one] = 1;
    verifier_row(features, signals, expected, row);
    cr_expect_float_eq(row[column("surprise_answer_count")], log(0.1), 1e-4, "asked for and not there: below 0");
    cr_expect_float_eq(row[column("surprise_limit_one")], -log(0.002), 1e-4, "there and not asked for: above 0");
    cr_expect_float_eq(row[column("surprise_first")], -log(0.002), 1e-4);
    cr_expect_float_eq(row[column("surprise_second")], -log(0.1), 1e-4);
    cr_expect_float_eq(row[column("surprise_ordering_too_much")], -log(0.002), 1e-4);
    cr_expect_float_eq(row[column("surprise_aggregate_too_little")], log(0.1), 1e-4);
    verifier_row(features, signals, NULL, row);
    cr_expect(isnan(row[column("surprise_sum")]), "without a question nothing is expected");
    leak_check();
}

Test(verifier, row_holds_findings)
{
    float features[FEATURE_COUNT] = {0}, signals[VSIG_ID_END] = {0}, row[VERIFIER_ROW];
    signals[VSIG_ID_fan_out] = 1;
    signals[VSIG_ID_null_first] = 2;
    signals[VSIG_ID_rival_column] = 2;
    signals[VSIG_ID_abnormal_result] = 0.5F;
    signals[VSIG_ID_counted_amount] = (float)NAN;
    verifier_row(features, signals, NULL, row);
    cr_expect_float_eq(row[column("findings_errors")], 2, 0, "a note is none");
    cr_expect_float_eq(row[column("findings_warnings")], 1, 0);
    cr_expect_float_eq(row[column("findings_weight")], 5, 0);
    cr_expect_float_eq(row[column("findings_seldom")], 1, 0, "of null_first: what is not known counts as silent");
    cr_expect_eq(verifier_row_group((unsigned)column("findings_seldom")), FEATURE_GROUP_SIGNALS);
    leak_check();
}

Test(verifier, feature_keys_hide_values)
{
    uint64_t a[VERIFIER_MAX_KEYS], b[VERIFIER_MAX_KEYS];
    struct arena arena;
    arena_init(&arena, 0);
    uint32_t n = verifier_keys(&arena, "Which boats of Peter Smith are longer than 12 feet?", a);
    uint32_t m = verifier_keys(&arena, "Which boats of Ann are longer than 77 feet?", b);
    cr_assert(n > 20);
    cr_assert_eq(n, m);
    cr_expect_arr_eq(a, b, n * sizeof *a);
    cr_expect_neq(verifier_keys(&arena, "How many boats are longer than 77 feet?", b), 0);
    GString *long_text = g_string_new(NULL);
    for (unsigned i = 0; i < 20000; i++) g_string_append_printf(long_text, "word%u ", i);
    cr_expect_leq(verifier_keys(&arena, long_text->str, b), VERIFIER_MAX_KEYS);
    g_string_free(long_text, TRUE);
    arena_free(&arena);
    leak_check();
}

/* --- files --- */

static char *model_text(const char *generators, const char *wording)
{
    float x[] = {0, 1, 0, 1, 0, 1, 0, 1};
    double y[] = {0, 1, 0, 1, 0, 1, 0, 1};
    static const char *const names[] = {"n_nodes"};
    struct learn_data data = {.n = 8, .m = 1, .x = x, .y = y, .names = names};
    struct learn_options options = learn_options_default();
    options.calibration = LEARN_UNCALIBRATED;
    struct learn_model *content;
    cr_assert_eq(learn_fit("logistic", &data, &options, &content, NULL), ERR_OK);
    uint64_t key = 1;
    struct hashed_item item = {&key, 1, 1};
    struct hashed_options small = hashed_options_default();
    struct hashed_model *components;
    small.bits = 4;
    cr_assert_eq(hashed_fit(&item, 1, SQL_COMPONENT_COUNT, &small, &components, NULL), ERR_OK);
    char *inner = learn_save_text(content);
    json_t *hashed = hashed_save(components);
    char *outer = json_dumps(hashed, JSON_COMPACT);
    char *text = g_strdup_printf("{\"format\": \"assay-verifier\", \"version\": 1, \"components\": %s, "
                                 "\"content\": %s, \"wording\": %s, \"generators\": %s}",
                                 outer, inner, wording, generators);
    free(inner);
    free(outer);
    json_decref(hashed);
    learn_free(content);
    hashed_free(components);
    return text;
}

static enum err_code try_load_with(const char *generators, const char *wording, struct verifier_model **out)
{
    char *text = model_text(generators, wording);
    struct err err = {0};
    enum err_code code = verifier_load_text(text, strlen(text), out, &err);
    g_free(text);
    return code;
}

static enum err_code try_load(const char *generators, struct verifier_model **out)
{
    return try_load_with(generators, "0", out);
}

Test(verifier, words_and_trees_are_combined)
{
    float features[FEATURE_COUNT] = {0}, signals[VSIG_ID_END] = {0};
    struct verifier_model *model, *bad = NULL;
    cr_assert_eq(try_load_with("{}", "0.5", &model), ERR_OK);
    double without = verifier_content(model, NULL, features, signals);
    features[FEATURE_wording_sum] = 2;
    cr_expect_float_eq(verifier_content(model, NULL, features, signals), without + 1, 1e-9);
    features[FEATURE_wording_sum] = NAN;
    cr_expect_float_eq(verifier_content(model, NULL, features, signals), without, 1e-9, "not known adds nothing");
    verifier_free(model);
    cr_expect_eq(try_load_with("{}", "-1", &bad), ERR_MALFORMED);
    cr_expect_eq(try_load_with("{}", "\"much\"", &bad), ERR_MALFORMED);
    leak_check();
}

Test(verifier, verifier_loads_from_file)
{
    static const uint64_t results[] = {1, 2};
    static const uint32_t votes[] = {1, 1};
    float features[FEATURE_COUNT] = {0};
    struct verifier_model *model;
    cr_assert_eq(try_load("{\"\": {\"vote\": 0, \"first\": 0, \"none\": 1, \"temperature\": 1}}", &model), ERR_OK);
    list(results, votes, 2);
    struct verifier_subject subject = {&request, judged, 2, 2, 0, features};
    double low = verifier_entails(model, &subject);
    features[FEATURE_n_nodes] = 1;
    double high = verifier_entails(model, &subject);
    cr_expect(low > 0 && low < high && high < 1, "%g %g", low, high);
    cr_expect_float_eq(verifier_parts(model, &subject).context, log(0.5), 1e-9, "the file's prior counts");
    cr_expect(verifier_is_fitted(model, &request));
    subject.features = NULL;
    cr_expect(isnan(verifier_entails(model, &subject)), "nothing to go by is not known, not 0");
    cr_expect(isnan(verifier_entails(NULL, &subject)));
    verifier_free(model);
    leak_check();
}

Test(verifier, generators_with_feedback_are_known)
{
    struct verifier_model *model;
    cr_assert_eq(try_load("{\"gpt\": {\"vote\": 0, \"first\": 0, \"none\": 1, \"temperature\": 1}}", &model), ERR_OK);
    const char *const gpt[] = {"gpt"}, *const other[] = {"other"};
    struct msg_candidate candidate = {.generators = gpt, .n_generators = 1};
    struct msg_request asked = {.candidates = &candidate, .n_candidates = 1};
    cr_expect(verifier_is_fitted(model, &asked));
    candidate.generators = other;
    cr_expect_not(verifier_is_fitted(model, &asked));
    candidate.n_generators = 0;
    cr_expect_not(verifier_is_fitted(model, &asked), "one without a name is another one");
    cr_expect_not(verifier_is_fitted(NULL, &asked));
    verifier_free(model);
    leak_check();
}

Test(verifier, bad_files_are_refused)
{
    struct verifier_model *model;
    cr_expect_eq(try_load("[]", &model), ERR_MALFORMED);
    cr_expect_eq(try_load("{\"x\": {\"vote\": 1e9, \"first\": 0, \"none\": 1, \"temperature\": 1}}", &model),
                 ERR_MALFORMED);
    cr_expect_eq(try_load("{\"x\": {\"vote\": 1, \"first\": 0, \"none\": 0, \"temperature\": 1}}", &model),
                 ERR_MALFORMED);
    cr_expect_eq(verifier_load_text("{}", 2, &model, NULL), ERR_MALFORMED);
    cr_expect_null(model);
    cr_expect_neq(verifier_load("/nonexistent/verifier.json", &model, NULL), ERR_OK);
    leak_check();
}
