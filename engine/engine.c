/* DESIGN: one process with four kinds of threads. The caller's threads submit requests and take verdicts. One thread
 * runs the coordinator. Each of `workers` threads runs a worker, which may have further threads for slow candidates.
 * They communicate only through the local transport.
 *
 * The window is the maximum number of requests that were submitted and whose verdicts were not taken. It bounds every
 * queue: each queue can hold all messages that the window can produce. No inner thread therefore waits for the caller,
 * and memory does not grow with the length of a log.
 *
 * Fair engines (engine_config.fair) pass tasks to workers round robin, one candidate at a time. No tenant, database or
 * request holds more than its share of the workers' threads (flow_limits). Each worker has threads for slow candidates
 * beside its main thread. The shares leave some of them free, so a statement of three seconds delays no other tenant.
 *
 * A request that the coordinator cannot read (its question is not UTF-8, for example) goes to the dead-letter topic, as
 * in the fleet. The engine reads that topic too and turns each dead letter into a failed verdict. Each submit thus has
 * its verdict. To make this possible, the record key of a request is its tag.
 */
#include "engine/engine.h"

#include "lib/base/clock.h"
#include "lib/base/locations.h"
#include "lib/base/log.h"
#include "lib/db/mariadb_address.h"
#include "lib/sql/dialect.h"
#include "scoring/models.h"
#include "worker/db_breakers.h"

#include <glib.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { MAX_WORKERS = 256, WINDOW_A_WORKER = 8, LEAST_QUEUE = 1024, BATCH = 32, SLICE_MS = 50, ASKING = 4 };
enum {
    OUT = 64,
    LARGE = 64 << 10
}; /* OUT: messages that one request has at a time. LARGE: bytes of text that count as one more request */
/* practically no limit, because engine_fair.max_open limits the requests */
static const uint64_t FAIR_BYTES = 8UL << 30;
static const uint64_t SCHEMA_BYTES = 96UL << 20;
enum { VERDICTS, LETTERS, N_TOPICS }; /* index of each topic in the subscription */

struct engine_worker {
    struct engine *engine;
    struct worker *worker;
    pthread_t thread;
    bool running;
};

struct engine {
    struct bus *bus;
    struct scoring_models *models;
    struct schema_cache *schemas;
    struct breakers *breakers;
    struct cache *redis;              /* second-level cache of schema indexes; may be NULL */
    struct examples *examples;        /* may be NULL */
    struct examples_encoder *encoder; /* may be NULL */
    struct llm *llm;                  /* may be NULL */
    struct vsig_options *own_signals; /* used if the caller supplied no signal options */
    struct coordinator *coordinator;
    pthread_t coordinator_thread;
    bool coordinator_running;
    struct engine_worker *workers;
    uint32_t n_workers, n_asking; /* the last n_asking workers serve the family llm */
    struct msg_options defaults;
    struct worker_databases databases;
    struct db_limits limits;
    struct engine_fair fair;

    struct bus_consumer *consumer; /* reads verdicts, on the caller's thread */
    struct bus_message *polled[BATCH];
    uint32_t n_polled, next_polled;

    pthread_mutex_t lock;
    pthread_cond_t room; /* signalled when in_flight falls or the engine stops */
    uint32_t in_flight, window;
    GHashTable *open; /* tenant → number of requests in flight, large ones counted as several; NULL if tenants are not
                       * counted */
    GHashTable *weights; /* tag → weight of the request; weights of 1 are not stored */
    bool finished, interrupted;
    struct err failure; /* first failure of any thread */
    bool shows_locations;
};

/* --- threads --- */

/* Stores the first failure, which callers receive. If its text names a location, logs the text and stores only the
 * meaning of the code. */
static void set_failure(struct engine *engine, const struct err *err)
{
    struct err shown = *err;
    if (!engine->shows_locations && err_names_locations(err->code)) {
        const struct log_field why = log_field_text("why", err->text);
        log_event(LOG_LEVEL_ERROR, "engine", &why, 1, "the engine stopped after an error");
        err_set(&shown, err->code, "%s", err_meaning(err->code));
    }
    pthread_mutex_lock(&engine->lock);
    if (engine->failure.code == ERR_OK) engine->failure = shown;
    pthread_cond_broadcast(&engine->room);
    pthread_mutex_unlock(&engine->lock);
}

