/* Judges the lines of a batch and streams their results.
 *
 * Each line is an item. The connection thread sends items while slots are free, and writes finished lines. `pending`
 * ends items on any thread. Each item in progress has a reference to the stream, so the batch outlives its client. If
 * no slot is free for a line, the batch is starved, and batches_tick retries the line. The lock of a batch protects the
 * fields below it and the end of its items. The lock of `batches` protects `starved`. No thread holds both.
 */
#include "server/http_batch.h"

#include "server/http_judge.h"
#include "server/http_stream.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum {
    MAX_BYTES = 16 << 20, /* maximum size of all lines together */
    AT_ONCE = 32,         /* maximum number of requests of one batch in progress */
    AHEAD = 64,           /* maximum distance between the next request to send and the first unwritten line */
    QUEUED_BYTES = 1 << 20
};

struct batches {
    const struct http_api_config *config;
    atomic_bool closed;
    pthread_mutex_t lock;
    GPtrArray *starved; /* struct http_stream, each with a reference */
};

/* A line of a batch. The thread that ends it writes `done` and `text` under the batch's lock. */
struct item {
    struct batch *batch;
    const char *json;
    size_t len;
    uint32_t line; /* line number, from 1 */
    bool done;
    char id[MSG_MAX_NAME + 1];
    GString *text;           /* line of the answer, without the line feed */
    struct trace_span *span; /* NULL unless the item is being judged */
};

struct batch {
    struct batches *batches;
    const struct http_request *http; /* the call's request; valid while the stream is pumped */
    struct http_stream *stream;
    bool as_done; /* lines in the order in which requests finish, else in input order */
    struct item *items;
    uint32_t n_items, next, n_written; /* next: the first unsent item */
    pthread_mutex_t lock;              /* protects the fields below and the results of the items */
    uint32_t n_judged;                 /* items in progress */
    GQueue ended;                      /* finished, unwritten struct items, in the order in which they finished */
};

/* --- the lines of the answer --- */

static GString *line_of(const struct item *item, const struct http_reply *reply)
{
    gsize len;
    const char *body = g_bytes_get_data(reply->body, &len);
    GString *text = g_string_sized_new(len + 32);
    if (reply->status == 200 || reply->status == 202)
        g_string_append_len(text, body, (gssize)len - 1); /* without its final "}" */
    else
        g_string_append_printf(text, "{\"problem\":%.*s", (int)len, body);
    g_string_append_printf(text, ",\"line\":%u}", item->line);
    return text;
}

/* Ends an item. Takes the references of the reply. */
static void end_item(struct item *item, struct http_reply *reply)
{
    struct batch *batch = item->batch;
    pthread_mutex_lock(&batch->lock);
    item->text = line_of(item, reply);
    item->done = true;
    g_queue_push_tail(&batch->ended, item);
    pthread_mutex_unlock(&batch->lock);
    g_bytes_unref(reply->body);
    g_free(reply->location);
}

static void on_done(void *ctx, enum pending_end end, const struct outcome *outcome)
{
    struct item *item = ctx;
    struct batch *batch = item->batch;
    struct http_reply reply = {0};
    const struct err err = {.code = http_judge_end(end)};
    http_judge_end_span(batch->batches->config, outcome, err.code, item->span);
    g_clear_pointer(&item->span, g_free);
    http_judge_reply(item->id, outcome, &err, &reply);
    end_item(item, &reply);
    pthread_mutex_lock(&batch->lock);
    batch->n_judged--;
    pthread_mutex_unlock(&batch->lock);
    http_stream_wake(batch->stream);
    http_stream_unref(batch->stream); /* releases the item's reference */
}

/* Returns the next item to write, or NULL if it is not finished. */
static struct item *next_ended(struct batch *batch)
{
    pthread_mutex_lock(&batch->lock);
    struct item *item = batch->n_written < batch->n_items ? &batch->items[batch->n_written] : NULL;
    if (batch->as_done)
        item = g_queue_pop_head(&batch->ended);
    else if (item && !item->done)
        item = NULL;
    pthread_mutex_unlock(&batch->lock);
    return item;
}

