/* Tests assay serve through the program, over real HTTP. The test acts as the fleet: its judge settles requests like a
 * coordinator, when the test commands it. */
#include "lib/base/clock.h"
#include "proto/bus/letter.h"
#include "proto/message/edge.h"
#include "tests/live/broker.h"
#include "tests/support/leak.h"
#include "tests/support/wait.h"
#include "tests/unit/cli/spawn.h"
#include "tests/unit/linking/made.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <curl/curl.h>
#include <glib.h>
#include <jansson.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT_MS = 60000, MAX_HELD = 256 };

static char requests[BROKER_NAME], results[BROKER_NAME], verdicts[BROKER_NAME], letters[BROKER_NAME],
    group[BROKER_NAME], base[64];
static int server;
static bool stopping;

/* --- the fleet --- */

static struct bus *bus;
static struct bus_consumer *judge;
static struct bus_message *held[MAX_HELD];
static unsigned n_held;

static void judge_open(void)
{
    struct err err = {0};
    const struct bus_once once = {.group = group,
                                  .results = results,
                                  .requests = requests,
                                  .verdicts = verdicts,
                                  .letters = letters,
                                  .from = "beginning"};
    bus = broker_open(NULL, 0);
    cr_assert_eq(bus_subscribe_once(bus, &once, &judge, &err), ERR_OK, "%s", err.text);
}

static void judge_close(void)
{
    while (n_held) bus_nack(judge, held[--n_held], 0);
    bus_unsubscribe(judge);
    bus_close(bus);
}

/* Reads new requests, and commits the settled ones. */
static void judge_turn(void)
{
    struct bus_message *got[16];
    uint32_t n, room = MAX_HELD - n_held;
    cr_assert_eq(bus_poll(judge, 0, got, room < 16 ? room : 16, 5, &n), ERR_OK);
    for (uint32_t i = 0; i < n; i++) {
        if (got[i]->topic_index == BUS_ONCE_REQUESTS && !got[i]->history)
            held[n_held++] = got[i];
        else
            bus_ack(judge, got[i]);
    }
    cr_assert_eq(bus_commit(judge), ERR_OK);
}

static struct bus_message *take_held(unsigned index)
{
    struct bus_message *message = held[index];
    held[index] = held[--n_held];
    return message;
}

/* Settles the request with this verdict. Frees the request and the verdict. */
static void settle_with(struct bus_message *message, json_t *request, char *verdict)
{
    const char *id = json_string_value(json_object_get(request, "id"));
    const struct bus_header header = {EDGE_HEADER, EDGE_JSON, sizeof EDGE_JSON - 1};
    struct bus_out out = {.topic = verdicts,
                          .key = id,
                          .key_len = (uint32_t)strlen(id),
                          .value = verdict,
                          .len = strlen(verdict),
                          .headers = &header,
                          .n_headers = 1};
    cr_assert_eq(bus_settle(judge, bus, message, &out), ERR_OK);
    free(verdict);
    json_decref(request);
}

static json_t *request_in(const struct bus_message *message)
{
    json_t *request = json_loadb(message->value, message->len, 0, NULL);
    cr_assert_not_null(request);
    return request;
}

/* Settles a request with a verdict that contains its question. */
static void settle(unsigned index)
{
    struct bus_message *message = take_held(index);
    json_t *request = request_in(message);
    char *text = NULL;
    cr_assert_gt(asprintf(&text, "{\"id\":\"%s\",\"on\":\"%s\"}", json_string_value(json_object_get(request, "id")),
                          json_string_value(json_object_get(request, "question"))),
                 0);
    settle_with(message, request, text);
}

/* Settles a request with a clarification question; the verdict contains the request, like a verdict of a
 * coordinator. */
static void settle_asking(unsigned index)
{
    struct bus_message *message = take_held(index);
    json_t *request = request_in(message);
    json_t *verdict = json_pack("{s:O, s:s, s:{s:s, s:O}}", "id", json_object_get(request, "id"), "status", "ask",
                                "clarification", "id", "c0ffee", "request", request);
    settle_with(message, request, json_dumps(verdict, JSON_COMPACT));
    json_decref(verdict);
}

static void put_aside(unsigned index)
{
    struct bus_message *message = take_held(index);
    const struct letter_cause cause = {group, "coordinator", ERR_REFUSED, "its owners died of it", bus_now_ns(bus)};
    struct letter letter;
    struct bus_out out;
    letter_make(&letter, message, &cause, letters, bus_max_bytes(bus, letters), &out);
    cr_assert_eq(bus_settle(judge, bus, message, &out), ERR_OK);
}

