/* Tests the trace context of a request that the core sends to workers. */
#include "lib/base/tracing.h"
#include "tests/support/leak.h"
#include "tests/unit/coordinator/script.h"

#include <criterion/criterion.h>
#include <string.h>

#define CALLER "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

static struct scoring_models *models;
static struct tracer *tracer;
static char told[128]; /* traceparent of the last task */

static void begin(void)
{
    const struct tracer_config config = {.ratio = 0};
    models = script_models();
    cr_assert_eq(tracer_new(&config, &tracer, NULL), ERR_OK);
}
static void end(void)
{
    models_free(models);
    tracer_free(tracer);
    leak_check();
}
TestSuite(spans, .init = begin, .fini = end);

static void on_task(void *ctx, const struct msg_task *task)
{
    (void)ctx;
    g_strlcpy(told, task->traceparent ? task->traceparent : "", sizeof told);
}

static void ignore_verdict(void *ctx, void *token, const struct msg_verdict *verdict)
{
    (void)ctx, (void)token, (void)verdict;
}

/* Opens the request at that offset in a new core. The core then ends without a verdict, as after a crash. */
static void open_request(int64_t offset, const char *traceparent, struct tracer *traces)
{
    static const char line[] = "{\"db\": \"d\", \"question\": \"q\", \"candidates\": [\"SELECT rows_1\"]}";
    const struct core_config config = {.models = models, .tracer = traces};
    const struct core_actions actions = {.task = on_task, .verdict = ignore_verdict};
    const struct core_incoming incoming = {.key = {3, offset},
                                           .token = told,
                                           .bytes = line,
                                           .len = strlen(line),
                                           .type = EDGE_TYPE_JSON,
                                           .traceparent = traceparent,
                                           .arrived_ns = 1000};
    struct core *core = core_new(&config, &actions);
    core_request(core, &incoming, 1000);
    cr_assert_eq(core_open_requests(core), 1);
    core_free(core);
}

Test(spans, tasks_are_children_of_request_span)
{
    struct trace_context context, caller;
    open_request(7, CALLER, tracer);
    cr_assert(trace_context_parse(told, &context) && trace_context_parse(CALLER, &caller));
    cr_assert_eq(memcmp(context.trace, caller.trace, sizeof context.trace), 0);
    cr_assert_neq(context.span, caller.span);
    cr_assert(context.sampled);
}

/* Otherwise the spans of earlier tasks would have a parent span that no process exports. */
Test(spans, second_coordinator_derives_same_span)
{
    char first[sizeof told];
    open_request(7, CALLER, tracer);
    memcpy(first, told, sizeof first);
    open_request(8, CALLER, tracer);
    cr_assert_str_neq(told, first, "another request");
    open_request(7, CALLER, tracer);
    cr_assert_str_eq(told, first);
}

Test(spans, traceparent_is_forwarded_without_tracer)
{
    open_request(7, CALLER, NULL);
    cr_assert_str_eq(told, CALLER);
    open_request(7, "not one of W3C's", tracer);
    cr_assert_str_eq(told, "not one of W3C's", "ratio 0");
    open_request(7, NULL, tracer);
    cr_assert_str_eq(told, "");
}
