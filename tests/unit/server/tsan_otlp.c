/* Several threads add spans while others send and count them; the exporter is closed at the end. It is a plain program,
 * because Criterion does not start under ThreadSanitizer. Exit status 0 means success. */
#include "server/otlp.h"
#include "tests/support/fake_model.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, SPANS = 5000 };

static struct otlp *otlp;

static void *leave_spans(void *unused)
{
    (void)unused;
    for (uint64_t i = 0; i < SPANS; i++) {
        struct trace_span request, part;
        tracer_begin_request(otlp_tracer(otlp), NULL, NULL, "request", TRACE_CONSUMER, &request);
        tracer_begin(otlp_tracer(otlp), &request.context, "part", TRACE_INTERNAL, &part);
        trace_number(&part, "assay.candidate", (int64_t)i);
        tracer_end(otlp_tracer(otlp), &part, ERR_OK);
        tracer_end(otlp_tracer(otlp), &request, ERR_OK);
    }
    return NULL;
}

int main(void)
{
    static const struct fake_step steps[] = {{.body = "{}"}, {.status = 503}, {.body = "{}"}};
    struct fake_model *collector = fake_model_start();
    const struct otlp_config config = {.endpoint = fake_model_url(collector),
                                       .service = "assay-test",
                                       .version = "1",
                                       .tracer = {.ratio = 1, .max_spans = 2 * THREADS * SPANS},
                                       .batch_ms = 1,
                                       .retry_ms = 1,
                                       .drain_ms = 60000};
    pthread_t threads[THREADS];
    struct otlp_stats stats;
    struct err err = {0};
    fake_model_script(collector, "/v1/traces", steps, 3);
    if (otlp_open(&config, &otlp, &err)) {
        fprintf(stderr, "[----] %s\n", err.text);
        return 1;
    }
    for (unsigned i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, leave_spans, NULL);
    for (unsigned i = 0; i < 100; i++) otlp_get_stats(otlp, &stats);
    for (unsigned i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    otlp_get_stats(otlp, &stats);
    otlp_close(otlp);
    unsigned posts = fake_model_requests(collector, "/v1/traces");
    fake_model_stop(collector);
    bool whole = stats.dropped == 0 && stats.refused == 0 && posts > 2 * THREADS * SPANS / 512;
    if (!whole)
        fprintf(stderr, "[----] %" PRIu64 " dropped, %" PRIu64 " refused, %u posts\n", stats.dropped, stats.refused,
                posts);
    return whole ? 0 : 1;
}
