/* Tests the state machine under the script of script.h: strategies, policies, limits on families and iterations,
 * deadlines. Also tests late and divided results, and the counters of verdicts. */
#include "tests/support/leak.h"
#include "tests/unit/coordinator/script.h"

#include <criterion/criterion.h>
#include <string.h>

static struct script s;

static void done(void)
{
    script_close(&s);
    leak_check();
}
TestSuite(core, .fini = done);

#define ASK(options, ...) script_ask(&s, 0, options, (const char *const[]){__VA_ARGS__, NULL}, 0)

static const json_t *candidate(const json_t *verdict, size_t index)
{
    return json_array_get(json_object_get(verdict, "candidates"), index);
}

static bool was_judged(const json_t *verdict, size_t index)
{
    return json_is_object(json_object_get(candidate(verdict, index), "signals"));
}

static int64_t chosen(const json_t *verdict)
{
    const json_t *value = json_object_get(verdict, "chosen");
    return json_is_integer(value) ? json_integer_value(value) : -1;
}

Test(core, each_family_gets_one_task)
{
    script_open(&s, (struct msg_options){0});
    ASK(NULL, "SELECT rows_1");
    cr_assert_eq(s.tasks->len, FAMILIES);
    cr_assert_eq(core_open_requests(s.core), 1);
    script_answer_all(&s, 0, 0);
    cr_assert_eq(core_open_requests(s.core), 0);
    cr_assert_eq(s.token, (void *)1);
}

Test(core, first_valid_takes_first_candidate_above_threshold)
{
    script_open(&s, (struct msg_options){.strategy = MSG_FIRST_VALID});
    ASK(NULL, "SELECT fires_3", "SELECT rows_1", "SELECT rows_2");
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_assert_str_eq(script_text(v, "status"), "validated");
    cr_assert_eq(chosen(v), 1);
    cr_assert_str_eq(script_text(v, "sql"), "SELECT rows_1");
    cr_assert(was_judged(v, 0));
    cr_assert_not(was_judged(v, 2));
    cr_assert(json_is_null(json_object_get(candidate(v, 2), "p_correct")));
    cr_assert(strstr(script_text(candidate(v, 2), "why"), "not reached"));
    cr_assert_eq(json_integer_value(json_object_get(v, "iterations")), 2);
    cr_assert_eq(s.sent, 2 * FAMILIES + 1, "the third costs nothing, the rows behind the answer one");
    json_decref(v);
}

Test(core, rerank_takes_best_candidate)
{
    script_open(&s, (struct msg_options){.strategy = MSG_RERANK});
    ASK(NULL, "SELECT fires_2", "SELECT fires_1", "SELECT rows_1", "SELECT rows_1 + 0");
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_assert_eq(chosen(v), 2, "the earlier of equals");
    cr_assert_str_eq(script_text(v, "status"), "validated");
    for (unsigned i = 0; i < 4; i++) cr_assert(was_judged(v, i));
    json_decref(v);
}

Test(core, indistinguishable_candidates_never_validate)
{
    script_open(&s, (struct msg_options){.strategy = MSG_RERANK});
    ASK(NULL, "SELECT fires_2", "SELECT rows_1", "SELECT rows_2");
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_assert_str_eq(script_text(v, "status"), "best_effort");
    cr_assert_eq(chosen(v), 1);
    cr_assert_str_eq(script_text(v, "message"),
                     "cannot tell candidates 2 and 3 apart; their results differ: 1 and 2 rows");
    cr_assert(strstr(script_text(json_array_get(json_object_get(v, "candidates"), 2), "why"), "cannot tell"));
    json_decref(v);
    script_close(&s);
    script_open(&s, (struct msg_options){.strategy = MSG_RERANK, .policy = MSG_ABSTAIN});
    ASK(NULL, "SELECT rows_1", "SELECT rows_2");
    script_answer_all(&s, 0, 0);
    v = script_verdict(&s);
    cr_assert_str_eq(script_text(v, "status"), "abstained");
    cr_assert(strstr(script_text(v, "message"), "cannot tell candidates 1 and 2 apart"));
    json_decref(v);
    script_close(&s);
    script_open(&s, (struct msg_options){.strategy = MSG_FIRST_VALID});
    ASK(NULL, "SELECT rows_1", "SELECT rows_2");
    script_answer_all(&s, 0, 0);
    v = script_verdict(&s);
    cr_assert_str_eq(script_text(v, "status"), "validated", "in input order, the others are not compared");
    json_decref(v);
}

