/* Spans to an OpenTelemetry collector: OTLP over HTTP, as JSON (https://opentelemetry.io/docs/specs/otlp).
 *
 * DESIGN. Rooms put spans into a tracer (lib/base/tracing.h), whose queue is bounded and never makes anybody wait. One thread
 * takes them out, a batch a second or sooner when half of the queue is full, and posts them. What the collector asks to
 * have again (429, 502, 503, 504, or no answer) is sent again, after the time that it names or a growing one, up to
 * OTLP_ATTEMPTS times; while that goes on the queue fills, and then spans are dropped and counted. So a collector that is
 * away costs a process spans, and nothing else. At the end the rest is sent, for drain_ms at most.
 *
 * JSON and not protobuf: each collector has to take both, and the one needs no library that is not here already. TLS is
 * verified, redirects and the environment's proxies are not followed (lib/llm/http.h, which knows HTTP and no models).
 */
#ifndef ASSAY_SERVER_OTLP_H
#define ASSAY_SERVER_OTLP_H

#include "lib/base/tracing.h"

enum { OTLP_ATTEMPTS = 5 };

struct otlp_config {
    const char *endpoint; /* base address: /v1/traces is put behind it */
    const char *service;  /* service.name: "assay-worker" */
    const char *version;  /* service.version */
    /* A file with lines "Name: value", sent along with each post; NULL: none. Over plain http to this machine alone. */
    const char *headers_file;
    const char *ca_file; /* certificates to trust instead of the system's; NULL: the system's */
    const char *proxy;   /* NULL: none */
    struct tracer_config tracer;
    int64_t batch_ms;   /* between posts at most; 0: 1,000 */
    int64_t timeout_ms; /* of one post; 0: 10,000 */
    int64_t retry_ms;   /* before the first post again, doubling; 0: 500 */
    int64_t drain_ms;   /* of otlp_close; 0: 2,000 */
};

struct otlp_stats {
    uint64_t sent;    /* spans that the collector took */
    uint64_t dropped; /* that found no room */
    uint64_t refused; /* that the collector did not take, or was not there for */
};

struct otlp;

/* Starts to send. `config` is copied. ERR_CONFIG: the endpoint is no address, or the file of headers is not what it should be.
 * The caller owes otlp_close, after whoever uses the tracer has ended. Thread: main. */
enum err_code otlp_open(const struct otlp_config *config, struct otlp **out, struct err *err);
/* Sends what waits, within drain_ms. NULL is fine. */
void otlp_close(struct otlp *otlp);

/* Where spans are put; NULL of NULL. */
struct tracer *otlp_tracer(struct otlp *otlp);
/* Thread: any. */
void otlp_get_stats(struct otlp *otlp, struct otlp_stats *out);

/* The body of a post with these spans; the caller owes free. NULL: no memory. Thread: any. */
char *otlp_encode(const struct trace_span *spans, uint32_t n, const char *service, const char *version);

#endif
