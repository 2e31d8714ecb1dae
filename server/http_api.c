#include "server/http_api.h"

#include "lib/base/clock.h"
#include "proto/message/edge.h"
#include "server/http_answers.h"
#include "server/http_server.h"

#include <jansson.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum {
    HEAD_MS = 10000,
    BODY_MS = 30000,
    ANSWER_MS = 30000,
    HEAD_BYTES = 32 << 10,
    MAX_TRACE = 512,
    LAST_WORDS_MS = 2000
};

#define JUDGE    "/v1/judge"
#define VERDICTS "/v1/verdicts/"
#define ANSWERS  "/answers"
#define LINKINGS "/v1/linkings"
#define JSON     "application/json"
#define PROBLEM  "application/problem+json"

struct http_api {
    struct http_api_config config;
    struct http_server *server;
    atomic_bool quiesced;
    atomic_uint n_calls; /* judged or waiting, not answered to the end; and wakes under way */
};

/* One request over HTTP, from its head to its answer. `end` and `outcome` are written by whoever ends the wait, before
 * the library is told to go on. */
struct call {
    struct http_api *api;
    struct MHD_Connection *connection;
    GByteArray *body;
    GBytes *asked; /* the verdict that the body answers; NULL: the body is a request */
    bool sent, suspended;
    bool trace; /* the body is one, and is answered here */
    enum pending_end end;
    GBytes *outcome;
    bool letter;
    struct msg_key position;
    char id[MSG_MAX_NAME + 1];
    struct err err; /* what kept it from being sent */
};

/* --- answers --- */

GBytes *http_api_problem(unsigned status, const char *title, const char *code, const char *detail)
{
    json_t *json = json_pack("{s:s, s:s, s:i, s:s, s:s*}", "type", "about:blank", "title", title, "status", (int)status,
                             "code", code, "detail", detail);
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    json_decref(json);
    return text ? g_bytes_new_with_free_func(text, strlen(text), free, text) : g_bytes_new_static("{}", 2);
}

static void unref(void *bytes)
{
    g_bytes_unref(bytes);
}

/* Takes the reference to the body. `location` may be NULL. */
static enum MHD_Result send_bytes(struct MHD_Connection *connection, unsigned status, const char *type, GBytes *body,
                                  const char *location)
{
    gsize len;
    const void *bytes = g_bytes_get_data(body, &len);
    struct MHD_Response *response =
        MHD_create_response_from_buffer_with_free_callback_cls(len, (void *)bytes, unref, body);
    if (!response) {
        g_bytes_unref(body);
        return MHD_NO;
    }
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    if (location) MHD_add_response_header(response, MHD_HTTP_HEADER_LOCATION, location);
    if (status == MHD_HTTP_SERVICE_UNAVAILABLE || status == MHD_HTTP_ACCEPTED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, "1");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED) MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, POST");
    http_server_answer(connection);
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result send_problem(struct MHD_Connection *connection, unsigned status, const char *title,
                                    const char *code, const char *detail)
{
    return send_bytes(connection, status, PROBLEM, http_api_problem(status, title, code, detail), NULL);
}

