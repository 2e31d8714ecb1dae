/* Sends spans to an OpenTelemetry collector: OTLP over HTTP, as JSON (https://opentelemetry.io/docs/specs/otlp).
 *
 * DESIGN. Components put spans into a tracer (lib/base/tracing.h), whose queue has a limit and never blocks. One thread
 * takes them out and posts them in batches: one per second, or earlier when half of the queue is full. If the collector
 * answers 429, 502, 503 or 504, or does not answer, the batch is posted again. The delay is the one that the answer
 * requests, or a growing one; there are at most OTLP_ATTEMPTS posts. Meanwhile the queue fills, and then spans are
 * dropped and counted. So an unreachable collector costs a process only its spans. At the end the remaining spans are
 * sent, for at most drain_ms.
 *
 * The format is JSON, not protobuf: every collector must accept both, and JSON needs no further library. TLS is
 * verified. Redirects and proxies from the environment are not followed (lib/llm/http.h, which does not depend on
 * models).
 */
#ifndef ASSAY_SERVER_OTLP_H
#define ASSAY_SERVER_OTLP_H

#include "lib/base/tracing.h"

enum { OTLP_ATTEMPTS = 5 };

struct otlp_config {
    const char *endpoint; /* base address; /v1/traces is appended */
    const char *service;  /* service.name: "assay-worker" */
    const char *version;  /* service.version */
    /* file with lines "Name: value", sent as headers of each post; may be NULL. Over plain HTTP they are allowed only
     * if the endpoint is this machine */
    const char *headers_file;
    const char *ca_file; /* trusted certificates instead of the system's; NULL means the system's */
    const char *proxy;   /* may be NULL */
    struct tracer_config tracer;
    int64_t batch_ms;   /* longest time between posts; 0 means 1,000 */
    int64_t timeout_ms; /* limit of one post; 0 means 10,000 */
    int64_t retry_ms;   /* delay before the first repetition, then doubled; 0 means 500 */
    int64_t drain_ms;   /* limit of otlp_close; 0 means 2,000 */
};

struct otlp_stats {
    uint64_t sent;    /* spans that the collector accepted */
    uint64_t dropped; /* spans dropped because the queue was full */
    uint64_t refused; /* spans that the collector rejected, or that could not be sent */
};

struct otlp;

/* Starts the sender. Copies `config`. Returns ERR_CONFIG if the endpoint is not an address or the file of headers is
 * invalid. Close with otlp_close, after all users of the tracer have ended. Thread: main. */
enum err_code otlp_open(const struct otlp_config *config, struct otlp **out, struct err *err);
/* Sends the queued spans, within drain_ms, and ends the sender. NULL is allowed. */
void otlp_close(struct otlp *otlp);

/* Returns the tracer for new spans; NULL if `otlp` is NULL. */
struct tracer *otlp_tracer(struct otlp *otlp);
/* Copies the counts. Thread: any. */
void otlp_get_stats(struct otlp *otlp, struct otlp_stats *out);

/* Encodes spans as the body of a post. Free with free. Returns NULL if memory is exhausted. Thread: any. */
char *otlp_encode(const struct trace_span *spans, uint32_t n, const char *service, const char *version);

#endif
