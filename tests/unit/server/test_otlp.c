/* Tests the export of spans to a scripted collector. It accepts them, rejects them, requests a pause, or fails as
 * networks do. */
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "server/otlp.h"
#include "tests/support/fake_model.h"
#include "tests/support/leak.h"
#include "tests/support/wait.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#define PATH "/v1/traces"

static const struct trace_context root = {
    .trace = {0x0af7651916cd43ddU, 0x8448eb211c80319cU}, .span = 5, .sampled = true};
static const struct fake_step taken = {.body = "{}"};

static struct fake_model *collector;
static struct otlp *otlp;

static void begin(void)
{
    log_close();
    collector = fake_model_start();
}
static void end(void)
{
    otlp_close(otlp);
    otlp = NULL;
    fake_model_stop(collector);
    leak_check();
}
TestSuite(otlp, .init = begin, .fini = end);

static void open_with(struct otlp_config config)
{
    struct err err = {0};
    if (!config.endpoint) config.endpoint = fake_model_url(collector);
    config.service = "assay-test";
    config.version = "1.2.3";
    config.batch_ms = 5;
    config.retry_ms = 5;
    cr_assert_eq(otlp_open(&config, &otlp, &err), ERR_OK, "%s", err.text);
}

static void leave_spans(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        struct trace_span span;
        tracer_begin(otlp_tracer(otlp), &root, "work", TRACE_INTERNAL, &span);
        tracer_end(otlp_tracer(otlp), &span, ERR_OK);
    }
}

static struct otlp_stats stats_now(void)
{
    struct otlp_stats stats;
    otlp_get_stats(otlp, &stats);
    return stats;
}

static bool are_settled(void *n)
{
    const struct otlp_stats stats = stats_now();
    return stats.sent + stats.dropped + stats.refused == *(const unsigned *)n;
}

/* Waits until the outcome of n spans is known. Returns the statistics. */
static struct otlp_stats send_spans(unsigned n)
{
    leave_spans(n);
    cr_assert(wait_until(are_settled, &n, 10000), "they are not settled");
    return stats_now();
}

Test(otlp, batch_follows_protocol)
{
    static const char expected[] =
        "{\"resourceSpans\":[{\"resource\":{\"attributes\":"
        "[{\"key\":\"service.name\",\"value\":{\"stringValue\":\"assay-test\"}},"
        "{\"key\":\"service.version\",\"value\":{\"stringValue\":\"1.2.3\"}},"
        "{\"key\":\"host.name\",\"value\":{\"stringValue\":\"%s\"}},"
        "{\"key\":\"process.pid\",\"value\":{\"intValue\":\"%d\"}}]},"
        "\"scopeSpans\":[{\"scope\":{\"name\":\"assay\",\"version\":\"1.2.3\"},\"spans\":["
        "{\"traceId\":\"0af7651916cd43dd8448eb211c80319c\",\"spanId\":\"00000000000000ff\",\"name\":\"execution\","
        "\"kind\":5,"
        "\"startTimeUnixNano\":\"1700000000000000001\",\"endTimeUnixNano\":\"1700000000000000002\",\"attributes\":"
        "[{\"key\":\"db.namespace\",\"value\":{\"stringValue\":\"z\\\"oo\"}},{\"key\":\"assay.candidate\",\"value\":{"
        "\"intValue\":\"2\"}}],"
        "\"status\":{\"code\":2},\"parentSpanId\":\"0000000000000005\"},"
        "{\"traceId\":\"0af7651916cd43dd8448eb211c80319c\",\"spanId\":\"0000000000000005\",\"name\":\"request\","
        "\"kind\":1,"
        "\"startTimeUnixNano\":\"0\",\"endTimeUnixNano\":\"0\",\"attributes\":[],\"status\":{\"code\":0}}]}]}]}";
    struct trace_span spans[2] = {{.context = root,
                                   .parent = 5,
                                   .name = "execution",
                                   .kind = TRACE_CONSUMER,
                                   .start_ns = 1700000000000000001,
                                   .end_ns = 1700000000000000002,
                                   .failed = true},
                                  {.context = root, .name = "request", .kind = TRACE_INTERNAL}};
    spans[0].context.span = 255;
    trace_text(&spans[0], "db.namespace", "z\"oo");
    trace_text(&spans[0], "no.utf8", "\xff");
    trace_number(&spans[0], "assay.candidate", 2);
    char *wanted = g_strdup_printf(expected, g_get_host_name(), (int)getpid());
    char *body = otlp_encode(spans, 2, "assay-test", "1.2.3");
    cr_expect_str_eq(body, wanted);
    free(body);
    g_free(wanted);
}

