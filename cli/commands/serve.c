/* assay serve: serves requests over HTTP, with a fleet or with an engine in this process. */
#include "cli/commands/serve.h"
#include "cli/commands/serve_files.h"
#include "cli/commands/serve_runs.h"

#include "cli/settings/fleet_settings.h"
#include "cli/settings/predictor_settings.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "linking/result.h"
#include "page/page.h"
#include "server/http_api.h"
#include "server/listen.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COMING_AND_GOING = 256 /* maximum number of connections in addition to those of waiters */ };

struct serve {
    const struct settings *settings;
    const struct serve_backend *backend;
    void *judge; /* argument of the backend's functions */
    struct pending *pending;
    struct verdict_store *store; /* NULL means that verdicts are stored in memory only */
    struct serve_files *files;
    struct tokens *tokens; /* tokens that `files` has read; NULL allows all callers */
    struct http_api *api;
    struct serve_runs *runs; /* NULL if no runs are served */
    GArray *routes;          /* struct http_route: routes of the page and of the backend */
    struct otlp *otlp;
    struct predictor *predictor; /* predictor of a schema linker's errors; NULL disables /v1/linkings */
    struct predictor_options predictor_options;
    /* 0 while serving. After a stop was requested, the deadline of the waiters; new callers are then refused */
    atomic_llong until_ns;
    atomic_llong heartbeat_ns;
    double started_s; /* start time, in seconds since 1970 */
};

/* Stores a verdict that has arrived. */
static void keep_verdict(void *ctx, const struct outcome *verdict)
{
    struct serve *serve = ctx;
    verdict_store_put(serve->store, tokens_name(serve->tokens, verdict->tenant), verdict->id, verdict->body);
}

/* --- running and stopping --- */

/* True if a stop was requested, and no caller waits or the deadline of the waiters has passed. */
static bool is_over(struct serve *serve)
{
    struct pending_stats stats;
    int64_t until = atomic_load(&serve->until_ns);
    if (!until) return false;
    pending_get_stats(serve->pending, &stats);
    return stats.pending == 0 || clock_now_ns() >= until;
}

static enum err_code run(void *ctx, struct err *err)
{
    struct serve *serve = ctx;
    enum err_code code = ERR_OK;
    while (!code && !is_over(serve)) {
        atomic_store(&serve->heartbeat_ns, clock_now_ns());
        code = serve->backend->turn(serve->judge, err);
        pending_expire(serve->pending, clock_now_ns());
        http_api_tick(serve->api);
    }
    return code;
}

static void stop(void *ctx)
{
    struct serve *serve = ctx;
    /* the remaining quarter is for sending the final replies */
    int64_t patience_ms = serve->settings->serve.drain_ms * 3 / 4;
    http_api_quiesce(serve->api);
    atomic_store(&serve->until_ns, clock_now_ns() + patience_ms * 1000000);
}

static int64_t heartbeat_ns(void *ctx)
{
    return atomic_load(&((struct serve *)ctx)->heartbeat_ns);
}

static void collect(void *ctx, struct metrics *metrics)
{
    const struct serve *serve = ctx;
    struct pending_stats pending;
    struct http_server_stats clients;
    pending_get_stats(serve->pending, &pending);
    http_api_get_stats(serve->api, &clients);
    fleet_metrics_serve(metrics, &pending, &clients);
    if (serve->store) {
        struct verdict_store_stats store;
        verdict_store_get_stats(serve->store, &store);
        fleet_metrics_store(metrics, &store);
    }
    if (serve->backend->collect) serve->backend->collect(serve->judge, metrics);
}

/* --- metrics for the page --- */

