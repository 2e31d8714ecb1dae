/* Behaviour that all backends share: attempts, waits, bounds, circuit breaker, answer cache and threads. Each case
 * gives the expected number of requests, the result and the maximum duration. */
#include "tests/mock/llm/fixture.h"
#include "tests/support/wait.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(scorer, .fini = leak_check);

static const char *const predict = "/predict";

/* Sanitizers and a busy machine lengthen the time between two events, but never change the scheduled times. */
enum { SLACK_MS = 4000 }; /* allows for pauses of the machine; a call that hangs takes longer */

static struct fixture f;

static void start(void)
{
    fixture_start(&f, "tei");
}

/* libcurl itself replaces a reused connection that fails during its first request. Such a request is not an attempt of
 * the scorer. */
Test(scorer, transient_failures_are_retried)
{
    static const struct {
        struct fake_step step;
        unsigned attempts;
    } cases[] = {
        {{.act = FAKE_RESET}, 2},
        {{.act = FAKE_CLOSE}, 2},
        {{.act = FAKE_CUT, .body = "[[1]]"}, 3},
        {{.act = FAKE_NOISE, .body = "\x16\x03"}, 3},
        {{.status = 408}, 3},
        {{.status = 409}, 3},
        {{.status = 429}, 3},
        {{.status = 500}, 3},
        {{.status = 502}, 3},
        {{.status = 503}, 3},
        {{.status = 504}, 3},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        start();
        const struct fake_step steps[] = {cases[i].step, cases[i].step, {.body = tei_answer}};
        fake_model_script(f.fake, predict, steps, 3);
        assert_code(&f, ask(&f), ERR_OK);
        cr_assert_eq(fake_model_requests(f.fake, predict), 3, "case %u", i);
        cr_assert_eq(f.info.attempts, 1 + cases[i].attempts, "case %u: %u, with /info", i, f.info.attempts);
        cr_assert_eq(f.info.status, 200);
        cr_assert_str_eq(f.err.text, "", "what a retry got over is no error");
        struct scorer_stats stats;
        scorer_stats(f.scorer, &stats);
        cr_assert_eq(stats.retries, cases[i].attempts - 1);
        fixture_stop(&f);
    }
}

Test(scorer, attempts_end_at_their_maximum)
{
    start();
    script(&f, predict, {.status = 503});
    assert_code(&f, ask(&f), ERR_UNREACHABLE);
    cr_assert_eq(err_class(f.err.code), ERR_CLASS_RETRY);
    cr_assert_eq(fake_model_requests(f.fake, predict), 3);
    cr_assert_eq(f.info.status, 503);
    fixture_stop(&f);
}

Test(scorer, permanent_failures_are_not_retried)
{
    static const struct {
        int status;
        enum err_code code;
    } cases[] = {{400, ERR_REMOTE}, {401, ERR_CONFIG}, {403, ERR_CONFIG}, {404, ERR_CONFIG}, {413, ERR_REMOTE},
                 {418, ERR_REMOTE}, {422, ERR_REMOTE}, {424, ERR_REMOTE}, {302, ERR_CONFIG}, {204, ERR_MALFORMED}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        start();
        struct fake_step step = {
            .status = cases[i].status, .headers = "Location: http://127.0.0.1:9/\r\n", .body = "{}"};
        if (cases[i].status == 204) step.body = NULL;
        fake_model_script(f.fake, predict, &step, 1);
        assert_code(&f, ask(&f), cases[i].code);
        cr_assert_eq(fake_model_requests(f.fake, predict), 1, "status %d", cases[i].status);
        fixture_stop(&f);
    }
}

Test(scorer, refused_connection_is_unreachable)
{
    start();
    f.config.endpoint = "http://127.0.0.1:1";
    assert_code(&f, ask(&f), ERR_UNREACHABLE);
    cr_assert_eq(f.info.attempts, 3);
    cr_assert_eq(f.info.status, 0);
    cr_assert_lt(f.took_ms, SLACK_MS);
    fixture_stop(&f);
}

