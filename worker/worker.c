/* DESIGN: creates, subscribes and stops a worker. lanes.c has its threads, and dispatch.c the outcome of tasks.
 *
 * A worker subscribes to the topics of its families. It also subscribes to the topic of all families if it serves them
 * all and the topic exists. A worker that serves only language models has one lane, because its threads wait for the
 * models. Statistics are summed over the lanes on request.
 */
#include "worker/internal.h"

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "proto/bus/range.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH_BYTES = 128 << 20, ANSWER_BYTES = 32 << 20 };

/* Decides whether to read the topic with tasks of all families. The worker reads it if the topic exists and the worker
 * serves all families. A worker that started before the topic existed works without it. */
static enum err_code find_topic_of_all(const struct worker *worker, bool *out, struct err *err)
{
    uint32_t served = 1U << VSIG_LLM; /* the family llm has its own topic */
    for (uint32_t i = 0; i < worker->n_families; i++) served |= 1U << worker->families[i];
    *out = served == (1U << VSIG_FAMILY_COUNT) - 1;
    /* other transports create topics automatically */
    if (!*out || !worker->config.bus->transport->shared) return ERR_OK;
    enum err_code code = range_topic_exists(worker->config.bus, BUS_TASKS_ALL, err);
    if (code != ERR_CONFIG) return code;
    log_event(LOG_LEVEL_INFO, "worker", NULL, 0,
              "topic " BUS_TASKS_ALL
              " does not exist: coordinators with --task-messages request need it (`assay topics create`)");
    *out = false;
    return ERR_OK;
}

static enum err_code subscribe(struct worker *worker, struct err *err)
{
    char names[VSIG_FAMILY_COUNT][sizeof BUS_TASKS_PREFIX + MSG_MAX_NAME];
    const char *topics[VSIG_FAMILY_COUNT + 1];
    const struct worker_config *config = &worker->config;
    uint32_t asked = config->n_families ? config->n_families : VSIG_FAMILY_COUNT, n = 0;
    if (asked > VSIG_FAMILY_COUNT)
        return err_set(err, ERR_CONFIG, "too many families: only %d exist", VSIG_FAMILY_COUNT);
    for (uint32_t i = 0; i < asked; i++) {
        int family = config->n_families ? vsig_family_by_name(config->families[i]) : (int)i;
        if (family < 0) return err_set(err, ERR_CONFIG, "unknown family '%.40s'", config->families[i]);
        if (family == VSIG_LLM && !config->llm && config->n_families)
            return err_set(err, ERR_CONFIG, "the family llm needs a language model" ERR_HINT "set --llm-endpoint");
        if (family == VSIG_LLM && !config->llm) continue;
        snprintf(names[n], sizeof names[n], "%s%s", BUS_TASKS_PREFIX, vsig_family_name((enum vsig_family)family));
        topics[n] = names[n];
        worker->families[n++] = family;
    }
    worker->n_families = n;
    worker->asks_models = n == 1 && worker->families[0] == VSIG_LLM;
    const char *const outputs[] = {BUS_RESULTS, BUS_TASKS_DLQ};
    enum err_code code = bus_know_topics(config->bus, outputs, sizeof outputs / sizeof *outputs, err);
    bool reads_all = false;
    if (!code) code = find_topic_of_all(worker, &reads_all, err);
    if (code) return code;
    if (reads_all) topics[n++] = BUS_TASKS_ALL;
    return bus_subscribe(config->bus, config->group ? config->group : WORKER_GROUP, topics, n, &worker->consumer, err);
}

static enum err_code lane_init(struct lane *lane, struct worker *worker)
{
    lane->worker = worker;
    atomic_init(&lane->in_hand, IN_HAND_NONE);
    arena_init(&lane->answers, ANSWER_BYTES);
    workspace_init(&lane->workspace, &worker->config, &lane->handles, &lane->stats);
    workspace_init(&lane->rows, &worker->config, &lane->handles, &lane->stats);
    return handles_init(&lane->handles, &worker->config);
}

