/* assay coordinator: the deciding half of a fleet, as a process. */
#include "cli/settings/engine_settings.h"
#include "cli/settings/fleet_settings.h"
#include "scoring/models.h"
#include "worker/cache_verdicts.h"

static enum err_code run(void *ctx, struct err *err)
{
    return coordinator_run(ctx, err);
}

static void stop(void *ctx)
{
    coordinator_stop(ctx, false);
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
    return coordinator_heartbeat_ns(ctx);
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

static int coordinator_command(struct cli *cli)
{
    struct scoring_models *models = NULL;
    struct examples_encoder *encoder = NULL;
    struct cache_verdicts *verdicts = NULL;
    struct coordinator *coordinator = NULL;
    struct bus *bus = NULL;
    struct otlp *otlp = NULL;
    struct health *health = NULL;
    struct err err = {0};
    int exit_code;
    fleet_settings_start(cli);
    enum err_code code = fleet_settings_open_bus(cli, &bus, &err);
    if (!code) code = fleet_settings_open_otlp(cli, "coordinator", &otlp, &err);
    if (!code) code = open_verdicts(cli, &verdicts, &err);
    const struct coordinator_cache cache = {verdicts, cache_verdicts_find, cache_verdicts_keep};
    if (!code) code = open_coordinator(cli, bus, otlp_tracer(otlp), &cache, &models, &encoder, &coordinator, &err);
    const struct fleet_part part = {"coordinator", coordinator, run, stop, heartbeat_ns};
    struct health_config health_of = {.name = "coordinator",
                                      .parts = &part,
                                      .n_parts = 1,
                                      .bus = bus,
                                      .otlp = otlp,
                                      .ctx = coordinator,
                                      .collect = collect,
                                      .restoring_ns = restoring_ns};
    if (!code) code = fleet_settings_open_health(cli, &health_of, &health, &err);
    if (code)
        exit_code = complain_err("coordinator", &err);
    else
        exit_code = fleet_run(&part, 1, program_version(), cli->settings.coordinator.drain_ms);
    health_close(health);
    coordinator_free(coordinator);
    cache_verdicts_close(verdicts);
    otlp_close(otlp);
    examples_encoder_close(encoder);
    bus_close(bus);
    models_free(models);
    return exit_code;
}

const struct command command_coordinator = {
    .name = "coordinator",
    .sentence = "open requests from Kafka, have workers judge them, decide",
    .args = "--servers HOST:PORT",
    .description =
        "Reads assay.requests, sends the candidates of each request to the workers, one task a family of signals, and "
        "writes exactly one verdict a request to assay.verdicts, whoever dies on the way (read it with "
        "isolation.level=read_committed). It opens no database. Run several: partitions of the requests are shared "
        "among them. Each needs an --instance of its own that stays the same over restarts, such as the ordinal of a "
        "StatefulSet: a process that starts under a name replaces the one that has it.\n\n"
        "`assay topics create` makes the topics first. SIGTERM takes nothing new, finishes what is open and leaves; "
        "after --drain-ms the process ends at once, and another coordinator takes over what was open.",
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