Test(core, lead_within_margin_keeps_first_candidate)
{
    script_open(&s, (struct msg_options){.strategy = MSG_RERANK, .order = MSG_ORDER_RANKED});
    s.models->margins[MSG_ORDER_RANKED] = 1;
    ASK(NULL, "SELECT bad_name", "SELECT fires_1", "SELECT rows_1");
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_assert_eq(chosen(v), 1, "the first that executes stays");
    json_decref(v);
}

/* Judges two candidates whose order has no meaning. So the same one must win in either position, and equal ones must
 * tie. */
static json_t *judge_two(enum msg_order order, const char *first, const char *second)
{
    script_open(&s, (struct msg_options){.strategy = MSG_RERANK, .order = order});
    s.models->margins[MSG_ORDER_RANKED] = s.models->margins[MSG_ORDER_SAMPLED] = 1;
    ASK(NULL, first, second);
    script_answer_all(&s, 0, 0);
    json_t *verdict = script_verdict(&s);
    script_close(&s);
    return verdict;
}

Test(core, swapped_unordered_candidates_swap_verdict)
{
    static const char *const pairs[][2] = {
        {"SELECT rows_1", "SELECT rows_2"}, {"SELECT rows_10", "SELECT rows_2"}, {"SELECT fires_1", "SELECT rows_1"}};
    for (unsigned i = 0; i < 6; i++) {
        const char *const *pair = pairs[i / 2];
        enum msg_order order = i % 2 ? MSG_ORDER_UNKNOWN : MSG_ORDER_UNSET;
        json_t *one = judge_two(order, pair[0], pair[1]), *other = judge_two(order, pair[1], pair[0]);
        cr_expect_eq(chosen(one), 1 - chosen(other), "%s, %s", pair[0], pair[1]);
        cr_expect_float_eq(json_real_value(json_object_get(one, "p_correct")),
                           json_real_value(json_object_get(other, "p_correct")), 0);
        json_decref(one);
        json_decref(other);
    }
    script_open(&s, (struct msg_options){0});
}

Test(core, detection_keeps_unsuspected_first_candidate)
{
    script_open(&s, (struct msg_options){.strategy = MSG_DETECT_THEN_RERANK});
    ASK(NULL, "SELECT bad_name", "SELECT rows_1", "SELECT rows_2");
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_assert_eq(chosen(v), 1);
    cr_assert_not(was_judged(v, 2));
    json_decref(v);
}

Test(core, detection_reranks_if_first_is_suspected)
{
    script_open(&s, (struct msg_options){.strategy = MSG_DETECT_THEN_RERANK});
    ASK(NULL, "SELECT fires_4", "SELECT fires_2", "SELECT rows_2");
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_assert_eq(chosen(v), 2);
    cr_assert(was_judged(v, 1));
    json_decref(v);
}

Test(core, policy_decides_result_if_nothing_validates)
{
    static const struct {
        enum msg_policy policy;
        const char *status;
        bool sql, questions;
    } cases[] = {{MSG_BEST_EFFORT, "best_effort", true, false},
                 {MSG_ABSTAIN, "abstained", false, false},
                 {MSG_ASK, "ask", false, true}};
    for (unsigned i = 0; i < 3; i++) {
        if (i) script_close(&s);
        script_open(&s, (struct msg_options){0});
        struct msg_options options = {.policy = cases[i].policy};
        ASK(&options, "SELECT fires_5", "SELECT fires_3");
        script_answer_all(&s, 0, 0);
        json_t *v = script_verdict(&s);
        cr_assert_str_eq(script_text(v, "status"), cases[i].status);
        cr_assert_eq(chosen(v), cases[i].sql ? 1 : -1);
        cr_assert_eq(json_array_size(json_object_get(v, "questions")) > 0, cases[i].questions);
        cr_assert_gt(json_array_size(json_object_get(v, "report")), 0, "the report tells what is wrong with the best");
        json_decref(v);
    }
}

