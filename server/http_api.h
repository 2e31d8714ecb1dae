/* Serves the HTTP API: it judges requests on a fleet, or on an engine in the same process, and returns their verdicts.
 *
 *    POST /v1/judge[?wait_ms=N]     a request in the form of a log line (docs/formats.md), at most max_bytes. The
 *                                   answer is the verdict; in a fleet, the committed one. If it takes longer than
 *                                   wait_ms, the answer is 202 with the id and the location of the verdict.
 *    POST /v1/batch                 up to 1,000 requests, one per line; the answer has a line for each
 *                                   (server/http_batch.h)
 *    GET  /v1/verdicts/ID           the newest verdict of that id, as long as this process stores it
 *    POST /v1/verdicts/ID/answers   the user's answer to the question of that verdict
 *    POST /v1/linkings              a trace of a schema linker (docs/traces.md); returns the places where
 *                                   the linker is unreliable
 *
 * The caller of http_api_open may add rows (server/http_route.h). Errors are application/problem+json (RFC 9457); their
 * `code` is the name of the error code.
 *
 * DESIGN. Any replica accepts any request, since every replica reads all verdicts (server/pending.h). A replica fixes
 * the position from which it reads verdicts before it sends its first request. One thread serves all connections
 * (server/http_server.h has their limits), and a few threads do slow work. A waiting call is suspended and costs no
 * thread. When its verdict arrives, the library resumes the connection and writes the answer. A connection carries one
 * request. Limits apply to waiting callers, connections in total and per address, and the bytes of a body. The times
 * for a head, for a body and for reading an answer are limited too.
 */
#ifndef ASSAY_SERVER_HTTP_API_H
#define ASSAY_SERVER_HTTP_API_H

#include "lib/base/tracing.h"
#include "proto/message/msg.h"
#include "server/http_route.h"
#include "server/http_server.h"
#include "server/pending.h"
#include "server/tokens.h"
#include "server/verdict_store.h"

struct http_api_config {
    const char *listen; /* HOST:PORT, see server/listen.h */
    struct tls *tls;    /* NULL for plain HTTP */
    struct pending *pending;
    struct tokens *tokens;       /* NULL if every caller is allowed */
    struct verdict_store *store; /* verdicts that `pending` has already dropped; may be NULL */
    /* Sends a request. Reports the request's position with pending_position, during the call or later, on any thread.
     * Runs on the connection thread, so it must not block. Returns ERR_FULL, ERR_UNREACHABLE or other errors.
     * `traceparent` may be NULL. */
    enum err_code (*send)(void *ctx, struct msg_request *request, const char *traceparent, struct waiter *waiter);
    /* Returns true if a request of that tenant would be accepted; called before its body is decoded. NULL means always.
     * Thread: as for `send`. */
    bool (*has_room)(void *ctx, uint16_t tenant);
    void *send_ctx; /* argument of `send` and `has_room` */
    /* Accepts only a Host header that names this machine. Otherwise a foreign page could resolve its own name to this
     * address and let a browser send requests. */
    bool local;
    /* accepted values of Host besides the names of this machine. If there are any, Host is checked even if `local` is
     * false */
    const char *const *hosts;
    unsigned n_hosts;
    size_t max_bytes; /* maximum size of a request */
    int64_t wait_ms;  /* default wait for a verdict */
    int64_t max_wait_ms;
    uint32_t max_connections;
    uint32_t per_address; /* connections from one address; 0 means no limit */
    /* Judges a trace and returns JSON from malloc. Runs on the connection thread, so it must be quick. NULL disables
     * /v1/linkings. */
    enum err_code (*link)(void *ctx, const void *bytes, size_t len, char **json, struct err *err);
    void *link_ctx;
    const struct http_route *routes; /* further rows, beside the API's own */
    unsigned n_routes;
    struct tracer *tracer; /* tracer of judged requests; NULL disables tracing */
};

struct http_api;

/* Opens the API. The pointers in `config` must outlive it. Returns ERR_CONFIG if the address is invalid or cannot be
 * bound. */
enum err_code http_api_open(const struct http_api_config *config, struct http_api **out, struct err *err);
uint16_t http_api_port(const struct http_api *api);
/* Returns the counts of closed connections. Thread: any. */
void http_api_get_stats(const struct http_api *api, struct http_server_stats *out);
/* Retries the batch lines for which no slot was free. Call it a few times per second. Thread: any. */
void http_api_tick(struct http_api *api);
/* Accepts no more connections; waiting callers still get their answers. */
void http_api_quiesce(struct http_api *api);
/* Closes the API. Call it after pending_close. NULL is allowed. */
void http_api_close(struct http_api *api);

#endif
