/* assay serve without a fleet: callers over HTTP, an engine in the same process. */
#include "tests/support/wait.h"
#include "tests/unit/cli/spawn.h"
#include "tests/unit/linking/made.h"

#include <criterion/criterion.h>
#include <curl/curl.h>
#include <glib.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { START_MS = 30000, CALLERS = 24 };

static char base[64];
static struct curl_slist *as; /* another Host than the real one; NULL: that */
static pid_t server;

static bool has_port(void *ctx)
{
    char *log = read_file(".err");
    const char *at = log ? strstr(log, "\"port\":") : NULL;
    if (at) g_snprintf(base, sizeof base, "http://127.0.0.1:%d", atoi(at + strlen("\"port\":")));
    g_free(log);
    (void)ctx;
    return at != NULL;
}

static void begin(const char *option)
{
    const char *const args[] = {"serve", "--db-root=.", "--http=127.0.0.1:0", "--log-form=json", option, NULL};
    server = assay_start(args);
    cr_assert(wait_until(has_port, NULL, START_MS), "it does not listen: %s", read_file(".err"));
}

static void end(void)
{
    int status;
    kill(server, SIGTERM);
    cr_assert_eq(waitpid(server, &status, 0), server);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%x %s", (unsigned)status, read_file(".err"));
}

TestSuite(serve_alone, .init = scratch_begin, .fini = scratch_end, .timeout = 120);

struct answer {
    long status;
    GString *body;
};

static size_t on_body(char *bytes, size_t size, size_t n, void *ctx)
{
    g_string_append_len(ctx, bytes, (gssize)(size * n));
    return size * n;
}

/* `bytes` NULL: a GET. */
static CURL *prepare(const char *path, const void *bytes, size_t len, struct answer *out)
{
    CURL *curl = curl_easy_init();
    char *url = g_strconcat(base, path, NULL);
    *out = (struct answer){0, g_string_new(NULL)};
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, out->body);
    if (as) curl_easy_setopt(curl, CURLOPT_HTTPHEADER, as);
    if (bytes) curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, (long)len);
    if (bytes) curl_easy_setopt(curl, CURLOPT_COPYPOSTFIELDS, bytes);
    g_free(url);
    return curl;
}

static void expect_bytes(const char *path, const void *bytes, size_t len, long status, const char *says)
{
    struct answer answer;
    CURL *curl = prepare(path, bytes, len, &answer);
    cr_assert_eq(curl_easy_perform(curl), CURLE_OK);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer.status);
    curl_easy_cleanup(curl);
    cr_expect_eq(answer.status, status, "%ld, not %ld: %s", answer.status, status, answer.body->str);
    cr_expect(strstr(answer.body->str, says), "no '%s' in %s", says, answer.body->str);
    g_string_free(answer.body, TRUE);
}

static void expect(const char *path, const char *json, long status, const char *says)
{
    expect_bytes(path, json, json ? strlen(json) : 0, status, says);
}

#define COUNT                                                                                                          \
    "\"db\":\"shop\",\"question\":\"How many customers are there?\",\"candidates\":[\"SELECT count(*) FROM "           \
    "customer\"]"

Test(serve_alone, a_request_is_judged_here_and_its_verdict_kept)
{
    begin(NULL);
    expect("/v1/judge", "{\"id\":\"a\"," COUNT "}", 200, "\"status\":\"validated\"");
    expect("/v1/verdicts/a", NULL, 200, "\"id\":\"a\"");
    expect("/v1/judge", "{" COUNT "}", 200, "\"id\":\"http-");
    expect("/v1/judge", "{\"id\":\"b\",\"db\":\"nowhere\",\"question\":\"?\",\"candidates\":[\"SELECT 1\"]}", 200,
           "\"status\":\"failed\"");
    expect("/v1/judge", "{\"id\":\"c\"}", 400, "\"code\":");
    expect("/v1/verdicts/c", NULL, 404, "unknown_id");
    expect("/v1/linkings", "x", 404, "unknown_path");
    end();
}

