/* DESIGN: the loop between a transport and the core.
 *
 * One thread polls requests and results as one member of one group, passes them to the core, and sends the core's
 * messages. If a queue is full, messages wait in an outbox. While the outbox is not empty, or max_open requests are
 * open, requests are not polled. They stay in the transport, which is the backpressure. Results are always polled. The
 * coordinator therefore never waits for a worker, and workers may wait for the coordinator without a deadlock.
 *
 * Separate threads call a remote verifier and a corrector (model_pool.h); their responses arrive as results. Other
 * threads look up cached verdicts (lookup_pool.h); during a lookup the loop polls with a short timeout. While a
 * partition is catching up, its requests are not looked up: a request must be open when results of its tasks arrive.
 *
 * Exactly one verdict: a request and its verdict or dead letter are settled together (bus_settle). Open requests of a
 * dead coordinator are redelivered to it after a restart, or to another coordinator. Tasks are not part of this and may
 * be sent several times: results are matched by content, and the first one counts.
 *
 * Two rules make a take-over cheap. Tasks of a partition that is catching up are held. When it has caught up, they are
 * sent only if no result has arrived. Requests of a revoked partition are dropped, because another process handles them
 * now.
 *
 * Tasks of one request that go to one topic in one step may share a message (config.messages), because a broker's cost
 * is per message. Held tasks do not share messages, because each of them may get its result before it is sent.
 *
 * If other programs write the requests (bus_transport.shared), they are encoded as in proto/message/edge.h and may be
 * duplicated. Each of them ends within max_deadline_ms.
 */
#include "coordinator/internal.h"
#include "coordinator/model_pool.h"
#include "coordinator/lookup_pool.h"

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "proto/bus/letter.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 256, MAX_WAIT_MS = 500, FULL_WAIT_MS = 2, DEFAULT_OPEN = 64, DEFAULT_DEADLINE_MS = 600000 };
enum { OLDEST_MS = 200 };
enum { CANCELLED_EARLY = 256 };
enum { STOP_WAIT_MS = 20 }; /* interval of attempts to stop the work of a closed request */
/* if tasks wait less than this for a worker, some worker is idle; includes Kafka's round trip of 5 to 10 ms */
enum { IDLE_WAIT_MS = 20 };
/* times and size limit for looking up and storing cached verdicts */
enum { FIND_MS = 20, LOOKING_WAIT_MS = 1, MAX_KEPT = 64 << 10 };
/* during a take-over, max_open times this limits the open requests, because those of dead coordinators are added */
enum { REOPENED = 4 };
enum { MAX_TOPIC = 64, MAX_TRACE = 512, MAX_KEY = 128, KEY_AND_HEADERS = 4096 };
enum { JOINED_BYTES = 128 << 10 }; /* a message of this size takes no further task */

/* Identifies a task within its request. */
struct task_name {
    uint64_t hash[2];
    enum vsig_family family;
};

/* A message in the outbox, or one being sent. */
struct outgoing {
    struct bus_out out;
    struct bus_message *done; /* message to ack once this one is sent; may be NULL */
    struct msg_key request;   /* request to which its tasks belong */
    uint64_t flow[BUS_FLOW_LEVELS];
    uint32_t n_tasks;              /* number of tasks in the message */
    const struct task_name *tasks; /* last member with a pointer, so that `block` is aligned */
    char block[];                  /* memory for the names of tasks, headers, key and value */
};

/* A topic of tasks, and the unfinished message that further tasks of the same request may join. */
struct task_topic {
    char name[MAX_TOPIC];
    struct msg_buffer bytes;
    struct msg_key request;
    uint64_t flow[BUS_FLOW_LEVELS]; /* flow of the request */
    struct task_name tasks[MSG_MAX_JOINED];
    uint32_t n_tasks;
};

struct coordinator {
    struct coordinator_config config;
    struct bus_consumer *consumer;
    struct core *core;
    struct model_pool *pools[MODEL_ROLES]; /* an entry is NULL if there is no model of that role */
    struct lookup_pool *cache;             /* NULL if there is no verdict cache */
    GQueue outbox;                         /* queue of struct outgoing */
    GQueue held;                           /* struct outgoing: tasks of partitions that are catching up */
    GQueue too_large;                      /* struct outgoing: tasks that cannot be sent */
    GArray *cancelled_early;               /* tags that were cancelled before their requests were open; only the newest
                                            * CANCELLED_EARLY */
    GArray *stopping_work;                 /* struct msg_key: closed requests that workers still process */
    struct msg_buffer buffer;
    struct task_topic task_topics[VSIG_FAMILY_COUNT];
    uint32_t topic_of[VSIG_FAMILY_COUNT]; /* index in task_topics of each family's topic */
    bool shared, settles;                 /* properties of the transport: other programs write requests; it supports
                                           * bus_settle */
    uint64_t refused, cut;                /* number of requests of an unknown type; number of verdicts with omitted
                                           * parts */
    uint64_t unsendable;                  /* number of tasks that were too large */
    uint64_t dropped_at;                  /* number of passed deadlines at the last scan of the outbox */
    enum err_code failure;                /* error that occurred in an action */
    uint64_t rejected_by[ERR_COUNT];
    struct metrics_histogram latency, request_reads, judgements, result_reads;
    atomic_int stopping; /* 0: running, 1: finish open requests, 2: stop at once */
    atomic_llong heartbeat_ns;
    int64_t oldest_ns, oldest_checked_ns; /* arrival of the oldest open request, and time of its last search */
    atomic_bool has_cancelled;
    pthread_mutex_t lock;
    struct coordinator_stats published; /* guarded by the lock */
    GArray *cancelled;                  /* tags of cancelled requests; guarded by the lock */
};