/* Answers with an error as a problem document (RFC 9457) and its HTTP status. */
static enum MHD_Result send_error(struct MHD_Connection *connection, const struct err *err)
{
    static const struct {
        enum err_code code;
        unsigned status;
        const char *title;
    } rows[] = {{ERR_LIMIT_BYTES, MHD_HTTP_CONTENT_TOO_LARGE, "too large"},
                {ERR_FULL, MHD_HTTP_SERVICE_UNAVAILABLE, "too many requests wait"},
                {ERR_UNREACHABLE, MHD_HTTP_SERVICE_UNAVAILABLE, "nobody judges at the moment"},
                {ERR_NOMEM, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory"}};
    const char *detail = err->text[0] ? err->text : err_meaning(err->code);
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++)
        if (rows[i].code == err->code)
            return send_problem(connection, rows[i].status, rows[i].title, err_name(err->code), detail);
    bool ours = err_class(err->code) == ERR_CLASS_FATAL;
    return send_problem(connection, ours ? MHD_HTTP_SERVICE_UNAVAILABLE : MHD_HTTP_BAD_REQUEST,
                        ours ? "nobody judges at the moment" : "not a request", err_name(err->code), detail);
}

/* The wait has ended without a verdict: says where the verdict will be. */
static enum MHD_Result send_accepted(const struct call *call)
{
    char *escaped = g_uri_escape_string(call->id, NULL, FALSE), *location = g_strconcat(VERDICTS, escaped, NULL);
    json_t *json = json_pack("{s:s, s:s}", "id", call->id, "location", location);
    char *text = json_dumps(json, JSON_COMPACT);
    json_decref(json);
    enum MHD_Result result = text ? send_bytes(call->connection, MHD_HTTP_ACCEPTED, JSON,
                                               g_bytes_new_with_free_func(text, strlen(text), free, text), location)
                                  : MHD_NO;
    g_free(escaped);
    g_free(location);
    return result;
}

static enum MHD_Result send_closed(struct MHD_Connection *connection, const char *detail)
{
    return send_problem(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "this replica ends", "closed", detail);
}

static enum MHD_Result send_end(struct call *call)
{
    if (call->err.code) return send_error(call->connection, &call->err);
    if (call->end == PENDING_LATE) return send_accepted(call);
    if (call->end == PENDING_CLOSED)
        return send_closed(call->connection, "the request was sent; ask another replica for its verdict by id");
    return send_bytes(call->connection, call->letter ? MHD_HTTP_UNPROCESSABLE_CONTENT : MHD_HTTP_OK,
                      call->letter ? PROBLEM : JSON, g_bytes_ref(call->outcome), NULL);
}

/* --- sending --- */

/* From now on the call is the library's again, and may be gone. What is still used of us is counted, so that it is not closed meanwhile. */
static void go_on(struct call *call)
{
    struct http_api *api = call->api;
    atomic_fetch_add(&api->n_calls, 1);
    http_server_resume(api->server, call->connection);
    atomic_fetch_sub(&api->n_calls, 1);
}

static void on_done(void *ctx, enum pending_end end, const struct outcome *outcome)
{
    struct call *call = ctx;
    call->end = end;
    if (outcome) {
        call->outcome = g_bytes_ref(outcome->body);
        call->letter = outcome->letter;
    }
    go_on(call);
}

/* A unique id: an id that comes twice would be a repeat. */
static void make_id(char *out, size_t size)
{
    uint64_t random[2] = {0};
    if (getrandom(random, sizeof random, 0) != sizeof random) random[0] = (uint64_t)clock_now_ns();
    g_snprintf(out, (gulong)size, "http-%016llx%016llx", (unsigned long long)random[0], (unsigned long long)random[1]);
}

static int64_t until_ns(const struct call *call)
{
    const struct http_api_config *config = &call->api->config;
    const char *said = MHD_lookup_connection_value(call->connection, MHD_GET_ARGUMENT_KIND, "wait_ms");
    guint64 ms = (guint64)config->wait_ms;
    if (said && !g_ascii_string_to_unsigned(said, 10, 0, (guint64)config->max_wait_ms, &ms, NULL))
        ms = (guint64)config->wait_ms;
    return clock_now_ns() + (int64_t)ms * 1000000;
}

/* The answer of the body becomes the request that was asked about, with it. */
static bool complete_answer(struct call *call)
{
    gsize len;
    const char *verdict = g_bytes_get_data(call->asked, &len);
    char *json = http_answers_request(verdict, len, (const char *)call->body->data, call->body->len, &call->err);
    if (!json) return false;
    g_byte_array_set_size(call->body, 0);
    g_byte_array_append(call->body, (const guint8 *)json, (guint)strlen(json));
    free(json);
    return true;
}

/* The request of the body, with an id. NULL: err says why. */
static struct msg_request *read_request(struct call *call, struct arena *arena)
{
    struct msg_request *request = NULL;
    if (call->asked && !complete_answer(call)) return NULL;
    if (edge_decode_request(arena, EDGE_TYPE_JSON, call->body->data, call->body->len, &request, &call->err))
        return NULL;
    if (!request->id || !*request->id) {
        make_id(call->id, sizeof call->id);
        request->id = call->id;
    }
    g_strlcpy(call->id, request->id, sizeof call->id);
    return request;
}

static const char *traceparent_of(const struct call *call)
{
    const char *trace = MHD_lookup_connection_value(call->connection, MHD_HEADER_KIND, "traceparent");
    return trace && strlen(trace) <= MAX_TRACE ? trace : NULL;
}

/* Suspended first: the answer may be there before this returns. */
static void send_on(struct call *call, struct msg_request *request)
{
    const struct http_api_config *config = &call->api->config;
    struct waiter *waiter = NULL;
    call->suspended = true;
    http_server_wait(call->connection, call);
    MHD_suspend_connection(call->connection);
    enum err_code code = pending_begin(config->pending, call->id, until_ns(call), on_done, call, &waiter);
    if (!code) code = config->send(config->send_ctx, request, traceparent_of(call), waiter);
    if (!code || (waiter && !pending_cancel(waiter))) return; /* on_done has the call, or will */
    err_set(&call->err, code, "%s",
            err_meaning(code)); /* who sends may name brokers: that is for the log and /healthz */
    go_on(call);
}

static void send_request(struct call *call)
{
    struct arena arena;
    call->sent = true;
    arena_init(&arena, 0);
    struct msg_request *request = read_request(call, &arena);
    if (request) send_on(call, request);
    arena_free(&arena);
}

/* A trace needs nobody else: it is answered at once. */
static enum MHD_Result send_linking(struct call *call)
{
    char *json = NULL;
    const struct http_api_config *config = &call->api->config;
    call->sent = true;
    if (config->link(config->link_ctx, call->body->data, call->body->len, &json, &call->err))
        return send_error(call->connection, &call->err);
    return send_bytes(call->connection, MHD_HTTP_OK, JSON, g_bytes_new_with_free_func(json, strlen(json), free, json),
                      NULL);
}

/* --- requests over HTTP --- */

static enum MHD_Result send_unknown(struct MHD_Connection *connection)
{
    return send_problem(connection, MHD_HTTP_NOT_FOUND, "no verdict", "unknown_id",
                        "this replica knows no verdict of that id: not yet, or not any more");
}

static enum MHD_Result get_verdict(struct http_api *api, struct MHD_Connection *connection, const char *id)
{
    GBytes *body = pending_find(api->config.pending, id);
    return body ? send_bytes(connection, MHD_HTTP_OK, JSON, body, NULL) : send_unknown(connection);
}

static bool is_json(struct MHD_Connection *connection)
{
    const char *type = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_TYPE);
    size_t len = type ? strcspn(type, "; \t") : 0;
    return !type || (len == strlen(JSON) && g_ascii_strncasecmp(type, JSON, len) == 0) ||
           g_str_has_prefix(type, "application/x-www-form-urlencoded"); /* what curl says when it is told nothing */
}

