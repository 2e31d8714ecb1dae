/* Tests the family llm as a whole: the conditions for a call of the scripted model, and the request that it receives.
 * The model's answer may change only the signals of this family. */
#include "tests/support/fake_model.h"
#include "tests/support/leak.h"
#include "tests/unit/engine/world.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static struct world world;
static struct engine *engine;
static struct fake_model *fake, *other;
static char endpoint[128], second[128];
static struct llm_config llm;
static struct coordinator_llm consult;

#define PATH "/v1/chat/completions"
#define SAYS(content)                                                                                                  \
    "{\"model\":\"judge-1\",\"usage\":{\"prompt_tokens\":700,\"completion_tokens\":50},\"choices\":[{\"message\":{"    \
    "\"content\":\"" content "\"},\"finish_reason\":\"stop\"}]}"
#define ANSWER(evidence, self_check)                                                                                   \
    "{\\\"evidence_violation\\\":" evidence ",\\\"insufficient_evidence\\\":{\\\"insufficient\\\":false,\\\"why\\\":"  \
    "\\\"\\\"},\\\"question_clause_linking\\\":{\\\"links\\\":[]},\\\"column_ambiguity\\\":{\\\"rivals\\\":[]},"       \
    "\\\"self_check\\\":" self_check "}"
#define KEPT "{\\\"violated\\\":false,\\\"clauses\\\":[],\\\"why\\\":\\\"\\\"}"
#define APPROVES                                                                                                       \
    SAYS(ANSWER(KEPT, "{\\\"right\\\":true,\\\"probability\\\":0.9,\\\"clauses\\\":[],\\\"why\\\":\\\"\\\"}"))
#define REJECTS                                                                                                        \
    SAYS(ANSWER(KEPT, "{\\\"right\\\":false,\\\"probability\\\":0.1,\\\"clauses\\\":[\\\"count(*)\\\"],\\\"why\\\":"   \
                      "\\\"a name is asked for\\\"}"))
#define SCRIPT_OF(model, ...)                                                                                          \
    do {                                                                                                               \
        static const struct fake_step steps_[] = {__VA_ARGS__};                                                        \
        fake_model_script(model, PATH, steps_, sizeof steps_ / sizeof *steps_);                                        \
    } while (0)
#define SCRIPT(...) SCRIPT_OF(fake, __VA_ARGS__)

static void begin(void)
{
    cr_assert(world_make(&world));
    fake = fake_model_start();
    other = fake_model_start();
    snprintf(endpoint, sizeof endpoint, "%s/v1", fake_model_url(fake));
    snprintf(second, sizeof second, "%s/v1", fake_model_url(other));
}

static void end(void)
{
    engine_close(engine);
    engine = NULL;
    fake_model_stop(fake);
    fake_model_stop(other);
    world_remove(&world);
    leak_check();
}
TestSuite(llm, .init = begin, .fini = end);

static enum err_code try_open(struct msg_options defaults, const char *when, struct err *err)
{
    static const char *endpoints[2];
    endpoints[0] = endpoint;
    if (!llm.n_endpoints) {
        llm.endpoints = endpoints;
        llm.n_endpoints = 1;
    }
    llm.model = scorer_defaults();
    llm.model.model = "judge";
    llm.model.max_attempts = 1;
    llm.model.timeout_ms = 2000;
    defaults.strategy = MSG_RERANK;
    struct engine_config config = {.workers = 2,
                                   .defaults = defaults,
                                   .label_model = SOURCE_ROOT "/models/label_model.json",
                                   .classifier = SOURCE_ROOT "/models/classifier.json",
                                   .verifier = SOURCE_ROOT "/models/verifier.json",
                                   .llm = llm,
                                   .llm_when = when,
                                   .consult = consult};
    return world_open(&world, &config, &engine, err);
}

static void open_engine(struct msg_options defaults, const char *when)
{
    struct err err = {0};
    cr_assert_eq(try_open(defaults, when, &err), ERR_OK, "%s", err.text);
}

