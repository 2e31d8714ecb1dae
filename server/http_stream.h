/* Sends a response in pieces: the lines of a batch, or the events of a judgement.
 *
 * DESIGN. A source writes into a buffer, on any thread. The library's thread copies from it as the client reads. If the
 * buffer is empty, the connection is suspended until the next write and uses no thread. A source with much data must
 * not write ahead of a slow client. So `pump` is called whenever the client has read, and http_stream_queued returns
 * the number of unread bytes. The stream has a reference count, since a source may get its result after the client has
 * disconnected.
 */
#ifndef ASSAY_SERVER_HTTP_STREAM_H
#define ASSAY_SERVER_HTTP_STREAM_H

#include "server/http_server.h"

#include <stdbool.h>
#include <stddef.h>

struct http_stream;

/* The functions of a source. The first two run on the connection thread. */
struct http_stream_source {
    void (*pump)(void *ctx, struct http_stream *stream); /* called when more bytes may be written */
    /* called when the client has disconnected; possibly more than once */
    void (*gone)(void *ctx);
    void (*free)(void *ctx); /* called when the last reference is released */
};

/* Makes a stream with a reference for the caller. `source` is static. */
struct http_stream *http_stream_new(const struct http_stream_source *source, void *ctx);
struct http_stream *http_stream_ref(struct http_stream *stream);
void http_stream_unref(struct http_stream *stream);

/* Write bytes, end the stream, wake its source, and return its unread bytes. Bytes after the end, or after the client
 * has disconnected, are dropped. Thread: any, for these four. */
void http_stream_write(struct http_stream *stream, const void *bytes, size_t len);
void http_stream_end(struct http_stream *stream);
void http_stream_wake(struct http_stream *stream);     /* `pump` is called soon */
size_t http_stream_queued(struct http_stream *stream); /* bytes that the client has not read */

/* Makes the response of a connection and takes over the caller's reference. Returns NULL if memory is exhausted.
 * Thread: the connection thread. */
struct MHD_Response *http_stream_response(struct http_stream *stream, struct http_server *server,
                                          struct MHD_Connection *connection, void *who);
/* Ends the stream: its client has closed its side. Thread: the connection thread. */
void http_stream_gone(struct http_stream *stream);

#endif
