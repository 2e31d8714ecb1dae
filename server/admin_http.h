/* Serves the metrics and probes of a process over a small HTTP listener for operators' tools.
 *
 * DESIGN. One thread, which runs server/http_server.h, answers GET and HEAD of a few fixed paths, one request per
 * connection. No client may delay the main work of the process or block the listener for long. When
 * ADMIN_HTTP_CONNECTIONS are open, a new connection replaces the one without progress for the longest time. The head
 * must arrive within ADMIN_HTTP_MS, and the answer must be read within the same time. Heads have a size limit; bodies
 * are not read.
 *
 * The listener has no access control: use it on a network that only probes and Prometheus reach. Its pages contain
 * metrics and names, but no contents of requests or databases.
 */
#ifndef ASSAY_SERVER_ADMIN_HTTP_H
#define ASSAY_SERVER_ADMIN_HTTP_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { ADMIN_HTTP_CONNECTIONS = 64, ADMIN_HTTP_MS = 5000 };

/* A page: its path and the function that writes it. The function runs on the listener's thread, one call at a time. */
struct admin_http_page {
    const char *path; /* for example "/metrics" */
    const char *type; /* Content-Type */
    /* Writes the body. If it returns false, the status is 503, with the same body. */
    bool (*write)(void *ctx, FILE *out);
};

struct admin_http_config {
    const char *listen; /* HOST:PORT or [V6]:PORT. An empty host or * means all addresses; port 0 means any free port */
    const struct admin_http_page *pages;
    uint32_t n_pages;
    void *ctx;        /* argument of each page's `write` */
    int64_t limit_ms; /* time limit of the head and of reading the answer; 0 means ADMIN_HTTP_MS */
};

struct admin_http;

/* Opens the listener. The strings and pages of `config` must outlive it. Returns ERR_CONFIG if the address is invalid
 * or the port cannot be bound. */
enum err_code admin_http_open(const struct admin_http_config *config, struct admin_http **out, struct err *err);
/* Returns the listener's port. */
uint16_t admin_http_port(const struct admin_http *admin);
/* Closes the connections and ends the thread. NULL is allowed. */
void admin_http_close(struct admin_http *admin);

#endif
