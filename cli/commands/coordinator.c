/* assay coordinator: runs a coordinator of a fleet as a process.
 *
 * DESIGN. A run of the coordinator ends if it is fenced, or if the outcome of a transaction is unknown. Its state is in
 * the topics. Without a supervisor the process would then stay down, even if no other process has taken its name. For
 * example, a static member can fence itself if brokers were unreachable for longer than its session. It rejoins, and
 * then the answer to its earlier join arrives.
 *
 * So the process restarts itself by execve, and nothing in memory survives. No producer with a transaction of unknown
 * outcome remains (I4), and no membership is used again (I3). The state is read back from the topics (I7).
 * docs/architecture.md lists these invariants.
 *
 * Before it joins again, the process waits until the group has no member of its name. The old member of the process
 * disappears when its session times out. If the name stays taken, another process has replaced this one, and this one
 * exits.
 *
 * Rejected: taking the name back at once. Two processes with one --instance would fence each other for ever.
 */
#include "cli/settings/engine_settings.h"
#include "cli/settings/fleet_settings.h"
#include "lib/base/anew.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "proto/bus/topics.h"
#include "scoring/models.h"
#include "worker/cache_verdicts.h"

enum { ASK_MS = 1000, MAX_PAUSE_MS = 30000, SESSION_MS = 15000, MARGIN_MS = 5000 };

/* A coordinator and the result of its run. */
struct process {
    struct coordinator *coordinator;
    _Atomic enum err_code ended;
};

static enum err_code run(void *ctx, struct err *err)
{
    struct process *process = ctx;
    enum err_code code = coordinator_run(process->coordinator, err);
    process->ended = code;
    return code;
}

static void stop(void *ctx)
{
    const struct process *process = ctx;
    if (process->ended == ERR_OK) anew_forbid(); /* a signal requested the stop */
    coordinator_stop(process->coordinator, false);
}

static enum err_code open_verdicts(const struct cli *cli, struct cache_verdicts **out, struct err *err)
{
    struct cache_config redis;
    if (!cli->settings.verdicts.on) return ERR_OK;
    enum err_code code = fleet_settings_verdicts(cli, &redis, err);
    return code ? code : cache_verdicts_open(&redis, out, err);
}

static enum err_code open_coordinator(struct cli *cli, struct bus *bus, struct tracer *tracer,
                                      const struct coordinator_cache *cache, struct scoring_models **models,
                                      struct examples_encoder **encoder, struct coordinator **out, struct err *err)
{
    struct engine_config judge;
    engine_settings(cli, &judge);
    engine_settings_polisher(cli, &judge);
    const struct models_files files = {judge.models_dir, judge.label_model, judge.classifier, judge.verifier,
                                       judge.calibration};
    enum err_code code = models_load(&files, models, err);
    if (!code && judge.shots.path && judge.encoder.endpoint) code = examples_encoder_open(&judge.encoder, encoder, err);
    if (code) return code;
    judge.shots.encoder = *encoder;
    struct coordinator_config config = {
        .bus = bus,
        .group = cli->settings.coordinator.group,
        .instance = cli->settings.coordinator.instance,
        .from = cli->settings.coordinator.from,
        .models = *models,
        .defaults = judge.defaults,
        .max_open = (uint32_t)cli->settings.coordinator.max_open,
        .producers = (uint32_t)cli->settings.coordinator.producers,
        .rows_later = cli->settings.coordinator.rows_later,
        .messages = (enum coordinator_messages)coordinator_messages_by_name(cli->settings.coordinator.task_messages),
        .verifier = judge.remote.backend ? &judge.remote : NULL,
        .verifier_threads = judge.remote_threads,
        .corrector = judge.corrector.endpoint ? &judge.corrector : NULL,
        .corrector_threads = judge.corrector_threads,
        .corrector_per_minute = judge.corrector_per_minute,
        .corrector_rounds = judge.corrector_rounds,
        .shots = judge.shots,
        .llm = judge.consult,
        .llm_when = judge.llm_when,
        .ignore_drift = judge.ignore_drift,
        .polisher = judge.polisher.endpoint ? &judge.polisher : NULL,
        .polisher_threads = judge.polisher_threads,
        .tracer = tracer,
        .cache = cache->ctx ? cache : NULL,
        .max_kept_bytes = (size_t)cli->settings.verdicts.max_bytes,
    };
    return coordinator_new(&config, out, err);
}