locale_t engine_locale(void)
{
    return newlocale(LC_ALL_MASK, "C", (locale_t)0); /* the C library returns a static object */
}

static void *run_coordinator(void *arg)
{
    struct engine *engine = arg;
    struct err err = {0};
    uselocale(engine_locale());
    pthread_setname_np(pthread_self(), "coordinator");
    if (coordinator_run(engine->coordinator, &err)) set_failure(engine, &err);
    return NULL;
}

static void *run_worker(void *arg)
{
    struct engine_worker *own = arg;
    struct err err = {0};
    uselocale(engine_locale());
    pthread_setname_np(pthread_self(), "worker");
    enum err_code code = worker_run(own->worker, &err);
    if (code && err.code != code) err_set(&err, code, "a worker stopped: %s", err_meaning(code));
    if (code) set_failure(own->engine, &err);
    return NULL;
}

static enum err_code start_threads(struct engine *engine, struct err *err)
{
    if (pthread_create(&engine->coordinator_thread, NULL, run_coordinator, engine))
        return err_set(err, ERR_NOMEM, "cannot start the coordinator thread");
    engine->coordinator_running = true;
    for (uint32_t i = 0; i < engine->n_workers; i++) {
        struct engine_worker *own = &engine->workers[i];
        if (pthread_create(&own->thread, NULL, run_worker, own))
            return err_set(err, ERR_NOMEM, "cannot start a worker thread");
        own->running = true;
    }
    return ERR_OK;
}

/* --- open, close --- */

static uint32_t count_processors(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : (uint32_t)n;
}

/* Returns the limits of flows on a topic. n threads judge at the same time, and each of them has `slow` further threads
 * for slow candidates. A tenant, database or request holds at most n threads in all. This is enough for quick
 * candidates. If its candidates are slow, threads remain for the others. Without further threads the limit is n / 2. */
static struct bus_fair flow_limits(const char *topic, uint32_t n, uint32_t slow)
{
    uint32_t most = slow ? MAX(n, 1) : MAX(n / 2, 1);
    return (struct bus_fair){topic, {most, most, most}};
}

static enum err_code open_bus(struct engine *engine, const struct engine_config *config, struct err *err)
{
    static const char *const topics[N_TOPICS] = {[VERDICTS] = BUS_VERDICTS, [LETTERS] = BUS_DLQ};
    const struct bus_fair fair[] = {
        {BUS_REQUESTS, {0}},
        flow_limits(BUS_TASKS_ALL, engine->n_workers - engine->n_asking, config->slow_threads),
        flow_limits(BUS_TASKS_PREFIX "llm", engine->n_asking, 0)};
    struct bus_config queues = {.queue_messages = MAX(LEAST_QUEUE, engine->window)};
    if (config->fair.on) {
        queues.fair = fair;
        queues.n_fair = G_N_ELEMENTS(fair);
        queues.queue_messages = MAX(LEAST_QUEUE, engine->window * OUT);
        queues.queue_bytes = FAIR_BYTES;
    }
    enum err_code code = bus_open(config->transport ? config->transport : "local", &queues, &engine->bus, err);
    return code ? code : bus_subscribe(engine->bus, "assay-engine", topics, N_TOPICS, &engine->consumer, err);
}

static struct examples_shots shots_of(const struct engine *engine, const struct engine_config *config)
{
    struct examples_shots shots = config->shots;
    shots.encoder = engine->encoder;
    return shots;
}

/* Stops the work of a finished request in all workers. Returns true if some still run. */
static bool stop_work(void *ctx, struct msg_key request)
{
    const struct engine *engine = ctx;
    bool some = false;
    for (uint32_t i = 0; i < engine->n_workers; i++) some |= worker_stop_request(engine->workers[i].worker, request);
    return some;
}

