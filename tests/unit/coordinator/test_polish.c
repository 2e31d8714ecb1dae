/* Tests explanations that a model rewords: the conditions for a call, the check of its text, and that the rest of the
 * verdict is unchanged. The first tests use only the core, the later ones all parts and a scripted chat model. */
#include "tests/support/fake_model.h"
#include "tests/support/leak.h"
#include "tests/unit/coordinator/script.h"
#include "tests/unit/engine/world.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

/* --- the core; our explanation is "It is as it is." --- */

static struct script s;

static void core_end(void)
{
    script_close(&s);
    leak_check();
}
TestSuite(polish_core, .fini = core_end);

static const char *const one[] = {"SELECT 1 FROM a", NULL};

/* Answers the tasks in flight at that time, except the polisher's. */
static void answer_families_at(int64_t now_ns)
{
    while (s.tasks->len && strcmp(((struct script_task *)s.tasks->pdata[0])->family, MSG_POLISHER) != 0)
        script_answer(&s, 0, now_ns);
    cr_assert_eq(s.tasks->len, 1, "the polisher was asked");
    cr_assert_eq(s.verdicts->len, 0, "the verdict waits");
}

static void answer_families(void)
{
    answer_families_at(0);
}

static const json_t *answer_of(const json_t *verdict)
{
    return json_array_get(json_object_get(verdict, "candidates"), 0);
}

static const char *note_of(const json_t *verdict)
{
    const char *note = json_string_value(json_array_get(json_object_get(verdict, "notes"), 0));
    return note ? note : "";
}

Test(polish_core, polished_text_is_added_with_its_author)
{
    script_open_polisher(&s, (struct msg_options){0});
    s.polished = "As it is, so it is.";
    script_ask(&s, 1, NULL, one, 0);
    answer_families();
    cr_assert_str_eq(s.told, "{\"explanation\":\"It is as it is.\"}", "and not the question");
    script_answer(&s, 0, 10);
    json_t *v = script_verdict(&s);
    const json_t *polished = json_object_get(answer_of(v), "explanation_polished");
    cr_expect_str_eq(script_text(polished, "text"), "As it is, so it is.");
    cr_expect_str_eq(script_text(polished, "source"), "editor-1, polish/1");
    cr_expect_str_eq(script_text(answer_of(v), "explanation"), "It is as it is.");
    cr_expect_null(json_object_get(v, "notes"));
    json_decref(v);
}

Test(polish_core, text_with_other_meaning_is_rejected)
{
    script_open_polisher(&s, (struct msg_options){0});
    s.polished = "It is as it is, 7 times.";
    script_ask(&s, 1, NULL, one, 0);
    answer_families();
    script_answer(&s, 0, 10);
    json_t *v = script_verdict(&s);
    cr_expect_null(json_object_get(answer_of(v), "explanation_polished"));
    cr_expect_str_eq(note_of(v), "the explanation was not reworded: the model added the number '7'");
    cr_expect_eq(core_get_stats(s.core).polish.asked, 1);
    cr_expect_eq(core_get_stats(s.core).polish.failed, 1);
    json_decref(v);
}

/* Only the explanation of an answer is polished. Without an answer the polisher is not called. */
Test(polish_core, polisher_is_not_called_without_answer)
{
    static const char *const bad[] = {"SELECT bad_name FROM a", NULL}, *const silent[] = {"SELECT unexplained FROM a",
                                                                                          NULL};
    script_open_polisher(&s, (struct msg_options){0});
    script_ask(&s, 1, NULL, bad, 0);
    script_answer_all(&s, 0, 0);
    script_ask(&s, 2, NULL, silent, 0);
    script_answer_all(&s, 0, 0);
    cr_assert_eq(s.verdicts->len, 2);
    cr_assert_null(s.told);
}

Test(polish_core, wait_for_polisher_is_bounded)
{
    script_open_polisher(&s, (struct msg_options){0});
    script_ask(&s, 1, NULL, one, 0);
    answer_families();
    cr_assert_eq(((struct script_task *)s.tasks->pdata[0])->deadline_ns, 50);
    cr_assert_eq(core_tick(s.core, 49), 50);
    cr_assert_eq(s.verdicts->len, 0);
    core_tick(s.core, 50);
    json_t *v = script_verdict(&s);
    cr_expect_neq(strcmp(script_text(v, "status"), "abstained"), 0, "it was decided before");
    cr_expect_str_eq(note_of(v), "the explanation was not reworded: timed out");
    cr_expect_eq(core_get_stats(s.core).deadlines, 0, "no request was decided by its deadline");
    json_decref(v);
    script_answer(&s, 0, 60);
    cr_assert_eq(s.verdicts->len, 1);
    cr_assert_eq(core_get_stats(s.core).stray, 1, "too late");
}

Test(polish_core, request_deadline_is_kept)
{
    script_open_polisher(&s, (struct msg_options){0});
    const struct msg_options options = {.deadline_ms = 1};
    script_ask(&s, 1, &options, one, 0);
    answer_families_at(999990);
    cr_assert_eq(((struct script_task *)s.tasks->pdata[0])->deadline_ns, 1000000);
}

