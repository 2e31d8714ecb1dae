/* Calls to one Redis server: connections, deadlines, bounds of replies, and the circuit breaker. hiredis connects,
 * writes commands and parses replies. This module does the waiting, because hiredis's timeouts limit a single read and
 * not a whole call. */
#ifndef ASSAY_WORKER_CACHE_LINK_H
#define ASSAY_WORKER_CACHE_LINK_H

#include "lib/base/breaker.h"
#include "lib/base/error.h"
#include "worker/libhiredis.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct link_config {
    char *host; /* host name, or path of a socket */
    int port;   /* 0 if `host` is a socket */
    char *user, *password;
    uint32_t database;
    int64_t timeout_ms, retry_ms;
    uint64_t max_bytes; /* maximum size of one reply */
};

struct link_counters {
    atomic_ullong failures, skipped, connects, bytes_in, bytes_out, call_ns;
};

struct link; /* a connection */

enum { LINK_IDLE = 8, LINK_MAX_ARGS = 12, LINK_MAX_COMMANDS = 8 };

struct links {
    struct link_config config;
    struct link_counters counters;
    pthread_mutex_t lock;
    struct link *idle[LINK_IDLE];
    uint32_t n_idle;
    struct breaker breaker; /* closed if the last call succeeded */
    char last_error[ERR_TEXT_MAX];
};

struct link_command {
    int argc;
    const char *argv[LINK_MAX_ARGS];
    size_t lens[LINK_MAX_ARGS];
};

/* Initializes the links. Takes ownership of the strings of `config`. */
void links_init(struct links *links, const struct link_config *config);
void links_free(struct links *links);

/* Sends n commands at once and receives their n replies. Free them with links_free_replies.
 *
 * Returns ERR_UNREACHABLE without a connection, on a timeout, for an invalid reply, or while the circuit is open
 * (unless `anyway`). An error reply to a command is a reply. However, errors of the server itself (loading, a read-only
 * replica, no permission) count as failures. Thread: any.
 */
enum err_code links_call(struct links *links, const struct link_command *commands, uint32_t n, bool anyway,
                         redisReply **replies, struct err *err);
void links_free_replies(redisReply **replies, uint32_t n);

/* Reads a configuration for links_init, which takes ownership of its strings. Returns the errors of cache_open; on
 * failure the caller must free nothing. Defined in cache.c. */
struct cache_config;
enum err_code cache_read_config(const struct cache_config *config, struct link_config *out, struct err *err);

#endif
