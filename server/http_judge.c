/* Sends the requests of HTTP callers to be judged, and maps outcomes to replies. First http_judge_read decodes and
 * restricts a request. Then http_judge_send registers it with `pending` before it is sent, so that its outcome cannot
 * be missed. If sending fails after registration, pending_cancel decides who reports: this function, or the callback
 * that has already run. The rows of /v1/judge, /v1/verdicts and /v1/linkings follow.
 */
#include "server/http_judge.h"

#include "lib/base/clock.h"
#include "lib/schema/deny_name.h"
#include "proto/message/edge.h"
#include "server/http_answers.h"
#include "server/http_events.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { MAX_TRACEPARENT = 512 };

#define PROBLEM "application/problem+json"

/* --- sending --- */

/* Makes a unique id, since a duplicate id would make the request a repeat. */
static const char *make_id(struct arena *arena)
{
    uint64_t random[2] = {0};
    if (getrandom(random, sizeof random, 0) != sizeof random) random[0] = (uint64_t)clock_now_ns();
    return arena_printf(arena, "http-%016llx%016llx", (unsigned long long)random[0], (unsigned long long)random[1]);
}

static uint16_t tenant_number(const struct http_request *http)
{
    return http->tenant ? http->tenant->number : 0;
}

enum err_code http_judge_read(const struct http_api_config *config, const struct http_request *http, const void *json,
                              size_t len, struct arena *arena, struct judge_request *out, struct err *err)
{
    struct msg_request *message = NULL;
    if (config->has_room && !config->has_room(config->send_ctx, tenant_number(http)))
        return err_set(err, ERR_FULL, "%s", err_meaning(ERR_FULL));
    enum err_code code = edge_decode_request(arena, EDGE_TYPE_JSON, json, len, &message, err);
    if (!code) code = deny_names_check(message->options.deny_columns, message->options.n_deny_columns, err);
    if (!code) code = tenant_narrow(http->tenant, message, arena, err);
    if (code) return code;
    *out = (struct judge_request){message, !message->id || !*message->id};
    if (out->only_caller) message->id = make_id(arena);
    return message->id ? ERR_OK : err_set(err, ERR_NOMEM, "no memory for the request");
}

static int64_t until_ns(const struct http_api_config *config, const struct http_request *http)
{
    const char *said = http_request_query(http, "wait_ms");
    guint64 ms = (guint64)config->wait_ms;
    if (said && !g_ascii_string_to_unsigned(said, 10, 0, (guint64)config->max_wait_ms, &ms, NULL))
        ms = (guint64)config->wait_ms;
    return clock_now_ns() + (int64_t)ms * 1000000;
}

/* Returns the traceparent of the request: the server's own span if there is a tracer, else the caller's. */
static const char *begin_span(const struct http_api_config *config, const struct http_request *http,
                              const struct msg_request *request, struct trace_span *span, char own[TRACEPARENT_ROOM])
{
    const char *theirs = http_request_header(http, "traceparent");
    if (!theirs || strlen(theirs) > MAX_TRACEPARENT) theirs = request->traceparent;
    tracer_begin_request(config->tracer, theirs, NULL, "serve", TRACE_SERVER, span);
    if (!config->tracer) return theirs;
    trace_context_write(&span->context, own);
    return own;
}

void http_judge_end_span(const struct http_api_config *config, const struct outcome *outcome, enum err_code code,
                         struct trace_span *span)
{
    bool late = code == ERR_DEADLINE; /* the verdict will still arrive, so this is not a failure */
    if (outcome || late) trace_text(span, "assay.outcome", late ? "late" : outcome->letter ? "letter" : "answered");
    tracer_end(config->tracer, span, late ? ERR_OK : code);
}

enum err_code http_judge_send(const struct http_api_config *config, const struct http_request *http,
                              const struct judge_request *request, struct trace_span *span, pending_done *done,
                              void (*told)(void *ctx, const void *progress), void *ctx, struct err *err)
{
    struct waiter *waiter = NULL;
    struct msg_request *message = request->message;
    char own[TRACEPARENT_ROOM];
    const char *traceparent = begin_span(config, http, message, span, own);
    enum err_code code =
        pending_begin(config->pending, tenant_number(http), message->id, until_ns(config, http), done, ctx, &waiter);
    if (!code && told) pending_watch(waiter, told);
    if (!code && request->only_caller) pending_only_caller(waiter);
    if (!code) code = config->send(config->send_ctx, message, traceparent, waiter);
    if (!code || (waiter && !pending_cancel(waiter))) return ERR_OK; /* done has been called, or will be */
    return err_set(err, code, "%s",
                   /* the text of the error may contain broker names, which only the log and /healthz may show */
                   err_meaning(code));
}

/* --- replies --- */

enum err_code http_judge_end(enum pending_end end)
{
    static const enum err_code codes[] = {
        [PENDING_ANSWERED] = ERR_OK, [PENDING_LATE] = ERR_DEADLINE, [PENDING_CLOSED] = ERR_CLOSED};
    return codes[end];
}

char *http_judge_later(const char *id, char **location)
{
    char *escaped = g_uri_escape_string(id, NULL, FALSE);
    *location = g_strconcat(HTTP_VERDICTS, escaped, NULL);
    json_t *json = json_pack("{s:s, s:s}", "id", id, "location", *location);
    char *text = json_dumps(json, JSON_COMPACT);
    json_decref(json);
    g_free(escaped);
    return text;
}

static void reply_later(const char *id, struct http_reply *reply)
{
    http_reply_json(reply, http_judge_later(id, &reply->location));
    if (reply->status == 200) reply->status = 202;
}

