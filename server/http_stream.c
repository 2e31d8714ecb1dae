/* Streams a response from a buffer that any thread fills. The library calls on_room on the connection thread when the
 * client can read. on_room pumps the source and copies bytes from the buffer. If the buffer is empty, it suspends the
 * connection. `woken` closes a race: a write between the pump and the suspension makes on_room pump again. The
 * connection is resumed under the lock, so that it cannot end at the same time.
 */
#include "server/http_stream.h"

#include <glib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { BLOCK_BYTES = 16 << 10 };

struct http_stream {
    const struct http_stream_source *source;
    void *ctx;
    atomic_uint refs;
    pthread_mutex_t lock; /* protects all fields below */
    GByteArray *queue;
    bool ended, suspended, woken; /* woken: true if the source was woken since the last pump */
    struct http_server *server;
    struct MHD_Connection *connection; /* NULL before the start and after the end */
    void *who;
};

struct http_stream *http_stream_new(const struct http_stream_source *source, void *ctx)
{
    struct http_stream *stream = g_new0(struct http_stream, 1);
    stream->source = source;
    stream->ctx = ctx;
    stream->queue = g_byte_array_new();
    atomic_init(&stream->refs, 1);
    pthread_mutex_init(&stream->lock, NULL);
    return stream;
}

struct http_stream *http_stream_ref(struct http_stream *stream)
{
    atomic_fetch_add(&stream->refs, 1);
    return stream;
}

void http_stream_unref(struct http_stream *stream)
{
    if (atomic_fetch_sub(&stream->refs, 1) != 1) return;
    stream->source->free(stream->ctx);
    g_byte_array_unref(stream->queue);
    pthread_mutex_destroy(&stream->lock);
    g_free(stream);
}

/* --- writing --- */

/* Wakes the stream. The caller must hold the lock, so that the connection cannot end meanwhile. */
static void wake_locked(struct http_stream *stream)
{
    stream->woken = true;
    if (!stream->suspended) return;
    stream->suspended = false;
    http_server_resume(stream->server, stream->connection);
}

void http_stream_wake(struct http_stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    wake_locked(stream);
    pthread_mutex_unlock(&stream->lock);
}

void http_stream_write(struct http_stream *stream, const void *bytes, size_t len)
{
    pthread_mutex_lock(&stream->lock);
    if (!stream->ended) g_byte_array_append(stream->queue, bytes, (guint)len);
    wake_locked(stream);
    pthread_mutex_unlock(&stream->lock);
}

void http_stream_end(struct http_stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    stream->ended = true;
    wake_locked(stream);
    pthread_mutex_unlock(&stream->lock);
}

size_t http_stream_queued(struct http_stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    size_t len = stream->queue->len;
    pthread_mutex_unlock(&stream->lock);
    return len;
}

/* --- reading --- */

/* Copies the bytes that the client can read now. The caller must hold the lock. */
static ssize_t take_locked(struct http_stream *stream, char *out, size_t room)
{
    size_t len = MIN(room, stream->queue->len);
    if (!len) return MHD_CONTENT_READER_END_OF_STREAM;
    memcpy(out, stream->queue->data, len);
    g_byte_array_remove_range(stream->queue, 0, (guint)len);
    http_server_answer(stream->connection);
    return (ssize_t)len;
}

/* Suspends the connection until more bytes are written. The caller must hold the lock. */
static void suspend_locked(struct http_stream *stream)
{
    stream->suspended = true;
    http_server_wait(stream->connection, stream->who);
    MHD_suspend_connection(stream->connection);
}

static void pump(struct http_stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    stream->woken = false;
    pthread_mutex_unlock(&stream->lock);
    stream->source->pump(stream->ctx, stream);
}

static ssize_t on_room(void *ctx, uint64_t at, char *out, size_t room)
{
    struct http_stream *stream = ctx;
    ssize_t len = 0;
    (void)at;
    for (bool again = true; again;) {
        pump(stream);
        pthread_mutex_lock(&stream->lock);
        bool empty = !stream->queue->len && !stream->ended;
        again = empty && stream->woken;
        if (!empty)
            len = take_locked(stream, out, room);
        else if (!again)
            suspend_locked(stream);
        pthread_mutex_unlock(&stream->lock);
    }
    return len;
}

static void on_end(void *ctx)
{
    struct http_stream *stream = ctx;
    pthread_mutex_lock(&stream->lock);
    stream->ended = true;
    stream->suspended = false;
    stream->connection = NULL;
    pthread_mutex_unlock(&stream->lock);
    stream->source->gone(stream->ctx);
    http_stream_unref(stream);
}

void http_stream_gone(struct http_stream *stream)
{
    stream->source->gone(stream->ctx);
    http_stream_end(stream);
}

struct MHD_Response *http_stream_response(struct http_stream *stream, struct http_server *server,
                                          struct MHD_Connection *connection, void *who)
{
    stream->server = server;
    stream->connection = connection;
    stream->who = who;
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES, on_room, stream, on_end);
}
