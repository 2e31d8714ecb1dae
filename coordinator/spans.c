/* The trace of a request. One span lasts from the request's arrival to its verdict. Below it are the spans of the
 * coordinator's steps: parse, verifier, decide. The tracer has its own clock, which does not influence the core. */
#include "coordinator/internal.h"

/* Writes two numbers that identify the request: its position and its arrival. */
static void identify(const struct request *request, uint64_t out[2])
{
    out[0] = (uint64_t)request->key.offset ^ (uint64_t)(uint32_t)request->key.partition << 40;
    out[1] = (uint64_t)request->arrived_ns;
}

void spans_begin(struct request *request, int64_t now_ns)
{
    struct trace_span span;
    uint64_t identity[2];
    if (!request->core->config.tracer) return;
    identify(request, identity);
    tracer_begin_request(request->core->config.tracer, request->message->traceparent, identity, "request",
                         TRACE_CONSUMER, &span);
    if (!span.context.sampled) return;
    if (now_ns > request->arrived_ns) span.start_ns -= now_ns - request->arrived_ns;
    char *traceparent = arena_alloc(&request->arena, TRACEPARENT_ROOM);
    request->span = arena_new(&request->arena, struct trace_span);
    if (!request->span || !traceparent) {
        request->span = NULL;
        return;
    }
    trace_context_write(&span.context, traceparent);
    *request->span = span;
    request->traceparent = traceparent;
}

struct trace_context spans_context(const struct request *request)
{
    return request->span ? request->span->context : (struct trace_context){0};
}

void spans_begin_part(const struct request *request, const char *name, struct trace_span *out)
{
    const struct trace_context parent = spans_context(request);
    tracer_begin(request->core->config.tracer, &parent, name, TRACE_INTERNAL, out);
}

void spans_end_part(const struct request *request, struct trace_span *span, enum err_code code)
{
    tracer_end(request->core->config.tracer, span, code);
}

void spans_decide(struct request *request)
{
    if (request->span) request->deciding_ns = tracer_now_ns();
}

void spans_decided(const struct request *request, const struct msg_verdict *verdict)
{
    struct trace_span span;
    if (!request->span) return;
    spans_begin_part(request, "decide", &span);
    span.start_ns = request->deciding_ns;
    trace_text(&span, "assay.status", msg_status_name(verdict->status));
    trace_number(&span, "assay.iterations", verdict->iterations);
    if (verdict->chosen) trace_number(&span, "assay.chosen", verdict->chosen);
    spans_end_part(request, &span, ERR_OK);
}

void spans_end(struct request *request, const struct msg_verdict *verdict)
{
    struct trace_span *span = request->span;
    if (!span) return;
    trace_text(span, "db.namespace", request->message->db);
    trace_text(span, "assay.status", msg_status_name(verdict->status));
    if (verdict->status == MSG_STATUS_FAILED)
        trace_failed(span, verdict->reason);
    else
        trace_text(span, "assay.reason", verdict->reason);
    trace_number(span, "assay.candidates", request->n_given);
    trace_number(span, "assay.proposals", request->n - request->n_given);
    trace_number(span, "messaging.destination.partition.id", request->key.partition);
    trace_number(span, "messaging.kafka.offset", request->key.offset);
    tracer_end(request->core->config.tracer, span, ERR_OK);
}
