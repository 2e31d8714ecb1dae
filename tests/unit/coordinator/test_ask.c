/* Tests policy ask: the conditions for a clarification question, the effect of its answer, and the refusal of every
 * other answer. */
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
TestSuite(ask, .fini = done);

/* Two readings with similar probabilities, and an improbable one. */
static const char TWO_READINGS[] =
    "\"candidates\":[\"SELECT rows_1, fires_1\",\"SELECT rows_2, fires_1\",\"SELECT rows_1, fires_1, 1\"]";

static void ask_line(int64_t number, const char *candidates, const char *more)
{
    char line[2048];
    snprintf(line, sizeof line, "{\"id\":\"r\",\"db\":\"d\",\"question\":\"What?\",%s%s}", candidates, more);
    script_ask_json(&s, (struct msg_key){0, number}, line, 0);
}

static void open_asking(void)
{
    script_open(&s, (struct msg_options){.strategy = MSG_RERANK, .policy = MSG_ASK, .ask_gain = 0.01});
}

static json_t *last_verdict(void)
{
    cr_assert_gt(s.verdicts->len, 0);
    json_t *verdict = json_loads(s.verdicts->pdata[s.verdicts->len - 1], 0, NULL);
    cr_assert(verdict);
    return verdict;
}

static json_t *choices_of(const json_t *verdict)
{
    return json_object_get(json_object_get(verdict, "clarification"), "choices");
}

static char *answer_to(const json_t *verdict, size_t choice)
{
    const json_t *asked = json_object_get(verdict, "clarification");
    return g_strdup_printf(",\"answers\":[{\"question\":\"%s\",\"choice\":\"%s\"}]", script_text(asked, "id"),
                           script_text(json_array_get(choices_of(verdict), choice), "id"));
}

/* Judges two rounds; the second one has the answer `choice`. Returns its verdict. */
static json_t *answered(size_t choice)
{
    ask_line(0, TWO_READINGS, "");
    script_answer_all(&s, 0, 1);
    json_t *first = last_verdict();
    cr_assert_str_eq(script_text(first, "status"), "ask");
    char *answer = answer_to(first, choice);
    ask_line(1, TWO_READINGS, answer);
    script_answer_all(&s, 0, 1);
    g_free(answer);
    json_decref(first);
    return last_verdict();
}

Test(ask, differing_readings_are_asked_about)
{
    open_asking();
    ask_line(0, TWO_READINGS, "");
    script_answer_all(&s, 0, 1);
    json_t *verdict = last_verdict(), *asked = json_object_get(verdict, "clarification");
    cr_assert_str_eq(script_text(verdict, "status"), "ask");
    cr_assert_str_eq(script_text(verdict, "sql"), "null");
    cr_assert_str_eq(script_text(asked, "question"), "Which?");
    cr_assert_eq(json_array_size(choices_of(verdict)), 3, "two readings, and none of these");
    cr_assert_eq(json_integer_value(json_object_get(json_array_get(choices_of(verdict), 0), "rows")), 1);
    cr_assert_eq(json_integer_value(json_object_get(json_array_get(choices_of(verdict), 1), "rows")), 2);
    cr_assert_str_eq(script_text(json_array_get(choices_of(verdict), 2), "id"), "none");
    cr_assert_geq(json_real_value(json_object_get(asked, "gain")), 0.01);
    cr_assert_eq(json_array_size(json_object_get(verdict, "questions")), 0);
    json_decref(verdict);
}

Test(ask, confident_answer_is_not_questioned)
{
    open_asking();
    ask_line(0, "\"candidates\":[\"SELECT rows_1\",\"SELECT rows_2, fires_5\"]", "");
    script_answer_all(&s, 0, 1);
    json_t *verdict = last_verdict();
    cr_assert_str_eq(script_text(verdict, "status"), "validated");
    cr_assert_null(json_object_get(verdict, "clarification"));
    json_decref(verdict);
}

