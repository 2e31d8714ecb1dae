/* The port that an operator's tools ask: a small HTTP listener for metrics and probes.
 *
 * DESIGN. One thread with server/http_server.h, GET and HEAD of a few fixed paths, an answer a connection. It runs
 * beside the work and must never hold it up or be held up for long by whoever connects: when ADMIN_HTTP_CONNECTIONS are
 * open, the one that has been stuck for longest is closed for the next; a head must arrive within ADMIN_HTTP_MS and an
 * answer be read in the same time, however slowly the bytes come; heads are bounded, bodies are not read.
 *
 * There is no access control: it is for a network that only probes and Prometheus reach. What it tells are figures and
 * names, no data.
 */
#ifndef ASSAY_SERVER_ADMIN_HTTP_H
#define ASSAY_SERVER_ADMIN_HTTP_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { ADMIN_HTTP_CONNECTIONS = 64, ADMIN_HTTP_MS = 5000 };

/* What is at a path. Called on the listener's thread, one at a time. */
struct admin_http_page {
    const char *path; /* "/metrics" */
    const char *type; /* Content-Type */
    /* Write the body. False: 503, with the same body. */
    bool (*write)(void *ctx, FILE *out);
};

struct admin_http_config {
    const char *listen; /* HOST:PORT, [V6]:PORT; an empty host or *: all addresses; port 0: any */
    const struct admin_http_page *pages;
    uint32_t n_pages;
    void *ctx;        /* for pages */
    int64_t limit_ms; /* of a head, and of reading an answer; 0: ADMIN_HTTP_MS */
};

struct admin_http;

/* Listens from now on. The config's strings and pages must outlive it. ERR_CONFIG: no such address, or the port is not
 * to be had. */
enum err_code admin_http_open(const struct admin_http_config *config, struct admin_http **out, struct err *err);
/* The port it has. */
uint16_t admin_http_port(const struct admin_http *admin);
/* Ends connections and the thread. NULL is fine. */
void admin_http_close(struct admin_http *admin);

#endif
