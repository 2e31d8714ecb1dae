/* A candidate whose checks are unavailable must not win because of that. Tests this property for every shipped model.
 * Also tests the outcome for such candidates under every strategy, with and without each judge. */
#include "lib/learn/metrics.h"
#include "tests/support/leak.h"
#include "tests/unit/coordinator/script.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct script s;

static void done(void)
{
    script_close(&s);
    leak_check();
}
TestSuite(coverage, .fini = done);
TestSuite(coverage_models, .fini = leak_check);

enum { N_STATES = 64 };

/* Returns the i-th signal outside of family llm, whose signals vote separately. Returns NULL if there are fewer. */
static const struct vsig_def *nth_signal(unsigned i)
{
    unsigned n_all;
    const struct vsig_def *const *all = vsig_all(&n_all);
    for (unsigned k = 0; k < n_all; k++)
        if (all[k]->family != VSIG_LLM && i-- == 0) return all[k];
    return NULL;
}

static unsigned n_signals(void)
{
    unsigned n = 0;
    while (nth_signal(n)) n++;
    cr_assert_lt(n, N_STATES);
    return n;
}

/* The sets of models that judge in these tests. */
static const struct judges {
    const char *name, *label_model, *classifier, *verifier; /* NULL: the shipped model */
    bool remote;
} all_judges[] = {
    {"all shipped", NULL, NULL, NULL, false},
    {"label model", NULL, "none", "none", false},
    {"classifier", "none", NULL, "none", false},
    {"no verifier", NULL, NULL, "none", false},
    {"verifier alone", "none", "none", NULL, false},
    {"remote verifier", NULL, NULL, NULL, true},
    {"label model and remote verifier", NULL, "none", "none", true},
    {"nothing", "none", "none", "none", false},
};
enum { N_JUDGES = sizeof all_judges / sizeof *all_judges };

static struct scoring_models *load(const struct judges *judges)
{
    struct scoring_models *models = NULL;
    struct err err = {0};
    const struct models_files files = {SOURCE_ROOT "/models", judges->label_model, judges->classifier,
                                       judges->verifier};
    cr_assert_eq(models_load(&files, &models, &err), ERR_OK, "%s", err.text);
    return models;
}

/* --- the property --- */

/* Fills a random vector of states. A share `share` of the signals is unavailable; the others are silent or fired. */
static void draw(uint64_t *seed, char states[N_STATES])
{
    unsigned n = n_signals();
    double share = learn_random_unit(seed);
    for (unsigned i = 0; i < n; i++)
        states[i] = learn_random_unit(seed) < share ? 'u' : learn_random_unit(seed) < 0.15 ? 'f' : 's';
    states[n] = '\0';
}

static void judge(const char *states, struct msg_signal *signals, struct msg_judged *out)
{
    unsigned n = n_signals();
    for (unsigned i = 0; i < n; i++)
        signals[i] = (struct msg_signal){.id = (uint32_t)nth_signal(i)->id,
                                         .state = states[i] == 'f'   ? MSG_FIRED
                                                  : states[i] == 'u' ? MSG_UNAVAILABLE
                                                                     : MSG_SILENT};
    static struct msg_execution run = {.code = "ok", .rows = 1, .columns = 1};
    *out = (struct msg_judged){
        .judged = true, .count = 1, .score = NAN, .signals = signals, .n_signals = n, .execution = &run};
}

static struct models_score score_of(const struct scoring_models *models, const char *states)
{
    struct msg_signal signals[N_STATES], none[N_STATES];
    struct msg_judged judged[2];
    char silent[N_STATES] = "";
    judge(states, signals, &judged[0]);
    judge(memset(silent, 's', n_signals()), none, &judged[1]);
    return models_score(models, &(struct votes_subject){judged, 2, 2, 0, false});
}

Test(coverage_models, unavailable_signal_never_raises_score)
{
    for (unsigned j = 0; j < N_JUDGES; j++) {
        struct scoring_models *models = load(&all_judges[j]);
        uint64_t seed = 11;
        unsigned lower = 0;
        for (unsigned round = 0; round < 300; round++) {
            char states[N_STATES];
            draw(&seed, states);
            for (unsigned i = 0; i < n_signals(); i++) {
                if (states[i] != 's') continue;
                struct models_score silent = score_of(models, states);
                states[i] = 'u';
                struct models_score lost = score_of(models, states);
                states[i] = 's';
                const char *what = all_judges[j].name;
                cr_assert_not(lost.p > silent.p, "%s: %.9f > %.9f, signal %u of %s", what, lost.p, silent.p, i, states);
                cr_assert_not(lost.label_model_p > silent.label_model_p, "%s: signal %u of %s", what, i, states);
                cr_assert_not(lost.score > silent.score, "%s: signal %u of %s", what, i, states);
                lower += lost.p < silent.p;
            }
        }
        if (models->label_model) cr_assert_gt(lower, 0, "%s: silence is worth something", all_judges[j].name);
        models_free(models);
    }
}