/* --- the outbox --- */

/* Creates an outgoing message. The text of its topic is not copied: it must be static or belong to the coordinator. */
static struct outgoing *outgoing_new(const struct bus_out *out, const struct task_name *tasks, uint32_t n_tasks)
{
    size_t names = n_tasks * sizeof *tasks, headers = out->n_headers * sizeof(struct bus_header);
    struct outgoing *item = calloc(1, sizeof *item + names + headers + bus_out_room(out));
    if (!item) return NULL;
    if (n_tasks) item->tasks = memcpy(item->block, tasks, names);
    item->n_tasks = n_tasks;
    bus_out_copy(out, item->block + names + headers, (struct bus_header *)(void *)(item->block + names), &item->out);
    return item;
}

/* Sends a verdict or a dead letter, which ends the request. */
static void settle(struct coordinator *c, const struct bus_out *out, struct bus_message *done)
{
    if (c->settles) {
        enum err_code code = bus_settle(c->consumer, c->config.bus, done, out);
        if (code) c->failure = code;
        return;
    }
    struct outgoing *item = outgoing_new(out, NULL, 0);
    if (item) {
        item->done = done;
        g_queue_push_tail(&c->outbox, item);
    } else {
        c->failure = ERR_NOMEM;
    }
}

static bool is_too_large(const struct coordinator *c, const struct outgoing *item)
{
    return bus_out_bytes(&item->out) > bus_max_bytes(c->config.bus, item->out.topic);
}

/* --- outgoing tasks --- */

/* Queues the unfinished message to this topic. No further task joins it. */
static void close_message(struct coordinator *c, struct task_topic *topic)
{
    char key[MSG_KEY_TEXT];
    if (!topic->n_tasks) return;
    struct bus_out out = {.topic = topic->name,
                          .partition = BUS_ANY_PARTITION,
                          .key = key,
                          .key_len = msg_key_text(topic->request, key),
                          .value = topic->bytes.bytes,
                          .len = topic->bytes.len};
    struct outgoing *item = outgoing_new(&out, topic->tasks, topic->n_tasks);
    topic->n_tasks = 0;
    topic->bytes.len = 0;
    if (!item) {
        c->failure = ERR_NOMEM;
        return;
    }
    item->request = topic->request;
    memcpy(item->flow, topic->flow, sizeof item->flow);
    item->out.flow = item->flow;
    bool hold = bus_catching_up(c->consumer, topic->request.partition);
    g_queue_push_tail(is_too_large(c, item) ? &c->too_large : hold ? &c->held : &c->outbox, item);
}

static void close_messages(struct coordinator *c)
{
    for (unsigned i = 0; i < VSIG_FAMILY_COUNT; i++) close_message(c, &c->task_topics[i]);
}

/* Returns true if the task may join the unfinished message to this topic. append_task checks the size. */
static bool may_join(const struct coordinator *c, const struct task_topic *topic, const struct msg_task *task)
{
    uint32_t most = c->config.messages == COORDINATOR_EACH ? 1 : MSG_MAX_JOINED;
    if (topic->n_tasks >= most || topic->request.partition != task->key.partition ||
        topic->request.offset != task->key.offset)
        return false;
    return c->config.messages != COORDINATOR_BY_CANDIDATE || !topic->n_tasks ||
           memcmp(topic->tasks[topic->n_tasks - 1].hash, task->hash, sizeof task->hash) == 0;
}

/* Copies the flow of the task's request to the topic. */
static void note_flow(struct coordinator *c, struct task_topic *topic, const struct msg_task *task)
{
    const struct bus_message *request = core_token(c->core, task->key);
    if (request && request->flow) memcpy(topic->flow, request->flow, sizeof topic->flow);
}

/* Appends the task to the message. If the message would be too large, leaves it unchanged and returns
 * ERR_LIMIT_BYTES. */
static enum err_code append_task(struct coordinator *c, struct task_topic *topic, const struct msg_task *task)
{
    size_t before = topic->bytes.len, most = bus_max_bytes(c->config.bus, topic->name);
    enum err_code code = msg_append_task(&topic->bytes, task);
    if (code || !topic->n_tasks || topic->bytes.len + MSG_KEY_TEXT <= MIN(most, JOINED_BYTES)) return code;
    topic->bytes.len = before;
    return ERR_LIMIT_BYTES;
}

/* --- actions of the core --- */

