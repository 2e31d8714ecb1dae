/* What became of a request, and when: spans, which form a tree over all the processes that it went through.
 *
 * DESIGN. A span begins and ends on the thread that does the work, on its stack, and is copied into the tracer's queue at
 * its end. The queue is bounded and its lock is held for one copy: a span that finds no room is dropped and counted, and
 * nobody ever waits. Whoever sends spans elsewhere takes them out (server/otlp.h). Rooms are given a tracer or NULL;
 * where there is none, or the request is not traced, a span costs a branch.
 *
 * What crosses processes is W3C's traceparent: the trace, the span that is the parent of what comes, and whether they are
 * recorded. That is decided once: by whoever began the trace, else by the tracer's ratio, from the trace's id.
 *
 * A request that comes to a second coordinator, since the first one died, must have the same span there, or the tasks that
 * the first one sent would have a parent that nobody ever shows. So the ids of a request's span, and those of a trace that
 * begins with it, are a function of where it stood; others are drawn. Rejected: ids in the log of requests (it is others'
 * to write).
 *
 * Attributes are names, codes and counts. SQL, questions, values and secrets are never put into a span.
 */
#ifndef ASSAY_LIB_BASE_TRACING_H
#define ASSAY_LIB_BASE_TRACING_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    TRACEPARENT_ROOM = 56, /* "00-" 32 "-" 16 "-01", and its NUL */
    TRACE_ATTRIBUTES = 8,
    TRACE_TEXT = 64 /* bytes of an attribute's text with its NUL; more is cut */
};

/* Where a span stands. Zeroed: nowhere, nothing is recorded under it. */
struct trace_context {
    uint64_t trace[2]; /* its high half first */
    uint64_t span;     /* 0: none */
    bool sampled;
};

/* False, and *out zeroed: this is no traceparent, or NULL. A version that is not known is read as far as it is like
 * version 0, as W3C asks. Thread: any. */
bool trace_context_parse(const char *traceparent, struct trace_context *out);
void trace_context_write(const struct trace_context *context, char out[TRACEPARENT_ROOM]);

/* As OpenTelemetry numbers them. */
enum trace_kind { TRACE_INTERNAL = 1, TRACE_SERVER, TRACE_CLIENT, TRACE_PRODUCER, TRACE_CONSUMER };

struct trace_attribute {
    const char *name;      /* static */
    char text[TRACE_TEXT]; /* "": a number */
    int64_t number;
};

struct trace_span {
    struct trace_context context; /* its own; not sampled: there is no span, and whatever is done to it is nothing */
    uint64_t parent;              /* 0: it begins the trace */
    const char *name;             /* static: few names, the rest is attributes */
    enum trace_kind kind;
    int64_t start_ns, end_ns; /* since 1970 */
    bool failed;
    uint32_t n_attributes;
    struct trace_attribute attributes[TRACE_ATTRIBUTES];
};

/* --- recording --- */

struct tracer;

struct tracer_config {
    uint32_t max_spans; /* that wait; 0: 4,096 */
    double ratio;       /* of the requests that come without a traceparent, the share that is traced; 0 to 1 */
};

/* ERR_NOMEM. The caller owes tracer_free, after the last call of anybody. */
enum err_code tracer_new(const struct tracer_config *config, struct tracer **out, struct err *err);
void tracer_free(struct tracer *tracer);

/* Now, for start_ns: the system's clock, which all processes share. */
int64_t tracer_now_ns(void);

/* Begin the span of a request in the trace that `traceparent` names, or in one of its own where it is NULL or none.
 * `identity` tells this request from every other one, and is the same wherever it comes up; NULL: ids are drawn. The
 * context is set where nothing is recorded too: what says so to others. `tracer` may be NULL. Thread: any. */
void tracer_begin_request(struct tracer *tracer, const char *traceparent, const uint64_t identity[2], const char *name,
                          enum trace_kind kind, struct trace_span *out);
/* Begin a span under `parent`. `tracer` may be NULL. Thread: any. */
void tracer_begin(struct tracer *tracer, const struct trace_context *parent, const char *name, enum trace_kind kind,
                  struct trace_span *out);
/* Say something of it; beyond TRACE_ATTRIBUTES nothing is. `text` is copied and may be NULL: nothing to say. */
void trace_text(struct trace_span *span, const char *name, const char *text);
void trace_number(struct trace_span *span, const char *name, int64_t number);
/* It failed, and why, in a word or two. */
void trace_failed(struct trace_span *span, const char *why);
/* It ends now; a code other than ERR_OK says how it failed. Thread: any. */
void tracer_end(struct tracer *tracer, struct trace_span *span, enum err_code code);

/* --- taking out --- */

/* Up to `most` spans in the order of their ends. Waits up to wait_ms until half of the queue is full, then takes what is
 * there; tracer_wake ends the wait. Thread: one at a time. */
uint32_t tracer_take(struct tracer *tracer, struct trace_span *out, uint32_t most, int64_t wait_ms);
/* Whoever waits in tracer_take waits no longer, now or later. Thread: any. */
void tracer_wake(struct tracer *tracer);
/* Spans that found no room. Thread: any. */
uint64_t tracer_dropped(struct tracer *tracer);

#endif