/* --- callers --- */

struct call {
    CURL *curl;
    struct curl_slist *fields;
    GString *body;
    char *location;
    long status; /* 0 if there is no answer yet */
    bool over;
};

static size_t on_body(char *bytes, size_t size, size_t n, void *ctx)
{
    g_string_append_len(ctx, bytes, (gssize)(size * n));
    return size * n;
}

static CURLM *callers;

/* Returns the media type of a request body as a header field. */
static const char *type_of(const char *path)
{
    if (g_str_has_prefix(path, "/v1/batch")) return "Content-Type: application/x-ndjson";
    if (g_str_has_prefix(path, "/v1/linkings")) return "Content-Type: application/octet-stream";
    return "Content-Type: application/json";
}

/* Posts `len` bytes; sends a GET if `bytes` is NULL. */
static struct call *call_with(const char *path, const void *bytes, size_t len)
{
    struct call *call = g_new0(struct call, 1);
    char *url = g_strconcat(base, path, NULL);
    call->body = g_string_new(NULL);
    call->curl = curl_easy_init();
    curl_easy_setopt(call->curl, CURLOPT_URL, url);
    curl_easy_setopt(call->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(call->curl, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(call->curl, CURLOPT_WRITEDATA, call->body);
    curl_easy_setopt(call->curl, CURLOPT_PRIVATE, call);
    if (bytes) call->fields = curl_slist_append(NULL, type_of(path));
    curl_easy_setopt(call->curl, CURLOPT_HTTPHEADER, call->fields);
    if (bytes) curl_easy_setopt(call->curl, CURLOPT_POSTFIELDSIZE, (long)len);
    if (bytes) curl_easy_setopt(call->curl, CURLOPT_COPYPOSTFIELDS, bytes);
    curl_multi_add_handle(callers, call->curl);
    g_free(url);
    return call;
}

static struct call *call(const char *path, const char *json)
{
    return call_with(path, json, json ? strlen(json) : 0);
}

static struct call *ask(const char *query, const char *id, unsigned question)
{
    char *named = id ? g_strdup_printf("\"id\":\"%s\",", id) : g_strdup("");
    char *json = g_strdup_printf("{%s\"db\":\"shop\",\"question\":\"No %u\",\"candidates\":[\"SELECT %u\"]}", named,
                                 question, question);
    char *path = g_strconcat("/v1/judge", query, NULL);
    struct call *asked = call(path, json);
    g_free(named);
    g_free(json);
    g_free(path);
    return asked;
}

static void callers_turn(void)
{
    int running, left;
    curl_multi_perform(callers, &running);
    for (CURLMsg *message; (message = curl_multi_info_read(callers, &left));) {
        struct call *call = NULL;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &call);
        call->over = true;
        curl_easy_getinfo(call->curl, CURLINFO_RESPONSE_CODE, &call->status);
    }
}

static bool turn(bool (*done)(void *), void *ctx)
{
    for (int64_t start = clock_now_ns(); clock_now_ns() - start < LIMIT_MS * INT64_C(1000000);) {
        callers_turn();
        judge_turn();
        if (done(ctx)) return true;
    }
    return false;
}

static bool is_over(void *ctx)
{
    return ((struct call *)ctx)->over;
}
static bool are_held(void *ctx)
{
    return n_held >= *(unsigned *)ctx;
}

static void hold(unsigned n)
{
    cr_assert(turn(are_held, &n), "%u of %u requests came", n_held, n);
}

/* Waits for the answer. Its body must contain `says`. */
static void expect(struct call *call, long status, const char *says)
{
    cr_assert(turn(is_over, call), "no answer");
    cr_expect_eq(call->status, status, "%ld, not %ld: %s", call->status, status, call->body->str);
    cr_expect(strstr(call->body->str, says), "no '%s' in %s", says, call->body->str);
}

static void forget(struct call *call)
{
    curl_multi_remove_handle(callers, call->curl);
    curl_easy_cleanup(call->curl);
    curl_slist_free_all(call->fields);
    g_string_free(call->body, TRUE);
    g_free(call);
}

static void expect_once(struct call *call, long status, const char *says)
{
    expect(call, status, says);
    forget(call);
}

/* --- the stage --- */

static bool has_port(void *ctx)
{
    char *log = read_file(".err");
    const char *at = log ? strstr(log, "\"port\":") : NULL;
    if (at) g_snprintf(base, sizeof base, "http://127.0.0.1:%d", atoi(at + strlen("\"port\":")));
    g_free(log);
    (void)ctx;
    return at != NULL;
}

static void begin(const char *test, const char *option, const char *value)
{
    char *servers = g_strdup(g_getenv("ASSAY_TEST_KAFKA"));
    const struct broker_topic topics[] = {
        {"requests", requests}, {"results", results}, {"verdicts", verdicts}, {"dlq", letters}, {NULL, NULL}};
    broker_scene(test, 2, topics, group);
    judge_open();
    scratch_begin();
    g_setenv("ASSAY_TEST_KAFKA", servers, TRUE);
    callers = curl_multi_init();
    const char *const args[] = {"serve",  "--servers",  servers,  "--http",    "127.0.0.1:0", "--requests",
                                requests, "--verdicts", verdicts, "--letters", letters,       "--group",
                                group,    "--log-form", "json",   option,      value,         NULL};
    server = assay_start(args);
    cr_assert(wait_until(has_port, NULL, 20000), "it does not listen: %s", read_file(".err"));
    g_free(servers);
}

/* Sends SIGTERM once; a second signal would end the server at once. */
static void ask_to_stop(void)
{
    if (!stopping) kill(server, SIGTERM);
    stopping = true;
}

static void end(void)
{
    int status;
    ask_to_stop();
    cr_assert_eq(waitpid(server, &status, 0), server);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%x", (unsigned)status);
    curl_multi_cleanup(callers);
    judge_close();
    scratch_end();
    leak_check();
}

TestSuite(serve, .timeout = 180);

/* --- normal operation --- */

Test(serve, request_is_answered_with_verdict)
{
    begin("serve", NULL, NULL);
    struct call *named = ask("", "q-1", 1), *nameless = ask("", NULL, 2);
    hold(2);
    callers_turn();
    cr_assert(!named->over && !nameless->over, "nothing is committed yet");
    settle(0);
    settle(0);
    expect_once(named, 200, "{\"id\":\"q-1\",\"on\":\"No 1\"}");
    expect(nameless, 200, "\"on\":\"No 2\"");
    cr_expect(strstr(nameless->body->str, "\"id\":\"http-"), "it got an id: %s", nameless->body->str);
    forget(nameless);
    expect_once(call("/v1/verdicts/q-1", NULL), 200, "\"on\":\"No 1\"");
    end();
}

/* Rule 15: callers get verdicts by the position of their request, whatever the order of the verdicts. */
Test(serve, many_callers_get_their_own_verdicts)
{
    enum { N = 60 };
    struct call *calls[N];
    char says[32];
    begin("many", NULL, NULL);
    for (unsigned i = 0; i < N; i++) calls[i] = ask("", NULL, i);
    hold(N);
    for (unsigned i = 0; i < N; i++) settle((i * 7) % n_held);
    for (unsigned i = 0; i < N; i++) {
        g_snprintf(says, sizeof says, "\"on\":\"No %u\"}", i);
        expect_once(calls[i], 200, says);
    }
    end();
}

Test(serve, verdict_is_available_by_id)
{
    begin("late", NULL, NULL);
    expect_once(ask("?wait_ms=0", "slow one", 1), 202, "\"location\":\"/v1/verdicts/slow%20one\"");
    expect_once(call("/v1/verdicts/slow%20one", NULL), 404, "unknown_id");
    hold(1);
    settle(0);
    struct call *other = ask("", "another", 2); /* an answer to this call implies that the first one is answered too */
    hold(1);
    settle(0);
    expect_once(other, 200, "No 2");
    struct call *again;
    for (int64_t start = clock_now_ns();; forget(again)) { /* repeated, because the partitions are read concurrently */
        again = call("/v1/verdicts/slow%20one", NULL);
        cr_assert(turn(is_over, again));
        if (again->status == 200 || clock_now_ns() - start > LIMIT_MS * INT64_C(1000000)) break;
    }
    expect_once(again, 200, "\"on\":\"No 1\"");
    end();
}

/* The user's answer refers to the verdict's id. The request is judged again with the answer, and its verdict is
 * returned. */
Test(serve, answer_to_question_is_judged_with_request)
{
    begin("answers", NULL, NULL);
    expect_once(call("/v1/verdicts/asked/answers", "{\"choice\":\"1\"}"), 404, "unknown_id");
    struct call *first = ask("", "asked", 1);
    hold(1);
    settle_asking(0);
    expect_once(first, 200, "\"status\":\"ask\"");
    expect_once(call("/v1/verdicts/asked/answers", "{\"choice\":1}"), 400, "with an optional");
    expect_once(call("/v1/verdicts/asked/answers", NULL), 405, "\"code\":\"refused\"");
    struct call *second = call("/v1/verdicts/asked/answers", "{\"choice\":\"7\"}");
    hold(1);
    char *sent = g_strndup(held[0]->value, held[0]->len);
    cr_expect(strstr(sent, "\"answers\":[{\"question\":\"c0ffee\",\"choice\":\"7\"}]"), "%s", sent);
    cr_expect(strstr(sent, "\"id\":\"asked\"") && strstr(sent, "\"question\":\"No 1\""), "%s", sent);
    settle(0);
    expect_once(second, 200, "\"on\":\"No 1\"");
    expect_once(call("/v1/verdicts/asked/answers", "{\"choice\":\"7\"}"), 400, "asks no question");
    g_free(sent);
    end();
}

Test(serve, dead_letter_is_answered_as_error)
{
    begin("letter", NULL, NULL);
    struct call *call = ask("", "twice", 1);
    hold(1);
    put_aside(0);
    expect(call, 422, "\"code\":\"refused\"");
    cr_expect(strstr(call->body->str, "its owners died of it"), "%s", call->body->str);
    forget(call);
    end();
}

Test(serve, invalid_request_never_reaches_fleet)
{
    begin("bad", "--max-kb", "4");
    char *large = g_strnfill(5000, ' ');
    expect_once(call("/v1/judge", "{"), 400, "\"code\":\"malformed\"");
    expect_once(call("/v1/judge", "{\"id\":\"x\"}"), 400, "\"code\":");
    expect_once(call("/v1/judge", large), 413, "\"code\":\"limit_bytes\"");
    expect_once(call("/v1/judge", NULL), 405, "\"code\":\"refused\"");
    expect_once(call("/v1/verdicts/x", "{}"), 405, "\"code\":\"refused\"");
    expect_once(call("/v2/judge", NULL), 404, "unknown_path");
    expect_once(call("/v1/verdicts/", NULL), 404, "unknown_path");
    struct call *sound = ask("", "sound", 1);
    hold(1);
    cr_expect_eq(n_held, 1);
    settle(0);
    expect_once(sound, 200, "No 1");
    g_free(large);
    end();
}

/* --- traces of a schema linker --- */

static const struct made linker = {.questions = 200, .layers = 2, .hidden = 6, .wrong = 0.15, .plain = 1.5, .seed = 1};

static void expect_linking(const struct made *made, long status, const char *says)
{
    gsize len;
    GBytes *message = made_message(made);
    const void *bytes = g_bytes_get_data(message, &len);
    expect_once(call_with("/v1/linkings", bytes, len), status, says);
    g_bytes_unref(message);
}

Test(serve, trace_is_answered_at_once_with_uncertain_names)
{
    char path[64];
    struct made one = linker, narrow = linker, columns = linker;
    g_snprintf(path, sizeof path, "/tmp/assay-predictor-%d", (int)getpid());
    made_predictor(path, &linker);
    begin("traces", "--predictor", path);
    one.seed = 5;
    expect_linking(&one, 200, "{\"id\":\"q0\",\"linking\":{\"uncertain\":[");
    narrow.hidden = 3;
    expect_linking(&narrow, 400, "the predictor expects");
    columns.stage = "columns";
    expect_linking(&columns, 400, "not trained for the stage columns");
    expect_once(call("/v1/linkings", "no trace"), 400, "\"code\":\"malformed\"");
    expect_once(call("/v1/linkings", NULL), 405, "\"code\":\"refused\"");
    cr_expect_eq(n_held, 0, "a trace is no request");
    end();
    unlink(path);
}

Test(serve, traces_need_predictors)
{
    begin("no-traces", NULL, NULL);
    expect_linking(&linker, 404, "unknown_path");
    end();
}

Test(serve, excess_request_is_told_to_retry)
{
    begin("full", "--max-waiting", "1");
    struct call *first = ask("", "first", 1);
    hold(1);
    expect_once(ask("", "second", 2), 503, "\"code\":\"full\"");
    settle(0);
    expect_once(first, 200, "No 1");
    struct call *third = ask("", "third", 3);
    hold(1);
    settle(0);
    expect_once(third, 200, "No 3");
    end();
}

/* --- hostile clients --- */

enum { HOSTILE = 500, HONEST = 50 };

/* Connections that send a byte now and then, from 50 addresses. Valid callers use the same addresses. */
static int hostile[HOSTILE];

static void hostile_come(void)
{
    static const char *const kinds[] = {"", "POST /v1/judge HTTP/1.1\r\n",
                                        "GET /v1/verdicts/x HTTP/1.1\r\nHost: a\r\nX: ",
                                        "POST /v1/judge HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n{"};
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)atoi(strrchr(base, ':') + 1)),
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    for (unsigned i = 0; i < HOSTILE; i++) {
        struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK + i % 50)}};
        hostile[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        cr_assert_eq(bind(hostile[i], (struct sockaddr *)&from, sizeof from), 0);
        cr_assert_eq(connect(hostile[i], (struct sockaddr *)&at, sizeof at), 0);
        const char *first = kinds[i % G_N_ELEMENTS(kinds)];
        send(hostile[i], first, strlen(first), MSG_NOSIGNAL);
    }
}