static enum err_code make_coordinator(struct engine *engine, const struct engine_config *config, struct err *err)
{
    const struct models_files files = {config->models_dir, config->label_model, config->classifier, config->verifier,
                                       config->calibration};
    enum err_code code = models_load(&files, &engine->models, err);
    if (code) return code;
    struct coordinator_config own = {
        .bus = engine->bus,
        .models = engine->models,
        .defaults = config->defaults,
        .max_open = engine->window,
        .max_deadline_ms = config->max_deadline_ms,
        .max_work_ms = config->max_work_ms,
        /* with fair scheduling, one worker would get all tasks of a request in any case */
        .messages = config->fair.on ? COORDINATOR_BY_CANDIDATE : COORDINATOR_BY_REQUEST,
        .verifier = config->remote.backend ? &config->remote : NULL,
        .verifier_threads = config->remote_threads,
        .corrector = config->corrector.endpoint ? &config->corrector : NULL,
        .corrector_threads = config->corrector_threads,
        .corrector_per_minute = config->corrector_per_minute,
        .corrector_rounds = config->corrector_rounds,
        .shots = shots_of(engine, config),
        .llm = config->consult,
        .llm_when = config->llm_when,
        .ignore_drift = config->ignore_drift,
        .polisher = config->polisher.endpoint ? &config->polisher : NULL,
        .polisher_threads = config->polisher_threads,
        .progress = config->progress,
        .progress_ctx = config->progress_ctx,
        .tracer = config->tracer,
        .stop_work = config->fair.on ? stop_work : NULL,
        .stop_ctx = engine,
    };
    return coordinator_new(&own, &engine->coordinator, err);
}

/* Makes the following workers serve only the family llm. They wait for language models, so the other workers do not. */
static void ask_models_only(const struct engine *engine, struct worker_config *config)
{
    static const char *const llm[] = {"llm"};
    config->llm = engine->llm;
    config->families = llm;
    config->n_families = 1;
}

static enum err_code make_workers(struct engine *engine, const struct engine_config *config, struct err *err)
{
    struct schema_options schema = config->schema;
    engine->own_signals = config->signals ? NULL : vsig_options_new();
    engine->schemas = schema_cache_new(&schema, config->schema_cache_bytes ? config->schema_cache_bytes : SCHEMA_BYTES);
    engine->workers = calloc(engine->n_workers, sizeof *engine->workers);
    if (!engine->schemas || !engine->workers) return err_set(err, ERR_NOMEM, "out of memory for the workers");
    engine->breakers = breakers_new(&(struct breakers_config){.only_abandoned = true});
    struct worker_config own = {
        .bus = engine->bus,
        .databases = config->databases,
        .schemas = engine->schemas,
        .limits = config->limits,
        .signals = config->signals ? config->signals : engine->own_signals,
        .shows_locations = engine->shows_locations,
        .breakers = engine->breakers,
        .tracer = config->tracer,
        .executor = config->executor,
        .slow_threads = config->slow_threads,
    };
    enum err_code code = worker_databases_apply(&config->databases, engine->schemas, &schema, NULL, err);
    if (!code && config->redis.address) code = cache_open(&config->redis, &engine->redis, err);
    if (engine->redis) schema_cache_build_with(engine->schemas, cache_build, engine->redis);
    if (!code && config->shots.path)
        code = examples_open(config->shots.path, false, engine->encoder, &engine->examples, err);
    own.examples = engine->examples;
    if (!code && config->llm.n_endpoints) code = llm_open(&config->llm, &engine->llm, err);
    for (uint32_t i = 0; i < engine->n_workers && !code; i++) {
        engine->workers[i].engine = engine;
        if (i == engine->n_workers - engine->n_asking) ask_models_only(engine, &own);
        code = worker_new(&own, &engine->workers[i].worker, err);
    }
    return code;
}

