/* Tests of tracing: the W3C traceparent, sampling, span ids that are equal in every process, and the bounded queue of
 * finished spans. */
#include "lib/base/clock.h"
#include "lib/base/tracing.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

#define TRACE  "0af7651916cd43dd8448eb211c80319c"
#define PARENT "b7ad6b7169203331"

static const uint64_t HERE[2] = {7, 1700000000000000000};

static struct tracer *tracer;

static void open_tracer(uint32_t max_spans, double ratio)
{
    const struct tracer_config config = {max_spans, ratio};
    struct err err = {0};
    cr_assert_eq(tracer_new(&config, &tracer, &err), ERR_OK, "%s", err.text);
}

static void end(void)
{
    tracer_free(tracer);
    tracer = NULL;
    leak_check();
}
TestSuite(tracing, .fini = end);

/* Starts and ends a span under `parent`. */
static void leave_span(const struct trace_context *parent)
{
    struct trace_span span;
    tracer_begin(tracer, parent, "work", TRACE_INTERNAL, &span);
    tracer_end(tracer, &span, ERR_OK);
}

Test(tracing, traceparent_round_trips)
{
    static const char text[] = "00-" TRACE "-" PARENT "-01";
    struct trace_context context;
    char written[TRACEPARENT_ROOM];
    cr_assert(trace_context_parse(text, &context));
    cr_assert_eq(context.trace[0], 0x0af7651916cd43ddU);
    cr_assert_eq(context.trace[1], 0x8448eb211c80319cU);
    cr_assert_eq(context.span, 0xb7ad6b7169203331U);
    cr_assert(context.sampled);
    trace_context_write(&context, written);
    cr_assert_str_eq(written, text);
    cr_assert(trace_context_parse("00-" TRACE "-" PARENT "-02", &context));
    cr_assert_not(context.sampled, "only the last bit says so");
    cr_assert(trace_context_parse("cc-" TRACE "-" PARENT "-01-what-comes-then", &context), "of a later version");
}

Test(tracing, invalid_traceparent_is_refused)
{
    static const char *const texts[] = {
        "",
        "00-",
        "00-" TRACE "-" PARENT,
        "00-" TRACE "-" PARENT "-0",
        "00-" TRACE "-" PARENT "-01-more",
        "cc-" TRACE "-" PARENT "-01more",
        "ff-" TRACE "-" PARENT "-01",
        "00-0AF7651916CD43DD8448EB211C80319C-" PARENT "-01",
        "00-00000000000000000000000000000000-" PARENT "-01",
        "00-" TRACE "-0000000000000000-01",
        "00_" TRACE "-" PARENT "-01",
        "00-" TRACE "-" PARENT "-0g",
    };
    struct trace_context context;
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        context.sampled = true;
        cr_expect_not(trace_context_parse(texts[i], &context), "%s", texts[i]);
        cr_expect(!context.sampled && !context.span, "%s", texts[i]);
    }
    cr_expect_not(trace_context_parse(NULL, &context));
}

Test(tracing, caller_decides_whether_trace_is_recorded)
{
    struct trace_span span;
    open_tracer(0, 0);
    tracer_begin_request(tracer, "00-" TRACE "-" PARENT "-01", HERE, "request", TRACE_CONSUMER, &span);
    cr_assert(span.context.sampled, "whatever the ratio");
    cr_assert_eq(span.parent, 0xb7ad6b7169203331U);
    cr_assert_eq(span.context.trace[0], 0x0af7651916cd43ddU);
    cr_assert_neq(span.context.span, span.parent);
    tracer_begin_request(tracer, NULL, HERE, "request", TRACE_CONSUMER, &span);
    cr_assert_not(span.context.sampled);
    end();
    open_tracer(0, 1);
    tracer_begin_request(tracer, "00-" TRACE "-" PARENT "-00", HERE, "request", TRACE_CONSUMER, &span);
    cr_assert_not(span.context.sampled, "whatever the ratio");
    tracer_begin_request(tracer, "no trace", HERE, "request", TRACE_CONSUMER, &span);
    cr_assert(span.context.sampled);
    cr_assert_eq(span.parent, 0);
}

