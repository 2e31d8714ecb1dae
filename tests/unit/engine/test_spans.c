/* The spans of a request in a single-process engine must form one tree, with nested times. */
#include "lib/base/tracing.h"
#include "tests/support/leak.h"
#include "tests/unit/engine/world.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

enum { MAX_SPANS = 4096 };

#define CALLER "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

static struct world world;
static struct engine *engine;
static struct tracer *tracer;
static struct trace_span spans[MAX_SPANS];
static uint32_t n_spans;

static void begin(void)
{
    const struct tracer_config config = {.ratio = 1};
    cr_assert(world_make(&world));
    cr_assert_eq(tracer_new(&config, &tracer, NULL), ERR_OK);
}
static void end(void)
{
    engine_close(engine);
    world_remove(&world);
    tracer_free(tracer);
    leak_check();
}
TestSuite(spans, .init = begin, .fini = end);

/* Judges the request and collects its spans. */
static void judge(const struct msg_request *request)
{
    struct engine_config config = {.workers = 2,
                                   .label_model = SOURCE_ROOT "/models/label_model.json",
                                   .classifier = SOURCE_ROOT "/models/classifier.json",
                                   .verifier = SOURCE_ROOT "/models/verifier.json",
                                   .tracer = tracer};
    struct msg_verdict *verdict;
    struct err err = {0};
    if (!engine) cr_assert_eq(world_open(&world, &config, &engine, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(engine_submit(engine, request, -1, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(engine_next(engine, 60000, &verdict, &err), ERR_OK, "%s", err.text);
    msg_verdict_free(verdict);
    n_spans = tracer_take(tracer, spans, MAX_SPANS, 0);
    cr_assert_eq(tracer_dropped(tracer), 0);
}

static unsigned count(const char *name)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < n_spans; i++) n += strcmp(spans[i].name, name) == 0;
    return n;
}

static const struct trace_span *find(const char *name)
{
    for (uint32_t i = 0; i < n_spans; i++)
        if (strcmp(spans[i].name, name) == 0) return &spans[i];
    cr_assert_fail("there is no span %s", name);
    return NULL;
}

static const struct trace_span *parent_of(const struct trace_span *span)
{
    for (uint32_t i = 0; i < n_spans; i++)
        if (spans[i].context.span == span->parent) return &spans[i];
    return NULL;
}

static const char *text_of(const struct trace_span *span, const char *name)
{
    for (uint32_t i = 0; i < span->n_attributes; i++)
        if (strcmp(span->attributes[i].name, name) == 0) return span->attributes[i].text;
    return "";
}

/* Checks that all spans belong to the trace of the request's span. Checks their parents and times. */
static void expect_one_tree(void)
{
    const struct trace_span *root = find("request");
    cr_assert_eq(count("request"), 1);
    for (uint32_t i = 0; i < n_spans; i++) {
        const struct trace_span *span = &spans[i], *parent = parent_of(span);
        cr_expect_eq(memcmp(span->context.trace, root->context.trace, sizeof root->context.trace), 0, "%s", span->name);
        cr_expect(span->end_ns >= span->start_ns, "%s ends before it begins", span->name);
        if (span == root) continue;
        cr_assert(parent, "%s has a parent that nobody left", span->name);
        cr_expect(span->start_ns >= parent->start_ns && span->end_ns <= parent->end_ns, "%s is not within %s",
                  span->name, parent->name);
        bool inner = strcmp(span->name, "index") == 0 || strcmp(span->name, "execute") == 0 ||
                     strcmp(span->name, "prepare") == 0;
        cr_expect(inner == (parent != root) || strcmp(span->name, "parse") == 0, "%s is under %s", span->name,
                  parent->name);
    }
}

Test(spans, spans_of_request_form_one_tree)
{
    struct msg_request request = *world_request(0);
    request.traceparent = CALLER;
    request.options.strategy = MSG_RERANK;
    judge(&request);
    expect_one_tree();
    const struct trace_span *root = find("request");
    cr_assert_eq(root->parent, 0xb7ad6b7169203331U, "the caller's");
    cr_assert_eq(root->context.trace[0], 0x0af7651916cd43ddU);
    for (unsigned family = 0; family < VSIG_FAMILY_COUNT; family++)
        if (family != VSIG_LLM)
            cr_expect_eq(count(vsig_family_name((enum vsig_family)family)),
                         request.n_candidates + (family == VSIG_EXPLAIN),
                         "one a candidate, and the rows behind the answer");
    cr_expect_geq(count("index"), 1);
    cr_expect_geq(count("parse"), 1 + request.n_candidates);
    cr_expect_geq(count("execute"), request.n_candidates);
    cr_expect_geq(count("verifier"), 1);
    cr_expect_eq(count("decide"), 1);
    cr_expect_str_eq(text_of(root, "db.namespace"), "zoo");
    cr_expect_str_eq(text_of(find("decide"), "assay.status"), text_of(root, "assay.status"));
}

Test(spans, spans_hold_no_content_of_request)
{
    judge(world_request(1));
    for (uint32_t i = 0; i < n_spans; i++)
        for (uint32_t k = 0; k < spans[i].n_attributes; k++) {
            const char *text = spans[i].attributes[k].text;
            cr_expect(!strstr(text, "SELECT") && !strstr(text, "keeper") && !strstr(text, "penguin"), "%s: %s",
                      spans[i].name, text);
        }
    cr_assert_gt(n_spans, 8);
}

Test(spans, request_without_trace_starts_one)
{
    judge(world_request(0));
    expect_one_tree();
    cr_assert_eq(find("request")->parent, 0);
    const struct trace_context first = find("request")->context;
    judge(world_request(4));
    expect_one_tree();
    cr_assert_neq(find("request")->context.trace[0], first.trace[0], "another request, another trace");
}

Test(spans, failed_spans_have_error_status)
{
    struct msg_request request = *world_request(0);
    request.db = "nowhere";
    judge(&request);
    expect_one_tree();
    cr_assert(find("request")->failed && find("execution")->failed);
    cr_expect_str_eq(text_of(find("request"), "error.type"), "db_missing");
    cr_expect_str_eq(text_of(find("execution"), "error.type"), "db_missing");
    cr_assert_not(find("parse")->failed);
}

Test(spans, unsampled_request_has_no_spans)
{
    struct msg_request request = *world_request(0);
    request.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
    judge(&request);
    cr_assert_eq(n_spans, 0);
}

Test(spans, repair_is_in_trace)
{
    struct msg_request request = *world_request(2);
    request.options.repair = MSG_REPAIR_PROPOSE;
    request.options.repair_margin = 0.01;
    judge(&request);
    expect_one_tree();
    bool proposes = false;
    for (uint32_t i = 0; i < n_spans; i++)
        proposes = proposes || strcmp(text_of(&spans[i], "assay.work"), "propose") == 0;
    cr_assert(proposes);
}