Test(scorer, tls_failure_never_falls_back_to_plaintext)
{
    start();
    char endpoint[160];
    snprintf(endpoint, sizeof endpoint, "https%.120s", f.endpoint + 4);
    f.config.endpoint = endpoint;
    f.config.timeout_ms = 200; /* the fake waits for the complete request before that */
    assert_code(&f, ask(&f), ERR_UNREACHABLE);
    cr_assert_eq(fake_model_requests(f.fake, NULL), 0, "nothing is sent in the clear");
    fixture_stop(&f);
}

Test(scorer, retry_after_is_waited_for)
{
    start();
    script(&f, predict, {.status = 429, .headers = "Retry-After: 1\r\n"}, {.body = tei_answer});
    assert_code(&f, ask(&f), ERR_OK);
    int64_t waited = fake_model_time(f.fake, predict, 1) - fake_model_time(f.fake, predict, 0);
    cr_assert_geq(waited, 990000000, "waited %lld ns", (long long)waited);
    cr_assert_lt(f.took_ms, 1000 + SLACK_MS);
    fixture_stop(&f);
}

Test(scorer, pause_delays_every_call_without_request)
{
    start();
    script(&f, predict, {.status = 503, .headers = "Retry-After: 3\r\n"}, {.body = tei_answer});
    assert_code(&f, ask_within(&f, "p", "q", 2000), ERR_UNREACHABLE);
    cr_assert_lt(f.took_ms, 1900, "a wait past the deadline is not begun");
    assert_code(&f, ask_within(&f, "other", "q", 500), ERR_UNREACHABLE);
    cr_assert_eq(f.info.attempts, 0);
    cr_assert_eq(fake_model_requests(f.fake, predict), 1);
    assert_code(&f, ask_within(&f, "third", "q", 10000), ERR_OK);
    int64_t waited = fake_model_time(f.fake, predict, 1) - fake_model_time(f.fake, predict, 0);
    cr_assert_geq(waited, 2990000000, "waited %lld ns", (long long)waited);
    fixture_stop(&f);
}

Test(scorer, absurd_retry_after_is_bounded)
{
    start();
    f.config.retry_after_max_ms = 1;
    script(&f, predict, {.status = 429, .headers = "Retry-After: 999999999\r\n"}, {.body = tei_answer});
    assert_code(&f, ask(&f), ERR_UNREACHABLE);
    cr_assert_eq(fake_model_requests(f.fake, predict), 1);
    cr_assert_lt(f.took_ms, SLACK_MS);
    assert_code(&f, ask(&f), ERR_OK);
    fixture_stop(&f);
}

Test(scorer, each_attempt_has_timeout)
{
    start();
    f.config.timeout_ms = 400;
    script(&f, predict, {.act = FAKE_HANG}, {.act = FAKE_DRIP, .body = " "}, {.body = tei_answer});
    assert_code(&f, ask(&f), ERR_OK);
    cr_assert_eq(fake_model_requests(f.fake, predict), 3);
    cr_assert_geq(f.took_ms, 800);
    cr_assert_lt(f.took_ms, 800 + SLACK_MS);
    fixture_stop(&f);
}

Test(scorer, deadline_ends_call_whatever_peer_does)
{
    static const enum fake_act acts[] = {FAKE_HANG, FAKE_DRIP};
    for (unsigned i = 0; i < sizeof acts / sizeof *acts; i++) {
        start();
        struct fake_step step = {.act = acts[i], .body = "[[{\"label\":"};
        fake_model_script(f.fake, predict, &step, 1);
        assert_code(&f, ask_within(&f, "p", "q", 300), ERR_DEADLINE);
        cr_assert_geq(f.took_ms, 299);
        cr_assert_lt(f.took_ms, 300 + SLACK_MS);
        cr_assert_eq(fake_model_requests(f.fake, predict), 1);
        fixture_stop(&f);
    }
}

Test(scorer, passed_deadline_sends_no_request)
{
    start();
    script(&f, predict, {.body = tei_answer});
    assert_code(&f, ask_within(&f, "p", "q", -1), ERR_DEADLINE);
    cr_assert_eq(fake_model_requests(f.fake, NULL), 0);
    fixture_stop(&f);
}

