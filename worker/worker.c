#include "worker/internal.h"

#include "lib/base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 12 * VSIG_FAMILY_COUNT, POLL_MS = 500, BATCH_BYTES = 128 << 20, ANSWER_BYTES = 32 << 20 };

/* A polled message and what it holds. */
struct polled_task {
    struct bus_message *message;
    struct msg_task *task; /* NULL: could not be read */
    enum err_code code;
    struct err err;
    int family;
};

static enum err_code subscribe(struct worker *worker, struct err *err)
{
    char names[VSIG_FAMILY_COUNT][sizeof BUS_TASKS_PREFIX + MSG_MAX_NAME];
    const char *topics[VSIG_FAMILY_COUNT];
    const struct worker_config *config = &worker->config;
    uint32_t asked = config->n_families ? config->n_families : VSIG_FAMILY_COUNT, n = 0;
    if (asked > VSIG_FAMILY_COUNT) return err_set(err, ERR_CONFIG, "there are only %d families", VSIG_FAMILY_COUNT);
    for (uint32_t i = 0; i < asked; i++) {
        int family = config->n_families ? vsig_family_by_name(config->families[i]) : (int)i;
        if (family < 0) return err_set(err, ERR_CONFIG, "there is no family '%.40s'", config->families[i]);
        if (family == VSIG_LLM && !config->llm && config->n_families)
            return err_set(err, ERR_CONFIG, "the family llm asks a language model, and no --llm-endpoint is given");
        if (family == VSIG_LLM && !config->llm) continue;
        snprintf(names[n], sizeof names[n], "%s%s", BUS_TASKS_PREFIX, vsig_family_name((enum vsig_family)family));
        topics[n] = names[n];
        worker->families[n++] = family;
    }
    worker->n_families = n;
    worker->asks_models = n == 1 && worker->families[0] == VSIG_LLM;
    const char *const outputs[] = {BUS_RESULTS, BUS_TASKS_DLQ};
    enum err_code code = bus_know_topics(config->bus, outputs, sizeof outputs / sizeof *outputs, err);
    if (code) return code;
    return bus_subscribe(config->bus, config->group ? config->group : WORKER_GROUP, topics, n, &worker->consumer, err);
}

enum err_code worker_new(const struct worker_config *config, struct worker **out, struct err *err)
{
    *out = NULL;
    struct worker *worker = calloc(1, sizeof *worker);
    if (!worker) return err_set(err, ERR_NOMEM, "no memory for a worker");
    worker->config = *config;
    atomic_init(&worker->stopping, false);
    pthread_mutex_init(&worker->lock, NULL);
    arena_init(&worker->batch, BATCH_BYTES);
    arena_init(&worker->answers, ANSWER_BYTES);
    enum err_code code = workspace_init(&worker->workspace, &worker->config, &worker->stats);
    if (!code) code = subscribe(worker, err);
    if (code) {
        worker_free(worker);
        return code;
    }
    *out = worker;
    return ERR_OK;
}

void worker_free(struct worker *worker)
{
    if (!worker) return;
    dispatch_give_permit(worker);
    bus_unsubscribe(worker->consumer);
    workspace_free(&worker->workspace);
    for (unsigned i = 0; i < OUTBOX; i++) msg_buffer_free(&worker->outbox.buffers[i]);
    arena_free(&worker->batch);
    arena_free(&worker->answers);
    pthread_mutex_destroy(&worker->lock);
    free(worker);
}

void worker_stop(struct worker *worker)
{
    atomic_store(&worker->stopping, true);
    bus_drain(worker->consumer);
}

static void publish(struct worker *worker)
{
    const struct executor *executor = worker->workspace.handles.executor;
    if (executor) worker->stats.executors = executor_stats(executor);
    pthread_mutex_lock(&worker->lock);
    worker->published = worker->stats;
    pthread_mutex_unlock(&worker->lock);
}