Test(coverage_models, full_coverage_has_no_penalty)
{
    struct scoring_models *models = load(&all_judges[1]);
    struct msg_signal signals[N_STATES];
    struct msg_judged judged;
    uint8_t votes[LM_MAX_COLUMNS];
    char states[N_STATES] = "";
    judge(memset(states, 's', n_signals()), signals, &judged);
    struct votes_subject subject = {&judged, 1, 1, 0, false};
    votes_levels(&subject, VOTES_REQUEST, votes);
    cr_assert_float_eq(models_score(models, &subject).p, lm_p_correct(models->label_model, &models->map, votes), 0);
    models_free(models);
}

static void open_judges(const struct judges *judges)
{
    if (s.core) script_close(&s);
    script_open_models(&s, load(judges), (struct msg_options){0}, judges->remote);
}

/* Judges a request on a core that serves many requests. Returns its verdict. */
static json_t *decide(const struct msg_options *options, const char *const *sqls)
{
    static int64_t number;
    g_ptr_array_set_size(s.verdicts, 0);
    script_ask(&s, number++, options, sqls, 0);
    script_answer_all(&s, (uint64_t)number, 0);
    return script_verdict(&s);
}

static double decided_p(const char *states, unsigned entails)
{
    char sql[128];
    struct msg_options options = {.strategy = MSG_RERANK};
    snprintf(sql, sizeof sql, "SELECT states_%s, rows_1, entails_%u", states, entails);
    json_t *v = decide(&options, (const char *const[]){sql, "SELECT rows_1, fires_1", "SELECT rows_2", NULL});
    const json_t *p = json_object_get(json_array_get(json_object_get(v, "candidates"), 0), "p_correct");
    double out = json_is_null(p) ? (double)NAN : json_number_value(p);
    json_decref(v);
    return out;
}

/* A signal that becomes unavailable does not raise the final P(correct), which combines all judges. */
Test(coverage, unavailable_signal_never_raises_p_correct)
{
    uint64_t seed = 23;
    for (unsigned j = 0; j < N_JUDGES; j++) {
        open_judges(&all_judges[j]);
        for (unsigned round = 0; round < 10; round++) {
            char states[N_STATES];
            unsigned entails = (unsigned)(learn_random(&seed) % 10);
            draw(&seed, states);
            double before = decided_p(states, entails);
            for (char *lost = strchr(states, 's'); lost; lost = strchr(lost + 1, 's')) {
                *lost = 'u';
                double p = decided_p(states, entails);
                cr_assert_not(p > before, "%s: %.9f > %.9f: %s", all_judges[j].name, p, before, states);
                before = p; /* in the next step one more signal is unavailable */
            }
        }
    }
}

/* --- who wins --- */

/* Kinds of candidates with unavailable signals. Their other signals are silent. */
#define MOST_LOST "uuuuuuuuuuuuuuuuuuuuuuuuuuuuuu" /* 30 of 45 signals, so more than half */
#define ALL_LOST  MOST_LOST MOST_LOST
static const char *const unseen_sqls[] = {
    "SELECT states_" ALL_LOST ", rows_9, entails_9",
    "SELECT states_" MOST_LOST ", rows_9, entails_9",
    "SELECT states_" ALL_LOST ", rows_9, unexplained",
    "SELECT slow, rows_9",
    "SELECT slow, states_" ALL_LOST,
};
enum { N_UNSEEN = sizeof unseen_sqls / sizeof *unseen_sqls };
static const char judged_sql[] = "SELECT fires_5, rows_1, entails_1";

static const json_t *candidate(const json_t *verdict, size_t index)
{
    return json_array_get(json_object_get(verdict, "candidates"), index);
}

/* Runs each kind under each strategy and each set of models, in both positions, with a threshold that any candidate
 * reaches. */
Test(coverage, unavailable_checks_never_beat_judged_candidate)
{
    for (unsigned j = 0; j < N_JUDGES; j++) {
        open_judges(&all_judges[j]);
        for (unsigned k = 0; k < 2 * N_UNSEEN * (MSG_STRATEGY_COUNT - 1); k++) {
            unsigned good = k % 2;
            const char *unseen_sql = unseen_sqls[k / 2 % N_UNSEEN], *sqls[3] = {unseen_sql, unseen_sql, NULL};
            enum msg_strategy strategy = (enum msg_strategy)(MSG_FIRST_VALID + k / 2 / N_UNSEEN);
            sqls[good] = judged_sql;
            json_t *v = decide(&(struct msg_options){.strategy = strategy, .threshold = 1e-6}, sqls);
            cr_assert_eq(json_integer_value(json_object_get(v, "chosen")), good, "%s, %s: %s",
                         msg_strategy_name(strategy), all_judges[j].name, unseen_sql);
            cr_assert_str_neq(script_text(candidate(v, 1 - good), "why"), "null");
            json_decref(v);
        }
    }
}

