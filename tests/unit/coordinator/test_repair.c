/* Tests repairs: the conditions for a search, its outcome, and failures. No failure may change the answer. */
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
TestSuite(repair, .fini = done);

#define ASK(...) script_ask(&s, 0, NULL, (const char *const[]){__VA_ARGS__, NULL}, 0)

static const char *const sounder[] = {"SELECT fires_1, rows_2", "SELECT rows_1", "SELECT fires_1, rows_3", NULL};

/* Returns the shipped models, with a margin so small that one more silent signal exceeds it. */
static struct scoring_models *lenient_models(void)
{
    struct scoring_models *models = NULL;
    struct err err = {0};
    cr_assert_eq(models_load(&(struct models_files){SOURCE_ROOT "/models", NULL, NULL, NULL}, &models, &err), ERR_OK,
                 "%s", err.text);
    models->threshold = 1e-6;
    models->repair_margin = 1e-6;
    return models;
}

static void open_with(struct msg_options defaults, const char *const *proposals)
{
    if (!defaults.strategy) defaults.strategy = MSG_RERANK;
    script_open_models(&s, lenient_models(), defaults, false);
    s.proposals = proposals;
}

static void open_with_corrector(const char *const *proposals, const char *correction)
{
    script_open_corrector(&s, lenient_models(),
                          (struct msg_options){.strategy = MSG_RERANK, .repair = MSG_REPAIR_APPLY});
    s.proposals = proposals;
    s.correction = correction;
}

