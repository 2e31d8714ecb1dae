/* Sends spans to a collector. One thread takes batches from the tracer, encodes them and posts them.
 *
 * A post that failed temporarily is repeated with growing delays, unless otlp_close is waiting and the delay would end
 * after its deadline. The lock protects the counters and the shutdown. The batch belongs to the thread. otlp_close sets
 * a deadline, wakes the thread, and waits for it until then. After that it interrupts the post in progress, and the
 * remaining spans count as refused.
 */
#include "server/otlp.h"

#include "lib/base/backoff.h"
#include "lib/base/clock.h"
#include "lib/base/input.h"
#include "lib/base/log.h"
#include "lib/llm/http.h"

#include <inttypes.h>
#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BATCH = 512, MAX_HEADERS = 16, MAX_REPLY = 64 << 10, MAX_RETRY_MS = 30000 };

struct otlp {
    struct otlp_config config; /* its only valid texts are `service` and `version`, which are copies */
    char *service, *version;
    struct tracer *tracer;
    struct http *http;
    pthread_t thread;
    bool started;
    pthread_mutex_t lock; /* protects all fields below */
    pthread_cond_t changed;
    bool stopping, ended;
    int64_t drain_until_ns; /* deadline of the shutdown; set when the shutdown begins */
    uint64_t sent, refused;
    struct trace_span batch[BATCH]; /* used by the thread only */
};

/* --- JSON --- */

/* Returns a 64-bit number as text, as OTLP's JSON requires. */
static json_t *int64_text(int64_t number)
{
    return json_sprintf("%" PRId64, number);
}

/* Returns {"key": name, "value": {kind: value}}; takes over `value`. */
static json_t *attribute(const char *name, const char *kind, json_t *value)
{
    return json_pack("{s:s, s:{s:o}}", "key", name, "value", kind, value);
}

/* Adds a text, unless it is not valid UTF-8. */
static void add_text(json_t *attributes, const char *name, const char *text)
{
    json_t *value = json_string(text);
    if (value) json_array_append_new(attributes, attribute(name, "stringValue", value));
}

static json_t *attributes_of(const struct trace_span *span)
{
    json_t *out = json_array();
    for (uint32_t i = 0; i < span->n_attributes; i++) {
        const struct trace_attribute *one = &span->attributes[i];
        if (*one->text)
            add_text(out, one->name, one->text);
        else
            json_array_append_new(out, attribute(one->name, "intValue", int64_text(one->number)));
    }
    return out;
}

static json_t *span_json(const struct trace_span *span)
{
    enum { UNSET = 0, ERROR = 2 };
    const struct trace_context *at = &span->context;
    json_t *out = json_pack("{s:o, s:o, s:s, s:i, s:o, s:o, s:o, s:{s:i}}",                                      //
                            "traceId", json_sprintf("%016" PRIx64 "%016" PRIx64, at->trace[0], at->trace[1]),    //
                            "spanId", json_sprintf("%016" PRIx64, at->span), "name", span->name, "kind",         //
                            (int)span->kind, "startTimeUnixNano", int64_text(span->start_ns), "endTimeUnixNano", //
                            int64_text(span->end_ns), "attributes", attributes_of(span), "status", "code",       //
                            span->failed ? ERROR : UNSET);
    if (span->parent) json_object_set_new(out, "parentSpanId", json_sprintf("%016" PRIx64, span->parent));
    return out;
}

static json_t *resource_json(const char *service, const char *version)
{
    char host[256] = "";
    json_t *attributes = json_array();
    gethostname(host, sizeof host - 1);
    add_text(attributes, "service.name", service);
    add_text(attributes, "service.version", version);
    add_text(attributes, "host.name", host);
    json_array_append_new(attributes, attribute("process.pid", "intValue", int64_text(getpid())));
    return json_pack("{s:o}", "attributes", attributes);
}

char *otlp_encode(const struct trace_span *spans, uint32_t n, const char *service, const char *version)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < n; i++) json_array_append_new(list, span_json(&spans[i]));
    json_t *all =
        json_pack("{s:[{s:o, s:[{s:{s:s, s:s}, s:o}]}]}", "resourceSpans", "resource", resource_json(service, version),
                  "scopeSpans", "scope", "name", "assay", "version", version, "spans", list);
    char *text = all ? json_dumps(all, JSON_COMPACT) : NULL;
    json_decref(all);
    return text;
}

/* --- one post --- */

/* Returns the number of rejected spans in an accepted batch. */
static uint64_t rejected_spans(const struct http_reply *reply, uint64_t most)
{
    json_t *said = json_loadb(reply->body, reply->len, 0, NULL);
    const json_t *n = json_object_get(json_object_get(said, "partialSuccess"), "rejectedSpans");
    uint64_t rejected = json_is_string(n) ? strtoull(json_string_value(n), NULL, 10) : 0;
    if (json_is_integer(n) && json_integer_value(n) > 0) rejected = (uint64_t)json_integer_value(n);
    json_decref(said);
    return rejected < most ? rejected : most;
}