static int64_t heartbeat_ns(void *ctx)
{
    const struct process *process = ctx;
    return coordinator_heartbeat_ns(process->coordinator);
}

static void collect(void *ctx, struct metrics *metrics)
{
    struct coordinator_stats stats;
    coordinator_stats(ctx, &stats);
    fleet_metrics_coordinator(metrics, &stats);
}

static int64_t restoring_ns(void *ctx)
{
    struct coordinator_stats stats;
    coordinator_stats(ctx, &stats);
    return stats.once.restoring_ns;
}

/* --- restarting -------------------------------------------------------------------------------------------------- */

/* Returns the session timeout, after which the group removes a dead member. */
static int64_t session_ms(const struct cli *cli)
{
    static const char NAME[] = "session.timeout.ms=";
    const struct string_list *list = &cli->settings.kafka.properties;
    int64_t ms = SESSION_MS;
    for (unsigned i = 0; i < list->n; i++)
        if (g_str_has_prefix(list->items[i], NAME)) ms = g_ascii_strtoll(list->items[i] + strlen(NAME), NULL, 10);
    return ms;
}

/* Asks the brokers once whether the group has a member of this name. Returns an error of class retry if the brokers are
 * unreachable. */
static enum err_code ask_group(struct cli *cli, bool *taken, struct err *err)
{
    struct bus *bus = NULL;
    const struct bus_once once = {.group = cli->settings.coordinator.group,
                                  .instance = cli->settings.coordinator.instance};
    enum err_code code = fleet_settings_open_bus(cli, &bus, err);
    if (!code) code = topics_name_is_taken(bus, &once, taken, err);
    bus_close(bus);
    return code;
}

/* Waits until the group has no member of this name. Returns ERR_CANCELLED after a signal, and ERR_CLOSED if the name
 * stays taken. */
static enum err_code wait_for_name(struct cli *cli, struct err *err)
{
    int64_t patience_ns = (2 * session_ms(cli) + MARGIN_MS) * 1000000, taken_since_ns = 0;
    int64_t pause_ms = MIN((int64_t)ASK_MS << MIN(anew_count() - 1, 5U), MAX_PAUSE_MS);
    while (!fleet_wait(pause_ms)) {
        bool taken = true;
        enum err_code code = ask_group(cli, &taken, err);
        pause_ms = ASK_MS;
        if (code && err_class(code) != ERR_CLASS_RETRY) return code;
        if (!code && !taken) return ERR_OK;
        if (code || !taken_since_ns) taken_since_ns = code ? 0 : clock_now_ns();
        if (taken_since_ns && clock_now_ns() - taken_since_ns > patience_ns)
            return err_set(err, ERR_CLOSED, "another process uses --instance %s", cli->settings.coordinator.instance);
    }
    return ERR_CANCELLED;
}

/* True if the process restarts after a run with this result. If the brokers are unreachable, it restarts only if it has
 * restarted before. */
static bool begins_anew(enum err_code code)
{
    return code == ERR_CLOSED || (anew_count() && err_class(code) == ERR_CLASS_RETRY);
}

static void begin_anew(enum err_code code)
{
    const struct log_field fields[] = {log_field_text("code", err_name(code)),
                                       log_field_number("times", anew_count() + 1)};
    log_event(LOG_LEVEL_WARN, "coordinator", fields, 2, "restarting: the state is read back from the log");
    anew_begin();
}

/* --- the process ------------------------------------------------------------------------------------------------- */