static void hostile_drip(void)
{
    for (unsigned i = 0; i < HOSTILE; i++) send(hostile[i], "a", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Makes all valid calls at once. Returns the longest wait in seconds. */
static double honest_s(bool crowded)
{
    struct call *calls[HONEST];
    int64_t start = clock_now_ns();
    for (unsigned i = 0; i < HONEST; i++) calls[i] = ask("", NULL, i);
    for (unsigned left = HONEST; left;) {
        callers_turn();
        judge_turn();
        if (crowded) hostile_drip();
        while (n_held) settle(0);
        left = 0;
        for (unsigned i = 0; i < HONEST; i++) left += !calls[i]->over;
        cr_assert_lt(clock_now_ns() - start, LIMIT_MS * INT64_C(1000000), "%u have no answer", left);
    }
    double took = (double)(clock_now_ns() - start) / 1e9;
    for (unsigned i = 0; i < HONEST; i++) expect_once(calls[i], 200, "\"on\":\"No ");
    return took;
}

/* There are fewer slots than hostile clients. Each hostile client shares its address with a valid caller. */
Test(serve, hostile_clients_delay_no_valid_caller)
{
    begin("hostile", "--max-waiting", "100");
    honest_s(false); /* warms up: the first calls connect to the brokers */
    double without = honest_s(false);
    hostile_come();
    double with = honest_s(true);
    cr_log_info("%d honest callers: %.3f s, beside %d hostile ones %.3f s", HONEST, without, HOSTILE, with);
    cr_expect_lt(with, without + 1, "%.3f s, without them %.3f s", with, without);
    for (unsigned i = 0; i < HOSTILE; i++) close(hostile[i]);
    end();
}

/* A client that disconnects frees its slot. */
Test(serve, disconnected_caller_frees_slot)
{
    begin("gone", "--max-waiting", "1");
    struct call *first = ask("?wait_ms=60000", "first", 1), *next = NULL;
    hold(1);
    forget(first); /* this closes its connection */
    for (int64_t start = clock_now_ns(); !next || next->status == 503;) {
        cr_assert_lt(clock_now_ns() - start, 20 * INT64_C(1000000000), "its place is not free");
        if (next) forget(next);
        next = ask("?wait_ms=0", "next", 2);
        cr_assert(turn(is_over, next));
    }
    expect_once(next, 202, "/v1/verdicts/next");
    hold(2);
    settle(0);
    settle(0);
    end();
}

/* On SIGTERM all waiters get an answer, then the process ends. */
Test(serve, shutdown_answers_all_waiters)
{
    begin("drain", NULL, NULL);
    struct call *waits = ask("", "last", 1);
    hold(1);
    ask_to_stop();
    for (unsigned i = 0; i < 20; i++) judge_turn();
    callers_turn();
    cr_assert_not(waits->over);
    settle(0);
    expect_once(waits, 200, "No 1");
    end();
}

/* The wait for the last verdicts has a limit. */
Test(serve, shutdown_reports_missing_verdicts)
{
    begin("cut", "--drain-ms", "3000");
    struct call *waits = ask("", "last", 1);
    hold(1);
    ask_to_stop();
    expect_once(waits, 503, "\"code\":\"closed\"");
    end();
}
