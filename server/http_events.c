#include "server/http_events.h"

#include "coordinator/coordinator.h"
#include "server/http_judge.h"
#include "server/http_stream.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { QUEUED_BYTES = 64 << 10 /* limit of unread progress events; further ones are dropped */ };

struct events {
    const struct http_api_config *config;
    const struct http_request *http; /* the call's request; valid while the stream is pumped */
    struct http_stream *stream;
    bool sent;
    char id[MSG_MAX_NAME + 1];
    struct trace_span span;
};

/* Writes an event. `json` must be one line. */
static void write_event(struct events *events, const char *name, const char *json, size_t len)
{
    GString *text = g_string_sized_new(len + 32);
    g_string_append_printf(text, "event: %s\ndata: ", name);
    g_string_append_len(text, json, (gssize)len);
    g_string_append(text, "\n\n");
    http_stream_write(events->stream, text->str, text->len);
    g_string_free(text, TRUE);
}

/* Writes an event. Takes the reference to `json`. */
static void write_json(struct events *events, const char *name, json_t *json)
{
    char *text = json_dumps(json, JSON_COMPACT);
    if (text) write_event(events, name, text, strlen(text));
    free(text);
    json_decref(json);
}

/* Writes the last event. Takes the references of the reply. */
static void write_end(struct events *events, struct http_reply *reply)
{
    gsize len;
    const char *json = g_bytes_get_data(reply->body, &len);
    write_event(events, reply->status == 200 ? "verdict" : reply->status == 202 ? "later" : "problem", json, len);
    http_stream_end(events->stream);
    g_bytes_unref(reply->body);
    g_free(reply->location);
}

static void on_told(void *ctx, const void *told)
{
    struct events *events = ctx;
    const struct coordinator_progress *progress = told;
    if (http_stream_queued(events->stream) > QUEUED_BYTES) return;
    write_json(events, "progress",
               json_pack("{s:I, s:I, s:s}", "candidate", (json_int_t)progress->candidate, "candidates",
                         (json_int_t)progress->n_candidates, "family", progress->family));
}

static void on_done(void *ctx, enum pending_end end, const struct outcome *outcome)
{
    struct events *events = ctx;
    struct http_reply reply = {0};
    const struct err err = {.code = http_judge_end(end)};
    http_judge_end_span(events->config, outcome, err.code, &events->span);
    http_judge_reply(events->id, outcome, &err, &reply);
    write_end(events, &reply);
    http_stream_unref(events->stream); /* releases the reference of the wait */
}

static void send_request(struct events *events)
{
    struct arena arena;
    struct err err = {0};
    struct judge_request request;
    arena_init(&arena, 0);
    http_stream_ref(events->stream);
    enum err_code code = http_judge_read(events->config, events->http, events->http->body, events->http->body_len,
                                         &arena, &request, &err);
    if (!code) {
        g_strlcpy(events->id, request.message->id, sizeof events->id);
        request.only_caller = false; /* the first event tells the caller the id */
        write_json(events, "accepted", json_pack("{s:s}", "id", events->id));
        code = http_judge_send(events->config, events->http, &request, &events->span, on_done, on_told, events, &err);
    }
    arena_free(&arena);
    if (!code) return;
    struct http_reply reply = {0};
    http_reply_error(&reply, &err);
    write_end(events, &reply);
    http_stream_unref(events->stream);
}

static void pump(void *ctx, struct http_stream *stream)
{
    struct events *events = ctx;
    (void)stream;
    if (events->sent) return;
    events->sent = true;
    send_request(events);
}

static void gone(void *ctx)
{
    struct events *events = ctx;
    pending_leave(events->config->pending, events);
}

static const struct http_stream_source source = {pump, gone, g_free};

void http_events_begin(const struct http_api_config *config, const struct http_request *request,
                       struct http_reply *reply)
{
    struct events *events = g_new0(struct events, 1);
    events->config = config;
    events->http = request;
    reply->status = 200;
    reply->type = HTTP_EVENTS;
    reply->stream = events->stream = http_stream_new(&source, events);
}