Test(coverage, unavailable_checks_alone_never_validate)
{
    for (unsigned j = 0; j < N_JUDGES; j++) {
        open_judges(&all_judges[j]);
        for (unsigned k = 0; k < N_UNSEEN * (MSG_STRATEGY_COUNT - 1); k++) {
            const char *sql = unseen_sqls[k % N_UNSEEN];
            enum msg_strategy strategy = (enum msg_strategy)(MSG_FIRST_VALID + k / N_UNSEEN);
            json_t *v = decide(&(struct msg_options){.strategy = strategy, .threshold = 1e-6},
                               (const char *const[]){sql, NULL});
            bool ends = strstr(sql, "slow") == NULL;
            cr_assert_str_eq(script_text(v, "status"), ends ? "best_effort" : "abstained", "%s", sql);
            cr_assert_leq(json_number_value(json_object_get(candidate(v, 0), "p_correct")), COVERAGE_LOW_P);
            cr_assert(strstr(script_text(v, "message"), ends ? "were unavailable" : "the statement ran longer"), "%s",
                      script_text(v, "message"));
            json_decref(v);
        }
    }
}

/* Half of the checks are enough for a judgement. Families that the request excludes do not count as missing. */
Test(coverage, few_unavailable_checks_are_tolerated)
{
    char sql[96] = "SELECT rows_1, states_";
    memset(sql + strlen(sql), 'u', n_signals() / 2 - 1);
    script_open_models(&s, load(&all_judges[0]), (struct msg_options){.strategy = MSG_RERANK}, false);
    script_ask(&s, 0, &(struct msg_options){.threshold = 0.01}, (const char *const[]){sql, NULL}, 0);
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_assert_str_eq(script_text(v, "status"), "validated");
    const char *note = json_string_value(json_array_get(json_object_get(v, "notes"), 0));
    char expected[40];
    snprintf(expected, sizeof expected, "unavailable checks (%u of ", n_signals() / 2 - 1);
    cr_assert(note && strstr(note, expected), "%s", note);
    cr_assert(strstr(note, "a name in the query cannot be resolved"), "%s", note);
    json_decref(v);
}

Test(coverage, verdict_lists_unavailable_checks)
{
    static const char why[] = "a name in the query cannot be resolved";
    char expected[160];
    unsigned n = n_signals();
    script_open(&s, (struct msg_options){.strategy = MSG_RERANK});
    script_ask(&s, 0, NULL, (const char *const[]){unseen_sqls[0], judged_sql, NULL}, 0);
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    snprintf(expected, sizeof expected, "it was not judged: %u of its %u checks were unavailable: %s", n, n, why);
    cr_assert_str_eq(script_text(candidate(v, 0), "why"), expected);
    snprintf(expected, sizeof expected, "candidate 1: unavailable checks (%u of %u: %s)", n, n, why);
    cr_assert_str_eq(json_string_value(json_array_get(json_object_get(v, "notes"), 0)), expected);
    json_decref(v);
}

/* --- failing families --- */

static bool is_of(const struct script_task *task, const char *const *families)
{
    for (; *families; families++)
        if (strcmp(task->family, *families) == 0) return true;
    return false;
}

static json_t *fail_families(const char *const *families, enum err_code code)
{
    while (s.tasks->len)
        if (is_of(s.tasks->pdata[0], families))
            script_answer_failed(&s, 0, code, 0);
        else
            script_answer(&s, 0, 0);
    return script_verdict(&s);
}

/* No family that executes the candidate has answered. So it is unknown whether the candidate runs. */
Test(coverage, unexecuted_candidate_does_not_validate)
{
    static const enum err_code codes[] = {ERR_DB_UNAVAILABLE, ERR_REJECTED, ERR_LIMIT_MEMORY, ERR_FULL};
    for (unsigned i = 0; i < sizeof codes / sizeof *codes; i++) {
        script_open(&s, (struct msg_options){.strategy = MSG_RERANK});
        script_ask(&s, 0, NULL, (const char *const[]){"SELECT rows_1", NULL}, 0);
        json_t *v = fail_families((const char *const[]){"execution", "explain", NULL}, codes[i]);
        cr_assert_str_eq(script_text(v, "status"), "best_effort", "%s", err_name(codes[i]));
        cr_assert(strstr(script_text(v, "message"), "it was not judged: "), "%s", script_text(v, "message"));
        json_decref(v);
        if (i + 1 < sizeof codes / sizeof *codes) script_close(&s);
    }
}

