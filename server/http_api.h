/* The front door for those who speak HTTP: a request in, its verdict out; of a fleet, or of an engine in the same process.
 *
 *   POST /v1/judge[?wait_ms=N]     a request as a log line has it (docs/formats.md), at most max_bytes. It is sent on;
 *                                  the answer is the verdict, of a fleet once it is committed. When it takes longer than
 *                                  wait_ms: 202, with the id and where the verdict will be.
 *   POST /v1/batch                 up to 1,000 of them, a line each; their verdicts, a line each (server/http_batch.h)
 *   GET  /v1/verdicts/ID           the newest verdict of that id, as long as this process keeps it
 *   POST /v1/verdicts/ID/answers   what a person chose of what that verdict asks
 *   POST /v1/linkings              a trace of a schema linker (docs/traces.md); what is not sure in it, at once
 *
 * and the rows of whoever opens it (server/http_route.h). Errors are application/problem+json (RFC 9457) with `code`, the
 * name of the error's code.
 *
 * DESIGN. Any replica takes any request: verdicts are read by all of them (server/pending.h), from a place that was
 * fixed before the first request went out. One thread serves all connections (server/http_server.h says which may stay,
 * and for how long), and a few others do what takes long; a caller that waits is suspended and costs no thread. When
 * its verdict comes, the library is told to resume the connection, and writes the answer. A connection carries one
 * request. Bounded: callers who wait, connections, of all and of one address, bytes of a body, the time for a head, a
 * body and for reading an answer.
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
    struct tls *tls;    /* NULL: plain */
    struct pending *pending;
    struct tokens *tokens;       /* NULL: everybody may ask */
    struct verdict_store *store; /* of verdicts that `pending` does not keep any more; NULL: none */
    /* Sends a request on, and says with pending_position where its verdict will come from; now or later, on any thread. Called on the thread that
     * serves all, so it is not to wait: ERR_FULL, ERR_UNREACHABLE ... `traceparent` may be NULL. */
    enum err_code (*send)(void *ctx, struct msg_request *request, const char *traceparent, struct waiter *waiter);
    /* True if a request of that tenant would find room; asked before its body is read. NULL: always. Thread: as of
     * send. */
    bool (*has_room)(void *ctx, uint16_t tenant);
    void *send_ctx; /* of both */
    /* Only for a Host of this machine, so that no page from elsewhere can have a browser ask by a name that it points here. */
    bool local;
    const char *const *hosts; /* names that callers may ask by, beside those of this machine; none: as `local` says */
    unsigned n_hosts;
    size_t max_bytes; /* of a request */
    int64_t wait_ms;  /* when the caller does not say */
    int64_t max_wait_ms;
    uint32_t max_connections;
    uint32_t per_address; /* of them from one address; 0: any */
    /* The answer to a trace, JSON from malloc. Called on the thread that serves all, so it is to be quick. NULL: there is no /v1/linkings. */
    enum err_code (*link)(void *ctx, const void *bytes, size_t len, char **json, struct err *err);
    void *link_ctx;
    const struct http_route *routes; /* beside the API's own */
    unsigned n_routes;
    struct tracer *tracer; /* of callers who ask for a verdict; NULL: nothing is traced */
};

struct http_api;

/* Listens from now on; what `config` points to must outlive it. ERR_CONFIG: no such address, or it cannot be bound. */
enum err_code http_api_open(const struct http_api_config *config, struct http_api **out, struct err *err);
uint16_t http_api_port(const struct http_api *api);
/* Clients that were sent away. Thread: any. */
void http_api_get_stats(const struct http_api *api, struct http_server_stats *out);
/* What waits for places that others have left: to be called some times a second. Thread: any. */
void http_api_tick(struct http_api *api);
/* Accept no more connections; callers that wait are still answered. */
void http_api_quiesce(struct http_api *api);
/* After pending_close. NULL is fine. */
void http_api_close(struct http_api *api);

#endif
