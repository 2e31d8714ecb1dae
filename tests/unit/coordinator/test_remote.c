/* Tests a remote verifier as a whole: the threads that call it, a scripted endpoint, and its effect on the verdict. */
#include "tests/support/fake_model.h"
#include "tests/support/leak.h"
#include "tests/unit/engine/world.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static struct world world;
static struct engine *engine;
static struct fake_model *fake;

static const char info[] =
    "{\"model_id\":\"nli-test\",\"model_type\":{\"classifier\":{\"id2label\":{\"0\":"
    "\"contradiction\",\"1\":\"neutral\",\"2\":\"entailment\"},\"label2id\":{\"contradiction\":0,"
    "\"neutral\":1,\"entailment\":2}}},\"max_input_length\":512,\"max_client_batch_size\":32}";
static const char high[] =
    "[{\"score\":0.9,\"label\":\"entailment\"},{\"score\":0.06,\"label\":\"neutral\"},{\"score\":"
    "0.04,\"label\":\"contradiction\"}]";
static const char low[] = "[{\"score\":0.1,\"label\":\"entailment\"},{\"score\":0.3,\"label\":\"neutral\"},{\"score\":"
                          "0.6,\"label\":\"contradiction\"}]";

#define SCRIPT(path, ...)                                                                                              \
    do {                                                                                                               \
        static const struct fake_step steps_[] = {__VA_ARGS__};                                                        \
        fake_model_script(fake, path, steps_, sizeof steps_ / sizeof *steps_);                                         \
    } while (0)

static void begin(void)
{
    cr_assert(world_make(&world));
    fake = fake_model_start();
    SCRIPT("/info", {.body = info});
}

static void end(void)
{
    engine_close(engine);
    engine = NULL;
    fake_model_stop(fake);
    world_remove(&world);
    leak_check();
}
TestSuite(remote, .init = begin, .fini = end);

static void open_engine(struct msg_options defaults)
{
    struct err err = {0};
    struct engine_config config = {.workers = 2, .defaults = defaults, .remote = scorer_defaults()};
    config.remote.endpoint = fake_model_url(fake);
    config.remote.max_attempts = 1;
    config.remote.timeout_ms = 2000;
    config.remote.breaker_failures = 0;
    cr_assert_eq(world_open(&world, &config, &engine, &err), ERR_OK, "%s", err.text);
}

static struct msg_verdict *judge(const char *const *sqls, unsigned n)
{
    struct msg_candidate candidates[8] = {0};
    struct msg_request request = {
        .id = "q", .db = "zoo", .question = "How many lions?", .candidates = candidates, .n_candidates = n};
    struct msg_verdict *verdict;
    struct err err = {0};
    for (unsigned i = 0; i < n; i++)
        candidates[i] = (struct msg_candidate){.sql = {sqls[i], (uint32_t)strlen(sqls[i])}, .score = NAN};
    cr_assert_eq(engine_submit(engine, &request, -1, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(engine_next(engine, 60000, &verdict, &err), ERR_OK, "%s", err.text);
    return verdict;
}

static const char *const two[] = {"SELECT count(*) FROM animal", "SELECT count(*) FROM animal WHERE kind = 'lion'"};

Test(remote, remote_entailment_is_in_verdict)
{
    SCRIPT("/predict", {.body = low}, {.body = high});
    open_engine((struct msg_options){.strategy = MSG_CYCLESQL});
    struct msg_verdict *v = judge(two, 2);
    cr_assert_eq(v->status, MSG_STATUS_VALIDATED);
    cr_assert_eq(v->chosen, 2);
    cr_assert_float_eq(v->candidates[0].entailment, 0.1, 1e-6);
    cr_assert_float_eq(v->candidates[1].entailment, 0.9, 1e-6);
    cr_assert(strstr(v->candidates[1].verifier, "tei"), "%s", v->candidates[1].verifier);
    cr_assert(strstr(v->candidates[0].why, "probability 0.10 < 0.50"), "%s", v->candidates[0].why);
    cr_assert_eq(v->n_notes, 0);
    const char *asked = fake_model_body(fake, "/predict", 0);
    cr_assert(strstr(asked, "SELECT count(*) FROM animal | 1 row") && strstr(asked, "How many lions?"), "%s", asked);
    msg_verdict_free(v);
}

Test(remote, failure_is_noted_in_verdict)
{
    SCRIPT("/predict", {.status = 503}, {.act = FAKE_RESET}, {.body = "nonsense"}, {.status = 429});
    open_engine((struct msg_options){.strategy = MSG_RERANK});
    for (unsigned i = 0; i < 4; i++) {
        struct msg_verdict *v = judge(two + 1, 1);
        cr_assert_eq(v->chosen, 1, "%u", i);
        cr_assert(isnan(v->candidates[0].entailment), "never a zero");
        cr_assert_eq(v->n_notes, 1);
        cr_assert(strstr(v->notes[0], "candidate 1: not verified"), "%s", v->notes[0]);
        msg_verdict_free(v);
    }
    struct engine_stats stats;
    engine_stats(engine, &stats);
    cr_assert_eq(stats.coordinator.verifications, 4);
    cr_assert_eq(stats.coordinator.verifier_failures, 4);
}

/* The request's deadline also limits the wait for the verifier. The coordinator's thread continues meanwhile. */
Test(remote, hanging_verifier_delays_no_request)
{
    SCRIPT("/predict", {.act = FAKE_HANG});
    open_engine((struct msg_options){.deadline_ms = 300});
    struct msg_verdict *v = judge(two + 1, 1);
    cr_assert_eq(v->status, MSG_STATUS_BEST_EFFORT);
    cr_assert_eq(v->chosen, 1);
    cr_assert_lt(v->total_ns, INT64_C(5000000000));
    cr_assert(v->n_notes >= 1 || (v->reason && strcmp(v->reason, "deadline") == 0));
    msg_verdict_free(v);
}

Test(remote, closing_cancels_calls_in_flight)
{
    struct msg_candidate one = {.sql = {two[1], (uint32_t)strlen(two[1])}, .score = NAN};
    struct msg_request request = {.db = "zoo", .question = "How many?", .candidates = &one, .n_candidates = 1};
    struct err err = {0};
    SCRIPT("/predict", {.act = FAKE_HANG});
    open_engine((struct msg_options){.deadline_ms = -1});
    for (unsigned i = 0; i < 6; i++) cr_assert_eq(engine_submit(engine, &request, 1000, &err), ERR_OK, "%s", err.text);
    engine_close(engine);
    engine = NULL;
}

Test(remote, wrong_configuration_is_refused_at_open)
{
    struct err err = {0};
    struct engine_config config = {.remote = scorer_defaults()};
    config.remote.backend = "pigeon";
    config.remote.endpoint = fake_model_url(fake);
    cr_assert_eq(world_open(&world, &config, &engine, &err), ERR_CONFIG);
    cr_assert(strstr(err.text, "pigeon"), "%s", err.text);
    cr_assert_null(engine);
}