Test(core, unparsable_candidate_sends_no_task)
{
    script_open(&s, (struct msg_options){0});
    ASK(NULL, "SELEC 1", "DELETE FROM t", "SELECT rows_1");
    cr_assert_eq(s.tasks->len, FAMILIES);
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_assert_eq(chosen(v), 2);
    for (unsigned i = 0; i < 2; i++) {
        const json_t *findings = json_object_get(candidate(v, i), "findings");
        cr_assert_str_eq(script_text(json_array_get(findings, 0), "signal"), "invalid_sql");
        cr_assert_float_eq(json_number_value(json_object_get(candidate(v, i), "p_correct")), 0, 0);
    }
    const json_t *data = json_object_get(json_array_get(json_object_get(candidate(v, 1), "findings"), 0), "data");
    cr_assert_str_eq(script_text(data, "code"), "refused");
    cr_assert_eq(json_integer_value(json_object_get(v, "iterations")), 1);
    json_decref(v);
}

Test(core, all_invalid_abstains_with_reason)
{
    script_open(&s, (struct msg_options){0});
    ASK(NULL, "SELEC 1", "SELECT bad_name");
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_assert_str_eq(script_text(v, "status"), "abstained");
    cr_assert_str_eq(script_text(v, "reason"), "invalid_sql");
    cr_assert_eq(chosen(v), -1);
    json_decref(v);
}

Test(core, all_unparsable_needs_no_worker_result)
{
    script_open(&s, (struct msg_options){0});
    ASK(NULL, "SELEC 1");
    cr_assert_eq(s.sent, 0);
    json_t *v = script_verdict(&s);
    cr_assert_str_eq(script_text(v, "reason"), "invalid_sql");
    json_decref(v);
}

Test(core, duplicates_are_judged_once_and_votes_counted)
{
    script_open(&s, (struct msg_options){.strategy = MSG_RERANK});
    ASK(NULL, "SELECT rows_1 FROM t", "select  rows_1 from T", "SELECT rows_2 FROM t");
    cr_assert_eq(s.tasks->len, 2 * FAMILIES);
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_assert_eq(json_integer_value(json_object_get(candidate(v, 1), "same_as")), 0);
    cr_assert_null(json_object_get(candidate(v, 0), "same_as"));
    cr_assert_not(was_judged(v, 1));
    json_decref(v);
}

Test(core, max_iterations_bounds_judged_candidates)
{
    script_open(&s, (struct msg_options){.strategy = MSG_RERANK});
    struct msg_options options = {.max_iterations = 1};
    ASK(&options, "SELEC 1", "SELECT fires_3", "SELECT rows_1");
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_assert_eq(chosen(v), 1);
    cr_assert_eq(s.sent, FAMILIES);
    cr_assert(strstr(script_text(candidate(v, 2), "why"), "max_iterations"));
    json_decref(v);
}

Test(core, request_selects_families)
{
    script_open(&s, (struct msg_options){0});
    struct msg_options options = {.families = (const char *const[]){"join", "structure"}, .n_families = 2};
    ASK(&options, "SELECT 1");
    cr_assert_eq(s.tasks->len, 2);
    script_answer_all(&s, 0, 0);
    cr_assert_eq(s.verdicts->len, 1);
}

Test(core, explanations_can_be_disabled)
{
    script_open(&s, (struct msg_options){0});
    struct msg_options options = {.explain = MSG_EXPLAIN_OFF};
    ASK(&options, "SELECT 1");
    cr_assert_eq(s.tasks->len, FAMILIES - 1);
    for (unsigned i = 0; i < s.tasks->len; i++)
        cr_assert_str_neq(((struct script_task *)s.tasks->pdata[i])->family, "explain");
    script_answer_all(&s, 0, 0);
    cr_assert_eq(s.verdicts->len, 1);
}

Test(core, explain_family_alone_without_explanations_fails)
{
    script_open(&s, (struct msg_options){0});
    struct msg_options options = {
        .explain = MSG_EXPLAIN_OFF, .families = (const char *const[]){"explain"}, .n_families = 1};
    ASK(&options, "SELECT 1");
    json_t *v = script_verdict(&s);
    cr_assert_str_eq(script_text(v, "status"), "failed");
    cr_assert_str_eq(script_text(v, "reason"), "config");
    json_decref(v);
}

Test(core, unknown_family_fails_request)
{
    script_open(&s, (struct msg_options){0});
    struct msg_options options = {.families = (const char *const[]){"astrology"}, .n_families = 1};
    ASK(&options, "SELECT 1");
    json_t *v = script_verdict(&s);
    cr_assert_str_eq(script_text(v, "status"), "failed");
    cr_assert(strstr(script_text(v, "message"), "astrology"));
    json_decref(v);
}