static void on_task(void *ctx, const struct msg_task *task)
{
    struct coordinator *c = ctx;
    enum vsig_family family = (enum vsig_family)vsig_family_by_name(task->family);
    struct task_topic *topic = &c->task_topics[c->topic_of[family]];
    if (!may_join(c, topic, task)) close_message(c, topic);
    enum err_code code = append_task(c, topic, task);
    if (code == ERR_LIMIT_BYTES && topic->n_tasks) {
        close_message(c, topic);
        code = append_task(c, topic, task);
    }
    if (code) {
        c->failure = code;
        return;
    }
    if (!topic->n_tasks) note_flow(c, topic, task);
    topic->request = task->key;
    topic->tasks[topic->n_tasks++] = (struct task_name){{task->hash[0], task->hash[1]}, family};
    if (bus_catching_up(c->consumer, task->key.partition)) close_message(c, topic);
}

/* Returns the encoding of the request, which its verdict uses too. */
static enum err_code type_of(const struct coordinator *c, const struct bus_message *message, enum edge_type *out,
                             struct err *err)
{
    *out = EDGE_TYPE_MSGPACK;
    return c->shared ? edge_type_of(message, out, err) : ERR_OK;
}

/* Returns the maximum size of an encoded verdict, in bytes. */
static size_t max_verdict_bytes(const struct coordinator *c)
{
    size_t most = bus_max_bytes(c->config.bus, BUS_VERDICTS);
    return most > 2 * (size_t)KEY_AND_HEADERS ? most - KEY_AND_HEADERS : most / 2;
}

static enum err_code encode(struct coordinator *c, const struct msg_verdict *verdict, enum edge_type type,
                            struct bus_header *header)
{
    enum err_code code = edge_write_verdict(verdict, type, &c->buffer, header);
    return !code && c->buffer.len > max_verdict_bytes(c) ? ERR_LIMIT_BYTES : code;
}

/* Encodes the verdict without its optional parts. Omits samples first, then explanations. If it is still too large,
 * encodes a failed verdict without candidates. */
static enum err_code encode_smaller(struct coordinator *c, const struct msg_verdict *verdict, enum edge_type type,
                                    struct bus_header *header)
{
    struct msg_verdict smaller = *verdict;
    uint32_t n = verdict->n_candidates;
    struct msg_judged *judged = g_memdup2(verdict->candidates, n * sizeof *judged);
    struct msg_execution *executions = g_new0(struct msg_execution, n + 1);
    smaller.candidates = judged;
    for (uint32_t i = 0; i < n; i++) {
        if (!judged[i].execution) continue;
        executions[i] = *judged[i].execution;
        executions[i].n_sample = executions[i].n_names = 0;
        judged[i].execution = &executions[i];
    }
    c->cut++;
    enum err_code code = encode(c, &smaller, type, header);
    for (uint32_t i = 0; i < n; i++)
        judged[i].explanation = NULL, judged[i].explained = NULL, judged[i].polished = NULL;
    if (code == ERR_LIMIT_BYTES) code = encode(c, &smaller, type, header);
    if (code == ERR_LIMIT_BYTES) {
        smaller.candidates = NULL;
        smaller.n_candidates = smaller.chosen = smaller.n_report = smaller.n_questions = 0;
        smaller.gold = smaller.meta = smaller.sql = NULL;
        smaller.status = MSG_STATUS_FAILED;
        smaller.reason = "verdict_too_large";
        smaller.message = "the verdict exceeds the maximum message size";
        code = encode(c, &smaller, type, header);
    }
    g_free(judged);
    g_free(executions);
    return code;
}

/* Drops the unsent tasks of a closed request, and stops the tasks that a worker has begun. Their results are not
 * needed. */
static void end_tasks(struct coordinator *c, const struct bus_message *request)
{
    if (!request->flow) return;
    for (unsigned i = 0; i < VSIG_FAMILY_COUNT; i++) {
        struct task_topic *topic = &c->task_topics[i];
        if (!topic->name[0]) continue;
        if (topic->n_tasks && memcmp(topic->flow, request->flow, sizeof topic->flow) == 0)
            topic->n_tasks = 0, topic->bytes.len = 0;
        bus_forget(c->config.bus, topic->name, request->flow);
    }
    const struct msg_key key = {request->partition, request->offset};
    if (c->config.stop_work && c->config.stop_work(c->config.stop_ctx, key)) g_array_append_val(c->stopping_work, key);
}

static void on_verdict(void *ctx, void *token, const struct msg_verdict *verdict)
{
    struct coordinator *c = ctx;
    const struct bus_message *message = token;
    struct bus_header headers[2];
    char key[MSG_KEY_TEXT];
    enum edge_type type;
    end_tasks(c, message);
    type_of(c, message, &type, NULL); /* cannot fail, because the type was checked on arrival */
    enum err_code code = encode(c, verdict, type, &headers[0]);
    if (code == ERR_LIMIT_BYTES) code = encode_smaller(c, verdict, type, &headers[0]);
    if (code) {
        c->failure = code;
        return;
    }
    int64_t now = bus_now_ns(c->config.bus);
    metrics_histogram_count(&c->latency, now - message->time_ns);
    metrics_histogram_count(&c->judgements, now - message->taken_ns);
    struct bus_out out = {.topic = BUS_VERDICTS,
                          .partition = BUS_ANY_PARTITION,
                          .key = key,
                          .key_len = msg_key_text(verdict->key, key),
                          .value = c->buffer.bytes,
                          .len = c->buffer.len,
                          .headers = headers};
    const char *trace = c->shared ? bus_header_get(message, "traceparent") : NULL;
    if (c->shared) out.n_headers = 1, out.key = verdict->id, out.key_len = (uint32_t)strlen(verdict->id);
    if (trace && strlen(trace) <= MAX_TRACE)
        headers[out.n_headers++] = (struct bus_header){"traceparent", trace, (uint32_t)strlen(trace)};
    settle(c, &out, token);
}

