/* Manages the connections of an HTTP listener from accept to close. It decides which connections stay open, and for how
 * long. libmicrohttpd reads the requests and sends the answers.
 *
 * DESIGN. The library's timeout measures only silence, so a client that sends a byte now and then could stay for ever.
 * The library's limit on connections refuses the newest client. Here every connection is accepted. If there are too
 * many, from one address or in total, the one without progress for the longest time is closed. A client that reads and
 * sends promptly is served in milliseconds and is never closed; a thousand slow clients replace each other.
 *
 *    HTTP_STAGE_HEAD      the bytes are inspected in the kernel's buffer (MSG_PEEK), until the head is complete and has
 *                         only one reading (server/http_head.h). Only then does the library get the socket. An invalid
 *                         head is answered with 400. With TLS the head is encrypted: the library gets the socket with
 *                         the first byte, and its strict mode applies
 *    HTTP_STAGE_BODY      the library reads the body. A chunked body is inspected in the kernel first, like the head,
 *                         up to head_bytes for both; an invalid chunk gets the same 400. Beyond that, and with TLS or
 *                         `Expect`, the library answers an invalid chunk with a static page of HTML, and closes
 *    HTTP_STAGE_WAITING   the client waits for this server: it has no deadline, is never closed, and counts only
 *                         towards the limit of all connections
 *    HTTP_STAGE_ANSWER    the client reads its answer
 *    HTTP_STAGE_REFUSED   the client got 400; its further bytes are read and dropped, so that it can read the answer
 *
 * Each stage but waiting has a deadline for the whole stage. A connection carries one request. So even if this server
 * and a proxy disagree about the end of a request, no other client can get its answer. One thread runs the server and
 * the library. Rejected: the library's own thread and a second one that shuts down late sockets, since a descriptor
 * would then have two owners.
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
    const char *name;         /* name of the setting in messages, and of the thread */
    const char *listen;       /* HOST:PORT, see server/listen.h */
    struct tls *tls;          /* NULL for plain HTTP */
    uint32_t max_connections; /* open connections, including waiting ones */
    uint32_t per_address;     /* open connections from one address (IPv6: one /64) that do not wait; 0 means no limit */
    size_t head_bytes;
    bool inspects_chunks;          /* false for a server that reads no bodies */
    int64_t limit_ms[HTTP_STAGES]; /* time limits of HTTP_STAGE_HEAD, HTTP_STAGE_BODY and HTTP_STAGE_ANSWER */
    MHD_AccessHandlerCallback on_request;
    MHD_RequestCompletedCallback on_completed; /* may be NULL */
    /* Called when a waiting client has closed its side. `who` is the argument of http_server_wait. May be NULL. */
    void (*on_gone)(void *ctx, void *who);
    void *ctx; /* argument of all three callbacks, which run on the server's thread */
};

struct http_server;

/* Opens the listener. The strings of `config` must outlive it. Returns ERR_CONFIG if the address is invalid or cannot
 * be bound. */
enum err_code http_server_open(const struct http_server_config *config, struct http_server **out, struct err *err);
uint16_t http_server_port(const struct http_server *server);
/* Accepts no more connections. Thread: any. */
void http_server_quiesce(struct http_server *server);
/* Closes all connections; none may be suspended any more. NULL is allowed. */
void http_server_close(struct http_server *server);

/* Change the stage of a request, which begins in HTTP_STAGE_BODY. http_server_wait: its client waits, and `who`
 * identifies it. http_server_answer: its client reads the answer. Thread: that of the callbacks. */
void http_server_wait(struct MHD_Connection *connection, void *who);
void http_server_answer(struct MHD_Connection *connection);

/* Returns true if the decoded path or query of the request contains a control character. The texts that the library
 * passes on end at a NUL, so such a request must be refused. Thread: that of the callbacks. */
bool http_server_saw_control(struct MHD_Connection *connection);

/* Resumes a suspended connection and wakes the server's thread. Otherwise the library would resume it only when that
 * thread next runs. Thread: any. The server must not be closed meanwhile. */
void http_server_resume(struct http_server *server, struct MHD_Connection *connection);

/* Counts of closed connections. */
struct http_server_stats {
    uint64_t malformed; /* invalid heads */
    uint64_t late;      /* passed deadlines */
    uint64_t crowded;   /* closed for a newer connection */
};
/* Copies the counts. Thread: any. */
void http_server_get_stats(const struct http_server *server, struct http_server_stats *out);

#endif