Test(tracing, equal_requests_have_equal_span_ids)
{
    const uint64_t there[2] = {8, HERE[1]};
    struct trace_span first, second, other;
    for (unsigned i = 0; i < 2; i++) {
        const char *traceparent = i ? "00-" TRACE "-" PARENT "-01" : NULL;
        open_tracer(0, 1);
        tracer_begin_request(tracer, traceparent, HERE, "request", TRACE_CONSUMER, &first);
        end();
        open_tracer(0, 1);
        tracer_begin_request(tracer, traceparent, HERE, "request", TRACE_CONSUMER, &second);
        tracer_begin_request(tracer, traceparent, there, "request", TRACE_CONSUMER, &other);
        end();
        cr_assert_eq(memcmp(&first.context, &second.context, sizeof first.context), 0);
        cr_assert_neq(first.context.span, other.context.span);
    }
}

Test(tracing, sampling_ratio_is_kept)
{
    enum { REQUESTS = 20000 };
    unsigned traced = 0;
    open_tracer(0, 0.25);
    for (uint64_t i = 0; i < REQUESTS; i++) {
        struct trace_span span;
        tracer_begin_request(tracer, NULL, (const uint64_t[]){i, HERE[1]}, "request", TRACE_CONSUMER, &span);
        traced += span.context.sampled;
    }
    cr_assert(traced > REQUESTS / 5 && traced < REQUESTS * 3 / 10, "%u of %d", traced, REQUESTS);
}

Test(tracing, span_holds_its_attributes)
{
    struct trace_span span, out[4];
    char text[3 * TRACE_TEXT];
    open_tracer(0, 1);
    memset(text, 'x', sizeof text);
    memcpy(text + TRACE_TEXT - 2, "\xc3\xa9", 2); /* a multi-byte character that crosses the limit */
    text[sizeof text - 1] = '\0';
    tracer_begin_request(tracer, NULL, HERE, "request", TRACE_CONSUMER, &span);
    trace_text(&span, "long", text);
    trace_text(&span, "nothing", NULL);
    trace_number(&span, "number", -3);
    for (unsigned i = 0; i < 2 * TRACE_ATTRIBUTES; i++) trace_number(&span, "more", i);
    tracer_end(tracer, &span, ERR_DB_LOCKED);
    cr_assert_eq(tracer_take(tracer, out, 4, 0), 1);
    cr_assert_str_eq(out->name, "request");
    cr_assert_eq(out->n_attributes, TRACE_ATTRIBUTES);
    cr_assert_eq(strlen(out->attributes[0].text), TRACE_TEXT - 2, "cut before a character, not in it");
    cr_assert_eq(out->attributes[1].number, -3);
    cr_assert(out->failed);
    cr_assert(out->end_ns >= out->start_ns && out->start_ns > (int64_t)HERE[1]);
}

Test(tracing, missing_tracer_gives_no_span)
{
    const struct trace_context traced = {.trace = {1, 2}, .span = 3, .sampled = true};
    struct trace_span span;
    tracer_begin(NULL, &traced, "work", TRACE_INTERNAL, &span);
    cr_assert_not(span.context.sampled);
    trace_text(&span, "db.namespace", "zoo");
    trace_number(&span, "assay.candidate", 1);
    tracer_end(NULL, &span, ERR_OK);
    tracer_begin_request(NULL, "00-" TRACE "-" PARENT "-01", HERE, "request", TRACE_CONSUMER, &span);
    cr_assert_not(span.context.sampled);
}

Test(tracing, full_queue_keeps_oldest_and_counts_drops)
{
    enum { ROOM = 8, SPANS = 20 };
    const struct trace_context root = {.trace = {1, 2}, .span = 3, .sampled = true};
    struct trace_span out[SPANS];
    open_tracer(ROOM, 1);
    for (unsigned i = 0; i < SPANS; i++) leave_span(&root);
    cr_assert_eq(tracer_dropped(tracer), SPANS - ROOM);
    cr_assert_eq(tracer_take(tracer, out, 3, 0), 3);
    leave_span(&root);
    cr_assert_eq(tracer_take(tracer, out + 3, SPANS, 0), ROOM - 3 + 1);
    for (unsigned i = 1; i < ROOM + 1; i++) {
        cr_assert(out[i].start_ns >= out[i - 1].start_ns, "in their order");
        cr_assert_neq(out[i].context.span, out[i - 1].context.span);
    }
}

static void *wake(void *arg)
{
    tracer_wake(arg);
    return NULL;
}

Test(tracing, waiter_for_spans_is_woken)
{
    struct trace_span out[1];
    pthread_t thread;
    open_tracer(0, 1);
    int64_t before = clock_now_ns();
    pthread_create(&thread, NULL, wake, tracer);
    cr_assert_eq(tracer_take(tracer, out, 1, 60000), 0);
    pthread_join(thread, NULL);
    cr_assert(clock_now_ns() - before < INT64_C(30000000000));
}