static bool may_come_again(const struct http_reply *reply)
{
    static const int statuses[] = {429, 502, 503, 504};
    if (reply->end != HTTP_ANSWERED) return reply->end == HTTP_UNREACHED || reply->end == HTTP_LATE;
    for (unsigned i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (reply->status == statuses[i]) return true;
    return false;
}

static void say_refused(const struct http_reply *reply, uint32_t n)
{
    const struct log_field fields[] = {log_field_number("spans", n), log_field_number("status", reply->status),
                                       log_field_text("why", reply->why)};
    log_event(LOG_LEVEL_WARN, "otlp", fields, 3, "trace collector rejected spans");
}

/* Posts a batch once. Returns true if it is finished. Returns false if it may be posted again after *wait_ns. */
static bool post(struct otlp *otlp, const char *body, uint32_t n, uint32_t attempt, int64_t *wait_ns)
{
    const struct backoff backoff = {otlp->config.retry_ms * 1000000, MAX_RETRY_MS * INT64_C(1000000), 0.5, 1.5};
    struct http_reply reply;
    http_exchange(otlp->http, "/v1/traces", body, clock_now_ns() + otlp->config.timeout_ms * 1000000, &reply);
    bool taken = reply.end == HTTP_ANSWERED && reply.status / 100 == 2;
    bool again = !taken && may_come_again(&reply);
    *wait_ns = reply.retry_after_ns >= 0 ? reply.retry_after_ns : backoff_wait_ns(&backoff, attempt, NULL);
    if (again && attempt + 1 < OTLP_ATTEMPTS && *wait_ns <= MAX_RETRY_MS * INT64_C(1000000)) {
        http_reply_clear(&reply);
        return false;
    }
    uint64_t rejected = taken ? rejected_spans(&reply, n) : n;
    if (!taken) say_refused(&reply, n);
    http_reply_clear(&reply);
    pthread_mutex_lock(&otlp->lock);
    otlp->sent += n - rejected;
    otlp->refused += rejected;
    pthread_mutex_unlock(&otlp->lock);
    return true;
}

/* Waits before a batch is posted again. Returns false if the sender is stopping and the wait would end after the
 * deadline. */
static bool wait_for(struct otlp *otlp, int64_t ns)
{
    struct timespec until = clock_after_ns(ns);
    bool late = false;
    pthread_mutex_lock(&otlp->lock);
    while (!late && !otlp->stopping) late = pthread_cond_timedwait(&otlp->changed, &otlp->lock, &until) != 0;
    bool more = !otlp->stopping || clock_now_ns() + ns < otlp->drain_until_ns;
    pthread_mutex_unlock(&otlp->lock);
    return more;
}

static void send_batch(struct otlp *otlp, uint32_t n)
{
    char *body = otlp_encode(otlp->batch, n, otlp->service, otlp->version);
    int64_t wait_ns;
    bool over = false;
    for (uint32_t attempt = 0; body && !over && attempt < OTLP_ATTEMPTS; attempt++) {
        over = post(otlp, body, n, attempt, &wait_ns);
        if (!over && !wait_for(otlp, wait_ns)) break;
    }
    free(body);
    if (over) return;
    pthread_mutex_lock(&otlp->lock);
    otlp->refused += n;
    pthread_mutex_unlock(&otlp->lock);
}

/* --- the thread --- */

static bool is_stopping(struct otlp *otlp, bool *out_of_time)
{
    pthread_mutex_lock(&otlp->lock);
    bool stopping = otlp->stopping;
    *out_of_time = stopping && clock_now_ns() >= otlp->drain_until_ns;
    pthread_mutex_unlock(&otlp->lock);
    return stopping;
}

static void give_up(struct otlp *otlp)
{
    for (uint32_t n; (n = tracer_take(otlp->tracer, otlp->batch, BATCH, 0));) {
        pthread_mutex_lock(&otlp->lock);
        otlp->refused += n;
        pthread_mutex_unlock(&otlp->lock);
    }
}

static void *run(void *arg)
{
    struct otlp *otlp = arg;
    bool stopping = false, out_of_time = false;
    pthread_setname_np(pthread_self(), "otlp");
    for (uint32_t n = 1; !out_of_time && (n || !stopping);) {
        stopping = is_stopping(otlp, &out_of_time);
        n = tracer_take(otlp->tracer, otlp->batch, BATCH, otlp->config.batch_ms);
        if (n) send_batch(otlp, n);
    }
    give_up(otlp);
    pthread_mutex_lock(&otlp->lock);
    otlp->ended = true;
    pthread_cond_broadcast(&otlp->changed);
    pthread_mutex_unlock(&otlp->lock);
    return NULL;
}

/* --- open, close --- */

/* Returns true if the line is a header: a name, a colon, and text without control characters. */
static bool is_header(const char *line)
{
    const char *colon = strchr(line, ':');
    if (!colon || colon == line) return false;
    for (const char *at = line; *at; at++) {
        bool name = at < colon;
        if ((unsigned char)*at < ' ' || (unsigned char)*at == 0x7f || (name && (*at == ' ' || *at == '"')))
            return false;
    }
    return true;
}

/* Splits the text of the file into lines, in place. */
static enum err_code read_headers(const char *path, char *text, const char *lines[MAX_HEADERS], uint32_t *n,
                                  struct err *err)
{
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        size_t len = strcspn(line, "\r");
        line[len] = '\0';
        if (!*line) continue;
        if (*n == MAX_HEADERS) return err_set(err, ERR_CONFIG, "%s: more than %d headers", path, MAX_HEADERS);
        if (!is_header(line))
            return err_set(err, ERR_CONFIG, "%s: a line is not a header of the form Name: value", path);
        lines[(*n)++] = line;
    }
    return ERR_OK;
}