enum err_code engine_open(const struct engine_config *config, struct engine **out, struct err *err)
{
    *out = NULL;
    if (config->workers > MAX_WORKERS) return err_set(err, ERR_CONFIG, "more than %d workers", MAX_WORKERS);
    struct engine *engine = calloc(1, sizeof *engine);
    if (!engine) return err_set(err, ERR_NOMEM, "out of memory for the engine");
    clock_cond_init(&engine->room);
    pthread_mutex_init(&engine->lock, NULL);
    engine->n_workers = config->workers ? config->workers : count_processors();
    engine->window = config->window ? config->window : WINDOW_A_WORKER * engine->n_workers;
    if (config->llm.n_endpoints) engine->n_asking = config->llm_threads ? config->llm_threads : ASKING;
    engine->n_workers += engine->n_asking;
    engine->defaults = config->defaults;
    engine->databases = config->databases;
    engine->limits = config->limits;
    engine->shows_locations = config->shows_locations;
    engine->fair = config->fair;
    if (config->fair.on && config->fair.tenant_shift) {
        engine->open = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
        engine->weights = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    }
    enum err_code code = open_bus(engine, config, err);
    if (!code && config->shots.path && config->encoder.endpoint)
        code = examples_encoder_open(&config->encoder, &engine->encoder, err);
    if (!code) code = make_coordinator(engine, config, err);
    if (!code) code = make_workers(engine, config, err);
    if (!code) code = start_threads(engine, err);
    if (code) {
        engine_close(engine);
        return code;
    }
    *out = engine;
    return ERR_OK;
}

static void stop_threads(struct engine *engine)
{
    if (engine->coordinator) coordinator_stop(engine->coordinator, true);
    if (engine->llm) llm_stop(engine->llm);
    for (uint32_t i = 0; engine->workers && i < engine->n_workers; i++)
        if (engine->workers[i].worker) worker_stop(engine->workers[i].worker);
    if (engine->coordinator_running) pthread_join(engine->coordinator_thread, NULL);
    for (uint32_t i = 0; engine->workers && i < engine->n_workers; i++)
        if (engine->workers[i].running) pthread_join(engine->workers[i].thread, NULL);
}

void engine_close(struct engine *engine)
{
    if (!engine) return;
    stop_threads(engine);
    for (uint32_t i = 0; engine->workers && i < engine->n_workers; i++) worker_free(engine->workers[i].worker);
    free(engine->workers);
    coordinator_free(engine->coordinator);
    bus_unsubscribe(engine->consumer);
    bus_close(engine->bus);
    models_free(engine->models);
    schema_cache_free(engine->schemas);
    breakers_free(engine->breakers);
    cache_close(engine->redis);
    examples_close(engine->examples, NULL);
    examples_encoder_close(engine->encoder);
    llm_close(engine->llm);
    vsig_options_free(engine->own_signals);
    if (engine->open) g_hash_table_destroy(engine->open);
    if (engine->weights) g_hash_table_destroy(engine->weights);
    pthread_cond_destroy(&engine->room);
    pthread_mutex_destroy(&engine->lock);
    free(engine);
}

/* --- submit --- */

static uint64_t tenant_of(const struct engine *engine, uint64_t tag)
{
    return engine->fair.tenant_shift ? tag >> engine->fair.tenant_shift : 0;
}

/* Returns the weight of a request: 1, plus 1 for each LARGE bytes of the text that its tasks repeat. */
static uint32_t weight_of(const struct msg_request *request)
{
    const char *const texts[] = {request->schema, request->question, request->evidence};
    size_t len = 0;
    for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++) len += texts[i] ? strlen(texts[i]) : 0;
    return 1 + (uint32_t)(len / LARGE);
}

/* Adds `change` to the tenant's requests in flight. Tenant 0 means no tenant and is not counted. Must be called under
 * the lock, like the following functions. */
static void count_open(struct engine *engine, uint64_t tenant, int change)
{
    if (!tenant) return;
    guint n = GPOINTER_TO_UINT(g_hash_table_lookup(engine->open, &tenant)) + (guint)change;
    if (n)
        g_hash_table_replace(engine->open, g_memdup2(&tenant, sizeof tenant), GUINT_TO_POINTER(n));
    else
        g_hash_table_remove(engine->open, &tenant);
}

static void note_entry(struct engine *engine, const struct msg_request *request)
{
    uint32_t weight = weight_of(request);
    uint64_t tag = request->tag;
    if (weight != 1) g_hash_table_replace(engine->weights, g_memdup2(&tag, sizeof tag), GUINT_TO_POINTER(weight));
    count_open(engine, tenant_of(engine, tag), (int)weight);
}

static void note_exit(struct engine *engine, uint64_t tag)
{
    guint weight = GPOINTER_TO_UINT(g_hash_table_lookup(engine->weights, &tag));
    count_open(engine, tenant_of(engine, tag), -(int)MAX(weight, 1));
    if (weight) g_hash_table_remove(engine->weights, &tag);
}

