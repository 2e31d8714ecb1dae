/* assay serve: the fleet's HTTP callers, as a process. Any number of replicas, none of which has a state to lose. */
#include "cli/settings/fleet_settings.h"
#include "cli/settings/predictor_settings.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "linking/result.h"
#include "proto/bus/letter.h"
#include "proto/bus/range.h"
#include "proto/message/edge.h"
#include "server/http_api.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { TURN_MS = 50, COMING_AND_GOING = 256 /* connections beside those that wait */ };

struct serve {
    const struct settings *settings;
    struct bus *bus;
    struct pending *pending;
    struct http_api *api;
    struct range *verdicts, *letters;
    struct predictor *predictor; /* of a schema linker; NULL: traces are not judged here */
    struct predictor_options predictor_options;
    atomic_llong until_ns; /* 0: for ever; else nobody new is let in, and then even those who wait are sent away */
    atomic_llong heartbeat_ns;
};

/* --- outcomes --- */

static bool read_number(const struct bus_message *message, const char *name, gint64 most, gint64 *out)
{
    const char *text = bus_header_get(message, name);
    return text && g_ascii_string_to_signed(text, 10, 0, most, out, NULL);
}

/* Whose outcome a message is. False: of no request of this fleet. */
static bool read_position(const struct serve *serve, const struct bus_message *message, struct msg_key *out)
{
    const char *group = bus_header_get(message, BUS_OF_GROUP);
    gint64 partition, offset;
    if (group && strcmp(group, serve->settings->serve.group) != 0) return false;
    if (!read_number(message, BUS_OF_PARTITION, INT32_MAX, &partition)) return false;
    if (!read_number(message, BUS_OF_OFFSET, INT64_MAX, &offset)) return false;
    *out = (struct msg_key){(int32_t)partition, offset};
    return true;
}

/* Our callers' verdicts come as JSON, since their requests were sent as JSON; a verdict in msgpack is for another
 * sender. */
static void take_verdict(struct serve *serve, const struct bus_message *message)
{
    struct outcome outcome = {0};
    enum edge_type type;
    if (!read_position(serve, message, &outcome.position)) return;
    if (edge_type_of(message, &type, NULL) || type != EDGE_TYPE_JSON) return;
    if (message->key && message->key_len < sizeof outcome.id) memcpy(outcome.id, message->key, message->key_len);
    outcome.body = g_bytes_new(message->value, message->len);
    pending_outcome(serve->pending, &outcome);
    g_bytes_unref(outcome.body);
}

static void take_letter(struct serve *serve, const struct bus_message *message)
{
    struct outcome outcome = {.letter = true};
    struct letter_origin origin;
    if (!read_position(serve, message, &outcome.position) || letter_read(message, &origin, NULL)) return;
    outcome.body =
        http_api_problem(422, "the request is a dead letter", origin.code ? origin.code : "rejected", origin.text);
    pending_outcome(serve->pending, &outcome);
    g_bytes_unref(outcome.body);
}

/* All that is there now; waits up to timeout_ms for the first. */
static enum err_code listen_to(struct serve *serve, struct range *range, int64_t timeout_ms,
                               void (*take)(struct serve *serve, const struct bus_message *message), struct err *err)
{
    const struct bus_message *message;
    enum err_code code;
    for (unsigned n = 0; n < 1000; n++) {
        code = range_poll(range, n ? 0 : timeout_ms, &message, err);
        if (code) return code == ERR_FULL ? ERR_OK : code;
        take(serve, message);
    }
    return ERR_OK;
}

/* --- the part --- */

/* Asked to stop, and either nobody waits or the time for that is up. */
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
        code = listen_to(serve, serve->verdicts, TURN_MS, take_verdict, err);
        if (!code) code = listen_to(serve, serve->letters, 0, take_letter, err);
        pending_expire(serve->pending, clock_now_ns());
        if (!code) code = bus_health(serve->bus, err);
    }
    return code;
}

static void stop(void *ctx)
{
    struct serve *serve = ctx;
    int64_t patience_ms = serve->settings->serve.drain_ms * 3 / 4; /* the rest is for saying so */
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
}

/* --- traces --- */

static enum err_code judge_trace(void *ctx, const void *bytes, size_t len, char **json, struct err *err)
{
    const struct serve *serve = ctx;
    json_t *result = NULL;
    enum err_code code =
        linking_result_of_message(serve->predictor, &serve->predictor_options, bytes, len, "trace", &result, err);
    /* What does not fit these predictors is the sender's, not a fault of this process. */
    if (code && err_class(code) == ERR_CLASS_FATAL && code != ERR_NOMEM) err->code = code = ERR_REFUSED;
    *json = code ? NULL : json_dumps(result, JSON_COMPACT | JSON_REAL_PRECISION(6));
    json_decref(result);
    return code || *json ? code : err_set(err, ERR_NOMEM, "no memory for the answer");
}

