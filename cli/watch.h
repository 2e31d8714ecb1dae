/* What an operator sees of one process of the fleet: --listen, and what is found there.
 *
 *   /metrics   the rooms' figures (cli/fleet_metrics.h), taken when they are asked for
 *   /healthz   should this process go on? 503: a loop is stuck (--stall-ms), or the transport has failed for good.
 *              Whether brokers or Redis can be reached is none of its business: a restart would mend neither
 *   /readyz    does it take part? Also 503 until every loop has turned once, while a consumer waits for its group to
 * say what it reads (as of some seconds ago), and while a take-over goes on, for WATCH_RESTORE_MS at most: a rollout
 * waits for it, and nothing waits for ever
 *
 * The pages of health hold a line a check, for a person.
 */
#ifndef ASSAY_CLI_WATCH_H
#define ASSAY_CLI_WATCH_H

#include "cli/fleet.h"
#include "cli/fleet_metrics.h"

enum { WATCH_RESTORE_MS = 60000 };

struct watch_config {
    const char *name, *commit; /* "worker", and what it was built from */
    const struct fleet_part *parts;
    uint32_t n_parts;
    struct bus *bus;
    void *ctx;
    void (*collect)(void *ctx, struct metrics *metrics); /* put the figures in. Thread: the listener's */
    int64_t (*restoring_ns)(void *ctx); /* since a take-over began that goes on; 0: none does. NULL: there are none */
};

struct watch;

/* Listen where the settings say; *out stays NULL when they do not. `config` is copied, its pointers must outlive the
 * watch. ERR_CONFIG: the port is not to be had. */
enum err_code watch_open(const struct cli *cli, const struct watch_config *config, struct watch **out, struct err *err);
/* The port. */
uint16_t watch_port(const struct watch *watch);
/* Before what it watches goes. NULL is fine. */
void watch_close(struct watch *watch);

#endif
