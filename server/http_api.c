/* Serves the HTTP API: from the head of a request to its answer.
 *
 * A call is created at the head, after the gate, the route and the token are checked. Its body is then collected. Quick
 * rows answer on the connection thread, slow rows in a small thread pool. A row may leave a request to judge; the
 * connection is then suspended until `pending` reports an outcome. Each suspended connection is resumed exactly once,
 * and n_calls counts the calls and resumptions in progress, so that http_api_close can wait for them.
 */
#include "server/http_api.h"

#include "lib/base/clock.h"
#include "server/http_batch.h"
#include "server/http_gate.h"
#include "server/http_judge.h"
#include "server/http_openapi.h"
#include "server/http_stream.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEAD_MS = 10000,
    BODY_MS = 30000,
    ANSWER_MS = 30000,
    HEAD_BYTES = 32 << 10,
    LAST_WORDS_MS = 2000,
    SLOW_THREADS = 2,
    MAX_SLOW = 64 /* maximum number of queued and running calls of the slow threads */
};

struct http_api {
    struct http_api_config config;
    struct http_gate gate;
    struct http_server *server;
    GArray *routes; /* struct http_route */
    struct openapi *openapi;
    GThreadPool *slow; /* pool of struct call */
    struct batches *batches;
    atomic_bool quiesced;
    atomic_uint n_calls; /* unfinished calls, plus resumptions in progress */
    atomic_uint n_slow;
};

/* The step of a call: reading its body, running in a slow thread, waiting for its verdict, verdict or failure known. */
enum step { STEP_BODY, STEP_WORKING, STEP_WAITING, STEP_JUDGED };

/* A request over HTTP, from its head to its answer. */
struct call {
    struct http_api *api;
    struct MHD_Connection *connection;
    const struct http_route *route;
    char *path, *rest;
    GByteArray *body;
    struct http_request request;
    struct http_reply reply;
    enum step step;
    struct err err; /* reason if the request was not sent */
    char id[MSG_MAX_NAME + 1];
    enum pending_end end;
    struct outcome outcome; /* owns a reference to its body; the body is NULL if there is no outcome */
    struct trace_span span;
};

/* --- answers --- */

static void unref(void *bytes)
{
    g_bytes_unref(bytes);
}

/* Makes a response. Takes the reference to the body; NULL means an empty body. */
static struct MHD_Response *response_of(GBytes *body)
{
    gsize len = 0;
    const void *bytes = body ? g_bytes_get_data(body, &len) : "";
    if (!body) return MHD_create_response_from_buffer(0, (void *)bytes, MHD_RESPMEM_PERSISTENT);
    struct MHD_Response *response =
        MHD_create_response_from_buffer_with_free_callback_cls(len, (void *)bytes, unref, body);
    if (!response) g_bytes_unref(body);
    return response;
}

static void add_headers(struct MHD_Response *response, const struct http_reply *reply)
{
    bool cached = false;
    for (unsigned i = 0; reply->headers && reply->headers[i]; i += 2) {
        cached |= strcmp(reply->headers[i], MHD_HTTP_HEADER_CACHE_CONTROL) == 0;
        MHD_add_response_header(response, reply->headers[i], reply->headers[i + 1]);
    }
    http_gate_add_headers(response);
    if (!cached) MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    if (reply->type) MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, reply->type);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    if (reply->location) MHD_add_response_header(response, MHD_HTTP_HEADER_LOCATION, reply->location);
    if (reply->status == MHD_HTTP_SERVICE_UNAVAILABLE || reply->status == MHD_HTTP_ACCEPTED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, "1");
}

static void reply_clear(struct http_reply *reply)
{
    if (reply->body) g_bytes_unref(reply->body);
    if (reply->judge) g_bytes_unref(reply->judge);
    if (reply->stream) http_stream_unref(reply->stream);
    g_free(reply->location);
    g_free(reply->state);
    *reply = (struct http_reply){0};
}