Test(core, request_without_candidates_fails)
{
    script_open(&s, (struct msg_options){0});
    script_ask(&s, 0, NULL, (const char *const[]){NULL}, 0);
    json_t *v = script_verdict(&s);
    cr_assert_str_eq(script_text(v, "status"), "failed");
    cr_assert_str_eq(script_text(v, "reason"), "no_candidates");
    json_decref(v);
}

Test(core, missing_database_fails_request)
{
    script_open(&s, (struct msg_options){0});
    ASK(NULL, "SELECT 1", "SELECT 2");
    while (s.tasks->len) script_answer_failed(&s, 0, ERR_DB_MISSING, 0);
    json_t *v = script_verdict(&s);
    cr_assert_str_eq(script_text(v, "status"), "failed");
    cr_assert_str_eq(script_text(v, "reason"), "db_missing");
    cr_assert_str_eq(script_text(v, "message"), "so it is");
    cr_assert_eq(s.sent, FAMILIES, "the second candidate is not even tried");
    json_decref(v);
}

Test(core, family_without_database_is_unavailable)
{
    script_open(&s, (struct msg_options){0});
    ASK(NULL, "SELECT rows_1");
    script_answer_failed(&s, 0, ERR_DB_MISSING, 0);
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_assert_str_neq(script_text(v, "status"), "failed");
    json_decref(v);
}

Test(core, deadline_gives_best_effort_naming_missing_families)
{
    script_open(&s, (struct msg_options){.strategy = MSG_RERANK});
    struct msg_options options = {.deadline_ms = 10};
    ASK(&options, "SELECT rows_1", "SELECT rows_2");
    cr_assert_eq(((struct script_task *)s.tasks->pdata[0])->deadline_ns, 10000000);
    script_answer(&s, VSIG_EXPLAIN, 0); /* this family has no signals, so none can be missing */
    for (unsigned i = 0; i < FAMILIES - 2; i++) script_answer(&s, 0, 0);
    cr_assert_eq(core_tick(s.core, 9999999), 10000000);
    cr_assert_eq(s.verdicts->len, 0);
    cr_assert_eq(core_tick(s.core, 10000000), 0);
    json_t *v = script_verdict(&s);
    cr_assert_str_eq(script_text(v, "status"), "best_effort", "never validated");
    cr_assert_str_eq(script_text(v, "reason"), "deadline");
    cr_assert_eq(chosen(v), 0);
    cr_assert_eq(json_array_size(json_object_get(v, "unavailable")), FAMILIES, "the second candidate lacks all");
    const char *last = ((struct script_task *)s.tasks->pdata[0])->family;
    unsigned n, lacking = 0;
    const struct vsig_def *const *all = vsig_all(&n);
    for (unsigned i = 0; i < n; i++) {
        const char *state = script_text(json_object_get(candidate(v, 0), "signals"), all[i]->name);
        bool of_last = strcmp(vsig_family_name(all[i]->family), last) == 0 && !all[i]->off_by_default;
        cr_assert_eq(strcmp(state, "unavailable") == 0, of_last, "%s is %s", all[i]->name, state);
        lacking += of_last;
    }
    cr_assert_gt(lacking, 0);
    cr_assert_not(was_judged(v, 1));
    json_decref(v);
    script_answer_all(&s, 0, 0); /* results after this are dropped */
    cr_assert_eq(s.verdicts->len, 1);
    cr_assert_gt(core_get_stats(s.core).stray, 0);
}

/* A worker may report a task as late before the coordinator's own deadline has passed. */
Test(core, late_result_ends_request)
{
    script_open(&s, (struct msg_options){.deadline_ms = 10});
    ASK(NULL, "SELECT rows_1");
    script_answer(&s, 0, 0);
    script_answer_failed(&s, 0, ERR_DEADLINE, 5000000);
    json_t *v = script_verdict(&s);
    cr_assert_str_eq(script_text(v, "status"), "best_effort");
    cr_assert_str_eq(script_text(v, "reason"), "deadline");
    cr_assert_eq(json_array_size(json_object_get(v, "unavailable")), FAMILIES - 1);
    json_decref(v);
}

/* The last result arrives after the deadline, but before the coordinator reads the clock. It counts, and the verdict is
 * not validated. */
