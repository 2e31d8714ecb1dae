/* Traces requests: spans with times form a tree across all processes that handle a request.
 *
 * DESIGN. The thread that does the work begins and ends a span, which is a struct on its stack. When the span ends, it
 * is copied into the tracer's queue. The queue is bounded, and its lock is held for one copy. If the queue is full, the
 * span is dropped and counted, so tracing never blocks a thread for long. server/otlp.h takes spans from the queue and
 * exports them. Rooms receive a tracer or NULL. Without a tracer, or for an untraced request, a span costs only a
 * branch.
 *
 * Processes exchange W3C's traceparent, which holds the trace id, the parent span and the flag `sampled` (spans are
 * recorded). The process that begins a trace decides the flag, from the trace id and its tracer's ratio. All later
 * processes adopt the flag.
 *
 * If a coordinator dies, another one takes over its requests. A request must then keep its span id. Otherwise spans of
 * tasks that the first coordinator sent would have a parent that is never exported. So the id of a request's span, and
 * of a trace that begins with it, are hashes of the request's position in its topic. Other ids are random. Rejected:
 * ids stored with the requests, because other programs write these records.
 *
 * Attributes are names, codes and counts. They never contain SQL, questions, database values or secrets.
 */
#ifndef ASSAY_LIB_BASE_TRACING_H
#define ASSAY_LIB_BASE_TRACING_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    TRACEPARENT_ROOM = 56, /* "00-", 32 digits, "-", 16 digits, "-01" and a NUL */
    TRACE_ATTRIBUTES = 8,
    TRACE_TEXT = 64 /* bytes of an attribute's text with its NUL; longer texts are cut */
};

/* Position of a span in a trace. A zeroed context means that there is no trace, so nothing is recorded. */
struct trace_context {
    uint64_t trace[2]; /* high half first */
    uint64_t span;     /* 0 if there is none */
    bool sampled;
};

/* Parses a traceparent. Returns false and zeroes *out if the text is NULL or invalid. Reads unknown versions like
 * version 0, as W3C requires. Thread: any. */
bool trace_context_parse(const char *traceparent, struct trace_context *out);
void trace_context_write(const struct trace_context *context, char out[TRACEPARENT_ROOM]);

/* Kinds of spans, with the numbers of OpenTelemetry. */
enum trace_kind { TRACE_INTERNAL = 1, TRACE_SERVER, TRACE_CLIENT, TRACE_PRODUCER, TRACE_CONSUMER };

struct trace_attribute {
    const char *name;      /* a constant */
    char text[TRACE_TEXT]; /* empty if the attribute is a number */
    int64_t number;
};

struct trace_span {
    struct trace_context context; /* ids of this span; unless `sampled`, the functions below ignore the span */
    uint64_t parent;              /* id of the parent span; 0 if this span begins the trace */
    const char *name;             /* a constant; details belong in attributes */
    enum trace_kind kind;
    int64_t start_ns, end_ns; /* nanoseconds since 1970 */
    bool failed;
    uint32_t n_attributes;
    struct trace_attribute attributes[TRACE_ATTRIBUTES];
};

/* --- recording --- */

struct tracer;

struct tracer_config {
    uint32_t max_spans; /* capacity of the queue; 0 means 4,096 */
    double ratio;       /* share of requests without a traceparent that are traced, 0 to 1 */
};

/* Creates a tracer. Free it with tracer_free after the last call that uses it. Error: ERR_NOMEM. */
enum err_code tracer_new(const struct tracer_config *config, struct tracer **out, struct err *err);
void tracer_free(struct tracer *tracer);

/* Returns the system time in nanoseconds since 1970, for start_ns. Spans of different processes need a common clock. */
int64_t tracer_now_ns(void);

/* Begins the span of a request in the trace of `traceparent`. If that is NULL or invalid, begins a new trace.
 * `identity` is unique to the request and the same in every process; with NULL the ids are random. Sets the context
 * even if nothing is recorded, because other processes receive that decision with it. `tracer` may be NULL; the context
 * is then zeroed. Thread: any. */
void tracer_begin_request(struct tracer *tracer, const char *traceparent, const uint64_t identity[2], const char *name,
                          enum trace_kind kind, struct trace_span *out);
/* Begins a span under `parent`. `tracer` may be NULL. Thread: any. */
void tracer_begin(struct tracer *tracer, const struct trace_context *parent, const char *name, enum trace_kind kind,
                  struct trace_span *out);
/* Add an attribute. Attributes beyond TRACE_ATTRIBUTES are dropped. `text` is copied; a NULL or empty text adds
 * nothing. */
void trace_text(struct trace_span *span, const char *name, const char *text);
void trace_number(struct trace_span *span, const char *name, int64_t number);
/* Marks the span as failed. `why` is a reason of one or two words. */
void trace_failed(struct trace_span *span, const char *why);
/* Ends the span at the current time and queues it. A code other than ERR_OK marks the span as failed. Thread: any. */
void tracer_end(struct tracer *tracer, struct trace_span *span, enum err_code code);

/* --- export --- */

/* Removes up to `most` spans from the queue, in the order in which they ended, and returns their number. Before that it
 * waits until the queue is half full, but at most wait_ms. tracer_wake ends the wait. Thread: one at a time. */
uint32_t tracer_take(struct tracer *tracer, struct trace_span *out, uint32_t most, int64_t wait_ms);
/* Ends the current wait of tracer_take, and makes later calls return without a wait. Thread: any. */
void tracer_wake(struct tracer *tracer);
/* Returns the number of dropped spans. Thread: any. */
uint64_t tracer_dropped(struct tracer *tracer);

#endif