static enum MHD_Result queue(struct MHD_Connection *connection, const struct http_reply *reply,
                             struct MHD_Response *response)
{
    if (!response) return MHD_NO;
    add_headers(response, reply);
    http_server_answer(connection);
    enum MHD_Result result = MHD_queue_response(connection, reply->status, response);
    MHD_destroy_response(response);
    return result;
}

/* Sends the reply and clears it. `call` may be NULL if the reply is not a stream. */
static enum MHD_Result send_reply(struct MHD_Connection *connection, struct call *call, struct http_reply *reply)
{
    struct MHD_Response *response;
    if (reply->stream) {
        response = http_stream_response(http_stream_ref(reply->stream), call->api->server, connection, call);
        if (!response) http_stream_unref(reply->stream);
    } else {
        response = response_of(reply->body);
        reply->body = NULL;
    }
    enum MHD_Result result = queue(connection, reply, response);
    /* the call owns the stream until the call ends, since the client may disconnect */
    if (!reply->stream) reply_clear(reply);
    return result;
}

static enum MHD_Result send_problem(struct MHD_Connection *connection, unsigned status, const char *title,
                                    const char *code, const char *detail)
{
    struct http_reply reply = {0};
    http_reply_problem(&reply, status, title, code, detail);
    return send_reply(connection, NULL, &reply);
}

/* --- from the body to the answer --- */

/* Resumes the connection. The library then owns the call and may free it. n_calls counts this function too, so that the
 * API is not closed during it. */
static void go_on(struct call *call)
{
    struct http_api *api = call->api;
    atomic_fetch_add(&api->n_calls, 1);
    http_server_resume(api->server, call->connection);
    atomic_fetch_sub(&api->n_calls, 1);
}

static void suspend(struct call *call, enum step step)
{
    call->step = step;
    http_server_wait(call->connection, call);
    MHD_suspend_connection(call->connection);
}

static void on_done(void *ctx, enum pending_end end, const struct outcome *outcome)
{
    struct call *call = ctx;
    call->end = end;
    if (outcome) {
        call->outcome = *outcome;
        g_bytes_ref(outcome->body);
    }
    call->step = STEP_JUDGED;
    go_on(call);
}

/* Sends the request to be judged. Suspends the call first, since the answer may arrive before this function returns. */
static void send_judge(struct call *call)
{
    gsize len;
    struct arena arena;
    struct judge_request request;
    const void *json = g_bytes_get_data(call->reply.judge, &len);
    arena_init(&arena, 0);
    suspend(call, STEP_WAITING);
    enum err_code code = http_judge_read(&call->api->config, &call->request, json, len, &arena, &request, &call->err);
    if (!code) g_strlcpy(call->id, request.message->id, sizeof call->id);
    if (!code && call->route->finish) request.only_caller = true; /* the reply of such a row does not contain the id */
    if (!code)
        code =
            http_judge_send(&call->api->config, &call->request, &request, &call->span, on_done, NULL, call, &call->err);
    arena_free(&arena);
    if (!code) return;
    call->step = STEP_JUDGED;
    go_on(call);
}

/* Fills the reply after the verdict arrived, or after a failure. */
static void finish(struct call *call)
{
    const struct outcome *outcome = call->outcome.body ? &call->outcome : NULL;
    char *state = call->reply.state;
    bool sent = !call->err.code;
    if (sent) call->err.code = http_judge_end(call->end);
    http_judge_end_span(&call->api->config, outcome, call->err.code, &call->span);
    call->reply.state = NULL;
    reply_clear(&call->reply);
    if (call->route->finish)
        call->route->finish(call->route->ctx, state, outcome, &call->err, &call->reply);
    else if (sent)
        http_judge_reply(call->id, outcome, &call->err, &call->reply);
    else
        http_reply_error(&call->reply, &call->err);
    g_free(state);
}

static void work_slowly(void *data, void *ctx)
{
    struct call *call = data;
    struct http_api *api = ctx;
    call->route->answer(call->route->ctx, &call->request, &call->reply);
    atomic_fetch_sub(&api->n_slow, 1);
    go_on(call);
}