Test(core, result_past_deadline_does_not_validate)
{
    script_open(&s, (struct msg_options){.deadline_ms = 10});
    ASK(NULL, "SELECT rows_1");
    while (s.tasks->len > 1) script_answer(&s, 0, 0);
    script_answer(&s, 0, 10000000);
    json_t *v = script_verdict(&s);
    cr_assert_str_eq(script_text(v, "status"), "best_effort");
    cr_assert_str_eq(script_text(v, "reason"), "deadline");
    cr_assert_null(json_object_get(v, "unavailable"));
    json_decref(v);
}

/* Answers all tasks of the first candidate in flight. One of their results reports `ns` of work. */
static void answer_after(int64_t ns, int64_t now_ns)
{
    for (unsigned i = 0; i < FAMILIES; i++) {
        s.spent_ns = i ? 0 : ns;
        script_answer(&s, 0, now_ns);
    }
}

Test(core, cancelled_request_fails_and_others_continue)
{
    script_open(&s, (struct msg_options){.strategy = MSG_RERANK});
    script_ask_json(&s, (struct msg_key){0, 1}, "{\"db\":\"d\",\"candidates\":[\"SELECT rows_1\"]}", 0);
    script_ask_json(&s, (struct msg_key){0, 2}, "{\"db\":\"d\",\"candidates\":[\"SELECT rows_2\"]}", 0);
    cr_expect_not(core_cancel(s.core, 9, 0));
    cr_assert_eq(s.verdicts->len, 0);
    struct request *first = g_hash_table_lookup(s.core->open, &(struct msg_key){0, 1});
    first->message->tag = 7; /* a field that JSON does not have */
    cr_expect(core_cancel(s.core, 7, 0));
    json_t *v = script_verdict(&s);
    cr_assert_str_eq(script_text(v, "status"), "failed");
    cr_assert_str_eq(script_text(v, "reason"), "cancelled");
    json_decref(v);
    script_answer_all(&s, 0, 0);
    cr_assert_eq(s.verdicts->len, 2);
}

enum { WORK_NS = 1000 };

static void open_with_budget(struct msg_options options)
{
    script_open(&s, options);
    s.core->config.max_work_ns = WORK_NS;
}

Test(core, spent_request_sends_no_more_tasks)
{
    open_with_budget((struct msg_options){.strategy = MSG_FIRST_VALID});
    ASK(NULL, "SELECT fires_5", "SELECT rows_2", "SELECT rows_3");
    answer_after(WORK_NS, 0);
    cr_assert_eq(s.sent, FAMILIES, "the first candidate alone");
    json_t *v = script_verdict(&s);
    cr_assert_str_eq(script_text(v, "status"), "best_effort");
    cr_assert_str_eq(script_text(v, "reason"), "deadline");
    cr_assert_eq(json_array_size(json_object_get(v, "unavailable")), FAMILIES);
    cr_assert_not(was_judged(v, 1));
    json_decref(v);
}

Test(core, spent_request_with_all_results_is_decided)
{
    open_with_budget((struct msg_options){.strategy = MSG_RERANK});
    ASK(NULL, "SELECT rows_1");
    answer_after(WORK_NS, 0);
    json_t *v = script_verdict(&s);
    cr_assert_null(json_object_get(v, "reason"));
    json_decref(v);
}

Test(core, task_deadline_is_within_remaining_budget)
{
    open_with_budget((struct msg_options){.strategy = MSG_FIRST_VALID});
    ASK(NULL, "SELECT fires_5", "SELECT rows_2");
    cr_assert_eq(((struct script_task *)s.tasks->pdata[0])->deadline_ns, WORK_NS);
    answer_after(400, 100);
    cr_assert_eq(((struct script_task *)s.tasks->pdata[0])->deadline_ns, 100 + WORK_NS - 400);
    script_answer_all(&s, 0, 100);
}

/* After an outage, the request has been in its topic for longer than its deadline. */
Test(core, expired_request_sends_no_tasks)
{
    script_open(&s, (struct msg_options){.deadline_ms = 10});
    s.lay_ns = 10000000;
    script_ask(&s, 0, NULL, (const char *const[]){"SELECT rows_1", "SELECT rows_2", NULL}, 20000000);
    cr_assert_eq(s.sent, 0);
    json_t *v = script_verdict(&s);
    cr_assert_str_eq(script_text(v, "status"), "abstained");
    cr_assert_str_eq(script_text(v, "reason"), "deadline");
    cr_assert_not(was_judged(v, 0));
    cr_assert_eq(core_get_stats(s.core).deadlines, 1);
    json_decref(v);
}