Test(otlp, spans_are_exported)
{
    fake_model_script(collector, PATH, &taken, 1);
    open_with((struct otlp_config){0});
    const struct otlp_stats stats = send_spans(3);
    cr_assert_eq(stats.sent, 3);
    const char *head = fake_model_head(collector, PATH, 0);
    cr_assert(strstr(head, "POST " PATH) && strstr(head, "Content-Type: application/json"), "%s", head);
    cr_assert(strstr(fake_model_body(collector, PATH, 0), "\"parentSpanId\":\"0000000000000005\""));
}

Test(otlp, trailing_slash_of_endpoint_is_removed)
{
    char *endpoint = g_strconcat(fake_model_url(collector), "/", NULL);
    fake_model_script(collector, PATH, &taken, 1);
    open_with((struct otlp_config){.endpoint = endpoint});
    cr_assert_eq(send_spans(1).sent, 1);
    g_free(endpoint);
}

Test(otlp, spans_are_sent_in_batches)
{
    enum { SPANS = 3000 };
    fake_model_script(collector, PATH, &taken, 1);
    open_with((struct otlp_config){0});
    cr_assert_eq(send_spans(SPANS).sent, SPANS);
    cr_assert_gt(fake_model_requests(collector, PATH), SPANS / 512);
}

/* Before the collector accepts the batch, it fails or replies with errors. */
Test(otlp, transient_failures_are_retried)
{
    static const struct fake_step steps[] = {{.status = 503},
                                             {.act = FAKE_RESET},
                                             {.act = FAKE_CLOSE},
                                             {.act = FAKE_CUT, .body = "{\"partialSuccess\": {}}"},
                                             {.body = "{}"}};
    fake_model_script(collector, PATH, steps, 5);
    open_with((struct otlp_config){0});
    cr_assert_eq(send_spans(2).sent, 2);
    cr_assert_eq(fake_model_requests(collector, PATH), 5);
    for (unsigned i = 1; i < 5; i++)
        cr_expect_str_eq(fake_model_body(collector, PATH, i), fake_model_body(collector, PATH, 0), "the same batch");
}

Test(otlp, retry_after_of_collector_is_kept)
{
    static const struct fake_step steps[] = {{.status = 429, .headers = "Retry-After: 1\r\n"}, {.body = "{}"}};
    fake_model_script(collector, PATH, steps, 2);
    open_with((struct otlp_config){0});
    cr_assert_eq(send_spans(1).sent, 1);
    int64_t waited = fake_model_time(collector, PATH, 1) - fake_model_time(collector, PATH, 0);
    cr_assert(waited >= INT64_C(900000000), "%lld ns", (long long)waited);
}

Test(otlp, permanent_failures_are_not_retried)
{
    static const struct fake_step steps[] = {
        {.status = 400}, {.status = 500}, {.status = 302, .headers = "Location: /\r\n"}, {.body = "{}"}};
    fake_model_script(collector, PATH, steps, 4);
    open_with((struct otlp_config){0});
    for (unsigned i = 1; i <= 3; i++) {
        unsigned settled = i;
        leave_spans(1);
        cr_assert(wait_until(are_settled, &settled, 10000));
        cr_assert_eq(stats_now().refused, i);
        cr_assert_eq(fake_model_requests(collector, PATH), i);
    }
}

Test(otlp, retries_to_failing_collector_are_bounded)
{
    static const struct fake_step away = {.status = 503};
    fake_model_script(collector, PATH, &away, 1);
    open_with((struct otlp_config){0});
    cr_assert_eq(send_spans(4).refused, 4);
    cr_assert_eq(fake_model_requests(collector, PATH), OTLP_ATTEMPTS);
}

