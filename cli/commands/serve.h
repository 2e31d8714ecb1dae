/* Defines the backend of assay serve, which judges requests: a fleet, or an engine in this process. */
#ifndef ASSAY_CLI_COMMANDS_SERVE_H
#define ASSAY_CLI_COMMANDS_SERVE_H

#include "cli/cli.h"
#include "lib/base/metrics.h"
#include "lib/base/tracing.h"
#include "proto/bus/transport.h"
#include "server/pending.h"

struct serve_backend {
    /* Opens the backend. `pending` and `tracer` (may be NULL) must outlive it. Close with `close`. Errors: those of the
     * settings, brokers, databases and models. */
    enum err_code (*open)(struct cli *cli, struct tracer *tracer, struct pending *pending, void **out, struct err *err);
    /* Sends a request, as `send` of http_api_config. */
    enum err_code (*send)(void *self, struct msg_request *request, const char *traceparent, struct waiter *waiter);
    bool (*has_room)(void *self, uint16_t tenant); /* `has_room` of http_api_config; NULL means always true */
    /* Passes the verdicts that have arrived to `pending`. If there are none, waits some milliseconds for the first. An
     * error ends the process. */
    enum err_code (*turn)(void *self, struct err *err);
    void (*close)(void *self);
    struct bus *(*bus)(void *self);             /* transport that the health checks include; NULL if there is none */
    void (*routes)(void *self, GArray *routes); /* appends its further routes; NULL if there are none */
    void (*collect)(void *self,
                    struct metrics *metrics); /* adds its own metrics; NULL if there are none. Thread: any */
};

extern const struct serve_backend serve_fleet, serve_alone;

#endif