static enum err_code open_http(const struct otlp_config *config, struct http **out, struct err *err)
{
    const char *lines[MAX_HEADERS];
    struct input file = {0};
    struct http_settings settings = {
        .headers = lines, .ca_file = config->ca_file, .proxy = config->proxy, .max_bytes = MAX_REPLY};
    enum err_code code = config->headers_file ? input_read(config->headers_file, &file, err) : ERR_OK;
    if (code) {
        const struct err why = *err;
        err_set(err, code, "%s %s", config->headers_file, why.text);
    }
    if (!code && file.text) code = read_headers(config->headers_file, file.text, lines, &settings.n_headers, err);
    size_t len = strlen(config->endpoint);
    while (len && config->endpoint[len - 1] == '/') len--;
    char *endpoint = strndup(config->endpoint, len);
    settings.endpoint = endpoint;
    if (!code) code = endpoint ? http_open(&settings, out, err) : err_set(err, ERR_NOMEM, "no memory for traces");
    free(endpoint);
    if (file.text) explicit_bzero(file.text, file.len);
    input_free(&file);
    return code;
}

static void set_defaults(struct otlp_config *config)
{
    if (!config->batch_ms) config->batch_ms = 1000;
    if (!config->timeout_ms) config->timeout_ms = 10000;
    if (!config->retry_ms) config->retry_ms = 500;
    if (!config->drain_ms) config->drain_ms = 2000;
}

enum err_code otlp_open(const struct otlp_config *config, struct otlp **out, struct err *err)
{
    *out = NULL;
    struct err why = {0};
    struct otlp *otlp = calloc(1, sizeof *otlp);
    if (!otlp) return err_set(err, ERR_NOMEM, "no memory for traces");
    otlp->config = *config;
    set_defaults(&otlp->config);
    otlp->service = strdup(config->service);
    otlp->version = strdup(config->version);
    pthread_mutex_init(&otlp->lock, NULL);
    clock_cond_init(&otlp->changed);
    enum err_code code = tracer_new(&config->tracer, &otlp->tracer, &why);
    if (!code) code = open_http(config, &otlp->http, &why);
    if (!code && pthread_create(&otlp->thread, NULL, run, otlp))
        code = err_set(&why, ERR_NOMEM, "cannot create a thread");
    if (code) {
        otlp_close(otlp);
        return err_set(err, code, "traces: %s", why.text);
    }
    otlp->started = true;
    *out = otlp;
    return ERR_OK;
}

static void stop(struct otlp *otlp)
{
    struct timespec until = clock_after_ms(otlp->config.drain_ms);
    bool late = false;
    pthread_mutex_lock(&otlp->lock);
    otlp->stopping = true;
    otlp->drain_until_ns = clock_now_ns() + otlp->config.drain_ms * 1000000;
    pthread_cond_broadcast(&otlp->changed);
    tracer_wake(otlp->tracer);
    while (!otlp->ended && !late) late = pthread_cond_timedwait(&otlp->changed, &otlp->lock, &until) != 0;
    pthread_mutex_unlock(&otlp->lock);
    http_stop(otlp->http);
    pthread_join(otlp->thread, NULL);
}

void otlp_close(struct otlp *otlp)
{
    if (!otlp) return;
    if (otlp->started) stop(otlp);
    http_close(otlp->http);
    tracer_free(otlp->tracer);
    pthread_cond_destroy(&otlp->changed);
    pthread_mutex_destroy(&otlp->lock);
    free(otlp->service);
    free(otlp->version);
    free(otlp);
}

struct tracer *otlp_tracer(struct otlp *otlp)
{
    return otlp ? otlp->tracer : NULL;
}

void otlp_get_stats(struct otlp *otlp, struct otlp_stats *out)
{
    pthread_mutex_lock(&otlp->lock);
    *out = (struct otlp_stats){.sent = otlp->sent, .refused = otlp->refused};
    pthread_mutex_unlock(&otlp->lock);
    out->dropped = tracer_dropped(otlp->tracer);
}
