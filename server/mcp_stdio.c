/* DESIGN: the caller's thread reads the messages and answers quick ones itself. So it handles a ping or a cancellation
 * while statements run. A few threads run the slow calls. The calls begin in order, and each answer is written as soon
 * as its call ends. The size of a line and the number of open calls have limits. */
#include "server/mcp_stdio.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 64 << 10 };

struct stdio {
    const struct mcp_stdio_config *config;
    GThreadPool *pool;
    GByteArray *line;   /* bytes of the message that is being read */
    bool too_long;      /* the rest of the line is skipped */
    atomic_bool closed; /* the output can no longer be written */
    pthread_mutex_t writing;
    pthread_mutex_t lock;
    GHashTable *open; /* id as JSON → struct call, which its thread owns */
};

/* A slow request. */
struct call {
    struct mcp_message message;
    char *id;
    atomic_bool cancelled;
};

/* --- writing --- */

static void write_all(struct stdio *stdio, const char *bytes, size_t len)
{
    while (len && !atomic_load(&stdio->closed)) {
        ssize_t n = write(stdio->config->out, bytes, len);
        if (n < 0 && errno != EINTR) atomic_store(&stdio->closed, true);
        if (n <= 0) continue;
        bytes += n;
        len -= (size_t)n;
    }
}

/* Writes a reply and a line feed, which ends the message. JSON in compact form contains no line feeds. */
static void send_reply(struct stdio *stdio, const char *reply)
{
    if (!reply) return;
    pthread_mutex_lock(&stdio->writing);
    write_all(stdio, reply, strlen(reply));
    write_all(stdio, "\n", 1);
    pthread_mutex_unlock(&stdio->writing);
}

static void send_error(struct stdio *stdio, const struct mcp_message *message, enum mcp_error error, const char *why)
{
    char *reply = mcp_reply_error(message ? message->id : NULL, error, why, NULL);
    send_reply(stdio, reply);
    free(reply);
}

/* --- calls --- */

static void call_free(struct call *call)
{
    mcp_message_clear(&call->message);
    free(call->id);
    g_free(call);
}

/* Judges the request of a call that needs a verdict, and replaces the answer by the completed one. */
static void finish(const struct stdio *stdio, struct mcp_answer *answer)
{
    struct err err = {0};
    char *verdict = NULL;
    struct mcp_answer last;
    stdio->config->judge(stdio->config->ctx, answer->judge, &verdict, &err);
    mcp_finish(stdio->config->mcp, answer->state, verdict, verdict ? strlen(verdict) : 0, &err, &last);
    free(verdict);
    mcp_answer_clear(answer);
    *answer = last;
}

static void work(void *data, void *ctx)
{
    struct call *call = data;
    struct stdio *stdio = ctx;
    struct mcp_answer answer = {0};
    if (!atomic_load(&call->cancelled)) mcp_answer(stdio->config->mcp, &call->message, NULL, &answer);
    if (answer.judge && !atomic_load(&call->cancelled)) finish(stdio, &answer);
    pthread_mutex_lock(&stdio->lock);
    g_hash_table_remove(stdio->open, call->id);
    pthread_mutex_unlock(&stdio->lock);
    if (!atomic_load(&call->cancelled)) send_reply(stdio, answer.reply);
    mcp_answer_clear(&answer);
    call_free(call);
}

