/* Where the requests of assay serve go, and where their verdicts come from: a fleet, or an engine in this process. */
#ifndef ASSAY_CLI_COMMANDS_SERVE_H
#define ASSAY_CLI_COMMANDS_SERVE_H

#include "cli/cli.h"
#include "lib/base/metrics.h"
#include "lib/base/tracing.h"
#include "proto/bus/transport.h"
#include "server/pending.h"

struct serve_backend {
    /* `pending` and `tracer`, which may be NULL, outlive it. On success the caller owes close. Errors of the settings, brokers, databases, models. */
    enum err_code (*open)(struct cli *cli, struct tracer *tracer, struct pending *pending, void **out, struct err *err);
    /* As http_api_config's. */
    enum err_code (*send)(void *self, struct msg_request *request, const char *traceparent, struct waiter *waiter);
    bool (*has_room)(void *self, uint16_t tenant); /* as http_api_config's; NULL: always */
    /* Hands verdicts that have come to `pending`; waits some milliseconds for the first. A code that is not ERR_OK ends the process. */
    enum err_code (*turn)(void *self, struct err *err);
    void (*close)(void *self);
    struct bus *(*bus)(void *self);             /* whose health counts; NULL: none */
    void (*routes)(void *self, GArray *routes); /* appends what it answers beside verdicts; NULL: nothing */
    void (*collect)(void *self,
                    struct metrics *metrics); /* puts its own figures in; NULL: there are none. Thread: any */
};

extern const struct serve_backend serve_fleet, serve_alone;

#endif