/* Sends the message to the dead-letter topic, with its position and the error. The dead letter of a request ends the
 * request, as a verdict does. */
static void dead_letter(struct coordinator *c, struct bus_message *message, const struct err *why)
{
    char key[MAX_KEY] = ""; /* key of the message; for a request usually its id */
    uint32_t len = message->key_len < MAX_KEY ? message->key_len : MAX_KEY - 1;
    if (message->key) memcpy(key, message->key, len);
    const struct log_field fields[] = {
        log_field_text("topic", message->topic),
        log_field_number("partition", message->partition),
        log_field_number("offset", message->offset),
        log_field_text("code", err_name(why->code)),
        log_field_outside("why", why->text),
        log_field_outside("key", key),
        log_field_outside("traceparent", bus_header_get(message, "traceparent")),
    };
    c->rejected_by[why->code]++;
    log_event(LOG_LEVEL_WARN, "coordinator", fields, G_N_ELEMENTS(fields), "message dead-lettered");
    const struct letter_cause cause = {.group = c->config.group ? c->config.group : BUS_GROUP,
                                       .stage = "coordinator",
                                       .code = why->code,
                                       .text = why->text,
                                       .now_ns = bus_now_ns(c->config.bus)};
    struct letter letter;
    struct bus_out out;
    letter_make(&letter, message, &cause, BUS_DLQ, bus_max_bytes(c->config.bus, BUS_DLQ), &out);
    if (c->settles && message->topic_index == BUS_ONCE_REQUESTS) {
        settle(c, &out, message);
        return;
    }
    enum err_code code = bus_produce(c->config.bus, &out, 1, MAX_WAIT_MS, NULL);
    if (code == ERR_OK)
        bus_ack(c->consumer, message);
    else
        bus_nack(c->consumer, message, MAX_WAIT_MS);
}

static void on_dead(void *ctx, void *token, const struct err *why)
{
    dead_letter(ctx, token, why);
}

/* Acks a duplicate request, which gets no output. */
static void on_duplicate(void *ctx, void *token)
{
    bus_ack(((struct coordinator *)ctx)->consumer, token);
}

static void on_dropped(void *ctx, void *token)
{
    bus_nack(((struct coordinator *)ctx)->consumer, token, 0);
}

static void on_progress(void *ctx, const struct coordinator_progress *progress)
{
    const struct coordinator_config *config = &((struct coordinator *)ctx)->config;
    config->progress(config->progress_ctx, progress);
}

static bool on_verify(void *ctx, const struct core_model_question *question)
{
    struct coordinator *c = ctx;
    return model_pool_submit(c->pools[MODEL_VERIFIER], question);
}

static bool on_correct(void *ctx, const struct core_model_question *question)
{
    struct coordinator *c = ctx;
    return model_pool_submit(c->pools[MODEL_CORRECTOR], question);
}

static bool on_polish(void *ctx, const struct core_model_question *question)
{
    struct coordinator *c = ctx;
    return model_pool_submit(c->pools[MODEL_POLISHER], question);
}

static bool on_find(void *ctx, const struct core_wanted *wanted)
{
    struct coordinator *c = ctx;
    return !bus_catching_up(c->consumer, wanted->request.partition) && lookup_pool_find(c->cache, wanted);
}

static void on_keep(void *ctx, const struct core_kept *verdict)
{
    struct coordinator *c = ctx;
    lookup_pool_keep(c->cache, verdict);
}

/* --- set up --- */

int coordinator_messages_by_name(const char *name)
{
    static const char *const names[COORDINATOR_MESSAGES] = {"each", "family", "request", "candidate"};
    for (int i = 0; i < COORDINATOR_MESSAGES; i++)
        if (strcmp(names[i], name) == 0) return i;
    return -1;
}

/* Opens the configured models. Returns ERR_OK also if no model is configured. */
static enum err_code open_models(struct coordinator *c, struct err *err)
{
    const struct coordinator_config *config = &c->config;
    const struct {
        const struct scorer_config *scorer;
        uint32_t threads;
    } models[MODEL_ROLES] = {[MODEL_VERIFIER] = {config->verifier, config->verifier_threads},
                             [MODEL_CORRECTOR] = {config->corrector, config->corrector_threads},
                             [MODEL_POLISHER] = {config->polisher, config->polisher_threads}};
    enum err_code code = ERR_OK;
    for (unsigned role = 0; role < MODEL_ROLES && !code; role++) {
        const struct model_pool_config pool = {.bus = config->bus,
                                               .scorer = models[role].scorer,
                                               .threads = models[role].threads,
                                               .shots =
                                                   role == MODEL_CORRECTOR ? config->shots : (struct examples_shots){0},
                                               .per_minute = role == MODEL_CORRECTOR ? config->corrector_per_minute : 0,
                                               .role = (enum model_role)role,
                                               .tracer = config->tracer};
        if (pool.scorer) code = model_pool_new(&pool, &c->pools[role], err);
    }
    return code;
}