static void begin_work(struct call *call)
{
    struct http_api *api = call->api;
    g_byte_array_append(call->body, (const guint8 *)"", 1);
    call->request.body = (const char *)call->body->data;
    call->request.body_len = call->body->len - 1;
    if (call->err.code) {
        http_reply_error(&call->reply, &call->err);
    } else if (call->route->work == HTTP_QUICK) {
        call->route->answer(call->route->ctx, &call->request, &call->reply);
    } else if (atomic_fetch_add(&api->n_slow, 1) >= MAX_SLOW) {
        atomic_fetch_sub(&api->n_slow, 1);
        http_reply_error(&call->reply, &(struct err){.code = ERR_FULL});
    } else {
        suspend(call, STEP_WORKING);
        g_thread_pool_push(api->slow, call, NULL);
    }
}

/* Continues a call whose body is complete or whose connection was resumed. It ends with an answer or a new wait. */
static enum MHD_Result advance(struct call *call)
{
    if (call->step == STEP_BODY) {
        begin_work(call);
        if (call->step == STEP_WORKING) return MHD_YES;
    } else if (call->step == STEP_JUDGED) {
        finish(call);
    }
    if (!call->reply.status && call->reply.judge) {
        send_judge(call);
        return MHD_YES;
    }
    if (!call->reply.status) http_reply_error(&call->reply, &(struct err){.code = ERR_INTERNAL});
    return send_reply(call->connection, call, &call->reply);
}

/* --- from the head to the body --- */

/* Returns the part of the path that matches the braces of the row, or follows its final '/'; sets *len to its bytes.
 * Returns NULL if the path does not match. */
static const char *rest_of(const struct http_route *route, const char *path, size_t *len)
{
    const char *own = route->path;
    size_t head = strcspn(own, "{"), own_len = strlen(own), path_len = strlen(path);
    bool open = head == own_len && own_len > 1 && own[own_len - 1] == '/';
    const char *tail = open || head == own_len ? "" : strchr(own, '}') + 1;
    *len = 0;
    if (!open && head == own_len) return strcmp(path, own) == 0 ? path + path_len : NULL;
    if (path_len <= head + strlen(tail) || strncmp(path, own, head) != 0 || !g_str_has_suffix(path, tail)) return NULL;
    *len = path_len - head - strlen(tail);
    return path + head;
}

/* Returns the number of literal characters in the row's path. */
static size_t weight(const struct http_route *route)
{
    size_t head = strcspn(route->path, "{");
    return route->path[head] ? head + strlen(strchr(route->path, '}') + 1) : head;
}

/* Returns the row of the method and path. Returns NULL if no row matches; `allowed` then lists the path's methods in
 * the order of the rows. */
static const struct http_route *find_route(const struct http_api *api, const char *method, const char *path,
                                           GString *allowed)
{
    size_t len, most = 0;
    const struct http_route *found = NULL;
    for (guint i = 0; i < api->routes->len; i++) {
        const struct http_route *route = &g_array_index(api->routes, struct http_route, i);
        size_t own = weight(route);
        if (own < most || !rest_of(route, path, &len)) continue;
        if (own > most) {
            found = NULL;
            g_string_truncate(allowed, 0);
        }
        most = own;
        if (strcmp(route->method, method) == 0) found = route;
        g_string_append_printf(allowed, "%s%s", allowed->len ? ", " : "", route->method);
    }
    return found;
}

static enum MHD_Result send_no_route(struct MHD_Connection *connection, const char *allowed)
{
    if (!*allowed) return send_problem(connection, MHD_HTTP_NOT_FOUND, "not found", "unknown_path", NULL);
    struct http_reply reply = {0};
    http_reply_problem(&reply, MHD_HTTP_METHOD_NOT_ALLOWED, "method not allowed", "refused", allowed);
    struct MHD_Response *response = response_of(reply.body);
    if (response) MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, allowed);
    reply.body = NULL;
    return queue(connection, &reply, response);
}