void http_judge_reply(const char *id, const struct outcome *outcome, const struct err *err, struct http_reply *reply)
{
    if (outcome) {
        reply->status = outcome->letter ? 422 : 200;
        reply->type = outcome->letter ? PROBLEM : HTTP_JSON;
        reply->body = g_bytes_ref(outcome->body);
    } else if (err->code == ERR_DEADLINE) {
        reply_later(id, reply);
    } else if (err->code == ERR_CLOSED) {
        http_reply_problem(reply, 503, "shutting down", "closed",
                           "the request was accepted; get its verdict by id from another replica");
    } else {
        http_reply_error(reply, err);
    }
}

/* --- the rows --- */

static void judge(void *ctx, const struct http_request *request, struct http_reply *reply)
{
    const char *accepts = http_request_header(request, "Accept");
    if (accepts && strstr(accepts, HTTP_EVENTS))
        http_events_begin(ctx, request, reply);
    else
        reply->judge = g_bytes_new(request->body, request->body_len);
}

static void reply_unknown(struct http_reply *reply)
{
    http_reply_problem(reply, 404, "verdict not found", "unknown_id",
                       "this replica has no verdict with this id: it is not ready, or no longer stored");
}

GBytes *http_judge_find(const struct http_api_config *config, const struct tenant *tenant, const char *id)
{
    GBytes *body = pending_find(config->pending, tenant ? tenant->number : 0, id);
    return body || !config->store ? body : verdict_store_find(config->store, tenant ? tenant->name : "", id);
}

static void get_verdict(void *ctx, const struct http_request *request, struct http_reply *reply)
{
    const struct http_api_config *config = ctx;
    GBytes *body = http_judge_find(config, request->tenant, request->rest);
    if (!body) {
        reply_unknown(reply);
        return;
    }
    reply->status = 200;
    reply->type = HTTP_JSON;
    reply->body = body;
}

/* Judges the request of the verdict again, with the answer of the body. */
static void judge_answered(const GBytes *asked, const struct http_request *request, struct http_reply *reply)
{
    gsize len;
    struct err err = {0};
    const char *verdict = g_bytes_get_data((GBytes *)asked, &len);
    char *json = http_answers_request(verdict, len, request->body, request->body_len, &err);
    if (json)
        reply->judge = g_bytes_new_with_free_func(json, strlen(json), free, json);
    else
        http_reply_error(reply, &err);
}

static void post_answer(void *ctx, const struct http_request *request, struct http_reply *reply)
{
    const struct http_api_config *config = ctx;
    GBytes *asked = http_judge_find(config, request->tenant, request->rest);
    if (!asked) {
        reply_unknown(reply);
        return;
    }
    judge_answered(asked, request, reply);
    g_bytes_unref(asked);
}

/* Judges a trace of a schema linker. Only this process is involved. */
static void post_linking(void *ctx, const struct http_request *request, struct http_reply *reply)
{
    char *json = NULL;
    struct err err = {0};
    const struct http_api_config *config = ctx;
    if (config->link(config->link_ctx, request->body, request->body_len, &json, &err))
        http_reply_error(reply, &err);
    else
        http_reply_json(reply, json);
}

static const struct json_schema_field query_wait[] = {
    {"wait_ms", JSON_SCHEMA_WHOLE, .max = 3600000, .sentence = "how long to wait for the verdict, in milliseconds"},
    {.name = NULL}};

static const uint16_t judged[] = {202, 413, 422, 503, 0}, answered[] = {202, 404, 413, 422, 503, 0}, found[] = {404, 0},
                      linked[] = {413, 503, 0};

static const struct http_description
    describe_judge = {.sentence = "judges a request and returns its verdict",
                      .query = query_wait,
                      .takes = "request",
                      .gives = "verdict",
                      .events = true,
                      .statuses = judged},
    describe_get = {.sentence = "returns the newest verdict of an id", .gives = "verdict", .statuses = found},
    describe_answer =
        {.sentence =
             "answers the question of the newest verdict of an id, and judges the request again with the answer",
         .query = query_wait,
         .takes = "chosen_answer",
         .gives = "verdict",
         .statuses = answered},
    describe_linking = {.sentence =
                            "finds the places where a schema linker is unreliable, from its trace (a safetensors file)",
                        .statuses = linked};

void http_judge_routes(const struct http_api_config *config, GArray *routes)
{
    enum http_work finding = config->store ? HTTP_SLOW : HTTP_QUICK;
    const struct http_route rows[] = {
        {.method = "POST",
         .path = HTTP_JUDGE,
         .scope = HTTP_SCOPE_JUDGE,
         .answer = judge,
         .description = &describe_judge},
        {.method = "GET",
         .path = HTTP_VERDICTS "{id}",
         .scope = HTTP_SCOPE_JUDGE,
         .work = finding,
         .answer = get_verdict,
         .description = &describe_get},
        {.method = "POST",
         .path = HTTP_VERDICTS "{id}/answers",
         .scope = HTTP_SCOPE_JUDGE,
         .work = finding,
         .answer = post_answer,
         .description = &describe_answer},
        {.method = "POST",
         .path = "/v1/linkings",
         .scope = HTTP_SCOPE_JUDGE,
         .accepts = HTTP_BYTES,
         .answer = post_linking,
         .description = &describe_linking},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct http_route row = rows[i];
        row.ctx = (void *)config;
        if (row.answer != post_linking || config->link) g_array_append_val(routes, row);
    }
}