/* --- open, close --- */

/* Reads without end, beginning some time in the past: a caller whose replica died asks another one, which may have
 * started since. */
static enum err_code open_range(const struct serve *serve, const char *topic, struct range **out, struct err *err)
{
    int64_t since_ms = bus_now_ns(serve->bus) / 1000000 - serve->settings->serve.look_back_ms;
    const struct range_config config = {
        .topic = topic, .group = serve->settings->serve.group, .from = {RANGE_TIME, since_ms}, .to = {RANGE_NEVER, 0}};
    return range_open(serve->bus, &config, out, err);
}

/* INVARIANT fixed: the place from which verdicts are read is fixed before the first request can go out. */
static enum err_code open_serve(struct cli *cli, struct serve *serve, struct err *err)
{
    const struct settings *s = &cli->settings;
    serve->settings = s;
    if (!s->serve.http) return err_set(err, ERR_USAGE, "where to listen is not said: --http HOST:PORT");
    enum err_code code = fleet_settings_open_bus(cli, &serve->bus, err);
    serve->predictor_options = predictor_settings(cli);
    if (!code && s->link.predictor) code = predictor_settings_load(cli, &serve->predictor, err);
    if (!code) code = range_topic_exists(serve->bus, s->serve.requests, err);
    if (!code) code = bus_know_topics(serve->bus, &s->serve.requests, 1, err);
    if (!code) code = open_range(serve, s->serve.verdicts, &serve->verdicts, err);
    if (!code) code = open_range(serve, s->serve.letters, &serve->letters, err);
    if (code) return code;
    serve->pending = pending_new((uint32_t)s->serve.max_waiting, (size_t)s->serve.keep_mb << 20);
    const struct http_api_config api = {.listen = s->serve.http,
                                        .bus = serve->bus,
                                        .pending = serve->pending,
                                        .requests = s->serve.requests,
                                        .max_bytes = (size_t)s->serve.max_kb << 10,
                                        .wait_ms = s->serve.wait_ms,
                                        .max_wait_ms = s->serve.max_wait_ms,
                                        .max_connections = (uint32_t)s->serve.max_waiting + COMING_AND_GOING,
                                        .per_address = (uint32_t)s->serve.per_address,
                                        .link = serve->predictor ? judge_trace : NULL,
                                        .link_ctx = serve};
    return http_api_open(&api, &serve->api, err);
}

static void close_serve(struct serve *serve)
{
    if (serve->pending) pending_close(serve->pending);
    http_api_close(serve->api);
    range_close(serve->verdicts);
    range_close(serve->letters);
    if (serve->bus) bus_close(serve->bus);
    pending_free(serve->pending);
    predictor_free(serve->predictor);
}

static void log_port(const struct serve *serve)
{
    const struct log_field fields[] = {log_field_text("http", serve->settings->serve.http),
                                       log_field_number("port", http_api_port(serve->api))};
    log_event(LOG_LEVEL_INFO, "serve", fields, 2, "requests are taken");
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
    struct health_config health_of = {
        .name = "serve", .parts = &part, .n_parts = 1, .bus = serve.bus, .ctx = &serve, .collect = collect};
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
    .sentence = "take requests over HTTP for a fleet, and answer with their verdicts",
    .args = "--servers HOST:PORT --http HOST:PORT",
    .description =
        "POST /v1/judge takes a request as a log line has it, sends it to the fleet through Kafka and answers with its "
        "verdict once that is committed: 200. When it takes longer than the caller waits (?wait_ms=N) the answer is "
        "202 with the request's id, and GET /v1/verdicts/ID gives the verdict of an id as long as it is kept. Errors "
        "are application/problem+json. With --predictor, POST /v1/linkings takes a trace of a schema linker and "
        "answers at "
        "once with where it is not to be believed. A request that is sent again with its id and the same bytes is "
        "judged once.\n\n"
        "Run as many as the callers need, behind a load balancer that ends TLS and knows who may ask: there is no "
        "state to lose, and each replica sees all verdicts. SIGTERM takes nobody new, answers those who wait, and "
        "leaves; after --drain-ms it ends at once.",
    .examples = "assay serve --servers kafka:9092 --http :8080 --listen :9090\n"
                "curl -d @request.json 'http://assay:8080/v1/judge?wait_ms=5000'",
    .main_flags = "servers http group max-waiting max-wait-ms",
    .groups = (const struct option_group *const[]){&options_serve, &options_predictor, &options_kafka, &options_observe,
                                                   &options_general, NULL},
    .min_args = 0,
    .max_args = 0,
    .run = serve_command,
};