/* While the verdict waits for the polisher, results arrive that no candidate waits for. */
Test(polish_core, results_during_polishing_are_stray)
{
    struct msg_options options = {.speculate = 2, .threshold = 0.01};
    static const char *const two[] = {"SELECT 1 FROM a", "SELECT 2 FROM b", NULL};
    script_open_polisher(&s, options);
    s.polished = "As it is, so it is.";
    script_ask(&s, 1, NULL, two, 0);
    while (((struct script_task *)s.tasks->pdata[0])->candidate == 0) script_answer(&s, 0, 0);
    const struct script_task *last = s.tasks->pdata[s.tasks->len - 1];
    cr_assert_str_eq(last->family, MSG_POLISHER);
    uint64_t stray = core_get_stats(s.core).stray;
    const struct script_task *other = s.tasks->pdata[0];
    struct err away = {.code = ERR_UNREACHABLE};
    cr_expect_not(core_awaits(s.core, other->key, other->hash, other->family));
    core_unavailable(s.core, other->key, other->hash, vsig_family_name(VSIG_EXPLAIN), &away, 0);
    core_verified(s.core, other->key, other->hash, &(struct core_verifier_answer){.p = 0.1}, 0);
    while (s.tasks->len > 1) script_answer(&s, 0, 5);
    cr_expect_gt(core_get_stats(s.core).stray, stray + 2);
    cr_assert_eq(s.verdicts->len, 0);
    script_answer(&s, 0, 6);
    json_t *v = script_verdict(&s);
    cr_expect_eq(json_integer_value(json_object_get(v, "chosen")), 0);
    cr_expect(json_object_get(answer_of(v), "explanation_polished"));
    json_decref(v);
}

Test(polish_core, unavailable_polisher_is_noted)
{
    script_open_polisher(&s, (struct msg_options){0});
    script_ask(&s, 1, NULL, one, 0);
    script_answer_all(&s, 0, 0);
    json_t *v = script_verdict(&s);
    cr_expect_str_eq(note_of(v), "the explanation was not reworded: nobody there");
    json_decref(v);
    g_ptr_array_set_size(s.verdicts, 0);
    s.polisher_full = true;
    script_ask(&s, 2, NULL, one, 0);
    script_answer_all(&s, 0, 0);
    v = script_verdict(&s);
    cr_expect_str_eq(note_of(v), "the explanation was not reworded: the queue is full");
    json_decref(v);
}

Test(polish_core, revoked_partition_drops_waiting_verdict)
{
    script_open_polisher(&s, (struct msg_options){0});
    script_ask(&s, 1, NULL, one, 0);
    answer_families();
    core_forget(s.core, 0);
    cr_assert_eq(s.dropped, 1);
    script_answer(&s, 0, 10);
    cr_assert_eq(s.verdicts->len, 0);
}

/* --- all parts --- */

static struct world world;
static struct engine *engine;
static struct fake_model *fake;
static char endpoint[128];

#define PATH "/v1/chat/completions"
#define SAYS(text)                                                                                                     \
    "{\"model\":\"editor-1\",\"choices\":[{\"message\":{\"content\":\"{\\\"text\\\":\\\"" text                         \
    "\\\"}\"},\"finish_reason\":\"stop\"}]}"
#define SCRIPT(...)                                                                                                    \
    do {                                                                                                               \
        static const struct fake_step steps_[] = {__VA_ARGS__};                                                        \
        fake_model_script(fake, PATH, steps_, sizeof steps_ / sizeof *steps_);                                         \
    } while (0)

static void begin(void)
{
    cr_assert(world_make(&world));
    fake = fake_model_start();
    g_snprintf(endpoint, sizeof endpoint, "%s/v1", fake_model_url(fake));
}

static void end(void)
{
    engine_close(engine);
    engine = NULL;
    fake_model_stop(fake);
    world_remove(&world);
    leak_check();
}
TestSuite(polish, .init = begin, .fini = end);

static void open_engine(struct msg_options defaults, bool polishes)
{
    struct err err = {0};
    struct engine_config config = {.workers = 2,
                                   .defaults = defaults,
                                   .label_model = SOURCE_ROOT "/models/label_model.json",
                                   .classifier = SOURCE_ROOT "/models/classifier.json",
                                   .verifier = SOURCE_ROOT "/models/verifier.json",
                                   .polisher = scorer_defaults()};
    config.polisher.endpoint = polishes ? endpoint : NULL;
    config.polisher.model = "editor";
    config.polisher.max_attempts = 1;
    config.polisher.timeout_ms = 1500;
    engine_close(engine);
    cr_assert_eq(world_open(&world, &config, &engine, &err), ERR_OK, "%s", err.text);
}