Test(core, deadline_abstains_under_policy_abstain)
{
    script_open(&s, (struct msg_options){.policy = MSG_ABSTAIN, .deadline_ms = 1});
    ASK(NULL, "SELECT rows_1");
    core_tick(s.core, 2000000);
    json_t *v = script_verdict(&s);
    cr_assert_str_eq(script_text(v, "status"), "abstained");
    cr_assert_str_eq(script_text(v, "reason"), "deadline");
    json_decref(v);
}

Test(core, abstention_reports_its_causes)
{
    static const struct {
        const char *sql, *cause;
    } rows[] = {{"SELECT rows_1", "not enough evidence"},
                {"SELECT bad_name", "misalignment"},
                {"SELECT fires_5", "misalignment"},
                {"SELECT (", "misalignment"}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        script_open(&s, (struct msg_options){.policy = MSG_ABSTAIN, .threshold = 1});
        ASK(NULL, rows[i].sql);
        script_answer_all(&s, 0, 0);
        json_t *v = script_verdict(&s);
        cr_expect_str_eq(script_text(v, "status"), "abstained");
        cr_expect_str_eq(script_text(v, "cause"), rows[i].cause, "%s", rows[i].sql);
        json_decref(v);
        script_close(&s);
    }
    script_open(&s, (struct msg_options){.policy = MSG_BEST_EFFORT, .threshold = 1});
    ASK(NULL, "SELECT rows_1");
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_expect_null(json_object_get(v, "cause"), "there is an answer");
    json_decref(v);
}

Test(core, candidate_that_timed_out_is_not_preferred)
{
    script_open(&s, (struct msg_options){.strategy = MSG_RERANK});
    ASK(NULL, "SELECT slow", "SELECT fires_3");
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_assert_eq(chosen(v), 1);
    json_decref(v);
}

Test(core, stray_results_change_nothing)
{
    struct arena arena;
    struct msg_result result;
    script_open(&s, (struct msg_options){0});
    ASK(NULL, "SELECT rows_1");
    arena_init(&arena, 0);
    const struct script_task *task = s.tasks->pdata[0];
    script_result(task, &arena, &result);
    cr_assert_eq(script_send(&s, &result, 0), ERR_OK);
    cr_assert_eq(script_send(&s, &result, 0), ERR_OK, "a second time");
    cr_assert_eq(core_get_stats(s.core).stray, 1);
    result.hash[0]++;
    script_send(&s, &result, 0);
    result.hash[0]--;
    result.family = "astrology";
    script_send(&s, &result, 0);
    result.key.offset = 99;
    script_send(&s, &result, 0);
    cr_assert_eq(core_get_stats(s.core).stray, 4);
    arena_free(&arena);
    script_answer_all(&s, 0, 0);
    cr_assert_eq(s.verdicts->len, 1);
}

/* Returns one message with the results of the first n tasks. If there are fewer tasks, the last result repeats. The
 * caller frees it. */
static struct msg_buffer results_in_one(unsigned n)
{
    struct msg_buffer message = {0};
    struct arena arena;
    arena_init(&arena, 0);
    for (unsigned i = 0; i < n; i++) {
        struct msg_result result;
        script_result(s.tasks->pdata[MIN(i, s.tasks->len - 1)], &arena, &result);
        cr_assert_eq(msg_append_result(&message, &result), ERR_OK);
    }
    arena_free(&arena);
    return message;
}