static char *write_metrics(struct serve *serve, struct err *err)
{
    struct metrics *metrics = NULL;
    struct bus_traffic traffic = {0};
    if (metrics_new(fleet_metrics_defs, FLEET_METRICS_COUNT, &metrics, err)) return NULL;
    fleet_metrics_start(metrics, "serve", program_commit());
    collect(serve, metrics);
    if (serve->backend->bus) bus_traffic(serve->backend->bus(serve->judge), &traffic);
    if (traffic.clients) fleet_metrics_traffic(metrics, &traffic);
    fleet_metrics_process(metrics);
    metrics_set(metrics_get(metrics, FLEET_STARTED, NULL), serve->started_s);
    char *text = metrics_write(metrics, NULL);
    metrics_free(metrics);
    if (!text) err_set(err, ERR_NOMEM, "out of memory for the metrics");
    return text;
}

/* GET /v1/metrics: replies with the metrics that --listen serves at /metrics, because the page may only request this
 * address. They cover all tenants, so only callers with access to all databases may read them. */
static void answer_metrics(void *ctx, const struct http_request *request, struct http_reply *reply)
{
    struct serve *serve = ctx;
    struct err err = {0};
    char *text = NULL;
    if (request->tenant && !request->tenant->all)
        err_set(&err, ERR_FORBIDDEN,
                "metrics cover all databases, but the token does not allow access to all databases");
    else if (!heartbeat_ns(serve)) /* before the first heartbeat the counts are incomplete */
        err_set(&err, ERR_UNREACHABLE, "the process is starting");
    else
        text = write_metrics(serve, &err);
    if (!text) {
        http_reply_error(reply, &err);
        return;
    }
    reply->status = 200;
    reply->type = "text/plain; version=0.0.4; charset=utf-8";
    reply->body = g_bytes_new_with_free_func(text, strlen(text), free, text);
}

static void add_routes(struct serve *serve)
{
    const struct http_route metrics = {.method = "GET",
                                       .path = "/v1/metrics",
                                       .scope = HTTP_SCOPE_JUDGE,
                                       .work = HTTP_SLOW,
                                       .answer = answer_metrics,
                                       .ctx = serve};
    g_array_append_val(serve->routes, metrics);
    page_routes(serve->routes);
    if (serve->runs) serve_runs_routes(serve->runs, serve->routes);
    if (serve->backend->routes) serve->backend->routes(serve->judge, serve->routes);
}

/* --- traces --- */

static enum err_code judge_trace(void *ctx, const void *bytes, size_t len, char **json, struct err *err)
{
    const struct serve *serve = ctx;
    json_t *result = NULL;
    enum err_code code =
        linking_result_of_message(serve->predictor, &serve->predictor_options, bytes, len, "trace", &result, err);
    /* if a trace does not fit the predictors, the error is the sender's and not a fault of this process */
    if (code && err_class(code) == ERR_CLASS_FATAL && code != ERR_NOMEM) err->code = code = ERR_REFUSED;
    *json = code ? NULL : json_dumps(result, JSON_COMPACT | JSON_REAL_PRECISION(6));
    json_decref(result);
    return code || *json ? code : err_set(err, ERR_NOMEM, "out of memory for the response");
}

/* --- open, close --- */

static enum err_code check_access(const struct settings *s, bool alone, struct err *err)
{
    if (s->serve.tokens && !alone)
        return err_set(
            err, ERR_USAGE,
            "--tokens is not supported with --servers, because every replica sees the verdicts of all callers" ERR_HINT
            "authenticate callers in the ingress");
    for (unsigned i = 0; i < s->serve.hosts.n; i++)
        if (!listen_is_name(s->serve.hosts.items[i]))
            return err_set(err, ERR_USAGE,
                           "--host %s is not a host" ERR_HINT "give a name or an address without a port",
                           s->serve.hosts.items[i]);
    if (!s->serve.tls_cert != !s->serve.tls_key)
        return err_set(err, ERR_USAGE, "--tls-cert and --tls-key must be set together");
    return ERR_OK;
}

/* Requires tokens and TLS if callers on other machines can connect, unless a flag states that access is restricted
 * otherwise. */
