/* The connections of an HTTP listener, from accept to close: which may stay, and for how long. libmicrohttpd reads the
 * requests and sends the answers.
 *
 * DESIGN. The library's time-out measures silence only, so a client that sends a byte now and then stays for ever, and
 * its cap on connections refuses the newest one, whoever that is. Here every connection is accepted, and when there are
 * too many, from one address or in all, the one that has made no progress for longest is closed. A client that does its
 * part is served in milliseconds and is never that one; a thousand slow ones close each other.
 *
 *   HTTP_STAGE_HEAD      its bytes are inspected where they lie in the kernel (MSG_PEEK), until the head is complete
 *                        and has only one reading (server/http_head.h); only then the library gets the socket. A bad
 *                        head is answered with 400.
 *                        With TLS the head is in cipher: the library gets the socket with the first byte, and its strict reading holds.
 *   HTTP_STAGE_BODY      the library reads the body. A body in chunks is inspected in the kernel first, like the head, up to
 *                        head_bytes of both: a bad chunk gets the same 400. Beyond that, with TLS and with `Expect`, the
 *                        library answers a bad chunk itself, with a static page of HTML, and closes.
 *   HTTP_STAGE_WAITING   the client waits for us: it does not count, has no deadline and is never closed
 *   HTTP_STAGE_ANSWER    the client reads its answer
 *   HTTP_STAGE_REFUSED   it was sent 400; what it still sends is read and dropped, so that it can read the answer
 *
 * Each stage but waiting has a deadline for the whole stage. A connection carries one request, so that where we and a
 * proxy disagree about the end of a request, no other client can get its answer. One thread runs all of this and the
 * library. Rejected: the library's own thread and a second one that shuts late sockets down, since a descriptor would
 * then have two owners.
 */
#ifndef ASSAY_SERVER_HTTP_SERVER_H
#define ASSAY_SERVER_HTTP_SERVER_H

#include "lib/base/error.h"
#include "server/libmicrohttpd.h"
#include "server/tls.h"

#include <stdbool.h>
#include <stdint.h>

enum http_stage {
    HTTP_STAGE_FREE,
    HTTP_STAGE_HEAD,
    HTTP_STAGE_BODY,
    HTTP_STAGE_WAITING,
    HTTP_STAGE_ANSWER,
    HTTP_STAGE_REFUSED,
    HTTP_STAGE_LEAVING,
    HTTP_STAGES
};

struct http_server_config {
    const char *name;         /* of the setting in messages, and of the thread */
    const char *listen;       /* HOST:PORT, see server/listen.h */
    struct tls *tls;          /* NULL: plain */
    uint32_t max_connections; /* at a time, those who wait included */
    uint32_t per_address;     /* of them from one address (IPv6: one /64), those who wait not included; 0: any */
    size_t head_bytes;
    bool inspects_chunks;          /* false: it answers heads, and reads no body */
    int64_t limit_ms[HTTP_STAGES]; /* of HTTP_STAGE_HEAD, HTTP_STAGE_BODY and HTTP_STAGE_ANSWER */
    MHD_AccessHandlerCallback on_request;
    MHD_RequestCompletedCallback on_completed; /* may be NULL */
    /* A client that waits has closed its side; `who` is http_server_wait's. May be NULL. */
    void (*on_gone)(void *ctx, void *who);
    void *ctx; /* of all three, which are called on the door's thread */
};

struct http_server;

/* Listens from now on; the strings of `config` must outlive it. ERR_CONFIG: no such address, or it cannot be bound. */
enum err_code http_server_open(const struct http_server_config *config, struct http_server **out, struct err *err);
uint16_t http_server_port(const struct http_server *server);
/* Accept no more connections. Thread: any. */
void http_server_quiesce(struct http_server *server);
/* Closes the connections that are left; none may be suspended any more. NULL is fine. */
void http_server_close(struct http_server *server);

/* A request begins in HTTP_STAGE_BODY. From now on its client waits, on behalf of `who`; then it reads its answer.
 * Thread: of the callbacks. */
void http_server_wait(struct MHD_Connection *connection, void *who);
void http_server_answer(struct MHD_Connection *connection);

/* True if the path or the query of the request, decoded, holds a control character. A NUL among them ends the texts
 * that the library hands on, so such a request is to be refused. Thread: of the callbacks. */
bool http_server_saw_control(struct MHD_Connection *connection);

/* A suspended connection can go on, and its thread is woken for it: the library by itself looks at its next turn. Thread: any; the server must not
 * be closed meanwhile. */
void http_server_resume(struct http_server *server, struct MHD_Connection *connection);

/* Clients that were sent away. */
struct http_server_stats {
    uint64_t malformed; /* no head with one reading */
    uint64_t late;      /* past a deadline */
    uint64_t crowded;   /* thrown out for the next one */
};
/* Thread: any. */
void http_server_get_stats(const struct http_server *server, struct http_server_stats *out);

#endif