static double real(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static const char *last_note(const json_t *verdict)
{
    const json_t *notes = json_object_get(verdict, "notes");
    const char *text = json_string_value(json_array_get(notes, 0));
    return text ? text : "none";
}

static const struct script_task *proposing_task(void)
{
    for (guint i = 0; i < s.tasks->len; i++)
        if (((struct script_task *)s.tasks->pdata[i])->proposes) return s.tasks->pdata[i];
    return NULL;
}

/* Answers tasks until proposals are requested. Returns the task that requests them. */
static const struct script_task *answer_until_proposals(void)
{
    const struct script_task *task = NULL;
    while (s.tasks->len && !(task = proposing_task())) script_answer(&s, 0, 0);
    return task;
}

Test(repair, repair_is_searched_only_on_request)
{
    open_with((struct msg_options){0}, sounder);
    ASK("SELECT fires_4");
    cr_assert_null(answer_until_proposals());
    json_t *v = script_verdict(&s);
    cr_assert_null(json_object_get(v, "repair"));
    json_decref(v);
}

Test(repair, best_proposal_replaces_answer)
{
    open_with((struct msg_options){.repair = MSG_REPAIR_APPLY}, sounder);
    ASK("SELECT fires_4", "SELECT fires_3, rows_4");
    const struct script_task *task = answer_until_proposals();
    cr_assert(task, "proposals are asked for");
    cr_assert_str_eq(task->family, "explain");
    cr_assert_str_eq(task->sql, "SELECT fires_3, rows_4", "of the answer");
    cr_assert_eq(task->n_findings, 3, "with what was found on it");
    script_answer_all(&s, 3, 0);
    json_t *v = script_verdict(&s), *repair = json_object_get(v, "repair");
    cr_assert_str_eq(script_text(v, "status"), "repaired");
    cr_assert_str_eq(script_text(v, "sql"), "SELECT rows_1");
    cr_assert(json_is_null(json_object_get(v, "chosen")), "no candidate is the answer");
    cr_assert_eq(json_array_size(json_object_get(v, "candidates")), 2, "proposals are none");
    cr_assert_str_eq(script_text(repair, "old_sql"), "SELECT fires_3, rows_4");
    cr_assert_eq(json_integer_value(json_object_get(repair, "of")), 1);
    cr_assert_eq(json_integer_value(json_object_get(repair, "proposals")), 3);
    cr_assert(json_is_true(json_object_get(repair, "applied")));
    cr_assert_gt(real(repair, "p_correct"), real(repair, "p_old"));
    cr_assert_float_eq(real(v, "p_correct"), real(repair, "p_correct"), 0);
    cr_assert_gt(json_array_size(json_object_get(repair, "steps")), 0);
    const struct coordinator_repairs counts = core_get_stats(s.core).repairs;
    cr_assert(counts.looked_for == 1 && counts.applied == 1 && counts.proposed == 0 && counts.given_up == 0);
    json_decref(v);
}

/* The P(correct) of each candidate, and all other fields, equal those of a verdict without a repair. */
Test(repair, mode_propose_keeps_answer_and_shows_repair)
{
    json_t *verdicts[2];
    for (unsigned i = 0; i < 2; i++) {
        if (i) script_close(&s);
        open_with((struct msg_options){.repair = i ? MSG_REPAIR_PROPOSE : MSG_REPAIR_OFF}, sounder);
        ASK("SELECT fires_4", "SELECT fires_3, rows_4");
        script_answer_all(&s, 0, 0);
        verdicts[i] = script_verdict(&s);
    }
    const json_t *repair = json_object_get(verdicts[1], "repair");
    cr_assert_str_eq(script_text(repair, "sql"), "SELECT rows_1");
    cr_assert(json_is_false(json_object_get(repair, "applied")));
    json_object_del(verdicts[1], "repair");
    for (unsigned i = 0; i < 2; i++) {
        json_object_del(verdicts[i], "timings");
        json_object_del(verdicts[i], "request_digest");
    }
    cr_assert(json_equal(verdicts[0], verdicts[1]));
    json_decref(verdicts[0]);
    json_decref(verdicts[1]);
}

Test(repair, gain_below_margin_is_not_applied)
{
    open_with((struct msg_options){.repair = MSG_REPAIR_APPLY, .repair_margin = 0.5}, sounder);
    ASK("SELECT fires_2, rows_5");
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_assert_str_eq(script_text(v, "sql"), "SELECT fires_2, rows_5");
    cr_assert(json_is_false(json_object_get(json_object_get(v, "repair"), "applied")), "%s", script_text(v, "status"));
    json_decref(v);
}

Test(repair, unreachable_margin_skips_search)
{
    open_with((struct msg_options){.repair = MSG_REPAIR_APPLY, .repair_margin = 1}, sounder);
    ASK("SELECT rows_1");
    cr_assert_null(answer_until_proposals());
    json_decref(script_verdict(&s));
}

Test(repair, failing_queries_are_repaired_into_running_one)
{
    open_with((struct msg_options){.repair = MSG_REPAIR_APPLY}, sounder);
    ASK("SELECT FROM", "SELECT bad_name");
    const struct script_task *task = answer_until_proposals();
    cr_assert(task);
    cr_assert_str_eq(task->sql, "SELECT bad_name", "the first that parses");
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_assert_str_eq(script_text(v, "status"), "repaired");
    cr_assert(json_is_null(json_object_get(json_object_get(v, "repair"), "p_old")));
    json_decref(v);
}

/* Some proposals equal a candidate that was judged and was not the answer. The others do not parse or run. None of them
 * is a repair. */
Test(repair, candidates_and_failing_queries_are_no_proposals)
{
    static const char *const others[] = {"SELECT rows_4", "SELECT  rows_4", "SELECT FROM", "SELECT bad_name",
                                         "SELECT slow",   "SELECT fires_4", NULL};
    open_with((struct msg_options){.repair = MSG_REPAIR_APPLY}, others);
    s.models->margins[MSG_ORDER_RANKED] = 1; /* keeps the first candidate as the answer */
    script_ask(&s, 0, &(struct msg_options){.order = MSG_ORDER_RANKED},
               (const char *const[]){"SELECT fires_4", "SELECT rows_4", NULL}, 0);
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_assert_str_eq(script_text(v, "sql"), "SELECT fires_4");
    cr_assert_null(json_object_get(v, "repair"));
    json_decref(v);
}

Test(repair, failure_keeps_answer_and_adds_note)
{
    static const char *const none[] = {NULL};
    static const struct {
        const char *const *proposals;
        enum err_code fails; /* error code that the worker reports */
        int64_t now_ns;      /* arrival time of the result; if it is after the deadline, the result is late */
        bool late;
        const char *note;
    } rows[] = {{none, ERR_OK, 0, false, "no repair was found: no similar query applies"},
                {sounder, ERR_DB_UNAVAILABLE, 0, false, "no repair was found: so it is"},
                {sounder, ERR_DEADLINE, 0, false, "no repair was found: the deadline"},
                {sounder, ERR_OK, INT64_C(2000000000), false, "no repair was found: the deadline"},
                {sounder, ERR_OK, INT64_C(2000000000), true, "no repair was found: the deadline"}};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (i) script_close(&s);
        open_with((struct msg_options){.repair = MSG_REPAIR_APPLY, .deadline_ms = 1000}, rows[i].proposals);
        ASK("SELECT fires_3");
        cr_assert(answer_until_proposals(), "row %u", i);
        cr_assert_eq(s.tasks->len, 1);
        if (rows[i].fails)
            script_answer_failed(&s, 0, rows[i].fails, 0);
        else if (rows[i].now_ns && !rows[i].late)
            core_tick(s.core, rows[i].now_ns);
        else
            script_answer(&s, 0, rows[i].now_ns);
        cr_expect_eq(s.tasks->len, rows[i].now_ns && !rows[i].late ? 1 : 0, "row %u: no proposal is judged", i);
        json_t *v = script_verdict(&s);
        cr_expect_str_eq(script_text(v, "sql"), "SELECT fires_3", "row %u", i);
        cr_expect_str_eq(script_text(v, "status"), "validated", "row %u", i);
        cr_expect(strstr(last_note(v), rows[i].note), "row %u: %s", i, last_note(v));
        cr_expect_eq(core_get_stats(s.core).repairs.given_up, 1, "row %u", i);
        cr_expect_eq(core_get_stats(s.core).deadlines, i >= 2, "row %u", i);
        json_decref(v);
    }
}