static enum err_code open_cache(struct coordinator *c, struct err *err)
{
    const struct coordinator_config *config = &c->config;
    if (!config->cache) return ERR_OK;
    if (config->verifier || config->corrector || config->polisher)
        return err_set(err, ERR_CONFIG,
                       "the verdict cache cannot be used with a remote verifier, corrector or polisher" ERR_HINT
                       "remove --verdict-cache, or the model");
    return lookup_pool_new(config->cache, config->bus, &c->cache, err);
}

/* Queries the size limits of the task topics. A fleet without language models needs no topic for the family llm. */
static enum err_code know_task_topics(struct coordinator *c, bool llm, struct err *err)
{
    const char *topics[VSIG_FAMILY_COUNT];
    unsigned n = 0;
    for (unsigned i = 0; i < VSIG_FAMILY_COUNT; i++) {
        bool own = i == VSIG_LLM || c->config.messages < COORDINATOR_BY_REQUEST;
        c->topic_of[i] = own ? i : 0;
        if (i && !own) continue;
        struct task_topic *topic = &c->task_topics[i];
        if (own)
            snprintf(topic->name, MAX_TOPIC, "%s%s", BUS_TASKS_PREFIX, vsig_family_name((enum vsig_family)i));
        else
            snprintf(topic->name, MAX_TOPIC, "%s", BUS_TASKS_ALL);
        if (i != VSIG_LLM || llm) topics[n++] = topic->name;
    }
    return bus_know_topics(c->config.bus, topics, n, err);
}

enum err_code coordinator_new(const struct coordinator_config *config, struct coordinator **out, struct err *err)
{
    *out = NULL;
    struct coordinator *c = calloc(1, sizeof *c);
    if (!c) return err_set(err, ERR_NOMEM, "no memory for a coordinator");
    c->config = *config;
    if (!c->config.max_open) c->config.max_open = DEFAULT_OPEN;
    c->shared = config->bus->transport->shared;
    if (!c->config.max_deadline_ms && c->shared) c->config.max_deadline_ms = DEFAULT_DEADLINE_MS;
    g_queue_init(&c->outbox);
    g_queue_init(&c->held);
    g_queue_init(&c->too_large);
    c->stopping_work = g_array_new(FALSE, FALSE, sizeof(struct msg_key));
    c->cancelled_early = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    c->cancelled = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    pthread_mutex_init(&c->lock, NULL);
    atomic_init(&c->stopping, 0);
    struct core_config core = {.models = config->models,
                               .defaults = config->defaults,
                               .max_corrections = config->corrector_rounds,
                               .llm = config->llm,
                               .ignores_drift = config->ignore_drift,
                               .max_deadline_ms = c->config.max_deadline_ms,
                               .max_work_ns = config->max_work_ms * INT64_C(1000000),
                               .idle_wait_ns = c->shared ? IDLE_WAIT_MS * INT64_C(1000000) : 0,
                               .polish_ns = config->polisher ? config->polisher->timeout_ms * 1000000 : 0,
                               .rows_at_once = c->shared && !config->rows_later,
                               .find_ns = FIND_MS * INT64_C(1000000),
                               .max_kept_bytes = config->max_kept_bytes ? config->max_kept_bytes : MAX_KEPT,
                               .finds_duplicates = c->shared,
                               .tracer = config->tracer};
    struct core_actions actions = {.ctx = c,
                                   .task = on_task,
                                   .verdict = on_verdict,
                                   .dead = on_dead,
                                   .verify = config->verifier ? on_verify : NULL,
                                   .correct = config->corrector ? on_correct : NULL,
                                   .polish = config->polisher ? on_polish : NULL,
                                   .find = config->cache ? on_find : NULL,
                                   .keep = on_keep,
                                   .duplicate = on_duplicate,
                                   .dropped = on_dropped,
                                   .progress = config->progress ? on_progress : NULL};
    enum err_code code = consult_when(config->llm_when, &core.llm, err);
    if (!code && !(c->core = core_new(&core, &actions))) code = err_set(err, ERR_NOMEM, "no memory for a coordinator");
    if (!code) code = open_models(c, err);
    if (!code) code = open_cache(c, err);
    const struct bus_once once = {.group = config->group,
                                  .instance = config->instance,
                                  .from = config->from,
                                  .commit_ms = config->commit_ms,
                                  .producers = config->producers};
    if (!code) code = know_task_topics(c, core.llm.on, err);
    if (!code) code = bus_subscribe_once(config->bus, &once, &c->consumer, err);
    if (code) {
        coordinator_free(c);
        return code;
    }
    c->settles = c->consumer->transport->settle != NULL;
    *out = c;
    return ERR_OK;
}

void coordinator_free(struct coordinator *coordinator)
{
    if (!coordinator) return;
    for (unsigned role = 0; role < MODEL_ROLES; role++) model_pool_free(coordinator->pools[role]);
    lookup_pool_free(coordinator->cache);
    core_free(coordinator->core);
    g_queue_clear_full(&coordinator->outbox, free);
    g_queue_clear_full(&coordinator->held, free);
    g_queue_clear_full(&coordinator->too_large, free);
    bus_unsubscribe(coordinator->consumer);
    msg_buffer_free(&coordinator->buffer);
    for (unsigned i = 0; i < VSIG_FAMILY_COUNT; i++) msg_buffer_free(&coordinator->task_topics[i].bytes);
    g_array_free(coordinator->stopping_work, TRUE);
    g_array_free(coordinator->cancelled_early, TRUE);
    g_array_free(coordinator->cancelled, TRUE);
    pthread_mutex_destroy(&coordinator->lock);
    free(coordinator);
}