Test(otlp, rejected_spans_of_batch_are_counted)
{
    static const struct fake_step some = {
        .body = "{\"partialSuccess\":{\"rejectedSpans\":\"2\",\"errorMessage\":\"too old\"}}"};
    fake_model_script(collector, PATH, &some, 1);
    open_with((struct otlp_config){.tracer = {.max_spans = 64}});
    const struct otlp_stats stats = send_spans(2);
    cr_assert(stats.refused >= 1 && stats.sent + stats.refused == 2, "%llu refused", (unsigned long long)stats.refused);
}

Test(otlp, hanging_collector_delays_no_caller)
{
    enum { ROOM = 100, SPANS = 20000 };
    static const struct fake_step hangs = {.act = FAKE_HANG};
    fake_model_script(collector, PATH, &hangs, 1);
    open_with((struct otlp_config){.tracer = {.max_spans = ROOM}, .drain_ms = 100});
    int64_t before = clock_now_ns();
    leave_spans(SPANS);
    cr_expect(clock_now_ns() - before < INT64_C(5000000000), "a span costs a copy");
    cr_expect_geq(stats_now().dropped, SPANS - 512 - ROOM, "what found no room");
    before = clock_now_ns();
    otlp_close(otlp);
    otlp = NULL;
    cr_expect(clock_now_ns() - before < INT64_C(5000000000), "and the end is bounded too");
}

Test(otlp, missing_collector_loses_only_spans)
{
    open_with((struct otlp_config){.endpoint = "http://127.0.0.1:1"});
    cr_assert_eq(send_spans(7).refused, 7);
}

Test(otlp, queued_spans_are_sent_on_close)
{
    fake_model_script(collector, PATH, &taken, 1);
    struct err err = {0};
    const struct otlp_config config = {.endpoint = fake_model_url(collector),
                                       .service = "assay-test",
                                       .version = "1",
                                       .batch_ms = 3600000,
                                       .drain_ms = 20000};
    cr_assert_eq(otlp_open(&config, &otlp, &err), ERR_OK, "%s", err.text);
    leave_spans(2);
    otlp_close(otlp);
    otlp = NULL;
    cr_assert_eq(fake_model_requests(collector, PATH), 1);
}

static char *write_file(const char *text)
{
    char *path = NULL;
    int fd = g_file_open_tmp("otlp-XXXXXX", &path, NULL);
    close(fd);
    g_file_set_contents(path, text, -1, NULL);
    return path;
}

Test(otlp, headers_of_file_are_sent)
{
    char *path = write_file("Authorization: Bearer s3cret\r\n\nX-Tenant: t1\n");
    fake_model_script(collector, PATH, &taken, 1);
    open_with((struct otlp_config){.headers_file = path});
    cr_assert_eq(send_spans(1).sent, 1);
    const char *head = fake_model_head(collector, PATH, 0);
    cr_expect(strstr(head, "Authorization: Bearer s3cret\r\n") && strstr(head, "X-Tenant: t1\r\n"), "%s", head);
    unlink(path);
    g_free(path);
}

Test(otlp, invalid_configuration_is_reported_at_start)
{
    char *bad = write_file("no header\n"), *good = write_file("X-Key: 1\n");
    const struct {
        const char *endpoint, *headers_file, *says;
    } cases[] = {{"localhost:4318", NULL, "is not a URL"},
                 {"http://user:secret@localhost", NULL, "user name"},
                 {"http://127.0.0.1:4318", bad, "not a header"},
                 {"http://127.0.0.1:4318", "/nowhere", "/nowhere"},
                 {"http://collector.example:4318", good, "plain http"}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct otlp_config config = {
            .endpoint = cases[i].endpoint, .headers_file = cases[i].headers_file, .service = "s", .version = "1"};
        struct err err = {0};
        cr_expect_neq(otlp_open(&config, &otlp, &err), ERR_OK, "%s", cases[i].endpoint);
        cr_expect(strstr(err.text, cases[i].says) && !strstr(err.text, "secret"), "%s: %s", cases[i].endpoint,
                  err.text);
    }
    unlink(bad);
    unlink(good);
    g_free(bad);
    g_free(good);
}