/* With more time the same request must get a repair, so this verdict is not cached. */
Test(repair, verdict_without_time_for_repair_is_not_cached)
{
    for (unsigned late = 0; late < 2; late++) {
        const struct core_found none = {0};
        if (late) script_close(&s);
        script_open_cache(
            &s, lenient_models(),
            (struct msg_options){.strategy = MSG_RERANK, .repair = MSG_REPAIR_APPLY, .deadline_ms = 1000});
        s.proposals = sounder;
        s.state = "0123456789abcdef0123456789abcdef";
        ASK("SELECT fires_3");
        core_found(s.core, (struct msg_key){0, 0}, &none, 0);
        cr_assert(answer_until_proposals());
        script_answer_all(&s, 0, late ? INT64_C(2000000000) : 0);
        cr_assert_eq(s.verdicts->len, 1);
        cr_expect_eq(s.n_kept, !late);
    }
}

/* The deadline passes while proposals are judged. A search that is not complete is discarded. */
Test(repair, late_judgement_of_proposals_is_discarded)
{
    open_with((struct msg_options){.repair = MSG_REPAIR_APPLY, .deadline_ms = 1000}, sounder);
    ASK("SELECT fires_3");
    cr_assert(answer_until_proposals());
    script_answer(&s, 0, 0);
    cr_assert_gt(s.tasks->len, FAMILIES);
    for (unsigned i = 0; i < FAMILIES; i++) script_answer(&s, 0, 0);
    core_tick(s.core, INT64_C(2000000000));
    json_t *v = script_verdict(&s);
    cr_assert_str_eq(script_text(v, "sql"), "SELECT fires_3");
    cr_assert_null(json_object_get(v, "repair"));
    cr_assert_eq(core_open_requests(s.core), 0);
    json_decref(v);
}

/* A second copy of an earlier explanation arrives. It must not count as the result of this task. */
Test(repair, explanation_is_not_mistaken_for_proposals)
{
    open_with((struct msg_options){.repair = MSG_REPAIR_APPLY}, sounder);
    ASK("SELECT fires_3");
    const struct script_task *task = answer_until_proposals();
    cr_assert(task);
    struct arena arena;
    struct msg_result result;
    struct script_task explains = *task;
    explains.proposes = false;
    arena_init(&arena, 0);
    script_result(&explains, &arena, &result);
    script_send(&s, &result, 0);
    cr_assert_eq(core_get_stats(s.core).stray, 1);
    cr_assert_eq(s.verdicts->len, 0);
    arena_free(&arena);
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_assert_str_eq(script_text(v, "status"), "repaired");
    json_decref(v);
}