static void lane_free(struct lane *lane)
{
    dispatch_give_permit(lane);
    workspace_free(&lane->workspace);
    workspace_free(&lane->rows);
    handles_free(&lane->handles);
    arena_free(&lane->answers);
}

enum err_code worker_make(const struct worker_config *config, uint32_t n_lanes, struct worker **out)
{
    struct worker *worker = *out = calloc(1, sizeof *worker);
    if (!worker) return ERR_NOMEM;
    worker->config = *config;
    pthread_mutex_init(&worker->turn, NULL);
    pthread_mutex_init(&worker->lock, NULL);
    clock_cond_init(&worker->followed);
    clock_cond_init(&worker->returned);
    worker->lanes = calloc(n_lanes, sizeof *worker->lanes);
    worker->batches = calloc(n_lanes + 1, sizeof *worker->batches);
    enum err_code code = worker->lanes && worker->batches ? ERR_OK : ERR_NOMEM;
    for (uint32_t i = 0; worker->batches && i < n_lanes + 1; i++) arena_init(&worker->batches[i].arena, BATCH_BYTES);
    while (!code && worker->n_lanes < n_lanes) code = lane_init(&worker->lanes[worker->n_lanes++], worker);
    worker->leader = worker->lanes;
    worker->at_a_time = BATCH;
    return code;
}

/* Returns the number of lanes. A worker that serves only language models gets no additional lanes for slow
 * candidates. */
static uint32_t count_lanes(const struct worker_config *config)
{
    bool asks_models = config->n_families == 1 && vsig_family_by_name(config->families[0]) == VSIG_LLM;
    return asks_models ? 1 : 1 + config->slow_threads;
}

enum err_code worker_new(const struct worker_config *config, struct worker **out, struct err *err)
{
    enum err_code code = worker_make(config, count_lanes(config), out);
    if (code) err_set(err, code, "no memory for a worker");
    if (!code) code = subscribe(*out, err);
    if (!code) return ERR_OK;
    worker_free(*out);
    *out = NULL;
    return code;
}

void worker_free(struct worker *worker)
{
    if (!worker) return;
    bus_unsubscribe(worker->consumer);
    for (uint32_t i = 0; i < worker->n_lanes; i++) lane_free(&worker->lanes[i]);
    for (uint32_t i = 0; worker->batches && i <= worker->n_lanes; i++) arena_free(&worker->batches[i].arena);
    for (unsigned i = 0; i < OUTBOX; i++) msg_buffer_free(&worker->outbox.buffers[i]);
    pthread_cond_destroy(&worker->followed);
    pthread_cond_destroy(&worker->returned);
    pthread_mutex_destroy(&worker->turn);
    pthread_mutex_destroy(&worker->lock);
    free(worker->batches);
    free(worker->lanes);
    free(worker);
}

void worker_stop(struct worker *worker)
{
    atomic_store(&worker->stopping, true);
    bus_drain(worker->consumer);
}

static void add_stats(struct worker_stats *into, const struct worker_stats *own)
{
    into->tasks += own->tasks;
    into->answered += own->answered;
    into->late += own->late;
    into->retried += own->retried;
    into->dead += own->dead;
    into->slow += own->slow;
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
    metrics_histogram_add(&into->task_reads, &own->task_reads);
}

void worker_stats(struct worker *worker, struct worker_stats *into)
{
    pthread_mutex_lock(&worker->lock);
    for (uint32_t i = 0; i < worker->n_lanes; i++) add_stats(into, &worker->lanes[i].published);
    pthread_mutex_unlock(&worker->lock);
    into->slow_running += atomic_load(&worker->slow_running);
}

struct worker_liveness worker_liveness(const struct worker *worker)
{
    int64_t oldest_ns = 0;
    for (uint32_t i = 0; i < worker->n_lanes; i++) {
        int64_t own_ns = atomic_load(&worker->lanes[i].heartbeat_ns);
        if (own_ns && (!oldest_ns || own_ns < oldest_ns)) oldest_ns = own_ns;
    }
    return (struct worker_liveness){oldest_ns, atomic_load(&worker->in_flight)};
}

enum err_code worker_run(struct worker *worker, struct err *err)
{
    return lanes_run(worker, err);
}