Test(ask, equal_readings_give_no_question)
{
    open_asking();
    ask_line(0, "\"candidates\":[\"SELECT rows_1, fires_1\",\"SELECT rows_1, fires_1, 1\"]", "");
    script_answer_all(&s, 0, 1);
    json_t *verdict = last_verdict();
    cr_assert_null(json_object_get(verdict, "clarification"));
    json_decref(verdict);
}

Test(ask, answer_selects_reading)
{
    open_asking();
    json_t *verdict = answered(1);
    cr_assert_str_eq(script_text(verdict, "status"), "validated");
    cr_assert_str_eq(script_text(verdict, "sql"), "SELECT rows_2, fires_1");
    cr_assert_gt(json_real_value(json_object_get(verdict, "p_correct")), 0.8);
    const json_t *first = json_array_get(json_object_get(verdict, "candidates"), 0);
    cr_assert_lt(json_real_value(json_object_get(first, "p_correct")), 0.2);
    cr_assert_eq(json_array_size(json_object_get(verdict, "answers")), 1, "the verdict names what decided");
    json_decref(verdict);
}

Test(ask, answer_none_excludes_all_offered_queries)
{
    open_asking();
    json_t *verdict = answered(2);
    cr_assert_str_neq(script_text(verdict, "status"), "validated");
    const json_t *first = json_array_get(json_object_get(verdict, "candidates"), 0);
    cr_assert_lt(json_real_value(json_object_get(first, "p_correct")), 0.5);
    json_decref(verdict);
}

/* The query of the chosen reading does not run in this round. No other candidate may replace it. */
Test(ask, chosen_query_that_fails_gives_no_answer)
{
    static const char candidates[] =
        "\"candidates\":[\"SELECT rows_1, fires_1\",\"SELECT rows_2, fires_1\",\"SELECT slow, rows_3\"]";
    char slow[17] = "", answers[256];
    open_asking();
    ask_line(0, candidates, "");
    while (s.tasks->len) {
        const struct script_task *task = s.tasks->pdata[0];
        if (task->candidate == 2) g_snprintf(slow, sizeof slow, "%016llx", (unsigned long long)task->hash[0]);
        script_answer(&s, 0, 1);
    }
    json_t *first = last_verdict();
    snprintf(answers, sizeof answers, ",\"answers\":[{\"question\":\"%s\",\"choice\":\"%s\"}]",
             script_text(json_object_get(first, "clarification"), "id"), slow);
    ask_line(1, candidates, answers);
    script_answer_all(&s, 0, 1);
    json_t *verdict = last_verdict();
    cr_expect_str_neq(script_text(verdict, "status"), "validated");
    cr_expect_lt(
        json_real_value(json_object_get(json_array_get(json_object_get(verdict, "candidates"), 0), "p_correct")), 0.5);
    json_decref(first);
    json_decref(verdict);
}

static void refused(const char *candidates, const char *answers, const char *why)
{
    guint before = s.verdicts->len;
    ask_line(7, candidates, answers);
    cr_assert_eq(s.verdicts->len, before + 1, "before any task");
    json_t *verdict = last_verdict();
    cr_assert_str_eq(script_text(verdict, "status"), "failed");
    cr_assert_str_eq(script_text(verdict, "reason"), "malformed");
    cr_assert(strstr(script_text(verdict, "message"), why), "%s", script_text(verdict, "message"));
    json_decref(verdict);
}

Test(ask, answer_to_unasked_question_is_refused)
{
    open_asking();
    ask_line(0, TWO_READINGS, "");
    script_answer_all(&s, 0, 1);
    json_t *first = last_verdict();
    char *answer = answer_to(first, 1), twice[512], other[512];
    const char *id = script_text(json_object_get(first, "clarification"), "id");
    refused(TWO_READINGS, ",\"answers\":[{\"question\":\"0000000000000000\",\"choice\":\"none\"}]", "was not asked");
    refused("\"candidates\":[\"SELECT rows_1\"]", answer, "was not asked");
    snprintf(other, sizeof other, ",\"answers\":[{\"question\":\"%s\",\"choice\":\"0123456789abcdef\"}]", id);
    refused(TWO_READINGS, other, "has an unknown choice");
    snprintf(twice, sizeof twice,
             ",\"answers\":[{\"question\":\"%s\",\"choice\":\"none\"},{\"question\":\"%s\",\"choice\":\"none\"}]", id,
             id);
    refused(TWO_READINGS, twice, "answered twice");
    g_free(answer);
    json_decref(first);
}

