/* Traces requests: spans with times form a tree across all processes that handle a request.
 *
 * DESIGN. A span begins and ends on the thread that does the work, on its stack. At its end it is copied into the
 * tracer's queue. The queue is bounded and its lock is held for one copy. A full queue drops and counts the span, so no
 * thread ever blocks on tracing. server/otlp.h takes spans from the queue and exports them. Rooms receive a tracer or
 * NULL; without a tracer, or for an untraced request, a span costs a branch.
 *
 * Processes exchange W3C's traceparent: the trace, the parent span, and whether spans are recorded. The process that
 * began the trace makes that decision once; otherwise the tracer's ratio does, from the trace's id.
 *
 * A request may move to a second coordinator because the first one died. It needs the same span there: otherwise the
 * tasks of the first coordinator would have a parent that is never exported. So the ids of a request's span, and of a
 * trace that begins with it, are a function of the request's position; other ids are random. Rejected: ids in the log
 * of requests, because other programs write it.
 *
 * Attributes are names, codes and counts. SQL, questions, values and secrets are never put into a span.
 */
#ifndef ASSAY_LIB_BASE_TRACING_H
#define ASSAY_LIB_BASE_TRACING_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    TRACEPARENT_ROOM = 56, /* "00-" 32 "-" 16 "-01", and a NUL */
    TRACE_ATTRIBUTES = 8,
    TRACE_TEXT = 64 /* bytes of an attribute's text with its NUL; longer texts are cut */
};

/* Position of a span in a trace. Zeroed: no trace, and nothing is recorded under it. */
struct trace_context {
    uint64_t trace[2]; /* high half first */
    uint64_t span;     /* 0 if there is none */
    bool sampled;
};

/* Parses a traceparent. Returns false and zeroes *out if the text is NULL or invalid. An unknown version is read like
 * version 0, as W3C requires. Thread: any. */
bool trace_context_parse(const char *traceparent, struct trace_context *out);
void trace_context_write(const struct trace_context *context, char out[TRACEPARENT_ROOM]);

/* Numbered as in OpenTelemetry. */
enum trace_kind { TRACE_INTERNAL = 1, TRACE_SERVER, TRACE_CLIENT, TRACE_PRODUCER, TRACE_CONSUMER };

struct trace_attribute {
    const char *name;      /* static */
    char text[TRACE_TEXT]; /* "" for a number */
    int64_t number;
};

struct trace_span {
    struct trace_context context; /* of this span; if it is not sampled, all calls on the span do nothing */
    uint64_t parent;              /* 0 if it begins the trace */
    const char *name;             /* static: few names; details are attributes */
    enum trace_kind kind;
    int64_t start_ns, end_ns; /* since 1970 */
    bool failed;
    uint32_t n_attributes;
    struct trace_attribute attributes[TRACE_ATTRIBUTES];
};

/* --- recording --- */

struct tracer;

struct tracer_config {
    uint32_t max_spans; /* capacity of the queue; 0 means 4,096 */
    double ratio;       /* share of the requests without a traceparent that is traced, 0 to 1 */
};

/* Creates a tracer. Free with tracer_free, after the last call that uses it. ERR_NOMEM. */
enum err_code tracer_new(const struct tracer_config *config, struct tracer **out, struct err *err);
void tracer_free(struct tracer *tracer);

/* Returns the time for start_ns: the system clock, which all processes share. */
int64_t tracer_now_ns(void);

/* Begins the span of a request, in the trace of `traceparent` or in a new one if that is NULL or invalid. `identity` is
 * unique to this request and the same in every process; with NULL the ids are random. The context is set even if
 * nothing is recorded, to tell other processes so. `tracer` may be NULL. Thread: any. */
void tracer_begin_request(struct tracer *tracer, const char *traceparent, const uint64_t identity[2], const char *name,
                          enum trace_kind kind, struct trace_span *out);
/* Begins a span under `parent`. `tracer` may be NULL. Thread: any. */
void tracer_begin(struct tracer *tracer, const struct trace_context *parent, const char *name, enum trace_kind kind,
                  struct trace_span *out);
/* Add an attribute; those beyond TRACE_ATTRIBUTES are dropped. `text` is copied; NULL adds nothing. */
void trace_text(struct trace_span *span, const char *name, const char *text);
void trace_number(struct trace_span *span, const char *name, int64_t number);
/* Marks the span as failed, with a reason of a word or two. */
void trace_failed(struct trace_span *span, const char *why);
/* Ends the span now; a code other than ERR_OK names its failure. Thread: any. */
void tracer_end(struct tracer *tracer, struct trace_span *span, enum err_code code);

/* --- taking out --- */

/* Takes up to `most` spans in the order of their ends. Waits up to wait_ms until the queue is half full, and then takes
 * those present. tracer_wake ends the wait. Thread: one at a time. */
uint32_t tracer_take(struct tracer *tracer, struct trace_span *out, uint32_t most, int64_t wait_ms);
/* Ends the current wait of tracer_take and all later ones. Thread: any. */
void tracer_wake(struct tracer *tracer);
/* Returns the number of dropped spans. Thread: any. */
uint64_t tracer_dropped(struct tracer *tracer);

#endif