void worker_stats(struct worker *worker, struct worker_stats *into)
{
    pthread_mutex_lock(&worker->lock);
    const struct worker_stats *own = &worker->published;
    into->tasks += own->tasks;
    into->answered += own->answered;
    into->late += own->late;
    into->retried += own->retried;
    into->dead += own->dead;
    into->isolated += own->isolated;
    into->failed += own->failed;
    into->busy_ns += own->busy_ns;
    into->parse_ns += own->parse_ns;
    into->execute_ns += own->execute_ns;
    into->prepare_ns += own->prepare_ns;
    into->candidates += own->candidates;
    into->executed += own->executed;
    into->executors.started += own->executors.started;
    into->executors.killed += own->executors.killed;
    into->executors.crashed += own->executors.crashed;
    for (unsigned i = 0; i < VSIG_ID_END; i++) {
        into->signal_ns[i] += own->signal_ns[i];
        into->signal_runs[i] += own->signal_runs[i];
        into->signal_fired[i] += own->signal_fired[i];
        into->signal_unavailable[i] += own->signal_unavailable[i];
    }
    for (unsigned i = 0; i < ERR_COUNT; i++) into->dead_by[i] += own->dead_by[i];
    for (unsigned i = 0; i < VSIG_FAMILY_COUNT; i++) metrics_histogram_add(&into->families[i], &own->families[i]);
    pthread_mutex_unlock(&worker->lock);
}

struct worker_liveness worker_liveness(const struct worker *worker)
{
    return (struct worker_liveness){atomic_load(&worker->heartbeat_ns), atomic_load(&worker->in_flight)};
}

static void heartbeat(struct worker *worker, uint32_t in_flight)
{
    atomic_store_explicit(&worker->in_flight, in_flight, memory_order_relaxed);
    atomic_store_explicit(&worker->heartbeat_ns, clock_now_ns(), memory_order_relaxed);
}

static void read_item(struct worker *worker, struct bus_message *message, struct polled_task *out)
{
    *out = (struct polled_task){.message = message, .family = -1};
    out->code = msg_decode_task(&worker->batch, message->value, message->len, &out->task, &out->err);
    if (!out->code) out->code = worker_policy(&worker->config.databases, &worker->batch, out->task, &out->err);
    if (out->code) out->task = NULL;
    if (out->task) out->family = vsig_family_by_name(out->task->family);
}

static int compare(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

/* Tasks of one candidate together, those of one request too, in the order of the requests. The execution family goes
 * first: whether the engine takes the candidate then costs the others nothing. Unreadable ones last. */
static int by_candidate(const void *left, const void *right)
{
    const struct polled_task *a = left, *b = right;
    if (!a->task || !b->task) return (b->task != NULL) - (a->task != NULL);
    int sign = compare(a->task->key.partition, b->task->key.partition);
    if (!sign) sign = compare(a->task->key.offset, b->task->key.offset);
    if (!sign) sign = compare(a->task->candidate, b->task->candidate);
    if (!sign) sign = memcmp(a->task->hash, b->task->hash, sizeof a->task->hash);
    if (!sign) sign = (b->family == VSIG_EXECUTION) - (a->family == VSIG_EXECUTION);
    return sign ? sign : compare(a->family, b->family);
}

static enum err_code run_batch(struct worker *worker, struct bus_message **messages, uint32_t n, struct err *err)
{
    struct polled_task items[BATCH];
    enum err_code code = ERR_OK;
    arena_reset(&worker->batch);
    for (uint32_t i = 0; i < n; i++) read_item(worker, messages[i], &items[i]);
    qsort(items, n, sizeof *items, by_candidate);
    uint32_t done = 0;
    for (; done < n && !code; done++) {
        struct err why = items[done].err;
        heartbeat(worker, n - done);
        arena_reset(&worker->answers);
        code = dispatch(worker, items[done].message, items[done].task, items[done].code, &why);
        if (code && err) *err = why;
    }
    dispatch_give_permit(worker);
    for (; done < n; done++) dispatch_nack(worker, items[done].message, 0);
    enum err_code flushed = dispatch_flush(worker, code ? NULL : err);
    publish(worker);
    return code ? code : flushed;
}

enum err_code worker_run(struct worker *worker, struct err *err)
{
    struct bus_message *messages[BATCH];
    enum err_code code = ERR_OK;
    while (!code && !atomic_load(&worker->stopping)) {
        uint32_t n;
        heartbeat(worker, 0);
        /* A task that takes seconds holds up nothing that another thread could take. */
        code = bus_poll(worker->consumer, 0, messages, worker->asks_models ? 1 : BATCH, POLL_MS, &n);
        if (code == ERR_CLOSED) return ERR_OK;
        if (!code && n) code = run_batch(worker, messages, n, err);
    }
    return code;
}