Test(repair, no_repair_without_family_explain)
{
    open_with((struct msg_options){.repair = MSG_REPAIR_APPLY, .explain = MSG_EXPLAIN_OFF}, sounder);
    ASK("SELECT fires_3");
    cr_assert_null(answer_until_proposals());
    json_t *v = script_verdict(&s);
    cr_assert(strstr(last_note(v), "no repair was tried"), "%s", last_note(v));
    json_decref(v);
}

Test(repair, candidate_chosen_in_order_is_repaired_too)
{
    open_with((struct msg_options){.repair = MSG_REPAIR_APPLY, .strategy = MSG_FIRST_VALID, .speculate = 3}, sounder);
    s.models->entailment_threshold = s.models->label_threshold = 0;
    ASK("SELECT fires_3", "SELECT fires_2, rows_7", "SELECT rows_8");
    script_answer_all(&s, 5, 0);
    json_t *v = script_verdict(&s);
    cr_assert_str_eq(script_text(v, "status"), "repaired");
    cr_assert_str_eq(script_text(json_object_get(v, "repair"), "old_sql"), "SELECT fires_3",
                     "the first was the answer");
    json_decref(v);
}

Test(repair, long_list_of_proposals_is_truncated)
{
    static char texts[60][32];
    static const char *many[61];
    for (unsigned i = 0; i < 60; i++) {
        g_snprintf(texts[i], sizeof texts[i], "SELECT fires_1, rows_%u", 10 + i);
        many[i] = texts[i];
    }
    open_with((struct msg_options){.repair = MSG_REPAIR_APPLY}, many);
    ASK("SELECT fires_3");
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_assert_eq(json_integer_value(json_object_get(json_object_get(v, "repair"), "proposals")), 40);
    json_decref(v);
}

/* --- a corrector --- */

static const char *const worse[] = {"SELECT fires_2, rows_2", NULL};

Test(repair, query_of_corrector_is_ordinary_proposal)
{
    open_with_corrector(worse, "SELECT rows_9");
    ASK("SELECT fires_3");
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s), *repair = json_object_get(v, "repair"), *told = json_loads(s.told, 0, NULL);
    cr_assert_str_eq(script_text(v, "status"), "repaired");
    cr_assert_str_eq(script_text(v, "sql"), "SELECT rows_9");
    cr_assert_str_eq(script_text(repair, "source"), "mender-1, correct/1");
    cr_assert_eq(json_integer_value(json_object_get(repair, "proposals")), 2);
    cr_assert_str_eq(script_text(told, "question"), "What?");
    cr_assert_str_eq(script_text(told, "sql"), "SELECT fires_3");
    cr_assert_str_eq(script_text(told, "schema"), "t (1 rows)");
    const json_t *finding = json_array_get(json_object_get(told, "findings"), 0);
    cr_assert_str_eq(script_text(finding, "what"), "m");
    cr_assert(json_object_get(finding, "do"), "and what to do about it");
    json_decref(told);
    json_decref(v);
}

Test(repair, correction_that_is_no_better_is_dropped)
{
    open_with_corrector(worse, "SELECT fires_4, rows_9");
    ASK("SELECT fires_3");
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_assert_str_eq(script_text(v, "sql"), "SELECT fires_2, rows_2");
    cr_assert_null(json_object_get(json_object_get(v, "repair"), "source"), "ours");
    json_decref(v);
}

Test(repair, forbidden_query_of_corrector_is_judged_invalid)
{
    static const char *const bad[] = {"DROP TABLE t", "SELECT FROM", "I am sorry", "SELECT fires_3", "SELECT bad_name"};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (i) script_close(&s);
        open_with_corrector(worse, bad[i]);
        ASK("SELECT fires_3");
        script_answer_all(&s, 0, 0);
        json_t *v = script_verdict(&s);
        cr_expect_str_eq(script_text(v, "sql"), "SELECT fires_2, rows_2", "%s", bad[i]);
        json_decref(v);
    }
}

