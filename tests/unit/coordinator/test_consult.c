/* Tests how the coordinator asks a language model for its opinion: the conditions for a request, and the bounds on the
 * wait. */
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
TestSuite(consult, .fini = done);

#define ASK(...) script_ask(&s, 0, NULL, (const char *const[]){__VA_ARGS__, NULL}, 0)

enum { WAIT_MS = 100 };

static void open_with(enum msg_strategy strategy, int64_t deadline_ms)
{
    script_open(&s, (struct msg_options){.strategy = strategy, .threshold = 0.3, .deadline_ms = deadline_ms});
    s.core->config.llm = (struct coordinator_llm){.on = true, .low = 0, .high = 1, .wait_ms = WAIT_MS, .hit_rate = 0.9};
}

static const struct script_task *task(unsigned place)
{
    cr_assert_lt(place, s.tasks->len);
    return s.tasks->pdata[place];
}

static void answer_the_others(void)
{
    while (s.tasks->len && strcmp(task(0)->family, "llm") != 0) script_answer(&s, 0, 0);
}

Test(consult, llm_task_follows_other_families)
{
    open_with(MSG_RERANK, 0);
    ASK("SELECT rows_1", "SELECT fires_3");
    for (guint i = 0; i < s.tasks->len; i++) cr_expect_str_neq(task(i)->family, "llm");
    answer_the_others();
    cr_assert_eq(s.tasks->len, 1);
    cr_expect_eq(task(0)->candidate, 0, "the one that would be the answer");
    cr_expect_eq(s.verdicts->len, 0);
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_expect_str_eq(script_text(v, "status"), "validated");
    const json_t *signals = json_object_get(json_array_get(json_object_get(v, "candidates"), 0), "signals");
    cr_expect_str_eq(script_text(signals, "self_check"), "silent");
    cr_expect_null(
        json_object_get(json_object_get(json_array_get(json_object_get(v, "candidates"), 1), "signals"), "self_check"));
    json_decref(v);
}

/* Judges two candidates in order. The model is asked about the first one and rejects it. */
static void ask_rejected(int64_t deadline_ms)
{
    char rejected[96] = "SELECT rows_1, states_";
    unsigned n;
    const struct vsig_def *const *all = vsig_all(&n);
    for (unsigned i = 0; i < n; i++) strcat(rejected, all[i]->family == VSIG_LLM ? "f" : "s");
    open_with(MSG_FIRST_VALID, deadline_ms);
    s.core->config.llm.hit_rate = 0.99;
    ASK(rejected, "SELECT rows_2");
    answer_the_others();
    cr_assert_eq(s.tasks->len, 1);
    cr_assert_eq(s.sent, FAMILIES + 1);
}

/* Candidates are judged in order. The model is asked about the first one that passes, and the next ones are judged only
 * if it rejects that one. */
Test(consult, rejected_candidate_passes_turn_to_next)
{
    ask_rejected(0);
    script_answer(&s, 0, 0);
    cr_expect_eq(s.sent, 2 * FAMILIES + 1, "now the second is judged");
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_expect_eq(json_integer_value(json_object_get(v, "chosen")), 1);
    json_decref(v);
}

Test(consult, next_candidate_is_not_judged_past_deadline)
{
    ask_rejected(50);
    script_answer(&s, 0, INT64_C(1000000) * 50);
    cr_expect_eq(s.sent, FAMILIES + 1);
    json_t *v = script_verdict(&s);
    cr_expect_str_eq(script_text(v, "reason"), "deadline");
    json_decref(v);
}

Test(consult, missing_opinion_does_not_delay_verdict)
{
    static const enum msg_strategy strategies[] = {MSG_RERANK, MSG_FIRST_VALID};
    for (unsigned i = 0; i < 2; i++) {
        open_with(strategies[i], 0);
        ASK("SELECT rows_1", "SELECT fires_3");
        answer_the_others();
        cr_assert_eq(s.verdicts->len, 0);
        cr_expect_eq(core_tick(s.core, 1), INT64_C(1000000) * WAIT_MS, "when to come again");
        core_tick(s.core, INT64_C(1000000) * WAIT_MS);
        script_answer_all(&s, 0, INT64_C(1000000) * WAIT_MS);
        json_t *v = script_verdict(&s);
        cr_expect_str_eq(script_text(v, "status"), "validated", "it was judged, only not by the model");
        cr_expect_null(json_object_get(v, "unavailable"));
        const json_t *signals = json_object_get(json_array_get(json_object_get(v, "candidates"), 0), "signals");
        cr_expect_str_eq(script_text(signals, "self_check"), "unavailable");
        json_decref(v);
        if (!i) script_close(&s);
    }
}

/* An unavailable model makes a request wait. After the first failure, no request asks the model for as long as this
 * wait lasted. Verdicts report this. */
Test(consult, unavailable_model_opens_the_circuit)
{
    open_with(MSG_RERANK, 0);
    int64_t wait_ns = INT64_C(1000000) * WAIT_MS;
    ASK("SELECT rows_1");
    answer_the_others();
    core_tick(s.core, wait_ns);
    while (s.tasks->len) script_answer(&s, 0, wait_ns); /* these results are too late */
    script_ask(&s, 1, NULL, (const char *const[]){"SELECT rows_1", NULL}, wait_ns);
    while (s.tasks->len) script_answer(&s, 0, wait_ns);
    json_t *second = json_loads(s.verdicts->pdata[1], 0, NULL);
    const char *note = json_string_value(json_array_get(json_object_get(second, "notes"), 0));
    cr_expect(note && strstr(note, "no language model was asked"), "%s", note);
    json_decref(second);
    script_ask(&s, 2, NULL, (const char *const[]){"SELECT rows_1", NULL}, 2 * wait_ns);
    while (s.tasks->len && strcmp(task(0)->family, "llm") != 0) script_answer(&s, 0, 2 * wait_ns);
    cr_assert_eq(s.tasks->len, 1, "then it is asked again");
    script_answer(&s, 0, 2 * wait_ns);
    cr_expect_eq(s.verdicts->len, 3);
}

Test(consult, late_opinion_at_worker_ends_no_request)
{
    open_with(MSG_RERANK, 1000);
    ASK("SELECT rows_1", "SELECT fires_3");
    answer_the_others();
    cr_assert_eq(task(0)->deadline_ns, INT64_C(1000000) * WAIT_MS);
    script_answer_failed(&s, 0, ERR_DEADLINE, 0);
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_expect_str_eq(script_text(v, "status"), "validated");
    json_decref(v);
}

Test(consult, request_deadline_keeps_answer_without_opinion)
{
    open_with(MSG_RERANK, 50);
    ASK("SELECT rows_1", "SELECT fires_3");
    answer_the_others();
    core_tick(s.core, INT64_C(1000000) * 50);
    json_t *v = script_verdict(&s);
    cr_expect_str_eq(script_text(v, "status"), "validated");
    json_decref(v);
}