Test(serve_alone, a_person_is_asked_and_the_answer_goes_round_again)
{
    begin("--policy=ask");
    expect("/v1/judge",
           "{\"id\":\"a\",\"db\":\"shop\",\"question\":\"How many orders does each customer "
           "have?\",\"ask_gain\":0.01,\"candidates\":["
           "\"SELECT c.name, count(*) FROM customer c JOIN orders o ON o.customer_id = c.id GROUP BY c.id\","
           "\"SELECT c.name, count(o.id) FROM customer c LEFT JOIN orders o ON o.customer_id = c.id GROUP BY c.id\"]}",
           200, "Do you also want customers that have no order?");
    expect("/v1/verdicts/a/answers", "{\"choice\":\"none\"}", 200, "\"answers\":");
    end();
}

Test(serve_alone, many_callers_at_once_get_each_his_own)
{
    struct answer answers[CALLERS];
    CURLM *callers = curl_multi_init();
    int running = CALLERS;
    begin("--max-waiting=64");
    for (unsigned i = 0; i < CALLERS; i++) {
        char *json = g_strdup_printf("{\"id\":\"q%u\"," COUNT "}", i);
        CURL *curl = prepare("/v1/judge", json, strlen(json), &answers[i]);
        curl_multi_add_handle(callers, curl);
        g_free(json);
    }
    while (running) {
        cr_assert_eq(curl_multi_perform(callers, &running), CURLM_OK);
        curl_multi_poll(callers, NULL, 0, 100, NULL);
    }
    for (CURLMsg *message; (message = curl_multi_info_read(callers, &running));) {
        CURL *curl = message->easy_handle;
        cr_expect_eq(message->data.result, CURLE_OK);
        curl_multi_remove_handle(callers, curl);
        curl_easy_cleanup(curl);
    }
    for (unsigned i = 0; i < CALLERS; i++) {
        char *id = g_strdup_printf("\"id\":\"q%u\"", i);
        cr_expect(strstr(answers[i].body->str, id) && strstr(answers[i].body->str, "\"validated\""), "%s",
                  answers[i].body->str);
        g_string_free(answers[i].body, TRUE);
        g_free(id);
    }
    curl_multi_cleanup(callers);
    end();
}

Test(serve_alone, a_trace_is_answered_too)
{
    struct made made = {.questions = 100, .layers = 2, .hidden = 6, .wrong = 0.15, .plain = 1.5, .seed = 1};
    gsize len;
    made_predictor("predictor", &made);
    begin("--predictor=predictor");
    GBytes *message = made_message(&made);
    const void *bytes = g_bytes_get_data(message, &len);
    expect_bytes("/v1/linkings", bytes, len, 200, "{\"id\":\"q0\",\"linking\":");
    g_bytes_unref(message);
    end();
}

/* A page of some site lets its name point at this machine: the browser asks us then, and the page would read the answer. */
Test(serve_alone, a_name_from_elsewhere_that_points_here_is_not_answered)
{
    begin(NULL);
    as = curl_slist_append(NULL, "Host: evil.example");
    expect("/v1/judge", "{\"id\":\"a\"," COUNT "}", 421, "another host");
    curl_slist_free_all(as);
    as = curl_slist_append(NULL, "Host: localhost.evil.example");
    expect("/v1/verdicts/a", NULL, 421, "another host");
    curl_slist_free_all(as);
    as = curl_slist_append(NULL, "Host: LOCALHOST:80");
    expect("/v1/judge", "{\"id\":\"a\"," COUNT "}", 200, "\"validated\"");
    curl_slist_free_all(as);
    as = NULL;
    end();
}

Test(serve_alone, nobody_from_elsewhere_is_answered_unless_somebody_says_so)
{
    struct run run = assay("serve", "--db-root=.", "--http=0.0.0.0:0");
    cr_expect_eq(run.status, 2);
    cr_expect(strstr(run.err, "--open"), "%s", run.err);
    run_free(&run);
    run = assay("serve", "--http=127.0.0.1:0");
    cr_expect_eq(run.status, 2);
    cr_expect(strstr(run.err, "--db-root"), "%s", run.err);
    run_free(&run);
    const char *const args[] = {"serve", "--db-root=.", "--http=0.0.0.0:0", "--open", "--log-form=json", NULL};
    server = assay_start(args);
    cr_assert(wait_until(has_port, NULL, START_MS), "%s", read_file(".err"));
    expect("/v1/judge", "{\"id\":\"a\"," COUNT "}", 200, "\"validated\"");
    end();
}