/* Returns true if the request fits. A request that exceeds its tenant's limit fits when the tenant has no other one in
 * flight. */
static bool has_room(const struct engine *engine, uint64_t tenant, uint32_t weight)
{
    if (engine->in_flight >= engine->window) return false;
    if (!engine->open || !engine->fair.max_open || !tenant) return true;
    guint n = GPOINTER_TO_UINT(g_hash_table_lookup(engine->open, &tenant));
    return !n || n + weight <= engine->fair.max_open;
}

bool engine_has_room(struct engine *engine, uint64_t tenant)
{
    pthread_mutex_lock(&engine->lock);
    bool room = has_room(engine, tenant, 1);
    pthread_mutex_unlock(&engine->lock);
    return room;
}

/* Takes a slot of the window. Waits up to timeout_ms for it. */
static enum err_code enter(struct engine *engine, const struct msg_request *request, int64_t timeout_ms,
                           struct err *err)
{
    struct timespec until = clock_after_ms(timeout_ms > 0 ? timeout_ms : 0);
    uint64_t tenant = tenant_of(engine, request->tag);
    uint32_t weight = weight_of(request);
    bool late = timeout_ms == 0;
    enum err_code code = ERR_OK;
    pthread_mutex_lock(&engine->lock);
    while (!has_room(engine, tenant, weight) && !engine->failure.code && !engine->finished && !late) {
        if (timeout_ms < 0)
            pthread_cond_wait(&engine->room, &engine->lock);
        else
            late = pthread_cond_timedwait(&engine->room, &engine->lock, &until) != 0;
    }
    if (engine->failure.code)
        code = err_set(err, ERR_CLOSED, "%s", engine->failure.text);
    else if (engine->finished)
        code = err_set(err, ERR_CLOSED, "the engine no longer accepts requests");
    else if (!has_room(engine, tenant, weight))
        code = err_set(err, ERR_FULL, "too many requests in flight: %u", engine->in_flight);
    else
        engine->in_flight++;
    if (!code && engine->open) note_entry(engine, request);
    pthread_mutex_unlock(&engine->lock);
    return code;
}

static void leave(struct engine *engine, uint64_t tag)
{
    pthread_mutex_lock(&engine->lock);
    engine->in_flight--;
    if (engine->open) note_exit(engine, tag);
    /* with tenants, wakes all waiters, because the next one may belong to a tenant at its limit */
    if (engine->open)
        pthread_cond_broadcast(&engine->room);
    else
        pthread_cond_signal(&engine->room);
    pthread_mutex_unlock(&engine->lock);
}

/* Returns the number of the database's flow. Requests with their own schema use no database, so they share one flow. */
static uint64_t database_flow(const struct msg_request *request)
{
    const char *name = request->schema ? "" : request->db ? request->db : "";
    return (uint64_t)1 << 32 | g_str_hash(name);
}

static bool has_hash(const struct msg_request *request)
{
    for (uint32_t i = 0; i < request->n_candidates; i++) {
        const struct msg_text *sql = &request->candidates[i].sql;
        if (sql->len && memchr(sql->bytes, '#', sql->len)) return true;
    }
    return false;
}

static bool is_mariadb(const struct engine *engine, const struct msg_request *request)
{
    char *path = NULL;
    if (request->schema || !request->db) return false;
    bool known = worker_database_path(&engine->databases, request->db, &path, NULL) == ERR_OK;
    bool claims = known && mariadb_address_claims(path);
    free(path);
    return claims;
}

/* Blanks the comments that start with # if the candidates are for MariaDB. Only MariaDB has such comments. Copies are
 * in the arena. */
static enum err_code blank_comments(const struct engine *engine, struct arena *arena, struct msg_request *request)
{
    if (!has_hash(request) || !is_mariadb(engine, request)) return ERR_OK;
    struct msg_candidate *candidates = arena_new_array(arena, request->n_candidates, struct msg_candidate);
    if (!candidates) return ERR_LIMIT_MEMORY;
    for (uint32_t i = 0; i < request->n_candidates; i++) {
        candidates[i] = request->candidates[i];
        struct msg_text *sql = &candidates[i].sql;
        sql->bytes = sql_blank_hash_comments(arena, sql->bytes ? sql->bytes : "", sql->len);
        if (!sql->bytes) return ERR_LIMIT_MEMORY;
    }
    request->candidates = candidates;
    return ERR_OK;
}