/* A family that fails without results for its signals is unavailable as a whole. */
Test(coverage, family_without_results_is_unavailable)
{
    script_open(&s, (struct msg_options){.strategy = MSG_RERANK});
    script_ask(&s, 0, NULL, (const char *const[]){"SELECT rows_1", NULL}, 0);
    json_t *v = fail_families((const char *const[]){"question", "join", "structure", NULL}, ERR_REJECTED);
    cr_assert_str_eq(script_text(v, "status"), "best_effort");
    const json_t *signals = json_object_get(candidate(v, 0), "signals");
    cr_assert_str_eq(script_text(signals, "fan_out"), "unavailable");
    json_decref(v);
}

/* An unavailable verifier does not favour a candidate: a candidate with an explanation is preferred. */
Test(coverage, unexplained_candidate_does_not_beat_explained_one)
{
    script_open_models(&s, load(&all_judges[0]), (struct msg_options){.strategy = MSG_RERANK}, true);
    script_ask(&s, 0, NULL, (const char *const[]){"SELECT rows_1, unexplained", "SELECT rows_2, entails_7", NULL}, 0);
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_assert_eq(json_integer_value(json_object_get(v, "chosen")), 1);
    cr_assert(strstr(script_text(candidate(v, 0), "why"), "the explanation of this candidate was not verified"), "%s",
              script_text(candidate(v, 0), "why"));
    json_decref(v);
}

/* --- a schema instead of a database --- */

static json_t *judge_schema(const char *options, const char *sql)
{
    char line[600];
    snprintf(line, sizeof line,
             "{\"db\":\"label\",\"schema\":\"CREATE TABLE t (a int)\",\"question\":\"q\",%s\"candidates\":[\"%s\"]}",
             options, sql);
    script_ask_json(&s, (struct msg_key){0, 0}, line, 0);
    script_answer_all(&s, 0, 0);
    return script_verdict(&s);
}

/* If the decision file has no value for schema-only requests, no candidate of such a request validates at any
 * threshold. */
Test(coverage, schema_alone_validates_only_with_fitted_decision)
{
    static const double scales[] = {0, 1};
    for (unsigned known = 0; known < 2; known++) {
        struct scoring_models *models = script_models();
        models->knows_schemas = known;
        models->schema_only[1] = scales[known];
        script_open_models(&s, models, (struct msg_options){.strategy = MSG_RERANK}, false);
        json_t *v = judge_schema("\"threshold\":0.5,", "SELECT no_data");
        cr_expect_str_eq(script_text(v, "status"), known ? "validated" : "best_effort");
        double p = json_real_value(json_object_get(v, "p_correct"));
        cr_expect(known ? p > 0.5 : p == 0.5, "%g", p);
        if (!known)
            cr_expect(strstr(script_text(v, "message"), "from the schema alone"), "%s", script_text(v, "message"));
        json_decref(v);
        if (!known) script_close(&s);
    }
}

/* The rule of coverage applies to schema-only requests too: a candidate with mostly unavailable signals does not
 * win. */
Test(coverage, schema_alone_with_unavailable_signals_does_not_win)
{
    char sql[N_STATES + 40] = "SELECT no_data AS states_";
    size_t len = strlen(sql);
    memset(sql + len, 'u', n_signals());
    sql[len + n_signals()] = '\0';
    struct scoring_models *models = script_models();
    models->knows_schemas = true;
    models->schema_only[1] = 1;
    script_open_models(&s, models, (struct msg_options){.strategy = MSG_RERANK}, false);
    json_t *v = judge_schema("", sql);
    cr_expect_str_eq(script_text(v, "status"), "best_effort");
    cr_expect_leq(json_real_value(json_object_get(v, "p_correct")), COVERAGE_LOW_P);
    json_decref(v);
}

/* The margin for a repair was fitted to results. A schema has no results, so there is no repair. */
Test(coverage, schema_alone_gets_no_repair)
{
    struct scoring_models *models = script_models();
    models->knows_schemas = true;
    models->schema_only[1] = 1;
    script_open_models(&s, models, (struct msg_options){.strategy = MSG_RERANK, .repair = MSG_REPAIR_APPLY}, false);
    json_t *v = judge_schema("", "SELECT no_data, fires_5");
    cr_expect_null(json_object_get(v, "repair"));
    json_decref(v);
}