static enum err_code check_address(const struct settings *s, bool alone, struct err *err)
{
    if (!s->serve.http)
        return err_set(err, ERR_USAGE, "--http is required" ERR_HINT "set --http HOST:PORT, the address to listen on");
    if (!alone || s->serve.open || (s->serve.tokens && s->serve.tls_cert)) return ERR_OK;
    if (listen_is_here(s->serve.http)) return ERR_OK;
    return err_set(
        err, ERR_USAGE,
        "--http %s is reachable from other machines without authentication" ERR_HINT
        "listen on 127.0.0.1, set --tokens and --tls-cert, or set --open behind a proxy that authenticates callers",
        s->serve.http);
}

/* True if neither a flag nor a property of librdkafka names a broker. */
static bool is_alone(const struct settings *s)
{
    for (unsigned i = 0; i < s->kafka.properties.n; i++)
        if (g_str_has_prefix(s->kafka.properties.items[i], "bootstrap.servers=")) return false;
    return !s->kafka.servers;
}

static enum err_code open_files(struct cli *cli, struct serve *serve, struct err *err)
{
    const struct settings *s = serve->settings;
    enum err_code code = serve_files_open(cli, &serve->files, err);
    if (!code) serve->tokens = serve_files_tokens(serve->files);
    if (!code && s->serve.keep)
        code = verdict_store_open(s->serve.keep, (size_t)s->serve.keep_mb << 20, &serve->store, err);
    if (!code && serve->store) pending_on_verdict(serve->pending, keep_verdict, serve);
    return code;
}

static enum err_code open_serve(struct cli *cli, struct serve *serve, struct err *err)
{
    const struct settings *s = &cli->settings;
    bool alone = is_alone(s);
    serve->settings = s;
    serve->backend = alone ? &serve_alone : &serve_fleet;
    serve->started_s = (double)time(NULL);
    serve->routes = g_array_new(FALSE, FALSE, sizeof(struct http_route));
    serve->pending = pending_new((uint32_t)s->serve.max_waiting, (size_t)s->serve.keep_mb << 20);
    serve->predictor_options = predictor_settings(cli);
    enum err_code code = check_address(s, alone, err);
    if (!code) code = check_access(s, alone, err);
    if (!code) code = open_files(cli, serve, err);
    if (!code) code = fleet_settings_open_otlp(cli, "serve", &serve->otlp, err);
    if (!code) code = serve->backend->open(cli, otlp_tracer(serve->otlp), serve->pending, &serve->judge, err);
    if (!code && s->link.predictor) code = predictor_settings_load(cli, &serve->predictor, err);
    if (!code && s->serve.runs) code = serve_runs_open(s->serve.runs, &serve->runs, err);
    if (code) return code;
    add_routes(serve);
    const struct http_api_config api = {.listen = s->serve.http,
                                        .tls = serve_files_tls(serve->files),
                                        .pending = serve->pending,
                                        .tokens = serve->tokens,
                                        .store = serve->store,
                                        .send = serve->backend->send,
                                        .has_room = serve->backend->has_room,
                                        .send_ctx = serve->judge,
                                        .local = alone && !s->serve.open && !s->serve.tokens,
                                        .hosts = s->serve.hosts.items,
                                        .n_hosts = s->serve.hosts.n,
                                        .max_bytes = (size_t)s->serve.max_kb << 10,
                                        .wait_ms = s->serve.wait_ms,
                                        .max_wait_ms = s->serve.max_wait_ms,
                                        .max_connections = (uint32_t)s->serve.max_waiting + COMING_AND_GOING,
                                        .per_address = (uint32_t)s->serve.per_address,
                                        .link = serve->predictor ? judge_trace : NULL,
                                        .link_ctx = serve,
                                        .routes = (const struct http_route *)(void *)serve->routes->data,
                                        .n_routes = serve->routes->len,
                                        .tracer = otlp_tracer(serve->otlp)};
    code = http_api_open(&api, &serve->api, err);
    return code ? code : serve_files_watch(serve->files, err);
}