void coordinator_stop(struct coordinator *coordinator, bool now)
{
    atomic_store(&coordinator->stopping, now ? 2 : 1);
    if (now) bus_drain(coordinator->consumer);
}

void coordinator_cancel(struct coordinator *coordinator, uint64_t tag)
{
    pthread_mutex_lock(&coordinator->lock);
    g_array_append_val(coordinator->cancelled, tag);
    pthread_mutex_unlock(&coordinator->lock);
    atomic_store(&coordinator->has_cancelled, true);
}

void coordinator_stats(struct coordinator *coordinator, struct coordinator_stats *out)
{
    pthread_mutex_lock(&coordinator->lock);
    *out = coordinator->published;
    int64_t oldest = coordinator->published.oldest_age_ns;
    pthread_mutex_unlock(&coordinator->lock);
    out->oldest_age_ns = oldest ? bus_now_ns(coordinator->config.bus) - oldest : 0;
}

int64_t coordinator_heartbeat_ns(const struct coordinator *coordinator)
{
    return atomic_load(&coordinator->heartbeat_ns);
}

/* Returns the arrival time of the oldest open request. Scans all open requests at most every OLDEST_MS. */
static int64_t oldest_ns(struct coordinator *c)
{
    int64_t now = clock_now_ns();
    if (core_open_requests(c->core) == 0) return c->oldest_ns = 0;
    if (c->oldest_ns && now - c->oldest_checked_ns < OLDEST_MS * INT64_C(1000000)) return c->oldest_ns;
    c->oldest_checked_ns = now;
    return c->oldest_ns = core_oldest_ns(c->core);
}

static void publish_stats(struct coordinator *c)
{
    struct core_stats core = core_get_stats(c->core);
    int64_t oldest = oldest_ns(c);
    pthread_mutex_lock(&c->lock);
    c->published = (struct coordinator_stats){.requests = core.requests + c->refused,
                                              .verdicts = core.verdicts,
                                              .rejected = core.dead + c->refused,
                                              .tasks = core.tasks,
                                              .results = core.results,
                                              .stray = core.stray,
                                              .deadlines = core.deadlines,
                                              .repairs = core.repairs,
                                              .promises_withdrawn = core.promises_withdrawn,
                                              .polish = core.polish,
                                              .lookups = core.lookups,
                                              .verifications = core.verifications,
                                              .consultations = core.consultations,
                                              .consultations_failed = core.consultations_failed,
                                              .questions = core.questions,
                                              .answered = core.answered,
                                              .verifier_failures = core.verifier_failures,
                                              .duplicates = core.duplicates,
                                              .cut = c->cut,
                                              .unsendable = c->unsendable,
                                              /* an absolute time; coordinator_stats converts it to an age */
                                              .oldest_age_ns = oldest,
                                              .open = core_open_requests(c->core),
                                              .quality = core.quality,
                                              .latency = c->latency,
                                              .request_reads = c->request_reads,
                                              .judgements = c->judgements,
                                              .result_reads = c->result_reads};
    memcpy(c->published.rejected_by, c->rejected_by, sizeof c->rejected_by);
    bus_once_stats(c->consumer, &c->published.once);
    memcpy(c->published.by_status, core.by_status, sizeof core.by_status);
    memcpy(c->published.promises, core.promises, sizeof core.promises);
    pthread_mutex_unlock(&c->lock);
}

/* --- held tasks, revoked partitions --- */

/* Returns true if one of the message's tasks has no result yet. */
static bool is_awaited(const struct coordinator *c, const struct outgoing *item)
{
    bool awaited = false;
    for (uint32_t i = 0; i < item->n_tasks && !awaited; i++)
        awaited = core_awaits(c->core, item->request, item->tasks[i].hash, vsig_family_name(item->tasks[i].family));
    return awaited;
}

static void release_held(struct coordinator *c)
{
    for (GList *at = c->held.head, *next; at; at = next) {
        struct outgoing *item = at->data;
        next = at->next;
        if (bus_catching_up(c->consumer, item->request.partition)) continue;
        g_queue_delete_link(&c->held, at);
        if (is_awaited(c, item))
            g_queue_push_tail(&c->outbox, item);
        else
            free(item);
    }
}

/* Drops unsent tasks whose results are no longer needed. Scans the outbox only after a deadline has passed. A scan is
 * expensive: it searches for each task among those of its request, and there may be thousands of both. */
static void drop_unawaited(struct coordinator *c)
{
    uint64_t deadlines = c->published.deadlines; /* needs no lock here, because only this thread writes it */
    if (c->dropped_at == deadlines) return;
    c->dropped_at = deadlines;
    for (GList *at = c->outbox.head, *next; at; at = next) {
        struct outgoing *item = at->data;
        next = at->next;
        if (!item->n_tasks || is_awaited(c, item)) continue;
        g_queue_delete_link(&c->outbox, at);
        free(item);
    }
}