static void write_ended(struct batch *batch)
{
    struct item *item;
    while (http_stream_queued(batch->stream) < QUEUED_BYTES && (item = next_ended(batch))) {
        g_string_append_c(item->text, '\n');
        http_stream_write(batch->stream, item->text->str, item->text->len);
        g_string_free(item->text, TRUE);
        item->text = NULL;
        batch->n_written++;
    }
    if (batch->n_written == batch->n_items) http_stream_end(batch->stream);
}

/* --- sending --- */

static void starve(struct batch *batch)
{
    struct batches *batches = batch->batches;
    pthread_mutex_lock(&batches->lock);
    g_ptr_array_add(batches->starved, http_stream_ref(batch->stream));
    pthread_mutex_unlock(&batches->lock);
}

static enum err_code send_item(struct batch *batch, struct item *item, struct err *err)
{
    struct arena arena;
    struct judge_request request;
    const struct http_api_config *config = batch->batches->config;
    if (item->len > config->max_bytes)
        return err_set(err, ERR_LIMIT_BYTES, "the request is larger than %zu bytes", config->max_bytes);
    arena_init(&arena, 0);
    enum err_code code = http_judge_read(config, batch->http, item->json, item->len, &arena, &request, err);
    if (!code) {
        g_strlcpy(item->id, request.message->id, sizeof item->id);
        http_stream_ref(batch->stream);
        pthread_mutex_lock(&batch->lock);
        batch->n_judged++;
        pthread_mutex_unlock(&batch->lock);
        item->span = g_new(struct trace_span, 1);
        code = http_judge_send(config, batch->http, &request, item->span, on_done, NULL, item, err);
    }
    arena_free(&arena);
    return code;
}

/* Undoes the preparation of an item that http_judge_send refused. on_done is not called for it. */
static void take_back(struct batch *batch, struct item *item)
{
    g_clear_pointer(&item->span, g_free);
    if (!item->id[0]) return; /* the request could not be decoded */
    pthread_mutex_lock(&batch->lock);
    batch->n_judged--;
    pthread_mutex_unlock(&batch->lock);
    http_stream_unref(batch->stream);
}

/* Sends an item. Returns false if no slot is free. */
static bool begin_item(struct batch *batch, struct item *item)
{
    struct err err = {0};
    struct http_reply reply = {0};
    bool closed = atomic_load(&batch->batches->closed);
    item->id[0] = '\0';
    if (closed)
        http_reply_problem(&reply, 503, "shutting down", "closed",
                           "this replica is shutting down and did not accept the request");
    else if (!send_item(batch, item, &err))
        return true;
    else
        take_back(batch, item);
    if (!closed && err.code == ERR_FULL) {
        starve(batch);
        return false;
    }
    if (!closed) http_reply_error(&reply, &err);
    end_item(item, &reply);
    return true;
}

static bool has_room(struct batch *batch)
{
    pthread_mutex_lock(&batch->lock);
    bool room = batch->n_judged < AT_ONCE && batch->next - batch->n_written < AHEAD;
    pthread_mutex_unlock(&batch->lock);
    return room && batch->next < batch->n_items && http_stream_queued(batch->stream) < QUEUED_BYTES;
}

static void pump(void *ctx, struct http_stream *stream)
{
    struct batch *batch = ctx;
    (void)stream;
    write_ended(batch);
    while (has_room(batch) && begin_item(batch, &batch->items[batch->next])) batch->next++;
    write_ended(batch);
}

static bool is_done(struct item *item)
{
    pthread_mutex_lock(&item->batch->lock);
    bool done = item->done;
    pthread_mutex_unlock(&item->batch->lock);
    return done;
}

static void gone(void *ctx)
{
    struct batch *batch = ctx;
    for (uint32_t i = 0; i < batch->next; i++)
        if (!is_done(&batch->items[i])) pending_leave(batch->batches->config->pending, &batch->items[i]);
    batch->next = batch->n_items; /* the remaining lines are not sent */
}

static void batch_free(void *ctx)
{
    struct batch *batch = ctx;
    for (uint32_t i = 0; i < batch->n_items; i++)
        if (batch->items[i].text) g_string_free(batch->items[i].text, TRUE);
    g_queue_clear(&batch->ended);
    pthread_mutex_destroy(&batch->lock);
    g_free(batch->items);
    g_free(batch);
}

static const struct http_stream_source source = {pump, gone, batch_free};

/* --- the row --- */

static bool is_blank(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!g_ascii_isspace(text[i])) return false;
    return true;
}

