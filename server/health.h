/* What an operator sees of one process of the fleet: --listen, and what is found there.
 *
 *   /metrics   the rooms' figures (server/fleet_metrics.h), taken when they are asked for
 *   /healthz   should this process go on? 503: a loop is stuck (--stall-ms), or the transport has failed for good.
 *              Whether brokers or Redis can be reached does not count: a restart would mend neither
 *   /readyz    does it take part? Also 503 until every loop has turned once, while a consumer waits for its group to
 *              say what it reads (as of some seconds ago), and while a take-over goes on, for HEALTH_RESTORE_MS at
 *              most: a rollout waits for it, and nothing waits for ever
 *
 * The health pages have one line for each check, for people to read.
 */
#ifndef ASSAY_SERVER_HEALTH_H
#define ASSAY_SERVER_HEALTH_H

#include "server/fleet.h"
#include "server/fleet_metrics.h"

enum { HEALTH_RESTORE_MS = 60000 };

struct health_config {
    const char *name, *commit; /* "worker", and what it was built from */
    const char *listen;        /* HOST:PORT, see server/listen.h; NULL: nowhere */
    int64_t stall_ms;          /* a loop that has not turned for so long is stuck */
    const struct fleet_part *parts;
    uint32_t n_parts;
    struct bus *bus;   /* NULL: it has none */
    struct otlp *otlp; /* NULL: it sends no traces */
    void *ctx;
    void (*collect)(void *ctx, struct metrics *metrics); /* put the figures in. Thread: the listener's */
    int64_t (*restoring_ns)(void *ctx); /* since a take-over began that goes on; 0: none does. NULL: there are none */
};

struct health;

/* *out stays NULL without an address to listen on. `config` is copied, its pointers must outlive it. ERR_CONFIG: the
 * port cannot be bound. */
enum err_code health_open(const struct health_config *config, struct health **out, struct err *err);
/* The port. */
uint16_t health_port(const struct health *health);
/* Before what it watches goes. NULL is fine. */
void health_close(struct health *health);

#endif