static void drop_held(struct coordinator *c, int32_t partition)
{
    for (GList *at = c->held.head, *next; at; at = next) {
        struct outgoing *item = at->data;
        next = at->next;
        if (item->request.partition != partition) continue;
        g_queue_delete_link(&c->held, at);
        free(item);
    }
}

static void drop_revoked(struct coordinator *c)
{
    for (int32_t partition; bus_taken_away(c->consumer, &partition);) {
        core_forget(c->core, partition);
        drop_held(c, partition);
    }
}

/* --- the loop --- */

static bool has_outgoing(const struct coordinator *c)
{
    return c->outbox.head != NULL;
}

/* Moves queued tasks that have become too large, because a limit decreased, to too_large. Returns false if there are
 * none. */
static bool set_aside_too_large(struct coordinator *c)
{
    guint before = c->too_large.length;
    for (GList *at = c->outbox.head, *next; at; at = next) {
        struct outgoing *item = at->data;
        next = at->next;
        if (!item->n_tasks || !is_too_large(c, item)) continue;
        g_queue_delete_link(&c->outbox, at);
        g_queue_push_tail(&c->too_large, item);
    }
    return c->too_large.length > before;
}

/* Sends messages until the outbox is empty or the queues are full. */
static enum err_code flush(struct coordinator *c)
{
    close_messages(c);
    while (has_outgoing(c)) {
        struct bus_out batch[BATCH];
        uint32_t n = 0, taken = 0;
        for (GList *item = c->outbox.head; item && n < BATCH; item = item->next)
            batch[n++] = ((struct outgoing *)item->data)->out;
        enum err_code code = bus_produce(c->config.bus, batch, n, 0, &taken);
        for (uint32_t i = 0; i < taken; i++) {
            struct outgoing *item = g_queue_pop_head(&c->outbox);
            if (item->done) bus_ack(c->consumer, item->done);
            free(item);
        }
        if (code == ERR_FULL) return ERR_OK;
        if (code && !(code == ERR_LIMIT_BYTES && set_aside_too_large(c))) return code;
    }
    return ERR_OK;
}

/* Parses the record key "<partition>-<offset>", which all messages of a request have. */
static struct msg_key key_of(const struct bus_message *message)
{
    struct msg_key key = {-1, -1};
    char text[40];
    if (!message->key || message->key_len >= sizeof text) return key;
    memcpy(text, message->key, message->key_len);
    text[message->key_len] = '\0';
    char *end;
    long partition = strtol(text, &end, 10);
    if (end == text || *end != '-') return key;
    key.partition = (int32_t)partition;
    key.offset = strtoll(end + 1, NULL, 10);
    return key;
}

static void take_result(struct coordinator *c, struct bus_message *message, int64_t now)
{
    struct err err = {0};
    if (core_result(c->core, key_of(message), message->value, message->len, now, &err))
        dead_letter(c, message, &err);
    else
        bus_ack(c->consumer, message);
}

/* Marks the families of tasks that are too large as unavailable. The core may then send more tasks, which may also be
 * too large. */
static void answer_all_too_large(struct coordinator *c)
{
    struct err why;
    err_set(&why, ERR_LIMIT_BYTES, "the task exceeds the maximum message size");
    for (close_messages(c); c->too_large.head; close_messages(c)) {
        struct outgoing *item = g_queue_pop_head(&c->too_large);
        c->unsendable += item->n_tasks;
        for (uint32_t i = 0; i < item->n_tasks; i++)
            core_unavailable(c->core, item->request, item->tasks[i].hash, vsig_family_name(item->tasks[i].family), &why,
                             bus_now_ns(c->config.bus));
        free(item);
    }
}

/* Cancels the request if its tag was cancelled before the request was opened. */
static void cancel_early(struct coordinator *c, uint64_t tag)
{
    for (guint i = 0; i < c->cancelled_early->len; i++) {
        if (g_array_index(c->cancelled_early, uint64_t, i) != tag) continue;
        g_array_remove_index(c->cancelled_early, i);
        core_cancel(c->core, tag, bus_now_ns(c->config.bus));
        return;
    }
}

static void take_request(struct coordinator *c, struct bus_message *message, int64_t now)
{
    struct err err = {0};
    struct core_incoming incoming = {.key = {message->partition, message->offset},
                                     .token = message,
                                     .bytes = message->value,
                                     .len = message->len,
                                     .traceparent = c->shared ? bus_header_get(message, "traceparent") : NULL,
                                     .arrived_ns = message->time_ns,
                                     .redriven = c->shared && bus_header_get(message, "x-dlq-redriven")};
    enum err_code code = type_of(c, message, &incoming.type, &err);
    if (message->history) {
        if (!code) core_history(c->core, &incoming);
        bus_ack(c->consumer, message);
    } else if (code) {
        c->refused++;
        dead_letter(c, message, &err);
    } else {
        const uint64_t tag = c->cancelled_early->len && message->flow ? message->flow[BUS_FLOW_LEVELS - 1] : 0;
        core_request(c->core, &incoming, now);
        if (tag) cancel_early(c, tag);
    }
}

