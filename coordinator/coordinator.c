/* DESIGN: the loop between a transport and the core.
 *
 * One thread. It polls requests and results as one member of one group, gives them to the core, and sends what the core
 * asks for. What cannot be sent at once because a queue is full waits in an outbox; while anything waits there, or
 * max_open requests are open, requests are not polled (they stay in the transport, which is the backpressure), but
 * results always are. So the coordinator never waits for a worker, and workers may wait for the coordinator: no cycle.
 *
 * A remote verifier is asked by threads of its own (asker.h); its answers come in as results do.
 *
 * A request is acked after its verdict was taken by the transport; what a dead coordinator had open comes again.
 * Commits (bus_commit) close each step, so that a transport with transactions can make verdicts and acks true together.
 */
#include "coordinator/asker.h"
#include "coordinator/internal.h"

#include "lib/base/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 256, MAX_WAIT_MS = 500, FULL_WAIT_MS = 2, DEFAULT_OPEN = 64 };
enum { RESULTS, REQUESTS, N_TOPICS }; /* in the subscription */

/* A message that was produced or waits to be. */
struct outgoing {
    char topic[64];
    char key[40];
    struct bus_out out;
    struct bus_message *done; /* acked when it is out; NULL: nothing */
    char value[];
};

struct coordinator {
    struct coordinator_config config;
    struct bus_consumer *consumer;
    struct core *core;
    struct asker *asker; /* NULL: no remote verifier */
    GQueue outbox;       /* of struct outgoing */
    struct msg_buffer buffer;
    enum err_code failure; /* of an action */
    atomic_int stopping;   /* 0, 1 finish what is open, 2 at once */
    pthread_mutex_t lock;
    struct coordinator_stats published; /* under the lock */
};

/* --- actions of the core --- */

static void enqueue(struct coordinator *c, const char *topic, struct msg_key key, const void *bytes, size_t len,
                    struct bus_message *done)
{
    struct outgoing *item = malloc(sizeof *item + len);
    if (!item) {
        c->failure = ERR_NOMEM;
        return;
    }
    g_strlcpy(item->topic, topic, sizeof item->topic);
    int key_len = snprintf(item->key, sizeof item->key, "%d-%lld", key.partition, (long long)key.offset);
    memcpy(item->value, bytes, len);
    item->out = (struct bus_out){.topic = item->topic,
                                 .partition = BUS_ANY_PARTITION,
                                 .key = item->key,
                                 .key_len = (uint32_t)key_len,
                                 .value = item->value,
                                 .len = len};
    item->done = done;
    g_queue_push_tail(&c->outbox, item);
}

static void on_task(void *ctx, const struct msg_task *task)
{
    struct coordinator *c = ctx;
    char topic[64];
    snprintf(topic, sizeof topic, "%s%s", BUS_TASKS_PREFIX, task->family);
    enum err_code code = msg_encode_task(&c->buffer, task);
    if (code)
        c->failure = code;
    else
        enqueue(c, topic, task->key, c->buffer.bytes, c->buffer.len, NULL);
}

/* Leave out what may be left out, in this order, until the verdict can be sent. */
static enum err_code encode_smaller(struct coordinator *c, const struct msg_verdict *verdict)
{
    struct msg_verdict smaller = *verdict;
    smaller.candidates = NULL;
    smaller.n_candidates = smaller.chosen = 0;
    smaller.gold = smaller.meta = NULL;
    smaller.status = MSG_STATUS_FAILED;
    smaller.reason = "verdict_too_large";
    smaller.message = "the verdict is larger than a message may be";
    return msg_encode_verdict(&c->buffer, &smaller);
}

static void on_verdict(void *ctx, void *token, const struct msg_verdict *verdict)
{
    struct coordinator *c = ctx;
    enum err_code code = msg_encode_verdict(&c->buffer, verdict);
    if (code == ERR_LIMIT_BYTES) code = encode_smaller(c, verdict);
    if (code)
        c->failure = code;
    else
        enqueue(c, BUS_VERDICTS, verdict->key, c->buffer.bytes, c->buffer.len, token);
}