/* Counts the lines that are not blank, and writes them to `items` unless that is NULL. */
static uint32_t split(struct batch *batch, const char *body, size_t len, struct item *items)
{
    uint32_t n = 0, line = 0;
    for (const char *at = body, *end = body + len; at < end;) {
        const char *eol = memchr(at, '\n', (size_t)(end - at));
        size_t width = (size_t)((eol ? eol : end) - at);
        line++;
        if (!is_blank(at, width)) {
            if (items) items[n] = (struct item){.batch = batch, .json = at, .len = width, .line = line};
            n++;
        }
        at += width + 1;
    }
    return n;
}

static void post_batch(void *ctx, const struct http_request *request, struct http_reply *reply)
{
    struct batches *batches = ctx;
    struct err err = {0};
    const char *order = http_request_query(request, "order");
    uint32_t n = split(NULL, request->body, request->body_len, NULL);
    if (order && strcmp(order, "input") != 0 && strcmp(order, "done") != 0)
        err_set(&err, ERR_MALFORMED, "order must be input or done");
    else if (!n)
        err_set(&err, ERR_MALFORMED, "the batch has no requests" ERR_HINT "send one request per line");
    else if (n > HTTP_BATCH_LINES)
        err_set(&err, ERR_LIMIT_COUNT, "a batch can have at most %d requests, got %u", HTTP_BATCH_LINES, n);
    if (err.code) {
        http_reply_error(reply, &err);
        return;
    }
    struct batch *batch = g_new0(struct batch, 1);
    batch->batches = batches;
    batch->http = request;
    batch->as_done = order && strcmp(order, "done") == 0;
    batch->items = g_new0(struct item, n);
    batch->n_items = split(batch, request->body, request->body_len, batch->items);
    pthread_mutex_init(&batch->lock, NULL);
    g_queue_init(&batch->ended);
    reply->status = 200;
    reply->type = HTTP_NDJSON;
    reply->stream = batch->stream = http_stream_new(&source, batch);
}

struct batches *batches_new(const struct http_api_config *config)
{
    struct batches *batches = g_new0(struct batches, 1);
    batches->config = config;
    batches->starved = g_ptr_array_new();
    pthread_mutex_init(&batches->lock, NULL);
    return batches;
}

/* Wakes each stream without the lock, since it may starve again at once. */
void batches_tick(struct batches *batches)
{
    pthread_mutex_lock(&batches->lock);
    GPtrArray *starved = batches->starved;
    batches->starved = g_ptr_array_new();
    pthread_mutex_unlock(&batches->lock);
    for (guint i = 0; i < starved->len; i++) {
        http_stream_wake(starved->pdata[i]);
        http_stream_unref(starved->pdata[i]);
    }
    g_ptr_array_free(starved, TRUE);
}

void batches_close(struct batches *batches)
{
    atomic_store(&batches->closed, true);
    batches_tick(batches);
}

void batches_free(struct batches *batches)
{
    batches_tick(batches);
    g_ptr_array_free(batches->starved, TRUE);
    pthread_mutex_destroy(&batches->lock);
    g_free(batches);
}

static const char *order(unsigned i)
{
    static const char *const orders[] = {"input", "done"};
    return i < G_N_ELEMENTS(orders) ? orders[i] : NULL;
}

static const struct json_schema_field query[] = {
    {"order", .choice = order, .sentence = "order of the response lines: input order, or as requests finish"},
    {"wait_ms", JSON_SCHEMA_WHOLE, .max = 3600000, .sentence = "how long to wait for each verdict, in milliseconds"},
    {.name = NULL}};
static const uint16_t statuses[] = {413, 503, 0};
static const struct http_description description = {
    .sentence = "judges up to 1,000 requests, one per line; returns one result per line",
    .query = query,
    .takes = "request",
    .gives = "batch_line",
    .lines = true,
    .statuses = statuses};

void batches_routes(struct batches *batches, GArray *routes)
{
    const struct http_route row = {.method = "POST",
                                   .path = HTTP_BATCH,
                                   .scope = HTTP_SCOPE_JUDGE,
                                   .accepts = HTTP_NDJSON,
                                   .max_bytes = MAX_BYTES,
                                   .answer = post_batch,
                                   .ctx = batches,
                                   .description = &description};
    g_array_append_val(routes, row);
}