static char *id_text(const json_t *id)
{
    return id ? json_dumps(id, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
}

/* Takes the message over and starts its call, or answers with an error. */
static void begin_call(struct stdio *stdio, struct mcp_message *message)
{
    char *id = id_text(message->id);
    pthread_mutex_lock(&stdio->lock);
    bool full = g_hash_table_size(stdio->open) >= stdio->config->max_open;
    bool taken = !full && id && !g_hash_table_contains(stdio->open, id);
    struct call *call = taken ? g_new0(struct call, 1) : NULL;
    if (call) {
        *call = (struct call){.message = *message, .id = id};
        g_hash_table_insert(stdio->open, call->id, call);
    }
    pthread_mutex_unlock(&stdio->lock);
    if (call) {
        *message = (struct mcp_message){0};
        g_thread_pool_push(stdio->pool, call, NULL);
        return;
    }
    free(id);
    if (full)
        send_error(stdio, message, MCP_BUSY, "too many concurrent calls: wait for results, then call again");
    else
        send_error(stdio, message, MCP_INVALID_REQUEST, "a request with this id is still in progress");
}

/* Cancels a call. `initialize` and finished calls cannot be cancelled. */
static void cancel(struct stdio *stdio, const struct mcp_message *message)
{
    char *id = id_text(json_object_get(message->params, "requestId"));
    pthread_mutex_lock(&stdio->lock);
    struct call *call = id ? g_hash_table_lookup(stdio->open, id) : NULL;
    if (call) atomic_store(&call->cancelled, true);
    pthread_mutex_unlock(&stdio->lock);
    free(id);
}

/* --- reading --- */

static void take_message(struct stdio *stdio, struct mcp_message *message)
{
    struct mcp_answer answer = {0};
    if (mcp_is_slow(message)) {
        begin_call(stdio, message);
    } else if (message->kind == MCP_NOTIFICATION && strcmp(message->method, "notifications/cancelled") == 0) {
        cancel(stdio, message);
    } else {
        mcp_answer(stdio->config->mcp, message, NULL, &answer);
        send_reply(stdio, answer.reply);
        mcp_answer_clear(&answer);
    }
}

static bool is_blank(const GByteArray *line)
{
    for (guint i = 0; i < line->len; i++)
        if (!g_ascii_isspace(line->data[i])) return false;
    return true;
}

static void end_line(struct stdio *stdio)
{
    struct mcp_message message;
    if (stdio->too_long) {
        send_error(stdio, NULL, MCP_INVALID_REQUEST, "the message is larger than 1 MiB");
    } else if (!is_blank(stdio->line)) {
        mcp_message_read(&message, (const char *)stdio->line->data, stdio->line->len);
        take_message(stdio, &message);
        mcp_message_clear(&message);
    }
    g_byte_array_set_size(stdio->line, 0);
    stdio->too_long = false;
}

static void take_bytes(struct stdio *stdio, const char *bytes, size_t len)
{
    while (len) {
        const char *end = memchr(bytes, '\n', len);
        size_t n = end ? (size_t)(end - bytes) : len;
        stdio->too_long |= stdio->line->len + n > MCP_MAX_BYTES;
        if (!stdio->too_long) g_byte_array_append(stdio->line, (const guint8 *)bytes, (guint)n);
        if (end) end_line(stdio);
        bytes += n + (end != NULL);
        len -= n + (end != NULL);
    }
}

static enum err_code read_all(struct stdio *stdio, struct err *err)
{
    enum err_code code = ERR_OK;
    char *chunk = g_malloc(CHUNK);
    while (!code && !atomic_load(&stdio->closed)) {
        ssize_t n = read(stdio->config->in, chunk, CHUNK);
        if (n == 0) break;
        if (n > 0)
            take_bytes(stdio, chunk, (size_t)n);
        else if (errno != EINTR)
            code = err_set(err, ERR_IO, "cannot read standard input: %s", g_strerror(errno));
    }
    if (stdio->line->len || stdio->too_long) end_line(stdio); /* the last line has no line feed */
    g_free(chunk);
    return code;
}

enum err_code mcp_stdio_run(const struct mcp_stdio_config *config, struct err *err)
{
    struct stdio stdio = {.config = config,
                          .line = g_byte_array_new(),
                          .open = g_hash_table_new(g_str_hash, g_str_equal),
                          .writing = PTHREAD_MUTEX_INITIALIZER,
                          .lock = PTHREAD_MUTEX_INITIALIZER};
    stdio.pool = g_thread_pool_new(work, &stdio, (gint)config->threads, FALSE, NULL);
    enum err_code code = read_all(&stdio, err);
    g_thread_pool_free(stdio.pool, FALSE, TRUE);
    g_hash_table_destroy(stdio.open);
    g_byte_array_free(stdio.line, TRUE);
    return code;
}