/* To the dead-letter topic, with where it stood and why. */
static void dead_letter(struct coordinator *c, struct bus_message *message, const struct err *why)
{
    char partition[16], offset[24];
    snprintf(partition, sizeof partition, "%d", message->partition);
    snprintf(offset, sizeof offset, "%lld", (long long)message->offset);
    const struct bus_header headers[] = {
        {"x-dlq-topic", message->topic, (uint32_t)strlen(message->topic)},
        {"x-dlq-partition", partition, (uint32_t)strlen(partition)},
        {"x-dlq-offset", offset, (uint32_t)strlen(offset)},
        {"x-dlq-code", err_name(why->code), (uint32_t)strlen(err_name(why->code))},
        {"x-dlq-message", why->text, (uint32_t)strlen(why->text)},
    };
    struct bus_out out = {.topic = BUS_DLQ,
                          .partition = BUS_ANY_PARTITION,
                          .key = message->key,
                          .key_len = message->key_len,
                          .value = message->value,
                          .len = message->len,
                          .headers = headers,
                          .n_headers = G_N_ELEMENTS(headers)};
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

static bool on_verify(void *ctx, const struct core_question *question)
{
    struct coordinator *c = ctx;
    return asker_put(c->asker, question);
}

/* --- set up --- */

/* ERR_OK also when none is configured. */
static enum err_code open_verifier(struct coordinator *c, struct err *err)
{
    if (!c->config.verifier) return ERR_OK;
    struct asker_config config = {
        .bus = c->config.bus, .scorer = c->config.verifier, .threads = c->config.verifier_threads};
    return asker_new(&config, &c->asker, err);
}

enum err_code coordinator_new(const struct coordinator_config *config, struct coordinator **out, struct err *err)
{
    static const char *const topics[N_TOPICS] = {[RESULTS] = BUS_RESULTS, [REQUESTS] = BUS_REQUESTS};
    *out = NULL;
    struct coordinator *c = calloc(1, sizeof *c);
    if (!c) return err_set(err, ERR_NOMEM, "no memory for a coordinator");
    c->config = *config;
    if (!c->config.max_open) c->config.max_open = DEFAULT_OPEN;
    g_queue_init(&c->outbox);
    pthread_mutex_init(&c->lock, NULL);
    atomic_init(&c->stopping, 0);
    struct core_config core = {.models = config->models, .defaults = config->defaults};
    struct core_actions actions = {c, on_task, on_verdict, on_dead, config->verifier ? on_verify : NULL};
    c->core = core_new(&core, &actions);
    enum err_code code = c->core ? ERR_OK : err_set(err, ERR_NOMEM, "no memory for a coordinator");
    if (!code) code = open_verifier(c, err);
    if (!code)
        code = bus_subscribe(config->bus, config->group ? config->group : "assay-coordinator", topics, N_TOPICS,
                             &c->consumer, err);
    if (code) {
        coordinator_free(c);
        return code;
    }
    *out = c;
    return ERR_OK;
}

void coordinator_free(struct coordinator *coordinator)
{
    if (!coordinator) return;
    asker_free(coordinator->asker);
    core_free(coordinator->core);
    g_queue_clear_full(&coordinator->outbox, free);
    bus_unsubscribe(coordinator->consumer);
    msg_buffer_free(&coordinator->buffer);
    pthread_mutex_destroy(&coordinator->lock);
    free(coordinator);
}

void coordinator_stop(struct coordinator *coordinator, bool now)
{
    atomic_store(&coordinator->stopping, now ? 2 : 1);
    if (now) bus_drain(coordinator->consumer);
}

void coordinator_stats(struct coordinator *coordinator, struct coordinator_stats *out)
{
    pthread_mutex_lock(&coordinator->lock);
    *out = coordinator->published;
    pthread_mutex_unlock(&coordinator->lock);
}

static void publish(struct coordinator *c)
{
    struct core_stats core = core_get_stats(c->core);
    pthread_mutex_lock(&c->lock);
    c->published = (struct coordinator_stats){.requests = core.requests,
                                              .verdicts = core.verdicts,
                                              .rejected = core.dead,
                                              .tasks = core.tasks,
                                              .results = core.results,
                                              .stray = core.stray,
                                              .deadlines = core.deadlines,
                                              .verifications = core.verifications,
                                              .verifier_failures = core.verifier_failures};
    memcpy(c->published.by_status, core.by_status, sizeof core.by_status);
    pthread_mutex_unlock(&c->lock);
}

/* --- the loop --- */

static bool is_waiting(const struct coordinator *c)
{
    return c->outbox.head != NULL;
}

/* Send what waits, as far as there is room. */
static enum err_code flush(struct coordinator *c)
{
    while (is_waiting(c)) {
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
        if (code) return code;
    }
    return ERR_OK;
}

/* "<partition>-<offset>": the key of whatever belongs to a request. */
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

static void take(struct coordinator *c, struct bus_message *message)
{
    int64_t now = bus_now_ns(c->config.bus);
    struct msg_key key = {message->partition, message->offset};
    if (message->topic_index == RESULTS)
        take_result(c, message, now);
    else
        core_request(c->core, key, message, message->value, message->len, message->time_ns, now);
}

/* Results always; requests while there is room for another one. */
static uint32_t wanted(const struct coordinator *c)
{
    bool more = core_open_requests(c->core) < c->config.max_open && !is_waiting(c) && !atomic_load(&c->stopping);
    return 1U << RESULTS | (more ? 1U << REQUESTS : 0);
}

static int64_t wait_ms(const struct coordinator *c, int64_t deadline)
{
    if (is_waiting(c)) return FULL_WAIT_MS;
    if (!deadline) return MAX_WAIT_MS;
    int64_t left = (deadline - bus_now_ns(c->config.bus)) / 1000000 + 1;
    return left < 0 ? 0 : left < MAX_WAIT_MS ? left : MAX_WAIT_MS;
}

static bool is_done(const struct coordinator *c)
{
    int stopping = atomic_load(&c->stopping);
    return stopping == 2 || (stopping == 1 && core_open_requests(c->core) == 0 && !is_waiting(c));
}

static enum err_code step(struct coordinator *c)
{
    struct bus_message *messages[BATCH];
    uint32_t n;
    int64_t deadline = core_tick(c->core, bus_now_ns(c->config.bus));
    enum err_code code = flush(c);
    if (code || is_done(c)) return code;
    uint32_t want = wanted(c);
    uint32_t max = want >> REQUESTS & 1 ? c->config.max_open - core_open_requests(c->core) : BATCH;
    code = bus_poll(c->consumer, want, messages, max < BATCH ? max : BATCH, wait_ms(c, deadline), &n);
    for (uint32_t i = 0; i < n; i++) take(c, messages[i]);
    if (!code) code = c->failure;
    publish(c); /* before the verdicts, so that whoever has the last one finds it counted */
    if (!code) code = flush(c);
    if (!code && n) code = bus_commit(c->consumer);
    return code;
}

enum err_code coordinator_run(struct coordinator *coordinator, struct err *err)
{
    enum err_code code = ERR_OK;
    while (!code && !is_done(coordinator)) code = step(coordinator);
    if (code == ERR_CLOSED && atomic_load(&coordinator->stopping)) code = ERR_OK;
    publish(coordinator);
    return code ? err_set(err, code, "the coordinator stopped: %s", err_meaning(code)) : ERR_OK;
}