/* One message has the results of all families. Results after the end of the request are dropped. */
Test(core, results_may_share_a_message)
{
    struct err err = {0};
    script_open(&s, (struct msg_options){0});
    ASK(NULL, "SELECT rows_1");
    const unsigned families = s.tasks->len;
    const struct script_task *task = s.tasks->pdata[0];
    struct msg_buffer message = results_in_one(families + 1);
    cr_assert_gt(families, 1);
    cr_assert_eq(core_result(s.core, task->key, message.bytes, message.len, 0, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(s.verdicts->len, 1, "one message answered them all");
    cr_assert_eq(core_get_stats(s.core).results, families + 1);
    cr_assert_eq(core_get_stats(s.core).stray, 1);
    msg_buffer_free(&message);
}

/* Results before the damaged bytes count. The families of the results after them answer again on redelivery. */
Test(core, truncated_message_counts_up_to_damage)
{
    struct err err = {0};
    script_open(&s, (struct msg_options){0});
    ASK(NULL, "SELECT rows_1");
    const struct script_task *first = s.tasks->pdata[0], *second = s.tasks->pdata[1];
    struct msg_buffer message = results_in_one(2);
    cr_assert_eq(core_result(s.core, first->key, message.bytes, message.len - 1, 0, &err), ERR_MALFORMED);
    cr_assert_not(core_awaits(s.core, first->key, first->hash, first->family));
    cr_assert(core_awaits(s.core, second->key, second->hash, second->family));
    msg_buffer_free(&message);
    script_answer_all(&s, 0, 0);
    cr_assert_eq(s.verdicts->len, 1);
}

/* The index of the candidate in a result is only a hint, because after a restart candidates may have other numbers. */
Test(core, results_match_by_content_not_by_index)
{
    script_open(&s, (struct msg_options){.strategy = MSG_RERANK});
    ASK(NULL, "SELECT fires_3", "SELECT rows_1");
    struct arena arena;
    arena_init(&arena, 0);
    while (s.tasks->len) {
        struct msg_result result;
        struct script_task *task = s.tasks->pdata[0];
        script_result(task, &arena, &result);
        result.candidate = 1 - result.candidate;
        script_send(&s, &result, 0);
        g_ptr_array_remove_index(s.tasks, 0);
    }
    arena_free(&arena);
    json_t *v = script_verdict(&s);
    cr_assert_eq(chosen(v), 1);
    json_decref(v);
}

Test(core, unreadable_requests_and_results_are_reported)
{
    struct err err = {0};
    script_open(&s, (struct msg_options){0});
    core_request(s.core,
                 &(struct core_incoming){
                     .key = {0, 5}, .token = (void *)77, .bytes = "junk", .len = 4, .type = EDGE_TYPE_MSGPACK},
                 0);
    cr_assert_eq(s.dead->len, 1);
    cr_assert_eq(s.token, (void *)77);
    cr_assert_eq(core_open_requests(s.core), 0);
    ASK(NULL, "SELECT 1");
    cr_assert_eq(core_result(s.core, (struct msg_key){0, 0}, "junk", 4, 0, &err), ERR_MALFORMED);
    script_answer_all(&s, 0, 0);
    cr_assert_eq(s.verdicts->len, 1);
}

/* Returns the verdict on a candidate whose first family has no result. The core reports the failure itself (`is_told`),
 * or a result does. */
static char *without_first_family(bool is_told)
{
    script_open(&s, (struct msg_options){0});
    ASK(NULL, "SELECT 1 AS rows_1");
    const struct script_task *task = s.tasks->pdata[0];
    struct err why;
    err_set(&why, ERR_LIMIT_BYTES, "so it is");
    if (is_told) {
        const char *family = vsig_family_name((enum vsig_family)vsig_family_by_name(task->family));
        for (int i = 0; i < 2; i++) core_unavailable(s.core, task->key, task->hash, family, &why, 0);
        cr_expect_eq(core_get_stats(s.core).stray, 1, "nobody waits for it any more");
        g_ptr_array_remove_index(s.tasks, 0);
    } else {
        script_answer_failed(&s, 0, ERR_LIMIT_BYTES, 0);
    }
    script_answer_all(&s, 0, 0);
    cr_assert_eq(s.verdicts->len, 1);
    char *text = g_strdup(s.verdicts->pdata[0]);
    script_close(&s);
    return text;
}

Test(core, unsendable_task_equals_failed_result)
{
    char *said = without_first_family(false), *told = without_first_family(true);
    cr_expect(strstr(said, "limit_bytes"));
    cr_expect_str_eq(said, told);
    g_free(said);
    g_free(told);
    script_open(&s, (struct msg_options){0}); /* freed at the end of the suite */
}

Test(core, request_without_id_is_identified_by_position)
{
    struct msg_candidate one = {.sql = {"SELEC", 5}, .score = NAN};
    struct msg_request request = {.db = "d", .candidates = &one, .n_candidates = 1};
    struct msg_buffer buffer = {0};
    script_open(&s, (struct msg_options){0});
    cr_assert_eq(msg_encode_request(&buffer, &request), ERR_OK);
    core_request(
        s.core,
        &(struct core_incoming){.key = {3, 41}, .bytes = buffer.bytes, .len = buffer.len, .type = EDGE_TYPE_MSGPACK},
        0);
    msg_buffer_free(&buffer);
    json_t *v = script_verdict(&s);
    cr_assert_str_eq(script_text(v, "id"), "3-41");
    json_decref(v);
}

Test(core, threshold_precedence_is_request_configuration_model)
{
    static const struct {
        struct msg_options defaults, asked;
        double expected;
    } cases[] = {{{0}, {0}, 0.5},
                 {{.threshold = 0.6}, {0}, 0.6},
                 {{.alpha = 0.1}, {0}, 0.9},
                 {{.threshold = 0.6}, {.alpha = 0.2}, 0.8},
                 {{.threshold = 0.6}, {.threshold = 0.7, .alpha = 0.2}, 0.7}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (i) script_close(&s);
        script_open(&s, cases[i].defaults);
        ASK(&cases[i].asked, "SELECT 1");
        script_answer_all(&s, 0, 0);
        json_t *v = script_verdict(&s);
        cr_assert_float_eq(json_number_value(json_object_get(v, "threshold")), cases[i].expected, 1e-9, "case %u", i);
        json_decref(v);
    }
}

Test(core, report_groups_clauses_by_label)
{
    script_open(&s, (struct msg_options){0});
    ASK(NULL, "SELECT fires_2");
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    const json_t *report = json_object_get(v, "report");
    cr_assert_eq(json_array_size(report), 2);
    const json_t *first = json_array_get(report, 0);
    const struct vsig_def *def = vsig_by_name(script_text(first, "signal"));
    cr_assert(def);
    cr_assert_str_eq(script_text(first, "cause"), vsig_cause_name(def->cause));
    cr_assert_str_eq(script_text(first, "description"), def->description);
    const json_t *where = json_object_get(json_object_get(first, "clauses"), "WHERE");
    cr_assert_eq(json_array_size(where), 1);
    json_decref(v);
}

Test(core, requests_are_independent)
{
    script_open(&s, (struct msg_options){0});
    for (int64_t i = 0; i < 20; i++)
        script_ask(&s, i, NULL, (const char *const[]){i % 2 ? "SELECT fires_5" : "SELECT rows_1", NULL}, 0);
    cr_assert_eq(core_open_requests(s.core), 20);
    script_answer_all(&s, 99, 0);
    cr_assert_eq(s.verdicts->len, 20);
    unsigned validated = 0;
    for (unsigned i = 0; i < 20; i++) validated += strstr(s.verdicts->pdata[i], "\"validated\"") != NULL;
    cr_assert_eq(validated, 10);
}

/* Tests the sums that a dashboard shows. */
Test(core, verdicts_are_counted_by_status_and_reason)
{
    script_open(&s, (struct msg_options){.strategy = MSG_RERANK});
    ASK(NULL, "SELECT rows_1");
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    double p = json_real_value(json_object_get(v, "p_correct"));
    json_decref(v);
    struct coordinator_quality quality = core_get_stats(s.core).quality;
    cr_assert_eq(quality.answers_by_p[(unsigned)(p * COORDINATOR_P_RANGES)], 1);
    cr_assert_float_eq(quality.p_sum, p, 1e-6); /* JSON has a rounded number */
    const struct msg_options abstain = {.strategy = MSG_RERANK, .policy = MSG_ABSTAIN, .threshold = 1};
    script_ask(&s, 1, &abstain, (const char *const[]){"SELECT fires_3", NULL}, 0);
    script_answer_all(&s, 0, 0);
    script_ask(&s, 2, &abstain, (const char *const[]){"SELECT rows_1", NULL}, 0);
    script_answer_all(&s, 0, 0);
    script_ask(&s, 3, NULL, (const char *const[]){NULL}, 0);
    quality = core_get_stats(s.core).quality;
    unsigned unanswered = 0;
    for (unsigned i = 0; i <= VSIG_CAUSE_COUNT; i++) unanswered += (unsigned)quality.unanswered[i];
    cr_assert_eq(unanswered, 2, "one that failed is neither");
    cr_assert_eq(quality.unanswered[VSIG_CAUSE_COUNT], 1, "nothing spoke against the second one");
    cr_assert_float_eq(quality.p_sum, p, 1e-6);
    cr_assert_eq(core_get_stats(s.core).by_status[MSG_STATUS_FAILED], 1);
}