static enum err_code encode_plain(const struct engine *engine, struct msg_buffer *buffer,
                                  const struct msg_request *request)
{
    struct msg_request plain = *request;
    struct arena arena;
    arena_init(&arena, 0);
    enum err_code code = blank_comments(engine, &arena, &plain);
    if (!code) code = msg_encode_request(buffer, &plain);
    arena_free(&arena);
    return code;
}

enum err_code engine_submit(struct engine *engine, const struct msg_request *request, int64_t timeout_ms,
                            struct err *err)
{
    struct msg_buffer buffer = {0};
    char key[24];
    enum err_code code = enter(engine, request, timeout_ms, err);
    if (code) return code;
    code = encode_plain(engine, &buffer, request);
    int key_len = snprintf(key, sizeof key, "%llu", (unsigned long long)request->tag);
    const uint64_t flow[BUS_FLOW_LEVELS] = {tenant_of(engine, request->tag), database_flow(request), request->tag};
    struct bus_out out = {.topic = BUS_REQUESTS,
                          .partition = BUS_ANY_PARTITION,
                          .key = key,
                          .key_len = (uint32_t)key_len,
                          .value = buffer.bytes,
                          .len = buffer.len,
                          .flow = flow};
    if (code)
        err_set(err, code, "cannot encode the request: %s", err_meaning(code));
    else if ((code = bus_produce(engine->bus, &out, 1, -1, NULL)))
        err_set(err, code, "cannot queue the request: %s", err_meaning(code));
    msg_buffer_free(&buffer);
    if (code) leave(engine, request->tag);
    return code;
}

void engine_cancel(struct engine *engine, uint64_t tag)
{
    coordinator_cancel(engine->coordinator, tag);
}

void engine_finish(struct engine *engine)
{
    pthread_mutex_lock(&engine->lock);
    engine->finished = true;
    pthread_cond_broadcast(&engine->room);
    pthread_mutex_unlock(&engine->lock);
}

void engine_interrupt(struct engine *engine)
{
    pthread_mutex_lock(&engine->lock);
    engine->interrupted = true;
    pthread_mutex_unlock(&engine->lock);
    bus_drain(engine->consumer);
}

/* --- next --- */

/* Builds a failed verdict from the dead letter of a request, for which the coordinator sends no verdict. */
static enum err_code read_letter(const struct bus_message *message, struct msg_verdict **out, struct err *err)
{
    const char *code = bus_header_get(message, "x-dlq-code"), *text = bus_header_get(message, "x-dlq-message");
    struct msg_verdict verdict = {
        .tag = message->key ? strtoull(message->key, NULL, 10) : 0,
        .status = MSG_STATUS_FAILED,
        .reason = code ? code : err_name(ERR_MALFORMED),
        .message = text,
        .p_correct = NAN,
        .threshold = NAN,
        .entailment_threshold = NAN,
    };
    struct msg_buffer buffer = {0};
    enum err_code failed = msg_encode_verdict(&buffer, &verdict);
    if (!failed) failed = msg_decode_verdict_own(buffer.bytes, buffer.len, out, err);
    msg_buffer_free(&buffer);
    return failed;
}

static bool is_about_request(const struct bus_message *message)
{
    const char *topic = bus_header_get(message, "x-dlq-topic");
    return topic && strcmp(topic, BUS_REQUESTS) == 0;
}

/* Returns the next message that is a verdict or the dead letter of a request. Returns NULL if none arrives within the
 * time. */
static struct bus_message *next_message(struct engine *engine, int64_t timeout_ms)
{
    for (;;) {
        if (engine->next_polled == engine->n_polled) {
            engine->next_polled = 0;
            if (bus_poll(engine->consumer, 0, engine->polled, BATCH, timeout_ms, &engine->n_polled))
                engine->n_polled = 0;
            if (engine->n_polled == 0) return NULL;
        }
        struct bus_message *message = engine->polled[engine->next_polled++];
        if (message->topic_index == VERDICTS || is_about_request(message)) return message;
        bus_ack(engine->consumer, message); /* the dead letter of a result; its request ends at its deadline */
    }
}

