/* An answer that comes piece by piece: lines of a batch, events of a judgement.
 *
 * DESIGN. Whoever has something to say writes it into a buffer, on any thread. The library's thread takes it from there as the client reads; when
 * there is nothing, the connection is suspended, and costs nothing until the next write. A source that has much to say does not write ahead
 * of a client who is slow: it is asked for more (`pump`) whenever the client has read, and looks at http_stream_queued. The stream is counted by
 * reference, since what a source waits for may come when the client has long gone. */
#ifndef ASSAY_SERVER_HTTP_STREAM_H
#define ASSAY_SERVER_HTTP_STREAM_H

#include "server/http_server.h"

#include <stdbool.h>
#include <stddef.h>

struct http_stream;

/* The first two are called on the thread of connections. */
struct http_stream_source {
    void (*pump)(void *ctx, struct http_stream *stream); /* more may be written */
    void (*gone)(void *ctx);                             /* nobody reads any more; may come more than once */
    void (*free)(void *ctx);                             /* the last reference is gone */
};

/* The caller has a reference. `source` is static. */
struct http_stream *http_stream_new(const struct http_stream_source *source, void *ctx);
struct http_stream *http_stream_ref(struct http_stream *stream);
void http_stream_unref(struct http_stream *stream);

/* Thread: any, for these four. What is written after the end, or when the client has gone, is dropped. */
void http_stream_write(struct http_stream *stream, const void *bytes, size_t len);
void http_stream_end(struct http_stream *stream);
void http_stream_wake(struct http_stream *stream);     /* `pump` is called soon */
size_t http_stream_queued(struct http_stream *stream); /* bytes that the client has not read */

/* The response of a connection; the caller's reference goes to it. NULL: no memory. On the thread of connections. */
struct MHD_Response *http_stream_response(struct http_stream *stream, struct http_server *server,
                                          struct MHD_Connection *connection, void *who);
/* The client of `who` has closed its side. On the thread of connections. */
void http_stream_gone(struct http_stream *stream);

#endif