static void take(struct coordinator *c, struct bus_message *message)
{
    int64_t now = message->taken_ns = bus_now_ns(c->config.bus);
    bool result = message->topic_index == BUS_ONCE_RESULTS;
    if (!message->history)
        metrics_histogram_count(result ? &c->result_reads : &c->request_reads, now - message->time_ns);
    if (result)
        take_result(c, message, now);
    else
        take_request(c, message, now);
}

/* Handles the outcomes of verdict lookups and returns their number. */
static uint32_t take_found(struct coordinator *c)
{
    struct msg_key request;
    struct core_found found;
    uint32_t n = 0;
    for (; c->cache && lookup_pool_take(c->cache, &request, &found); n++)
        core_found(c->core, request, &found, bus_now_ns(c->config.bus));
    return n;
}

static void cancel_requests(struct coordinator *c)
{
    if (!atomic_exchange(&c->has_cancelled, false)) return;
    GArray *tags = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    pthread_mutex_lock(&c->lock);
    GArray *own = c->cancelled;
    c->cancelled = tags;
    pthread_mutex_unlock(&c->lock);
    for (guint i = 0; i < own->len; i++) {
        uint64_t tag = g_array_index(own, uint64_t, i);
        if (core_cancel(c->core, tag, bus_now_ns(c->config.bus))) continue;
        if (c->cancelled_early->len == CANCELLED_EARLY) g_array_remove_index(c->cancelled_early, 0);
        g_array_append_val(c->cancelled_early, tag);
    }
    g_array_free(own, TRUE);
}

/* Repeats the calls of stop_work. An interrupt stops only the statement that is running, and a worker may be between
 * two statements. */
static void stop_work(struct coordinator *c)
{
    for (guint i = c->stopping_work->len; i > 0; i--)
        if (!c->config.stop_work(c->config.stop_ctx, g_array_index(c->stopping_work, struct msg_key, i - 1)))
            g_array_remove_index_fast(c->stopping_work, i - 1);
}

/* Returns how many requests may be opened now. After a take-over, requests must be open again when their earlier
 * results arrive; otherwise their tasks would be sent twice. While results arrive, the limit is therefore higher.
 * Messages in the outbox are ignored then, because tasks of such a partition are held. */
static uint32_t may_open(const struct coordinator *c)
{
    bool reopening = bus_catching_up(c->consumer, BUS_ANY_PARTITION);
    uint32_t most = reopening ? REOPENED * c->config.max_open : c->config.max_open, open = core_open_requests(c->core);
    bool more = open < most && (reopening || !has_outgoing(c)) && !atomic_load(&c->stopping);
    return more ? most - open : 0;
}

static int64_t wait_ms(const struct coordinator *c, int64_t deadline)
{
    if (c->cache && lookup_pool_is_looking(c->cache)) return LOOKING_WAIT_MS;
    if (has_outgoing(c)) return FULL_WAIT_MS;
    int64_t most = c->stopping_work->len ? STOP_WAIT_MS : MAX_WAIT_MS;
    if (!deadline) return most;
    int64_t left = (deadline - bus_now_ns(c->config.bus)) / 1000000 + 1;
    return left < 0 ? 0 : MIN(left, most);
}

static bool is_done(const struct coordinator *c)
{
    int stopping = atomic_load(&c->stopping);
    return stopping == 2 || (stopping == 1 && core_open_requests(c->core) == 0 && !has_outgoing(c));
}

static enum err_code step(struct coordinator *c)
{
    struct bus_message *messages[BATCH];
    uint32_t n;
    atomic_store_explicit(&c->heartbeat_ns, clock_now_ns(), memory_order_relaxed);
    int64_t deadline = core_tick(c->core, bus_now_ns(c->config.bus));
    cancel_requests(c);
    stop_work(c);
    drop_unawaited(c);
    release_held(c);
    enum err_code code = flush(c);
    if (code || is_done(c)) return code;
    /* results are polled even if no request may be opened */
    uint32_t more = may_open(c), max = more && more < BATCH ? more : BATCH;
    uint32_t want = 1U << BUS_ONCE_RESULTS | (more ? 1U << BUS_ONCE_REQUESTS : 0);
    code = bus_poll(c->consumer, want, messages, max, wait_ms(c, deadline), &n);
    drop_revoked(c);
    for (uint32_t i = 0; i < n; i++) take(c, messages[i]);
    n += take_found(c);
    if (!code) answer_all_too_large(c);
    if (!code) code = c->failure;
    /* before the verdicts are sent, so that the counts include every verdict that a reader has received */
    publish_stats(c);
    if (!code) code = flush(c);
    if (!code && n) code = bus_commit(c->consumer);
    return code == ERR_FULL ? ERR_OK : code; /* ERR_FULL: servers are unreachable, and the next step retries */
}

enum err_code coordinator_run(struct coordinator *coordinator, struct err *err)
{
    enum err_code code = ERR_OK;
    while (!code && !is_done(coordinator)) code = step(coordinator);
    if (code == ERR_CLOSED && atomic_load(&coordinator->stopping)) code = ERR_OK;
    publish_stats(coordinator);
    if (!code) return ERR_OK;
    struct err why = {0};
    bool known = bus_health(coordinator->config.bus, &why) != ERR_OK;
    return err_set(err, code, "coordinator stopped: %s", known ? why.text : err_meaning(code));
}