Test(scorer, oversized_bodies_and_headers_are_refused)
{
    static const struct fake_step steps[] = {{.act = FAKE_FLOOD}, {.act = FAKE_HEADERS}};
    for (unsigned i = 0; i < 2; i++) {
        start();
        fake_model_script(f.fake, predict, &steps[i], 1);
        assert_code(&f, ask(&f), ERR_LIMIT_BYTES);
        cr_assert_eq(fake_model_requests(f.fake, predict), 1);
        cr_assert_lt(f.took_ms, 2 * SLACK_MS);
        fixture_stop(&f);
    }
}

Test(scorer, body_of_exactly_maximum_size_is_read)
{
    start();
    f.config.max_reply_bytes = strlen(tei_info) > strlen(tei_answer) ? strlen(tei_info) : strlen(tei_answer);
    script(&f, predict, {.body = tei_answer});
    assert_code(&f, ask(&f), ERR_OK);
    fixture_stop(&f);
    start();
    f.config.max_reply_bytes = strlen(tei_info) - 1;
    assert_code(&f, ask(&f), ERR_LIMIT_BYTES);
    fixture_stop(&f);
}

Test(scorer, texts_are_checked_before_sending)
{
    start();
    f.config.max_text_bytes = 100;
    char *long_text = calloc(1, 102);
    memset(long_text, 'x', 101);
    assert_code(&f, ask_within(&f, long_text, "", 1000), ERR_LIMIT_BYTES);
    assert_code(&f, ask_within(&f, "broken \xc3", "q", 1000), ERR_ENCODING);
    cr_assert_eq(fake_model_requests(f.fake, NULL), 0);
    free(long_text);
    fixture_stop(&f);
}

static bool is_answered(void *context)
{
    (void)context;
    return ask(&f) == ERR_OK;
}

Test(scorer, open_breaker_spares_failing_endpoint)
{
    start();
    f.config.breaker_failures = 3;
    f.config.breaker_open_ms = 300;
    script(&f, predict, {.status = 500}, {.status = 500}, {.status = 500}, {.body = tei_answer});
    assert_code(&f, ask(&f), ERR_UNREACHABLE);
    for (int i = 0; i < 5; i++) {
        assert_code(&f, ask(&f), ERR_UNREACHABLE);
        cr_assert_eq(f.info.attempts, 0);
        if (fake_model_time(f.fake, predict, 2) + 250000000 < clock_now_ns()) break; /* perhaps half open by now */
    }
    cr_assert_eq(fake_model_requests(f.fake, predict), 3);
    struct scorer_stats stats;
    scorer_stats(f.scorer, &stats);
    cr_assert_eq(stats.breaker_opened, 1);
    cr_assert_gt(stats.breaker_refused, 0);
    /* Half open: a successful call closes the breaker. */
    cr_assert(wait_until(is_answered, NULL, 5000), "the breaker lets one try");
    scorer_stats(f.scorer, &stats);
    cr_assert_not(stats.breaker_open);
    cr_assert_eq(fake_model_requests(f.fake, predict), 4);
    fixture_stop(&f);
}

Test(scorer, malformed_replies_open_breaker_refused_input_does_not)
{
    start();
    f.config.breaker_failures = 2;
    script(&f, predict, {.status = 422}, {.status = 422}, {.status = 422}, {.body = "garbage"});
    for (int i = 0; i < 3; i++) assert_code(&f, ask(&f), ERR_REMOTE);
    for (int i = 0; i < 2; i++) assert_code(&f, ask(&f), ERR_MALFORMED);
    assert_code(&f, ask(&f), ERR_UNREACHABLE);
    cr_assert_eq(f.info.attempts, 0);
    fixture_stop(&f);
}

Test(scorer, retries_are_limited_by_budget)
{
    start();
    f.config.retry_share = 0;
    f.config.backoff_ms = 0;
    script(&f, predict, {.status = 500});
    for (int i = 0; i < 10; i++) assert_code(&f, ask(&f), ERR_UNREACHABLE);
    cr_assert_eq(fake_model_requests(f.fake, predict), 20, "ten calls, and the ten retries of the burst");
    fixture_stop(&f);
}