static int serve(struct cli *cli, enum err_code *ended)
{
    struct scoring_models *models = NULL;
    struct examples_encoder *encoder = NULL;
    struct cache_verdicts *verdicts = NULL;
    struct process process = {0};
    struct bus *bus = NULL;
    struct otlp *otlp = NULL;
    struct health *health = NULL;
    struct err err = {0};
    int exit_code;
    enum err_code code = fleet_settings_open_bus(cli, &bus, &err);
    if (!code) code = fleet_settings_open_otlp(cli, "coordinator", &otlp, &err);
    if (!code) code = open_verdicts(cli, &verdicts, &err);
    const struct coordinator_cache cache = {verdicts, cache_verdicts_find, cache_verdicts_keep};
    if (!code)
        code = open_coordinator(cli, bus, otlp_tracer(otlp), &cache, &models, &encoder, &process.coordinator, &err);
    const struct fleet_part part = {"coordinator", &process, run, stop, heartbeat_ns};
    struct health_config health_of = {.name = "coordinator",
                                      .parts = &part,
                                      .n_parts = 1,
                                      .bus = bus,
                                      .otlp = otlp,
                                      .ctx = process.coordinator,
                                      .collect = collect,
                                      .restoring_ns = restoring_ns};
    if (!code) code = fleet_settings_open_health(cli, &health_of, &health, &err);
    if (code)
        exit_code = complain_err("coordinator", &err);
    else
        exit_code = fleet_run(&part, 1, program_version(), cli->settings.coordinator.drain_ms);
    *ended = code ? code : process.ended;
    health_close(health);
    coordinator_free(process.coordinator);
    cache_verdicts_close(verdicts);
    otlp_close(otlp);
    examples_encoder_close(encoder);
    bus_close(bus);
    models_free(models);
    return exit_code;
}

static int coordinator_command(struct cli *cli)
{
    struct err err = {0};
    anew_allow();
    fleet_settings_start(cli);
    enum err_code ended = anew_count() ? wait_for_name(cli, &err) : ERR_OK;
    if (ended == ERR_CANCELLED) return FLEET_EXIT_ENDED;
    if (ended) return complain_err("coordinator", &err);
    int exit_code = serve(cli, &ended);
    if (exit_code != FLEET_EXIT_ENDED && begins_anew(ended)) begin_anew(ended);
    return exit_code;
}

const struct command command_coordinator = {
    .name = "coordinator",
    .guide = "fleet.md",
    .sentence = "judge requests from Kafka, with the help of workers",
    .args = "--servers HOST:PORT",
    .description =
        "Reads requests from the topic assay.requests and sends their candidates to workers, as one task per family of "
        "signals. It writes exactly one verdict per request to assay.verdicts, even if processes crash. Read that "
        "topic with isolation.level=read_committed.\n\n"
        "A coordinator opens no database. Several coordinators share the partitions of the requests. Each needs a "
        "unique --instance that stays the same after a restart, such as the ordinal of a StatefulSet. A process that "
        "starts with the instance name of a running process replaces that process.\n\n"
        "Create the topics first, with `assay topics create`. After SIGTERM, a coordinator accepts no new requests, "
        "finishes the open requests and exits. After --drain-ms it exits at once, and another coordinator takes over "
        "the open requests.",
    .examples = "assay coordinator --servers kafka:9092\n"
                "assay coordinator --servers kafka:9092 --instance 1\n"
                "assay coordinator --config fleet.yaml --policy abstain",
    .main_flags = "servers instance group max-open policy drain-ms verdict-cache",
    .groups =
        (const struct option_group *const[]){&options_coordinator, &options_kafka, &options_judge, &options_verifier,
                                             &options_repair, &options_encoder, &options_consult, &options_corrector,
                                             &options_polish, &options_redis, &options_verdicts, &options_observe,
                                             &options_general, NULL},
    .min_args = 0,
    .max_args = 0,
    .run = coordinator_command,
};