/* Returns true if no further verdict will arrive. Then sets `err` as engine_next does. */
static bool is_over(struct engine *engine, struct err *err)
{
    pthread_mutex_lock(&engine->lock);
    bool failed = engine->failure.code != ERR_OK, done = engine->finished && engine->in_flight == 0;
    bool over = failed || done || engine->interrupted;
    if (over && err) *err = engine->failure;
    pthread_mutex_unlock(&engine->lock);
    return over;
}

enum err_code engine_next(struct engine *engine, int64_t timeout_ms, struct msg_verdict **out, struct err *err)
{
    int64_t until = clock_now_ns() + (timeout_ms > 0 ? timeout_ms * 1000000 : 0);
    struct bus_message *message;
    *out = NULL;
    while (!(message = next_message(engine, 0))) {
        if (is_over(engine, err)) return ERR_CLOSED;
        int64_t left = timeout_ms < 0 ? SLICE_MS : (until - clock_now_ns()) / 1000000;
        if (left <= 0) return ERR_FULL;
        if ((message = next_message(engine, left < SLICE_MS ? left : SLICE_MS))) break;
    }
    enum err_code code = message->topic_index == VERDICTS
                             ? msg_decode_verdict_own(message->value, message->len, out, err)
                             : read_letter(message, out, err);
    uint64_t tag = *out ? (*out)->tag : 0;
    bus_ack(engine->consumer, message);
    leave(engine, tag);
    return code;
}

/* --- databases --- */

enum err_code engine_database_names(const struct engine *engine, struct arena *arena, const char *const **names,
                                    uint32_t *n, struct err *err)
{
    return worker_databases_names(&engine->databases, arena, names, n, err);
}

enum err_code engine_describe(const struct engine *engine, const struct msg_request *asks, char **json, struct err *err)
{
    const struct worker_config config = {
        .databases = engine->databases, .schemas = engine->schemas, .limits = engine->limits};
    const struct msg_options *own = &engine->defaults, *wanted = &asks->options;
    uint32_t n = own->n_deny_columns + wanted->n_deny_columns;
    const char **denied = g_new(const char *, n + 1);
    for (uint32_t i = 0; i < n; i++)
        denied[i] = i < own->n_deny_columns ? own->deny_columns[i] : wanted->deny_columns[i - own->n_deny_columns];
    bool both = own->expose && wanted->expose;
    const struct msg_task task = {.db = asks->db,
                                  .expose = both ? MIN(own->expose, wanted->expose) : own->expose | wanted->expose,
                                  .deny_columns = denied,
                                  .n_deny_columns = n};
    enum err_code code = worker_describe(&config, &task, json, err);
    g_free(denied);
    return code;
}

/* --- stats --- */

void engine_stats(struct engine *engine, struct engine_stats *out)
{
    struct rusage usage;
    *out = (struct engine_stats){0};
    coordinator_stats(engine->coordinator, &out->coordinator);
    for (uint32_t i = 0; i < engine->n_workers; i++) worker_stats(engine->workers[i].worker, &out->workers);
    if (engine->redis) cache_get_stats(engine->redis, &out->redis);
    if (engine->llm) llm_get_stats(engine->llm, &out->llm);
    getrusage(RUSAGE_SELF, &usage);
    out->cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                 (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    out->peak_bytes = (uint64_t)usage.ru_maxrss * 1024;
}

struct schema_cache *engine_schemas(const struct engine *engine)
{
    return engine->schemas;
}

struct breakers *engine_breakers(const struct engine *engine)
{
    return engine->breakers;
}

uint32_t engine_window(const struct engine *engine)
{
    return engine->window;
}

enum msg_strategy engine_strategy(const struct engine *engine)
{
    return engine->defaults.strategy ? engine->defaults.strategy : models_strategy(engine->models);
}

double engine_threshold(const struct engine *engine)
{
    if (engine->defaults.threshold > 0) return engine->defaults.threshold;
    if (engine->defaults.alpha > 0) return 1 - engine->defaults.alpha;
    return models_threshold(engine->models);
}