static struct msg_verdict *judge(const char *sql)
{
    struct msg_candidate candidate = {.sql = {sql, (uint32_t)strlen(sql)}, .score = NAN};
    struct msg_request request = {.id = "q",
                                  .db = "zoo",
                                  .question = "How many keepers live in Paris?",
                                  .candidates = &candidate,
                                  .n_candidates = 1};
    struct msg_verdict *verdict;
    struct err err = {0};
    cr_assert_eq(engine_submit(engine, &request, -1, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(engine_next(engine, 60000, &verdict, &err), ERR_OK, "%s", err.text);
    return verdict;
}

static const char in_paris[] = "SELECT count(*) FROM keeper WHERE city = 'Paris'";

Test(polish, text_with_same_meaning_is_used)
{
    SCRIPT({.body = SAYS("1 keeper has the city 'Paris'. This is the only row, from 1 source row; the keeper's name is "
                         "not asked.")},
           {.body = SAYS("A single keeper has the city 'Paris'; this is the only row, from one source row.")});
    open_engine((struct msg_options){0}, true);
    struct msg_verdict *v = judge(in_paris);
    cr_assert_null(v->candidates[0].polished, "a name and a 'not' too many");
    msg_verdict_free(v);
    v = judge(in_paris);
    const struct msg_polished *polished = v->candidates[0].polished;
    cr_assert(polished, "%s: %s", v->n_notes ? v->notes[0] : "", v->candidates[0].explanation);
    cr_expect_str_eq(polished->text,
                     "A single keeper has the city 'Paris'; this is the only row, from one source row.");
    cr_expect_str_eq(polished->source, "editor-1, polish/1");
    cr_expect(strstr(v->candidates[0].explanation, "city is equal to 'Paris'"));
    msg_verdict_free(v);
}

/* The polisher has no key, does not answer, or returns malformed bytes or a wrong object. In each case the verdict
 * equals the one without a polisher. */
Test(polish, failure_adds_note_and_changes_nothing_else)
{
    open_engine((struct msg_options){0}, false);
    struct msg_verdict *alone = judge(in_paris);
    SCRIPT({.status = 503}, {.act = FAKE_RESET}, {.status = 401}, {.body = SAYS("")},
           {.body = SAYS("There are 900 keepers.")}, {.body = SAYS("bell \\\\u0007")},
           {.act = FAKE_CUT, .body = SAYS("x")});
    open_engine((struct msg_options){0}, true);
    for (unsigned i = 0; i < 7; i++) {
        struct msg_verdict *v = judge(in_paris);
        cr_expect_eq(v->status, alone->status, "%u", i);
        cr_expect_str_eq(v->sql, alone->sql, "%u", i);
        cr_expect_float_eq(v->p_correct, alone->p_correct, 1e-12, "%u", i);
        cr_expect_str_eq(v->candidates[0].explanation, alone->candidates[0].explanation, "%u", i);
        cr_expect_null(v->candidates[0].polished, "%u", i);
        cr_expect(v->n_notes == 1 && strstr(v->notes[0], "the explanation was not reworded: "), "%u: %s", i,
                  v->n_notes ? v->notes[0] : "no note");
        msg_verdict_free(v);
    }
    msg_verdict_free(alone);
}

Test(polish, hanging_polisher_costs_its_timeout)
{
    SCRIPT({.act = FAKE_HANG});
    open_engine((struct msg_options){0}, true);
    int64_t began = g_get_monotonic_time();
    struct msg_verdict *v = judge(in_paris);
    cr_expect_lt(g_get_monotonic_time() - began, 20 * G_USEC_PER_SEC);
    cr_expect(v->sql && v->n_notes == 1, "%s", v->n_notes ? v->notes[0] : "no note");
    msg_verdict_free(v);
}

/* The polisher receives the explanation. This contains only values that `expose` and the denied columns permit. */
Test(polish, denied_values_are_not_sent)
{
    static const char by_id[] = "SELECT name FROM keeper WHERE id = 1";
    static const char *const denied[] = {"keeper.name"};
    SCRIPT({.body = SAYS("x")});
    open_engine((struct msg_options){0}, true);
    struct msg_verdict *open = judge(by_id);
    const char *value = strchr(open->candidates[0].explanation, '\'');
    cr_assert(value && strchr(value + 1, '\''), "a name is told: %s", open->candidates[0].explanation);
    char *name = g_strndup(value + 1, (gsize)(strchr(value + 1, '\'') - value - 1));
    cr_expect(strstr(fake_model_body(fake, PATH, 0), name), "else what follows could not fail");
    cr_expect_null(strstr(fake_model_body(fake, PATH, 0), "How many keepers"), "the question stays here");
    open_engine((struct msg_options){.expose = MSG_EXPOSE_NONE}, true);
    msg_verdict_free(judge(by_id));
    cr_expect_null(strstr(fake_model_body(fake, PATH, 1), name), "%s", fake_model_body(fake, PATH, 1));
    open_engine((struct msg_options){.deny_columns = denied, .n_deny_columns = 1}, true);
    msg_verdict_free(judge("SELECT city FROM keeper WHERE id = 1"));
    cr_expect_null(strstr(fake_model_body(fake, PATH, 2), name), "%s", fake_model_body(fake, PATH, 2));
    g_free(name);
    msg_verdict_free(open);
}