/* Takes over the reference to `asked`. */
static struct call *call_new(struct http_api *api, struct MHD_Connection *connection, GBytes *asked)
{
    struct call *call = g_new0(struct call, 1);
    call->api = api;
    call->connection = connection;
    call->body = g_byte_array_new();
    call->asked = asked;
    atomic_fetch_add(&api->n_calls, 1);
    return call;
}

/* The newest verdict of the id in /v1/verdicts/ID/answers: a reference, or NULL. */
static GBytes *find_asked(struct http_api *api, const char *url)
{
    char *id = g_strndup(url + strlen(VERDICTS), strlen(url) - strlen(VERDICTS) - strlen(ANSWERS));
    GBytes *asked = pending_find(api->config.pending, id);
    g_free(id);
    return asked;
}

static bool is_of_this_machine(struct MHD_Connection *connection)
{
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
    const char *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
    for (unsigned i = 0; host && i < G_N_ELEMENTS(names); i++) {
        size_t len = strlen(names[i]);
        if (g_ascii_strncasecmp(host, names[i], len) == 0 && (!host[len] || host[len] == ':')) return true;
    }
    return false;
}

/* At the head of a request: an answer at once, or a call whose body is read. */
static enum MHD_Result begin(struct http_api *api, struct MHD_Connection *connection, const char *url,
                             const char *method, void **request)
{
    bool trace = api->config.link && strcmp(url, LINKINGS) == 0;
    bool judge = strcmp(url, JUDGE) == 0, verdict = g_str_has_prefix(url, VERDICTS);
    if (api->config.local && !is_of_this_machine(connection))
        return send_problem(connection, MHD_HTTP_MISDIRECTED_REQUEST, "another host", "refused",
                            "this process answers to the names of this machine only");
    bool answers = verdict && strlen(url) > strlen(VERDICTS ANSWERS) && g_str_has_suffix(url, ANSWERS);
    if (verdict && !answers && strcmp(method, MHD_HTTP_METHOD_GET) == 0)
        return get_verdict(api, connection, url + strlen(VERDICTS));
    if (!judge && !verdict && !trace)
        return send_problem(connection, MHD_HTTP_NOT_FOUND, "there is nothing here", "unknown_path", NULL);
    if ((!judge && !answers && !trace) || strcmp(method, MHD_HTTP_METHOD_POST) != 0)
        return send_problem(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "another method", "refused",
                            "POST " JUDGE ", GET " VERDICTS "ID, POST " VERDICTS "ID" ANSWERS);
    if (!trace && !is_json(connection))
        return send_problem(connection, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE, "not JSON", "malformed", NULL);
    if (atomic_load(&api->quiesced)) return send_closed(connection, "ask another replica");
    GBytes *asked = answers ? find_asked(api, url) : NULL;
    if (answers && !asked) return send_unknown(connection);
    struct call *call = call_new(api, connection, asked);
    call->trace = trace;
    *request = call;
    return MHD_YES;
}