Test(scorer, answers_are_cached_and_failures_are_not)
{
    start();
    f.config.cache_entries = 2;
    f.config.max_attempts = 1;
    script(&f, predict, {.status = 500}, {.body = tei_answer});
    assert_code(&f, ask_within(&f, "p", "q", 10000), ERR_UNREACHABLE);
    assert_code(&f, ask_within(&f, "p", "q", 10000), ERR_OK);
    cr_assert_not(f.info.cached);
    char request[33];
    memcpy(request, f.info.request, sizeof request);
    cr_assert_eq(strlen(request), 32);
    assert_code(&f, ask_within(&f, "p", "q", 10000), ERR_OK);
    cr_assert(f.info.cached);
    cr_assert_eq(f.info.attempts, 0);
    cr_assert_float_eq(f.p, 0.625, 1e-12);
    cr_assert_str_eq(f.info.request, request);
    assert_code(&f, ask_within(&f, "pq", "", 10000), ERR_OK);
    cr_assert_not(f.info.cached, "another cut through the same letters is another request");
    cr_assert_eq(fake_model_requests(f.fake, predict), 3);
    struct scorer_stats stats;
    scorer_stats(f.scorer, &stats);
    cr_assert_eq(stats.calls, 4);
    cr_assert_eq(stats.cached, 1);
    cr_assert_eq(stats.failures, 1);
    fixture_stop(&f);
}

Test(scorer, connection_is_reused)
{
    start();
    script(&f, predict, {.body = tei_answer});
    for (int i = 0; i < 5; i++) assert_code(&f, ask(&f), ERR_OK);
    cr_assert_eq(fake_model_requests(f.fake, NULL), 6);
    cr_assert_eq(fake_model_connections(f.fake), 1);
    fixture_stop(&f);
}

/* --- threads ---------------------------------------------------------------------------------------------------- */

enum { THREADS = 8, QUESTIONS = 20 };

static void *ask_many(void *context)
{
    unsigned *wrong = context;
    for (int i = 0; i < QUESTIONS; i++) {
        double p = -1;
        enum err_code code = scorer_entails(f.scorer, "p", "q", clock_now_ns() + 20000000000, &p, NULL, NULL);
        *wrong += code != ERR_OK || p != 0.625;
    }
    return NULL;
}

Test(scorer, concurrent_calls_get_their_own_answers)
{
    start();
    script(&f, predict, {.body = tei_answer});
    assert_code(&f, ask(&f), ERR_OK);
    pthread_t threads[THREADS];
    unsigned wrong[THREADS] = {0}, all = 0;
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, ask_many, &wrong[i]);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) all += wrong[i];
    cr_assert_eq(all, 0);
    cr_assert_eq(fake_model_requests(f.fake, predict), THREADS * QUESTIONS + 1);
    cr_assert_leq(fake_model_connections(f.fake), THREADS + 1);
    fixture_stop(&f);
}

static void *ask_in_vain(void *context)
{
    enum err_code *code = context;
    double p = -1;
    *code = scorer_entails(f.scorer, "p", "q", clock_now_ns() + 60000000000, &p, NULL, NULL);
    return NULL;
}

static bool is_asked(void *context)
{
    (void)context;
    return fake_model_requests(f.fake, predict) > 0;
}

Test(scorer, stop_ends_running_and_later_calls)
{
    /* One call waits for a reply, the next one for the end of a pause. */
    static const struct fake_step steps[] = {{.act = FAKE_HANG}, {.status = 503, .headers = "Retry-After: 20\r\n"}};
    for (unsigned i = 0; i < 2; i++) {
        start();
        f.config.timeout_ms = 50000;
        fake_model_script(f.fake, predict, &steps[i], 1);
        cr_assert_eq(scorer_open(&f.config, &f.scorer, &f.err), ERR_OK);
        pthread_t thread;
        enum err_code code = ERR_OK;
        pthread_create(&thread, NULL, ask_in_vain, &code);
        cr_assert(wait_until(is_asked, NULL, 5000));
        int64_t began = clock_now_ns();
        scorer_stop(f.scorer);
        pthread_join(thread, NULL);
        cr_assert_lt(clock_now_ns() - began, SLACK_MS * (int64_t)1000000);
        cr_assert_eq(code, ERR_CANCELLED, "%s", err_name(code));
        assert_code(&f, ask(&f), ERR_CANCELLED);
        fixture_stop(&f);
    }
}
