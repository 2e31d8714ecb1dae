/* Tests the two judges, signals and verifier: their tasks under each strategy, the reasons for failed candidates, and
 * an unavailable judge. The script controls the verifier, which is a remote one. */
#include "lib/learn/metrics.h"
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
TestSuite(verify, .fini = done);

#define ASK(options, ...) script_ask(&s, 0, options, (const char *const[]){__VA_ARGS__, NULL}, 0)

static const json_t *candidate(const json_t *verdict, size_t index)
{
    return json_array_get(json_object_get(verdict, "candidates"), index);
}

static int64_t chosen(const json_t *verdict)
{
    const json_t *value = json_object_get(verdict, "chosen");
    return json_is_integer(value) ? json_integer_value(value) : -1;
}

static const char *why(const json_t *verdict, size_t index)
{
    return script_text(candidate(verdict, index), "why");
}

static double real(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static const char *note(const json_t *verdict, size_t index)
{
    const char *text = json_string_value(json_array_get(json_object_get(verdict, "notes"), index));
    return text ? text : "none";
}

Test(verify, first_valid_uses_both_judges)
{
    script_open_remote(&s, (struct msg_options){.strategy = MSG_FIRST_VALID});
    ASK(NULL, "SELECT entails_2", "SELECT fires_3, entails_9", "SELECT rows_1, entails_8");
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_assert_str_eq(script_text(v, "status"), "validated");
    cr_assert_eq(chosen(v), 2);
    cr_assert_str_eq(why(v, 0), "the explanation does not answer the question (probability 0.20 < 0.50)");
    cr_assert(strstr(why(v, 1), "its signals indicate an error (P(correct) 0."), "%s", why(v, 1));
    cr_assert(strstr(why(v, 1), "; `x`: m ("), "the worst finding is named: %s", why(v, 1));
    cr_assert(json_is_null(json_object_get(candidate(v, 2), "why")));
    cr_assert_float_eq(real(candidate(v, 2), "entailment"), 0.8, 1e-9);
    cr_assert_str_eq(script_text(candidate(v, 2), "verifier"), "tei test");
    cr_assert_str_eq(script_text(candidate(v, 2), "explanation"), "It is as it is.");
    cr_assert_float_eq(real(v, "entailment_threshold"), 0.5, 0);
    cr_assert_null(json_object_get(candidate(v, 2), "explained"), "only when asked for");
    json_decref(v);
}

Test(verify, p_correct_combines_both_judges)
{
    script_open_remote(&s, (struct msg_options){.strategy = MSG_RERANK});
    ASK(NULL, "SELECT rows_1, entails_6", "SELECT rows_2, entails_9");
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_assert_eq(chosen(v), 1, "equal signals: the verifier decides");
    for (unsigned i = 0; i < 2; i++) {
        double p = real(candidate(v, i), "label_model_p"), e = real(candidate(v, i), "entailment");
        double both = real(candidate(v, i), "p_correct"), odds = sqrt(p / (1 - p) * e / (1 - e));
        cr_assert_float_eq(both, odds / (1 + odds), 1e-4, "the mean of the log-odds");
    }
    cr_assert(strstr(why(v, 0), "candidate 2 is more likely correct"), "%s", why(v, 0));
    cr_assert(json_is_null(json_object_get(v, "entailment_threshold")), "rerank asks P(correct) alone");
    json_decref(v);
}

Test(verify, detection_suspects_on_either_judge)
{
    script_open_remote(&s, (struct msg_options){.strategy = MSG_DETECT_THEN_RERANK});
    ASK(NULL, "SELECT entails_2", "SELECT rows_1, entails_8");
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_assert_eq(chosen(v), 1);
    json_decref(v);
}

/* Strategy cyclesql chooses the first candidate in order that the verifier accepts. Signals have no effect. */
Test(verify, cyclesql_uses_only_verifier)
{
    script_open_remote(&s, (struct msg_options){.strategy = MSG_CYCLESQL});
    ASK(NULL, "SELECT bad_name", "SELECT rows_1, entails_4", "SELECT fires_5, entails_6", "SELECT rows_2, entails_9");
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_assert_str_eq(script_text(v, "status"), "validated");
    cr_assert_eq(chosen(v), 2);
    cr_assert_eq(json_integer_value(json_object_get(v, "iterations")), 3);
    cr_assert(json_is_null(json_object_get(v, "threshold")));
    cr_assert_float_eq(real(v, "entailment_threshold"), 0.5, 0);
    json_decref(v);
}

Test(verify, cyclesql_falls_back_to_first_executing_candidate)
{
    script_open_remote(&s, (struct msg_options){.strategy = MSG_CYCLESQL});
    ASK(NULL, "SELECT bad_name", "SELECT slow", "SELECT fires_4, entails_1", "SELECT rows_2, entails_4");
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_assert_str_eq(script_text(v, "status"), "best_effort");
    cr_assert_eq(chosen(v), 2, "not the likelier one");
    cr_assert(strstr(script_text(v, "message"), "candidate 3 is the closest, but the explanation does not answer"),
              "%s", script_text(v, "message"));
    cr_assert(strstr(why(v, 0), "does not execute"), "%s", why(v, 0));
    cr_assert(strstr(why(v, 1), "did not finish: the statement ran longer"), "%s", why(v, 1));
    cr_assert(strstr(why(v, 3), "probability 0.40 < 0.50"), "%s", why(v, 3));
    json_decref(v);
}

Test(verify, cyclesql_applies_custom_threshold_to_entailment)
{
    script_open_remote(&s, (struct msg_options){.strategy = MSG_CYCLESQL});
    struct msg_options options = {.threshold = 0.75};
    ASK(&options, "SELECT rows_1, entails_7", "SELECT rows_2, entails_8");
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_assert_eq(chosen(v), 1);
    cr_assert_float_eq(real(v, "entailment_threshold"), 0.75, 1e-9);
    json_decref(v);
}

Test(verify, policies_apply_under_cyclesql)
{
    script_open_remote(&s, (struct msg_options){.strategy = MSG_CYCLESQL, .policy = MSG_ABSTAIN});
    ASK(NULL, "SELECT rows_1, entails_1");
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_assert_str_eq(script_text(v, "status"), "abstained");
    cr_assert_eq(chosen(v), -1);
    cr_assert(strstr(why(v, 0), "does not answer the question"));
    json_decref(v);
}

/* Without a verifier, the signals alone decide; strategy cyclesql reports that there is no verifier. */
Test(verify, missing_verifier_leaves_decision_to_signals)
{
    for (unsigned strategy = MSG_FIRST_VALID; strategy < MSG_CORRECT;
         strategy++) { /* cyclesql never inspects the second candidate */
        if (strategy > MSG_FIRST_VALID) script_close(&s);
        script_open(&s, (struct msg_options){.strategy = (enum msg_strategy)strategy});
        ASK(NULL, "SELECT fires_4", "SELECT rows_1");
        script_answer_all(&s, 0, 0);
        json_t *v = script_verdict(&s);
        cr_assert_str_eq(script_text(v, "status"), "validated");
        cr_assert_eq(chosen(v), 1);
        cr_assert(json_is_null(json_object_get(candidate(v, 1), "entailment")));
        cr_assert_float_eq(real(candidate(v, 1), "p_correct"), real(candidate(v, 1), "label_model_p"), 0);
        cr_assert_float_eq(real(v, "threshold"), 0.5, 0);
        cr_assert(json_is_null(json_object_get(v, "entailment_threshold")));
        cr_assert_eq(strstr(note(v, 0), "no verifier is available") != NULL, strategy == MSG_CYCLESQL);
        json_decref(v);
    }
}

Test(verify, unavailable_verifier_is_noted)
{
    script_open_remote(&s, (struct msg_options){.strategy = MSG_FIRST_VALID});
    ASK(NULL, "SELECT unreachable, fires_4", "SELECT unreachable, rows_1");
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_assert_eq(chosen(v), 1, "the signals alone decided");
    cr_assert(json_is_null(json_object_get(candidate(v, 1), "entailment")), "and never as a zero");
    cr_assert_null(json_object_get(candidate(v, 1), "verifier"));
    cr_assert(strstr(note(v, 0), "candidates 1, 2: ") && strstr(note(v, 0), "(unreachable: nobody there)"), "%s",
              note(v, 0));
    cr_assert_eq(core_get_stats(s.core).verifier_failures, 2);
    json_decref(v);
}

Test(verify, full_queue_counts_as_unavailable_verifier)
{
    script_open_remote(&s, (struct msg_options){.strategy = MSG_FIRST_VALID});
    s.verifier_full = true;
    ASK(NULL, "SELECT rows_1");
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_assert_eq(chosen(v), 0);
    cr_assert(strstr(note(v, 0), "(full: "), "%s", note(v, 0));
    json_decref(v);
}

Test(verify, unexplained_candidate_is_not_verified)
{
    script_open_remote(&s, (struct msg_options){.strategy = MSG_FIRST_VALID});
    ASK(NULL, "SELECT unexplained, rows_1");
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_assert_eq(chosen(v), 0);
    cr_assert_str_eq(note(v, 0), "candidate 1: not verified, so the signals alone decided (limit_memory)");
    cr_assert(json_is_null(json_object_get(candidate(v, 0), "explanation")));
    json_decref(v);
}

Test(verify, failing_candidate_is_not_verified)
{
    script_open_remote(&s, (struct msg_options){.strategy = MSG_RERANK});
    ASK(NULL, "SELECT bad_name", "SELECT slow", "SELEC 1");
    script_answer_all(&s, 0, 0);
    cr_assert_eq(core_get_stats(s.core).verifications, 0);
    cr_assert_eq(s.verdicts->len, 1);
}

Test(verify, verifier_is_not_called_without_explain_family)
{
    script_open_remote(&s, (struct msg_options){.strategy = MSG_FIRST_VALID, .explain = MSG_EXPLAIN_OFF});
    ASK(NULL, "SELECT rows_1");
    script_answer_all(&s, 0, 0);
    cr_assert_eq(core_get_stats(s.core).verifications, 0);
    json_t *v = script_verdict(&s);
    cr_assert_eq(chosen(v), 0);
    cr_assert(json_is_null(json_object_get(v, "entailment_threshold")));
    cr_assert_null(json_object_get(v, "notes"), "it was wanted so");
    json_decref(v);
}

Test(verify, full_explanations_are_sent_on_request)
{
    script_open_remote(&s, (struct msg_options){.explain = MSG_EXPLAIN_FULL});
    ASK(NULL, "SELECT rows_1");
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_assert_str_eq(script_text(json_object_get(candidate(v, 0), "explained"), "premise"), "SELECT rows_1");
    json_decref(v);
}

/* All families have answered, but the verifier has not. After the deadline its entry is missing in the verdict. */
Test(verify, late_verifier_does_not_delay_verdict)
{
    script_open_remote(&s, (struct msg_options){.deadline_ms = 10});
    ASK(NULL, "SELECT rows_1");
    for (unsigned i = 0; i < FAMILIES; i++) script_answer(&s, 0, 0);
    cr_assert_eq(s.verdicts->len, 0, "it is waited for");
    cr_assert_eq(s.tasks->len, 1);
    cr_assert_eq(((struct script_task *)s.tasks->pdata[0])->deadline_ns, 10000000);
    core_tick(s.core, 10000000);
    json_t *v = script_verdict(&s);
    cr_assert_str_eq(script_text(v, "status"), "best_effort");
    cr_assert_str_eq(script_text(v, "reason"), "deadline");
    cr_assert_eq(chosen(v), 0);
    cr_assert(strstr(note(v, 0), "(deadline: "), "%s", note(v, 0));
    const json_t *findings = json_object_get(candidate(v, 0), "signals");
    cr_assert_gt(json_object_size(findings), 0, "its signals count");
    json_decref(v);
    script_answer(&s, 0, 20000000); /* this result is now too late */
    cr_assert_eq(s.verdicts->len, 1);
    cr_assert_eq(core_get_stats(s.core).stray, 1);
}

Test(verify, invalid_probability_is_rejected)
{
    static const double nonsense[] = {-0.1, 1.1, 1e300};
    for (unsigned i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
        if (i) script_close(&s);
        script_open_remote(&s, (struct msg_options){0});
        ASK(NULL, "SELECT rows_1");
        for (unsigned k = 0; k < FAMILIES; k++) script_answer(&s, 0, 0);
        const struct script_task *task = s.tasks->pdata[0];
        struct core_verifier_answer answer = {ERR_OK, nonsense[i], "tei"};
        core_verified(s.core, task->key, task->hash, &answer, 0);
        json_t *v = script_verdict(&s);
        cr_assert(strstr(note(v, 0), "(malformed: the response is not a probability)"), "%s", note(v, 0));
        cr_assert(json_is_null(json_object_get(candidate(v, 0), "entailment")));
        json_decref(v);
    }
}

Test(verify, results_for_other_tasks_are_stray)
{
    script_open_remote(&s, (struct msg_options){0});
    ASK(NULL, "SELECT rows_1", "SELECT rows_2");
    struct core_verifier_answer answer = {ERR_OK, 0.9, "tei"};
    const struct script_task *task = s.tasks->pdata[0];
    uint64_t hash[2] = {task->hash[0], task->hash[1]};
    core_verified(s.core, (struct msg_key){0, 0}, hash, &answer, 0);
    cr_assert_eq(core_get_stats(s.core).stray, 1, "nobody has asked yet");
    core_verified(s.core, (struct msg_key){0, 9}, hash, &answer, 0);
    cr_assert_eq(core_get_stats(s.core).stray, 2, "no such request");
    for (unsigned k = 0; k < FAMILIES; k++) script_answer(&s, 0, 0);
    hash[0]++;
    core_verified(s.core, (struct msg_key){0, 0}, hash, &answer, 0);
    cr_assert_eq(core_get_stats(s.core).stray, 3, "another candidate");
    script_answer_all(&s, 0, 0);
    cr_assert_eq(s.verdicts->len, 1);
}

/* While one candidate waits for the verifier, other candidates proceed. */
Test(verify, wait_for_verifier_occupies_no_window)
{
    script_open_remote(&s, (struct msg_options){.strategy = MSG_RERANK});
    char sqls[40][32];
    const char *list[41] = {0};
    for (unsigned i = 0; i < 40; i++) {
        snprintf(sqls[i], sizeof sqls[i], "SELECT rows_1, %u", i);
        list[i] = sqls[i];
    }
    script_ask(&s, 0, NULL, list, 0);
    while (s.sent < UINT64_C(40) * FAMILIES) {
        unsigned place = 0;
        while (place < s.tasks->len && strcmp(((struct script_task *)s.tasks->pdata[place])->family, MSG_VERIFIER) == 0)
            place++;
        cr_assert_lt(place, s.tasks->len, "more are sent while the verifier is asked");
        script_answer(&s, place, 0);
    }
    script_answer_all(&s, 3, 0);
    cr_assert_eq(s.verdicts->len, 1);
}

/* The execution result of one candidate is unknown, because two families were late. A candidate that is known to
 * execute is preferred. */
Test(verify, candidate_known_to_execute_is_preferred)
{
    script_open(&s, (struct msg_options){.strategy = MSG_RERANK, .deadline_ms = 10});
    ASK(NULL, "SELECT slow", "SELECT fires_2, rows_1");
    for (unsigned i = 0; i < s.tasks->len;) {
        const struct script_task *task = s.tasks->pdata[i];
        bool tells = strcmp(task->family, "execution") == 0 || strcmp(task->family, "explain") == 0;
        if (task->candidate == 0 && tells)
            i++;
        else
            script_answer(&s, i, 0);
    }
    core_tick(s.core, 10000000);
    json_t *v = script_verdict(&s);
    cr_assert_eq(chosen(v), 1);
    json_decref(v);
}

/* --- sentences --- */

Test(verify, p_below_threshold_is_printed_below)
{
    script_open_remote(&s, (struct msg_options){.strategy = MSG_CYCLESQL});
    struct msg_options options = {.threshold = 0.8001};
    ASK(&options, "SELECT rows_1, entails_8");
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_assert(strstr(script_text(v, "message"), "(probability 0.8000 < 0.8001)"), "%s", script_text(v, "message"));
    json_decref(v);
}

Test(verify, printed_p_correct_differs_from_higher_threshold)
{
    script_open(&s, (struct msg_options){.strategy = MSG_RERANK});
    ASK(NULL, "SELECT rows_1");
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    struct msg_options options = {.threshold = real(v, "p_correct") + 1e-5};
    json_decref(v);
    g_ptr_array_set_size(s.verdicts, 0);
    script_ask(&s, 1, &options, (const char *const[]){"SELECT rows_1", NULL}, 0);
    script_answer_all(&s, 0, 0);
    v = script_verdict(&s);
    double p, least;
    const char *numbers = strstr(script_text(v, "message"), "P(correct) ");
    cr_assert(numbers && sscanf(numbers, "P(correct) %lf is below the threshold %lf", &p, &least) == 2, "%s",
              script_text(v, "message"));
    cr_assert_lt(p, least);
    json_decref(v);
}

/* The gate refuses the statement before it runs. The sentence must not say that it was tried. */
Test(verify, refusals_name_the_refused_statement)
{
    GString *longer = g_string_new("SELECT '"), *tokens = g_string_new("SELECT 1"), *deep = g_string_new("SELECT ");
    while (longer->len < 65536) g_string_append(longer, "xxxxxxxxxxxxxxxx");
    g_string_append_c(longer, '\'');
    for (unsigned i = 0; i < 12000; i++) g_string_append(tokens, ",1");
    for (unsigned i = 0; i < 9000; i++) g_string_append_c(deep, '(');
    g_string_append_c(deep, '1');
    for (unsigned i = 0; i < 9000; i++) g_string_append_c(deep, ')');
    script_open(&s, (struct msg_options){.strategy = MSG_RERANK});
    ASK(NULL, longer->str, tokens->str, "DELETE FROM t", "SELECT '\xff'", deep->str, "SELEC 1", "SELECT bad_name");
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_expect_str_eq(why(v, 0), "refused: the SQL is longer than 64 KiB");
    for (unsigned i = 1; i < 5; i++) cr_expect(g_str_has_prefix(why(v, i), "refused: "), "%u: %s", i, why(v, i));
    for (unsigned i = 5; i < 7; i++)
        cr_expect(g_str_has_prefix(why(v, i), "the query does not execute"), "%s", why(v, i));
    json_decref(v);
    g_string_free(longer, TRUE);
    g_string_free(tokens, TRUE);
    g_string_free(deep, TRUE);
}

static const char *const kinds[] = {"SELECT bad_name",
                                    "SELECT slow, 1",
                                    "SELEC 1",
                                    "DELETE FROM t",
                                    "SELECT rows_1, entails_9",
                                    "SELECT rows_1, entails_9, 2",
                                    "SELECT rows_2, entails_2",
                                    "SELECT fires_3, rows_1",
                                    "SELECT states_uuuuuuuuuuuuuuuuuuuuuuuuuu",
                                    "SELECT unexplained, rows_3",
                                    "SELECT unreachable, rows_3"};

/* Each candidate that is not the answer gets a sentence with the reason, for every outcome of the request. */
Test(verify, rejected_candidate_always_has_reason)
{
    uint64_t seed = 5;
    script_open_remote(&s, (struct msg_options){0});
    for (int64_t round = 0; round < 400; round++) {
        const char *sqls[7] = {0};
        unsigned n = 1 + (unsigned)(learn_random(&seed) % 6), end = (unsigned)(learn_random(&seed) % 4);
        for (unsigned i = 0; i < n; i++) sqls[i] = kinds[learn_random(&seed) % (sizeof kinds / sizeof *kinds)];
        struct msg_options options = {
            .strategy = MSG_FIRST_VALID + (enum msg_strategy)(learn_random(&seed) % (MSG_STRATEGY_COUNT - 1)),
            .policy = MSG_BEST_EFFORT + (enum msg_policy)(learn_random(&seed) % (MSG_POLICY_COUNT - 1)),
            .threshold = 0.3 + 0.6 * learn_random_unit(&seed),
            .max_iterations = (uint32_t)(learn_random(&seed) % 4),
            .deadline_ms = 10};
        g_ptr_array_set_size(s.verdicts, 0);
        script_ask(&s, round, &options, sqls, 0);
        for (unsigned left = end ? UINT32_MAX : 8; s.tasks->len && left; left--) /* `end` 0 means up to the deadline */
            if (end == 1)
                script_answer_failed(&s, 0, ERR_DB_MISSING, 0);
            else
                script_answer(&s, 0, 0);
        core_tick(s.core, 10000000);
        g_ptr_array_set_size(s.tasks, 0);
        json_t *v = script_verdict(&s);
        for (unsigned i = 0; i < n; i++) {
            const char *said = why(v, i);
            bool needs = chosen(v) != (int64_t)i;
            cr_assert(!needs || (strcmp(said, "null") != 0 && *said), "%s: %u, %s", (char *)s.verdicts->pdata[0], i,
                      sqls[i]);
            double p, least;
            const char *below = strstr(said, "P(correct) ");
            if (below && sscanf(below, "P(correct) %lf is below the threshold %lf", &p, &least) == 2)
                cr_assert_lt(p, least, "%s", said);
        }
        json_decref(v);
    }
}