Test(ask, question_without_wording_falls_back_to_policy)
{
    open_asking();
    ask_line(0, TWO_READINGS, "");
    while (s.tasks->len > 1 || !((struct script_task *)s.tasks->pdata[0])->n_readings) script_answer(&s, 0, 1);
    script_answer_failed(&s, 0, ERR_REFUSED, 1);
    script_answer_all(&s, 0, 1);
    json_t *verdict = last_verdict();
    cr_assert_null(json_object_get(verdict, "clarification"));
    cr_assert(strstr(json_string_value(json_array_get(json_object_get(verdict, "notes"), 0)), "so it is"));
    json_decref(verdict);
}

Test(ask, late_wording_is_not_awaited)
{
    open_asking();
    ask_line(0, TWO_READINGS, ",\"deadline_ms\":1");
    while (s.tasks->len > 1 || !((struct script_task *)s.tasks->pdata[0])->n_readings) script_answer(&s, 0, 1);
    core_tick(s.core, 2000000);
    json_t *verdict = last_verdict();
    cr_assert_null(json_object_get(verdict, "clarification"));
    json_decref(verdict);
    script_answer(&s, 0, 2000001);
    cr_assert_eq(s.verdicts->len, 1, "stray");
}

Test(ask, wording_is_not_requested_past_deadline)
{
    open_asking();
    s.core->config.llm = (struct coordinator_llm){.on = true, .low = 0, .high = 1};
    ask_line(0, TWO_READINGS, ",\"deadline_ms\":1");
    while (s.tasks->len && strcmp(((struct script_task *)s.tasks->pdata[0])->family, "llm") != 0)
        script_answer(&s, 0, 1);
    cr_assert_eq(s.tasks->len, 1);
    uint64_t sent = s.sent;
    script_answer(&s, 0, 2000000);
    cr_expect_eq(s.sent, sent);
    json_decref(last_verdict());
}

/* If no candidate validates and there is only one reading, the question comes from a finding that has a wording for
 * it. */
Test(ask, finding_gives_the_question)
{
    unsigned n, rival = 0;
    const struct vsig_def *const *all = vsig_all(&n);
    while (rival < n && all[rival]->id != VSIG_ID_rival_column) rival++;
    char *silent = g_strnfill(rival, 's'),
         *candidate = g_strdup_printf("\"candidates\":[\"SELECT states_%sf\"]", silent);
    open_asking();
    ask_line(0, candidate, ",\"threshold\":0.9999");
    script_answer_all(&s, 0, 1);
    json_t *verdict = last_verdict();
    const json_t *questions = json_object_get(verdict, "questions");
    cr_assert_str_eq(script_text(verdict, "status"), "ask");
    cr_expect_str_eq(json_string_value(json_array_get(questions, 0)),
                     "Do you mean the release year of the song or the year sung of the song?");
    json_decref(verdict);
    g_free(candidate);
    g_free(silent);
}

/* The question does not depend on the order in which results arrive. */
Test(ask, question_is_independent_of_result_order)
{
    open_asking();
    ask_line(0, TWO_READINGS, "");
    script_answer_all(&s, 0, 1);
    for (int64_t seed = 1; seed < 20; seed++) {
        ask_line(seed, TWO_READINGS, "");
        script_answer_all(&s, (uint64_t)seed, 1);
        json_t *first = json_loads(s.verdicts->pdata[0], 0, NULL), *again = last_verdict();
        cr_assert(json_equal(json_object_get(first, "clarification"), json_object_get(again, "clarification")));
        json_decref(first);
        json_decref(again);
    }
}
