/* Serves the metrics and health checks of one process of the fleet at the address of --listen.
 *
 *    /metrics   the metrics of server/fleet_metrics.h, collected at each request
 *    /healthz   liveness: 503 if a loop is stuck (--stall-ms) or the transport has failed permanently.
 *               Unreachable brokers or Redis do not count, since a restart would not help
 *    /readyz    readiness: also 503 until every loop has run once, and while a consumer waits for
 *               its partitions (as of a few seconds ago). A takeover delays readiness by at most HEALTH_RESTORE_MS,
 *               so that a rollout waits for it, but not without limit
 *
 * The health pages have one line per check, for people to read.
 */
#ifndef ASSAY_SERVER_HEALTH_H
#define ASSAY_SERVER_HEALTH_H

#include "server/fleet.h"
#include "server/fleet_metrics.h"

enum { HEALTH_RESTORE_MS = 60000 };

struct health_config {
    const char *name, *commit; /* "worker", for example, and the commit of its source */
    const char *listen;        /* HOST:PORT, see server/listen.h; NULL for no listener */
    int64_t stall_ms;          /* age at which a loop counts as stuck */
    const struct fleet_part *parts;
    uint32_t n_parts;
    struct bus *bus;   /* NULL if the process has no bus */
    struct otlp *otlp; /* NULL if the process sends no traces */
    void *ctx;
    void (*collect)(void *ctx, struct metrics *metrics); /* sets the current figures. Thread: the listener's */
    /* duration of the current takeover, or 0. NULL for processes without takeovers */
    int64_t (*restoring_ns)(void *ctx);
};

struct health;

/* Opens the health pages; *out is NULL if config->listen is NULL. Copies `config`; its pointers must outlive *out.
 * Returns ERR_CONFIG if the port cannot be bound. */
enum err_code health_open(const struct health_config *config, struct health **out, struct err *err);
/* Returns the port. */
uint16_t health_port(const struct health *health);
/* Closes the pages. Call it before the objects that it watches are freed. NULL is allowed. */
void health_close(struct health *health);

#endif