static void close_serve(struct serve *serve)
{
    if (serve->pending) pending_close(serve->pending);
    http_api_close(serve->api);
    serve_runs_close(serve->runs);
    if (serve->judge) serve->backend->close(serve->judge);
    pending_free(serve->pending);
    verdict_store_close(serve->store);
    serve_files_close(serve->files);
    otlp_close(serve->otlp);
    predictor_free(serve->predictor);
    g_array_free(serve->routes, TRUE);
}

static void log_port(const struct serve *serve)
{
    const struct log_field fields[] = {log_field_text("http", serve->settings->serve.http),
                                       log_field_number("port", http_api_port(serve->api))};
    log_event(LOG_LEVEL_INFO, "serve", fields, 2, "accepting requests");
}

static int serve_command(struct cli *cli)
{
    struct serve serve = {0};
    struct health *health = NULL;
    struct err err = {0};
    int exit_code;
    fleet_settings_start(cli);
    enum err_code code = open_serve(cli, &serve, &err);
    const struct fleet_part part = {"serve", &serve, run, stop, heartbeat_ns};
    struct health_config health_of = {.name = "serve",
                                      .parts = &part,
                                      .n_parts = 1,
                                      .bus = serve.judge && serve.backend->bus ? serve.backend->bus(serve.judge) : NULL,
                                      .otlp = serve.otlp,
                                      .ctx = &serve,
                                      .collect = collect};
    if (!code) code = fleet_settings_open_health(cli, &health_of, &health, &err);
    if (code) {
        exit_code = complain_err("serve", &err);
    } else {
        log_port(&serve);
        exit_code = fleet_run(&part, 1, program_version(), cli->settings.serve.drain_ms);
    }
    health_close(health);
    close_serve(&serve);
    return exit_code;
}

const struct command command_serve = {
    .name = "serve",
    .guide = "http.md",
    .sentence = "judge requests over HTTP",
    .args = "--http HOST:PORT --db-root DIR|--servers HOST:PORT",
    .description =
        "Serves POST /v1/judge, which takes a request (the JSON of a log line) and returns its verdict with status "
        "200. ?wait_ms=N limits the wait for the verdict. After that time the response has status 202 and the id of "
        "the request. GET /v1/verdicts/ID then returns the verdict while it is stored. Errors are "
        "application/problem+json. With --predictor, POST /v1/linkings takes a trace of a schema linker and returns at "
        "once where the linking is uncertain.\n\n"
        "With --db-root, the process judges requests without other processes. It then accepts only callers on this "
        "machine, unless --open states that access control is in front. Agents use POST /mcp, as with `assay mcp`.\n\n"
        "With --servers, requests go through Kafka to coordinators, and a verdict is returned after it is committed. A "
        "request that is retried with the same id and the same bytes is judged once. Run any number of replicas behind "
        "a load balancer that terminates TLS. Replicas hold no state, and each replica receives all verdicts.\n\n"
        "After SIGTERM, the process accepts no new callers, answers the waiting callers and exits. After --drain-ms it "
        "exits at once.",
    .examples =
        "assay serve --db-root databases --http 127.0.0.1:8080\n"
        "assay serve --servers kafka:9092 --http :8080 --listen :9090\n"
        "curl -H 'Content-Type: application/json' -d @request.json 'http://127.0.0.1:8080/v1/judge?wait_ms=5000'",
    .main_flags = "http db-root servers runs open max-waiting max-wait-ms",
    .groups = (const struct option_group *const[]){&options_serve, &options_predictor, &options_kafka, &options_observe,
                                                   &options_judge, &options_verifier, &options_repair, &options_encoder,
                                                   &options_llm, &options_consult, &options_corrector, &options_polish,
                                                   &options_signals, &options_database, &options_schema, &options_redis,
                                                   &options_general, NULL},
    .min_args = 0,
    .max_args = 0,
    .run = serve_command,
};