/* More of the body: nothing can be answered before it is at its end. */
static enum MHD_Result take(struct call *call, const char *bytes, size_t *len)
{
    bool large = call->body->len + *len > call->api->config.max_bytes;
    if (large && !call->err.code)
        err_set(&call->err, ERR_LIMIT_BYTES, "a request has at most %zu bytes", call->api->config.max_bytes);
    if (!call->err.code) g_byte_array_append(call->body, (const guint8 *)bytes, (guint)*len);
    *len = 0;
    return MHD_YES;
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection, const char *url, const char *method,
                                  const char *version, const char *bytes, size_t *len, void **request)
{
    struct call *call = *request;
    (void)version;
    if (!call) return begin(ctx, connection, url, method, request);
    if (*len) return take(call, bytes, len);
    if (call->sent || call->err.code) return send_end(call);
    if (call->trace) return send_linking(call);
    send_request(call);
    return call->suspended ? MHD_YES : send_end(call); /* asked again once somebody has resumed it */
}

static void on_completed(void *ctx, struct MHD_Connection *connection, void **request,
                         enum MHD_RequestTerminationCode code)
{
    struct call *call = *request;
    struct http_api *api = ctx;
    (void)connection, (void)code;
    if (!call) return;
    atomic_fetch_sub(&api->n_calls, 1);
    g_byte_array_unref(call->body);
    if (call->asked) g_bytes_unref(call->asked);
    if (call->outcome) g_bytes_unref(call->outcome);
    g_free(call);
    *request = NULL;
}

/* Its place is for others: the verdict comes anyway, and can be asked for by id. */
static void on_gone(void *ctx, void *who)
{
    pending_leave(((struct http_api *)ctx)->config.pending, who);
}

/* --- open, close --- */

enum err_code http_api_open(const struct http_api_config *config, struct http_api **out, struct err *err)
{
    *out = NULL;
    struct http_api *api = g_new0(struct http_api, 1);
    api->config = *config;
    const struct http_server_config server = {
        .name = "http",
        .listen = config->listen,
        .max_connections = config->max_connections,
        .per_address = config->per_address,
        .head_bytes = HEAD_BYTES,
        .limit_ms = {[HTTP_STAGE_HEAD] = HEAD_MS, [HTTP_STAGE_BODY] = BODY_MS, [HTTP_STAGE_ANSWER] = ANSWER_MS},
        .on_request = on_request,
        .on_completed = on_completed,
        .on_gone = on_gone,
        .ctx = api};
    enum err_code code = http_server_open(&server, &api->server, err);
    if (code) {
        g_free(api);
        return code;
    }
    *out = api;
    return ERR_OK;
}

uint16_t http_api_port(const struct http_api *api)
{
    return http_server_port(api->server);
}

void http_api_quiesce(struct http_api *api)
{
    atomic_store(&api->quiesced, true);
    http_server_quiesce(api->server);
}

void http_api_get_stats(const struct http_api *api, struct http_server_stats *out)
{
    http_server_get_stats(api->server, out);
}

void http_api_close(struct http_api *api)
{
    if (!api) return;
    int64_t until = clock_now_ns() + LAST_WORDS_MS * INT64_C(1000000); /* the answers are on their way */
    while (atomic_load(&api->n_calls) && clock_now_ns() < until) g_usleep(1000);
    http_server_close(api->server);
    g_free(api);
}