static const char counted[] = "SELECT count(*) FROM keeper";
static const char named[] = "SELECT name FROM keeper";
static const char question[] = "How many keepers are there?";

static struct msg_verdict *judge_with(const char *asked, const char *const *sqls, const struct msg_options *options)
{
    struct msg_candidate candidates[4];
    uint32_t n = 0;
    for (; sqls[n]; n++)
        candidates[n] = (struct msg_candidate){.sql = {sqls[n], (uint32_t)strlen(sqls[n])}, .score = NAN};
    struct msg_request request = {
        .id = "q", .db = "zoo", .question = asked, .candidates = candidates, .n_candidates = n};
    if (options) request.options = *options;
    struct msg_verdict *verdict;
    struct err err = {0};
    cr_assert_eq(engine_submit(engine, &request, -1, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(engine_next(engine, 60000, &verdict, &err), ERR_OK, "%s", err.text);
    return verdict;
}
#define JUDGE(asked, ...) judge_with(asked, (const char *const[]){__VA_ARGS__, NULL}, NULL)

static json_t *told(struct fake_model *model, unsigned i)
{
    json_t *body = json_loads(fake_model_body(model, PATH, i), 0, NULL);
    const json_t *user = json_array_get(json_object_get(body, "messages"), 1);
    json_t *data = json_loads(json_string_value(json_object_get(user, "content")), JSON_REJECT_DUPLICATES, NULL);
    cr_assert(data, "one JSON object");
    json_decref(body);
    return data;
}

static const struct msg_signal *signal_of(const struct msg_judged *judged, const char *name)
{
    for (uint32_t i = 0; i < judged->n_signals; i++)
        if (strcmp(judged->signals[i].name, name) == 0) return &judged->signals[i];
    return NULL;
}

static const struct msg_finding *finding_of(const struct msg_judged *judged, const char *name)
{
    for (uint32_t i = 0; i < judged->n_findings; i++)
        if (strcmp(judged->findings[i].name, name) == 0) return &judged->findings[i];
    return NULL;
}

/* Returns P(correct) of a candidate that was judged without a model. */
static double plain_p(const char *asked, const char *sql)
{
    open_engine((struct msg_options){0}, "never");
    struct msg_verdict *v = JUDGE(asked, sql);
    double p = v->candidates[0].p_correct;
    cr_assert_null(v->usage);
    cr_assert_null(signal_of(&v->candidates[0], "self_check"), "absent, not silent");
    msg_verdict_free(v);
    engine_close(engine);
    return p;
}

Test(llm, answer_moves_p_by_its_hit_rate)
{
    SCRIPT({.body = APPROVES}, {.body = REJECTS});
    double before = plain_p(question, counted), odds = before / (1 - before);
    consult.hit_rate = 0.8;
    open_engine((struct msg_options){0}, "always");
    struct msg_verdict *v = JUDGE(question, counted);
    cr_expect_float_eq(v->candidates[0].p_correct, 4 * odds / (1 + 4 * odds), 1e-9);
    cr_expect_eq(signal_of(&v->candidates[0], "self_check")->state, MSG_SILENT);
    cr_assert(v->usage && v->usage->calls == 1 && v->usage->tokens_in == 700 && v->usage->tokens_out == 50);
    cr_expect(g_str_has_prefix(v->usage->source, "judge-1, signals/1 evidence_violation/1 "), "%s", v->usage->source);
    msg_verdict_free(v);
    v = JUDGE("And how many keepers are there?", counted);
    const struct msg_finding *finding = finding_of(&v->candidates[0], "self_check");
    cr_assert(finding && finding->n_clauses == 1);
    cr_expect_str_eq(finding->clauses[0].text, "count(*)");
    msg_verdict_free(v);
}

Test(llm, rejected_candidate_yields_to_next_which_is_checked)
{
    SCRIPT({.body = REJECTS}, {.body = APPROVES});
    consult.hit_rate = 0.99;
    open_engine((struct msg_options){0}, "always");
    struct msg_verdict *v = JUDGE(question, counted, "SELECT count(id) FROM keeper");
    json_t *first = told(fake, 0), *then = told(fake, 1);
    cr_expect_str_neq(json_string_value(json_object_get(first, "sql")),
                      json_string_value(json_object_get(then, "sql")));
    cr_expect_str_eq(v->sql, json_string_value(json_object_get(then, "sql")));
    cr_expect_eq(v->usage->calls, 2);
    json_decref(first);
    json_decref(then);
    msg_verdict_free(v);
}

Test(llm, model_is_called_only_in_doubt)
{
    SCRIPT({.body = APPROVES});
    double sure = plain_p(question, counted);
    char when[32];
    snprintf(when, sizeof when, "0:%.3f", sure - 0.01);
    open_engine((struct msg_options){0}, when);
    struct msg_verdict *v = JUDGE(question, counted);
    cr_expect_null(v->usage, "P %.3f is above the band", sure);
    cr_expect_null(signal_of(&v->candidates[0], "self_check"));
    msg_verdict_free(v);
    v = judge_with(question, (const char *const[]){named, NULL}, NULL);
    cr_expect(v->usage, "and this one's is not: %.3f", v->candidates[0].p_correct);
    msg_verdict_free(v);
    v = judge_with(question, (const char *const[]){named, NULL},
                   &(struct msg_options){.families = (const char *const[]){"structure", "execution"}, .n_families = 2});
    cr_expect_null(v->usage, "a request may leave it out");
    msg_verdict_free(v);
}

Test(llm, candidates_and_tokens_per_request_are_bounded)
{
    SCRIPT({.body = REJECTS});
    static const char *const many[] = {counted, "SELECT count(id) FROM keeper", "SELECT count(name) FROM keeper", NULL};
    consult = (struct coordinator_llm){.hit_rate = 0.99, .max_candidates = 2};
    open_engine((struct msg_options){0}, "always");
    struct msg_verdict *v = judge_with(question, many, NULL);
    cr_expect_eq(v->usage->calls, 2);
    msg_verdict_free(v);
    engine_close(engine);
    consult.max_candidates = 3;
    consult.max_tokens = 700;
    open_engine((struct msg_options){0}, "always");
    v = judge_with(question, many, NULL);
    cr_expect_eq(v->usage->calls, 1);
    msg_verdict_free(v);
}

Test(llm, equal_questions_are_asked_once)
{
    SCRIPT({.body = REJECTS});
    open_engine((struct msg_options){0}, "always");
    for (unsigned i = 0; i < 3; i++) {
        struct msg_verdict *v = JUDGE(question, counted);
        cr_expect_eq(v->usage->calls, i == 0);
        cr_expect_eq(v->usage->cached, i > 0);
        cr_expect(finding_of(&v->candidates[0], "self_check"));
        msg_verdict_free(v);
    }
    cr_expect_eq(fake_model_requests(fake, PATH), 1);
}

Test(llm, exhausted_budget_gives_verdict_without_model)
{
    SCRIPT({.body = REJECTS});
    double before = plain_p("How many keepers are there at all?", counted);
    llm.budget.per_minute.requests = 1;
    open_engine((struct msg_options){0}, "always");
    msg_verdict_free(JUDGE(question, counted));
    struct msg_verdict *v = JUDGE("How many keepers are there at all?", counted);
    const struct msg_signal *signal = signal_of(&v->candidates[0], "self_check");
    cr_assert(signal && signal->state == MSG_UNAVAILABLE);
    cr_expect_str_eq(signal->reason, "budget");
    cr_expect_float_eq(v->candidates[0].p_correct, before, 1e-9);
    cr_expect_eq(fake_model_requests(fake, PATH), 1);
    msg_verdict_free(v);
}

/* After any failure, the verdict equals the one without a model, and reports the check as unavailable. */
Test(llm, failing_model_changes_nothing)
{
    SCRIPT({.status = 503}, {.act = FAKE_RESET}, {.body = "nonsense"}, {.act = FAKE_CUT, .body = APPROVES},
           {.body = SAYS("I would say yes.")}, {.status = 401},
           {.body = SAYS("{\\\"self_check\\\":{\\\"right\\\":true}}")});
    open_engine((struct msg_options){0}, "never");
    struct msg_verdict *plain = JUDGE(question, counted, named);
    engine_close(engine);
    llm.model.breaker_failures = 0;
    open_engine((struct msg_options){0}, "always");
    for (unsigned i = 0; i < 7; i++) {
        struct msg_verdict *v = JUDGE(question, counted, named);
        cr_expect_str_eq(v->sql, plain->sql, "%u", i);
        cr_expect_eq(v->status, plain->status, "%u", i);
        cr_expect_float_eq(v->p_correct, plain->p_correct, 1e-9, "%u", i);
        const struct msg_signal *signal = signal_of(&v->candidates[v->chosen - 1], "self_check");
        cr_expect(signal && signal->state == MSG_UNAVAILABLE, "%u", i);
        msg_verdict_free(v);
    }
    msg_verdict_free(plain);
}

Test(llm, hanging_model_ends_at_deadline_with_answer_kept)
{
    SCRIPT({.act = FAKE_HANG});
    open_engine((struct msg_options){.deadline_ms = 900}, "always");
    struct msg_verdict *v = JUDGE(question, counted);
    cr_expect_eq(v->status, MSG_STATUS_VALIDATED, "it was judged, only not by the model");
    cr_expect_lt(v->total_ns, INT64_C(5000000000));
    msg_verdict_free(v);
}

Test(llm, unavailable_endpoint_is_skipped)
{
    static const char *both[] = {endpoint, second};
    SCRIPT({.status = 503});
    SCRIPT_OF(other, {.body = REJECTS});
    llm.endpoints = both;
    llm.n_endpoints = 2;
    open_engine((struct msg_options){0}, "always");
    for (unsigned i = 0; i < 4; i++) {
        char asked[64];
        snprintf(asked, sizeof asked, "How many keepers are there in hall %u?", i);
        struct msg_verdict *v = JUDGE(asked, counted);
        cr_expect(finding_of(&v->candidates[0], "self_check"), "%u", i);
        msg_verdict_free(v);
    }
    cr_expect_eq(fake_model_requests(other, PATH), 4);
}

Test(llm, separate_calls_per_signal_on_request)
{
    static const char part[] = SAYS(
        "{\\\"self_check\\\":{\\\"right\\\":false,\\\"probability\\\":0,\\\"clauses\\\":[],\\\"why\\\":\\\"\\\"}}");
    SCRIPT({.body = part});
    llm.single = true;
    open_engine((struct msg_options){0}, "always");
    struct msg_verdict *v = JUDGE(question, counted);
    cr_expect_geq(fake_model_requests(fake, PATH), 5);
    cr_expect(finding_of(&v->candidates[0], "self_check"), "the part that is in the form counts");
    cr_expect_eq(signal_of(&v->candidates[0], "evidence_violation")->state, MSG_UNAVAILABLE);
    cr_expect(strstr(fake_model_body(fake, PATH, 0), "violated") && !strstr(fake_model_body(fake, PATH, 0), "rivals"));
    msg_verdict_free(v);
}

Test(llm, custom_instructions_are_used)
{
    char dir[] = "/tmp/assay-prompts-XXXXXX", path[64];
    struct err err = {0};
    cr_assert(g_mkdtemp(dir));
    snprintf(path, sizeof path, "%s/self_check.txt", dir);
    cr_assert(g_file_set_contents(path, "ours/7\nLook twice.\n", -1, NULL));
    SCRIPT({.body = REJECTS});
    llm.prompts = dir;
    open_engine((struct msg_options){0}, "always");
    struct msg_verdict *v = JUDGE(question, counted);
    cr_expect(strstr(v->usage->source, " ours/7"), "%s", v->usage->source);
    cr_expect(strstr(fake_model_body(fake, PATH, 0), "Look twice."));
    msg_verdict_free(v);
    engine_close(engine);
    engine = NULL;
    cr_assert(g_file_set_contents(path, "no version, no line", -1, NULL));
    cr_expect_eq(try_open((struct msg_options){0}, "always", &err), ERR_CONFIG);
    cr_expect(strstr(err.text, "contains no instructions"), "%s", err.text);
    g_unlink(path);
    g_rmdir(dir);
}

Test(llm, option_when_is_parsed_strictly)
{
    static const char *const wrong[] = {"",     "sometimes",   "0.5",           "0.9:0.1", "0:2",
                                        "-1:1", "0:1,perhaps", "0:1,disagree,", "a:b"};
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct err err = {0};
        cr_expect_eq(try_open((struct msg_options){0}, wrong[i], &err), ERR_CONFIG, "'%s'", wrong[i]);
        cr_expect(strstr(err.text, "--llm-when"), "%s", err.text);
    }
    engine = NULL;
}

Test(llm, denied_values_are_not_sent)
{
    static const char *const denied[] = {"keeper.city"};
    static const char *const values[] = {"Oslo", "Leo", "Tux", "penguin"};
    SCRIPT({.body = APPROVES});
    open_engine((struct msg_options){.deny_columns = denied, .n_deny_columns = 1}, "always");
    msg_verdict_free(JUDGE("How many keepers are there?", counted));
    cr_expect_null(strstr(fake_model_body(fake, PATH, 0), "Oslo"), "a value of a denied column");
    cr_expect(strstr(fake_model_body(fake, PATH, 0), "Leo"), "one of a column that is not");
    engine_close(engine);
    open_engine((struct msg_options){.expose = MSG_EXPOSE_NONE}, "always");
    msg_verdict_free(JUDGE("How many keepers are there?", counted));
    for (unsigned i = 0; i < 4; i++)
        cr_expect_null(strstr(fake_model_body(fake, PATH, 1), values[i]), "%s left", values[i]);
}

/* Each line of the file is a text that tries to persuade the model. As question, evidence or part of the query, it must
 * stay data: the request is one object that contains the text as a string. The model's answer may change only the
 * signals of its family. */
Test(llm, persuasive_texts_stay_data)
{
    char *all = NULL;
    cr_assert(g_file_get_contents(TEST_DATA "/hostile/persuasion.txt", &all, NULL, NULL));
    char **lines = g_strsplit(all, "\n", -1);
    unsigned n = 0;
    SCRIPT({.body = APPROVES});
    consult.hit_rate = 0.7;
    open_engine((struct msg_options){0}, "always");
    for (unsigned i = 0; lines[i]; i++) {
        if (!*lines[i]) continue;
        char *sql = g_strdup_printf("SELECT count(*) FROM keeper /* %s */", lines[i]);
        struct msg_verdict *v = JUDGE(lines[i], strstr(lines[i], "*/") ? counted : sql);
        json_t *data = told(fake, n++);
        cr_expect_str_eq(json_string_value(json_object_get(data, "question")), lines[i]);
        cr_expect_eq(json_object_size(data), 3, "question, schema and query");
        for (uint32_t k = 0; k < v->candidates[0].n_findings; k++)
            cr_expect_neq(v->candidates[0].findings[k].severity, MSG_SEVERITY_COUNT);
        json_decref(data);
        msg_verdict_free(v);
        g_free(sql);
    }
    cr_expect_geq(n, 50);
    g_strfreev(lines);
    g_free(all);
}