Test(repair, unavailable_corrector_adds_note)
{
    open_with_corrector(sounder, NULL);
    ASK("SELECT fires_3");
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_assert_str_eq(script_text(v, "sql"), "SELECT rows_1", "the other proposals stand");
    cr_assert_str_eq(last_note(v), "the corrector failed: nobody there");
    const struct coordinator_repairs counts = core_get_stats(s.core).repairs;
    cr_assert(counts.corrections == 1 && counts.corrections_failed == 1);
    json_decref(v);
}

Test(repair, late_correction_is_discarded)
{
    open_with_corrector(sounder, "SELECT rows_9");
    s.core->config.defaults.deadline_ms = 1000;
    ASK("SELECT fires_3");
    cr_assert(answer_until_proposals());
    script_answer(&s, 0, 0);
    cr_assert_eq(s.tasks->len, 1, "the corrector is asked");
    script_answer(&s, 0, INT64_C(2000000000));
    json_t *v = script_verdict(&s);
    cr_expect_str_eq(script_text(v, "sql"), "SELECT fires_3");
    cr_expect(strstr(last_note(v), "no repair was found: the deadline"), "%s", last_note(v));
    cr_expect_eq(core_get_stats(s.core).deadlines, 1);
    json_decref(v);
}

Test(repair, corrector_is_called_only_during_repair_search)
{
    open_with_corrector(sounder, "SELECT rows_9");
    s.models->repair_margin = 1;
    ASK("SELECT rows_1");
    script_answer_all(&s, 0, 0);
    cr_assert_null(s.told);
    json_decref(script_verdict(&s));
}

/* Strategy correct judges only the first candidate that executes, and its proposals. */
Test(repair, strategy_correct_judges_only_first_executing_candidate)
{
    open_with((struct msg_options){.strategy = MSG_CORRECT}, sounder);
    ASK("SELECT bad_name", "SELECT fires_3, rows_2", "SELECT rows_9");
    script_answer_all(&s, 0, 0);
    json_t *verdict = script_verdict(&s);
    const json_t *repair = json_object_get(verdict, "repair");
    cr_expect_str_eq(script_text(verdict, "status"), "repaired");
    cr_expect_str_eq(script_text(repair, "old_sql"), "SELECT fires_3, rows_2");
    const json_t *last = json_array_get(json_object_get(verdict, "candidates"), 2);
    cr_expect(json_is_null(json_object_get(last, "p_correct")), "though it is sound, nobody asked about it");
    json_decref(verdict);
}

Test(repair, strategy_correct_without_repair_takes_first_executing)
{
    open_with((struct msg_options){.strategy = MSG_CORRECT}, sounder);
    script_ask(&s, 0, &(struct msg_options){.repair = MSG_REPAIR_OFF},
               (const char *const[]){"SELECT bad_name", "SELECT fires_3, rows_2", "SELECT rows_9", NULL}, 0);
    script_answer_all(&s, 0, 0);
    json_t *verdict = script_verdict(&s);
    cr_expect_str_eq(script_text(verdict, "sql"), "SELECT fires_3, rows_2");
    cr_expect_null(json_object_get(verdict, "repair"));
    json_decref(verdict);
}

/* Proposals that were judged in time count; the others are left out. */
Test(repair, spent_request_judges_no_more_proposals)
{
    open_with((struct msg_options){.repair = MSG_REPAIR_PROPOSE}, sounder);
    s.core->config.max_window = 1;
    ASK("SELECT fires_4");
    cr_assert(answer_until_proposals());
    script_answer(&s, 0, 0);
    s.core->config.max_work_ns = s.spent_ns = 1;
    uint64_t before = s.sent;
    script_answer_all(&s, 0, 0);
    cr_assert_leq(s.sent, before + FAMILIES, "%u more", (unsigned)(s.sent - before));
    json_t *v = script_verdict(&s);
    cr_assert_neq(strcmp(script_text(v, "status"), "failed"), 0);
    json_decref(v);
}