static enum MHD_Result send_other_type(struct MHD_Connection *connection, const struct http_route *route)
{
    char detail[96];
    g_snprintf(detail, sizeof detail, "send the body with Content-Type: %s", http_route_type(route));
    return send_problem(connection, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE, "unsupported media type", "malformed", detail);
}

/* Makes a call. Takes the reference to the tenant. */
static struct call *call_new(struct http_api *api, struct MHD_Connection *connection, const struct http_route *route,
                             const char *path, const struct tenant *tenant)
{
    struct call *call = g_new0(struct call, 1);
    size_t len;
    const char *rest = rest_of(route, path, &len);
    call->api = api;
    call->connection = connection;
    call->route = route;
    call->path = g_strdup(path);
    call->rest = g_strndup(rest, len);
    call->body = g_byte_array_new();
    call->request = (struct http_request){
        .tenant = tenant, .method = route->method, .path = call->path, .rest = call->rest, .connection = connection};
    atomic_fetch_add(&api->n_calls, 1);
    return call;
}

static enum MHD_Result send_unauthorized(struct MHD_Connection *connection)
{
    static const char *const headers[] = {MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer", NULL};
    struct http_reply reply = {0};
    http_reply_problem(&reply, MHD_HTTP_UNAUTHORIZED, "unauthorized", "unauthorized",
                       "the header Authorization: Bearer TOKEN is missing, or the token is unknown");
    reply.headers = headers;
    return send_reply(connection, NULL, &reply);
}

/* Checks the token and makes a call, or answers 401. */
static enum MHD_Result accept_call(struct http_api *api, struct MHD_Connection *connection,
                                   const struct http_route *route, const char *path, const char *authorization,
                                   void **request)
{
    bool open = !api->config.tokens || route->scope == HTTP_SCOPE_NONE;
    const struct tenant *tenant = open ? NULL : tokens_check(api->config.tokens, authorization);
    if (!open && !tenant) return send_unauthorized(connection);
    *request = call_new(api, connection, route, path, tenant);
    return MHD_YES;
}

/* Handles the head of a request: answers at once, or makes a call whose body is read next. */
static enum MHD_Result begin(struct http_api *api, struct MHD_Connection *connection, const char *path,
                             const char *method, void **request)
{
    struct http_gate_fields fields;
    GString *allowed = g_string_new(NULL);
    const struct http_route *route = find_route(api, method, path, allowed);
    bool posts = strcmp(method, MHD_HTTP_METHOD_POST) == 0;
    enum MHD_Result result;
    http_gate_read(connection, &fields);
    const struct http_gate_refusal *refusal = http_gate_check(&api->gate, &fields, route && route->may_link);
    if (refusal)
        result = send_problem(connection, refusal->status, refusal->title, refusal->code, refusal->detail);
    else if (!route)
        result = send_no_route(connection, allowed->str);
    else if (posts && !http_gate_has_type(&fields, http_route_type(route)))
        result = send_other_type(connection, route);
    else if (atomic_load(&api->quiesced) && posts)
        result = send_problem(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "shutting down", "closed",
                              "send the request to another replica");
    else
        result = accept_call(api, connection, route, path, fields.values[HTTP_FIELD_AUTHORIZATION], request);
    g_string_free(allowed, TRUE);
    return result;
}

/* Appends a part of the body. The answer must wait until the body ends. */
static enum MHD_Result take(struct call *call, const char *bytes, size_t *len)
{
    size_t most = call->route->max_bytes ? call->route->max_bytes : call->api->config.max_bytes;
    if (call->body->len + *len > most && !call->err.code)
        err_set(&call->err, ERR_LIMIT_BYTES, "the request is larger than %zu bytes", most);
    if (!call->err.code) g_byte_array_append(call->body, (const guint8 *)bytes, (guint)*len);
    *len = 0;
    return MHD_YES;
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection, const char *path, const char *method,
                                  const char *version, const char *bytes, size_t *len, void **request)
{
    struct call *call = *request;
    (void)version;
    if (!call) return begin(ctx, connection, path, method, request);
    return *len ? take(call, bytes, len) : advance(call); /* the library calls this again after a resume */
}

static void on_completed(void *ctx, struct MHD_Connection *connection, void **request,
                         enum MHD_RequestTerminationCode code)
{
    struct call *call = *request;
    struct http_api *api = ctx;
    (void)connection, (void)code;
    if (!call) return;
    reply_clear(&call->reply);
    if (call->outcome.body) g_bytes_unref(call->outcome.body);
    g_byte_array_unref(call->body);
    tenant_unref(call->request.tenant);
    g_free(call->path);
    g_free(call->rest);
    g_free(call);
    *request = NULL;
    atomic_fetch_sub(&api->n_calls, 1);
}

/* Frees the slot of a client that disconnected. The verdict still arrives and can be read by id. */
static void on_gone(void *ctx, void *who)
{
    struct call *call = who;
    if (call->reply.stream)
        http_stream_gone(call->reply.stream);
    else
        pending_leave(((struct http_api *)ctx)->config.pending, who);
}

/* --- open, close --- */

static enum err_code listen_on(struct http_api *api, struct err *err)
{
    const struct http_server_config server = {
        .name = "http",
        .listen = api->config.listen,
        .tls = api->config.tls,
        .max_connections = api->config.max_connections,
        .per_address = api->config.per_address,
        .head_bytes = HEAD_BYTES,
        .inspects_chunks = true,
        .limit_ms = {[HTTP_STAGE_HEAD] = HEAD_MS, [HTTP_STAGE_BODY] = BODY_MS, [HTTP_STAGE_ANSWER] = ANSWER_MS},
        .on_request = on_request,
        .on_completed = on_completed,
        .on_gone = on_gone,
        .ctx = api};
    return http_server_open(&server, &api->server, err);
}

static void api_free(struct http_api *api)
{
    if (api->slow) g_thread_pool_free(api->slow, FALSE, TRUE);
    batches_free(api->batches);
    openapi_free(api->openapi);
    g_array_free(api->routes, TRUE);
    g_free(api);
}

enum err_code http_api_open(const struct http_api_config *config, struct http_api **out, struct err *err)
{
    *out = NULL;
    struct http_api *api = g_new0(struct http_api, 1);
    api->config = *config;
    api->gate = (struct http_gate){.local = config->local || config->n_hosts,
                                   .hosts = config->hosts,
                                   .n_hosts = config->n_hosts,
                                   .schemes = config->tls     ? HTTP_GATE_HTTPS
                                              : config->local ? HTTP_GATE_HTTP
                                                              : HTTP_GATE_EITHER};
    api->routes = g_array_new(FALSE, FALSE, sizeof(struct http_route));
    api->slow = g_thread_pool_new(work_slowly, api, SLOW_THREADS, FALSE, NULL);
    api->batches = batches_new(&api->config);
    http_judge_routes(&api->config, api->routes);
    batches_routes(api->batches, api->routes);
    if (config->n_routes) g_array_append_vals(api->routes, config->routes, config->n_routes);
    api->openapi = openapi_new(api->routes, config->tokens != NULL);
    openapi_routes(api->openapi, api->routes);
    enum err_code code = listen_on(api, err);
    if (code)
        api_free(api);
    else
        *out = api;
    return code;
}

uint16_t http_api_port(const struct http_api *api)
{
    return http_server_port(api->server);
}

void http_api_tick(struct http_api *api)
{
    batches_tick(api->batches);
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
    int64_t until = clock_now_ns() + LAST_WORDS_MS * INT64_C(1000000); /* time for the last answers to be sent */
    batches_close(api->batches);
    while (atomic_load(&api->n_calls) && clock_now_ns() < until) g_usleep(1000);
    /* this resumes the pool's calls; no connection may be suspended afterwards */
    g_thread_pool_free(api->slow, FALSE, TRUE);
    api->slow = NULL;
    http_server_close(api->server);
    api_free(api);
}
