/* The port that an operator's tools ask: a small HTTP listener for metrics and probes.
 *
 * DESIGN. One thread behind a door (cli/door.h), GET and HEAD of a few fixed paths, an answer a connection. It runs
 * beside the work and must never hold it up or be held up for long by whoever connects: of OBSERVE_CONNECTIONS at a
 * time the one that is stuck for longest makes room for the next; a head has OBSERVE_MS to come, an answer as long to
 * be read, however their bytes drip; heads are bounded, bodies are not read.
 *
 * There is no access control: it is for a network that only probes and Prometheus reach. What it tells are figures and
 * names, no data.
 */
#ifndef ASSAY_CLI_OBSERVE_H
#define ASSAY_CLI_OBSERVE_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { OBSERVE_CONNECTIONS = 64, OBSERVE_MS = 5000 };

/* What is at a path. Called on the listener's thread, one at a time. */
struct observe_page {
    const char *path; /* "/metrics" */
    const char *type; /* Content-Type */
    /* Write the body. False: 503, with the same body. */
    bool (*write)(void *ctx, FILE *out);
};

struct observe_config {
    const char *listen; /* HOST:PORT, [V6]:PORT; an empty host or *: all addresses; port 0: any */
    const struct observe_page *pages;
    uint32_t n_pages;
    void *ctx;        /* for pages */
    int64_t limit_ms; /* of a head, and of reading an answer; 0: OBSERVE_MS */
};

struct observe;

/* Listens from now on. The config's strings and pages must outlive it. ERR_CONFIG: no such address, or the port is not
 * to be had. */
enum err_code observe_open(const struct observe_config *config, struct observe **out, struct err *err);
/* The port it has. */
uint16_t observe_port(const struct observe *observe);
/* Ends connections and the thread. NULL is fine. */
void observe_close(struct observe *observe);

#endif
