/* assay worker: runs the workers of a fleet as a process. Threads share schema indexes and their cache in Redis. */
#include "cli/settings/denied_settings.h"
#include "cli/settings/engine_settings.h"
#include "cli/settings/fleet_settings.h"
#include "lib/base/log.h"
#include "lib/db/executor.h"
#include "worker/db_breakers.h"
#include "worker/db_states.h"
#include "worker/isolated.h"
#include "worker/permits.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

enum { MAX_WORDS = 1024, MAX_TASK = 64 << 20 };
#define TRIAL "ASSAY_TRIAL" /* environment variable of a child that judges one task: milliseconds until its deadline */

struct pool {
    struct bus *bus;
    struct schema_cache *schemas;
    struct cache *redis;
    struct breakers *breakers;
    struct permits *permits;
    struct db_states *states;
    struct examples *examples;
    struct examples_encoder *encoder;
    struct llm *llm;
    struct otlp *otlp;
    char *command_line; /* arguments of this process, each with its NUL; NULL if unknown */
    char *words[MAX_WORDS + 1];
    struct worker *workers[FLEET_MAX_PARTS];
    struct fleet_part parts[FLEET_MAX_PARTS];
    char names[FLEET_MAX_PARTS][16];
    uint32_t n;
};

static enum err_code run(void *ctx, struct err *err)
{
    return worker_run(ctx, err);
}

static void stop(void *ctx)
{
    worker_stop(ctx);
}

static int64_t heartbeat_ns(void *ctx)
{
    return worker_liveness(ctx).heartbeat_ns;
}

static void collect(void *ctx, struct metrics *metrics)
{
    struct pool *pool = ctx;
    struct worker_stats stats = {0};
    struct schema_cache_stats schemas;
    struct permits_stats permits;
    uint32_t in_flight = 0;
    for (uint32_t i = 0; i < pool->n; i++) {
        worker_stats(pool->workers[i], &stats);
        in_flight += worker_liveness(pool->workers[i]).in_flight;
    }
    schema_cache_get_stats(pool->schemas, &schemas);
    permits_get_stats(pool->permits, &permits);
    fleet_metrics_guards(metrics, &permits, breakers_opened(pool->breakers), breakers_open_now(pool->breakers));
    fleet_metrics_abandoned(metrics, pool->breakers);
    fleet_metrics_worker(metrics, &stats, in_flight);
    fleet_metrics_schemas(metrics, &schemas);
    if (pool->llm) {
        struct llm_stats llm;
        llm_get_stats(pool->llm, &llm);
        fleet_metrics_llm(metrics, &llm);
    }
    if (pool->redis) {
        struct cache_stats redis;
        cache_get_stats(pool->redis, &redis);
        fleet_metrics_redis(metrics, &redis);
    }
}

static enum err_code open_data(struct pool *pool, struct cli *cli, const struct engine_config *judge, struct err *err)
{
    pool->schemas = schema_cache_new(&judge->schema, judge->schema_cache_bytes);
    if (!pool->schemas) return err_set(err, ERR_NOMEM, "out of memory for the schema indexes");
    enum err_code code = worker_databases_apply(&judge->databases, pool->schemas, &judge->schema, &cli->arena, err);
    if (!code && judge->redis.address) code = cache_open(&judge->redis, &pool->redis, err);
    if (pool->redis) schema_cache_build_with(pool->schemas, cache_build, pool->redis);
    if (!code && judge->shots.path && judge->encoder.endpoint)
        code = examples_encoder_open(&judge->encoder, &pool->encoder, err);
    if (!code && judge->shots.path) code = examples_open(judge->shots.path, false, pool->encoder, &pool->examples, err);
    return code;
}

static void warn_of_shares(const struct engine_config *judge)
{
    uint32_t capped = 0;
    for (uint32_t i = 0; i < judge->databases.n_files; i++) capped += judge->databases.files[i].max_statements > 0;
    if (capped && !judge->redis.address)
        log_warn("worker", "max_statements of %u databases: without Redis, each process is limited to its share",
                 capped);
}

static enum err_code open_guards(struct pool *pool, const struct cli *cli, const struct engine_config *judge,
                                 struct err *err)
{
    const struct permits_config permits = {.redis = judge->redis,
                                           .processes = (uint32_t)cli->settings.worker.processes};
    struct llm_config llm = judge->llm;
    llm.budget.processes = permits.processes;
    pool->breakers = breakers_new(NULL);
    warn_of_shares(judge);
    enum err_code code = permits_open(&permits, &pool->permits, err);
    return !code && llm.n_endpoints ? llm_open(&llm, &pool->llm, err) : code;
}

/* --- a task in a process of its own ------------------------------------------------------------------------------- */

static struct worker_config config_of(const struct pool *pool, const struct cli *cli, const struct engine_config *judge)
{
    return (struct worker_config){
        .bus = pool->bus,
        .group = cli->settings.worker.group,
        .families = cli->settings.judge.families.items,
        .n_families = cli->settings.judge.families.n,
        .databases = judge->databases,
        .schemas = pool->schemas,
        .limits = judge->limits,
        .slow_threads = (uint32_t)cli->settings.worker.slow_threads,
        .slow_ms = cli->settings.worker.slow_ms,
        .signals = judge->signals,
        .breakers = pool->breakers,
        .permits = pool->permits,
        .states = pool->states,
        .examples = pool->examples,
        .llm = pool->llm,
        .tracer = otlp_tracer(pool->otlp),
        .executor = strcmp(cli->settings.worker.executor, "child") == 0 ? EXECUTOR_SELF : NULL,
    };
}

/* Reads the command line of this process. A child that judges one task is started with the same arguments, so that it
 * has the same settings. */
static void read_words(struct pool *pool)
{
    gsize len = 0, at = 0;
    unsigned n = 0;
    if (!g_file_get_contents("/proc/self/cmdline", &pool->command_line, &len, NULL)) return;
    for (; at < len && n < MAX_WORDS; at += strlen(pool->command_line + at) + 1)
        pool->words[n++] = pool->command_line + at;
    if (n) pool->words[0] = (char *)"/proc/self/exe";
}

static enum err_code try_apart(void *ctx, const void *task, size_t len, int64_t limit_ms, struct msg_buffer *result,
                               struct err *err)
{
    struct pool *pool = ctx;
    char variable[48];
    snprintf(variable, sizeof variable, TRIAL "=%lld", (long long)limit_ms);
    log_warn("worker", "a task that ended two processes is retried in a separate process");
    return isolated_run((const char *const *)pool->words, variable, task, len, limit_ms, MAX_TASK, result, err);
}

/* Judges one task in the child: reads the task from standard input and writes its result to standard output. */
static int judge_one(const struct worker_config *config, int64_t left_ms)
{
    struct msg_buffer result = {0};
    struct err err = {0};
    char *task = malloc(MAX_TASK);
    size_t len = task ? fread(task, 1, MAX_TASK, stdin) : 0;
    enum err_code code = task ? isolated_evaluate(config, task, len, left_ms, &result, &err) : ERR_NOMEM;
    bool written = !code && fwrite(result.bytes, 1, result.len, stdout) == result.len;
    if (code) complain_err("worker", &err);
    msg_buffer_free(&result);
    free(task);
    return written ? 0 : EXIT_ERROR;
}

static enum err_code open_states(struct pool *pool, const struct cli *cli, const struct engine_config *judge,
                                 struct err *err)
{
    struct cache_config redis;
    if (!cli->settings.verdicts.on) return ERR_OK;
    const struct worker_config config = config_of(pool, cli, judge);
    enum err_code code = fleet_settings_verdicts(cli, &redis, err);
    return code ? code : db_states_open(&redis, &config, &pool->states, err);
}

static enum err_code open_workers(struct pool *pool, struct cli *cli, const struct engine_config *judge,
                                  struct err *err)
{
    enum err_code code = open_states(pool, cli, judge, err);
    struct worker_config config = config_of(pool, cli, judge);
    if (pool->words[0]) config.evaluate_isolated = try_apart, config.isolated_ctx = pool;
    int64_t threads = cli->settings.worker.threads ? cli->settings.worker.threads : (int64_t)g_get_num_processors();
    while (!code && pool->n < threads && pool->n < FLEET_MAX_PARTS) {
        uint32_t i = pool->n;
        code = worker_new(&config, &pool->workers[i], err);
        if (code) break;
        snprintf(pool->names[i], sizeof pool->names[i], "worker-%u", i);
        pool->parts[i] = (struct fleet_part){pool->names[i], pool->workers[i], run, stop, heartbeat_ns};
        pool->n++;
    }
    return code;
}

static void pool_close(struct pool *pool)
{
    for (uint32_t i = 0; i < pool->n; i++) worker_free(pool->workers[i]);
    db_states_close(pool->states);
    bus_close(pool->bus);
    schema_cache_free(pool->schemas);
    cache_close(pool->redis);
    permits_close(pool->permits);
    examples_close(pool->examples, NULL);
    examples_encoder_close(pool->encoder);
    llm_close(pool->llm);
    breakers_free(pool->breakers);
    otlp_close(pool->otlp);
    g_free(pool->command_line);
    free(pool);
}

static int judge_alone(struct cli *cli, struct pool *pool, const struct engine_config *judge, int64_t left_ms)
{
    struct err err = {0};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    enum err_code code = open_data(pool, cli, judge, &err);
    const struct worker_config config = config_of(pool, cli, judge);
    int exit_code = code ? complain_err("worker", &err) : judge_one(&config, left_ms);
    pool_close(pool);
    return exit_code;
}

static int worker_command(struct cli *cli)
{
    struct engine_config judge;
    struct health *health = NULL;
    struct err err = {0};
    if (!engine_settings_find_databases(cli)) return EXIT_ERROR;
    struct pool *pool = calloc(1, sizeof *pool);
    if (!pool) return EXIT_ERROR;
    engine_settings(cli, &judge);
    judge.databases.deny_columns = judge.schema.deny_columns = cli->settings.judge.deny_columns.items;
    judge.databases.n_deny_columns = judge.schema.n_deny_columns = cli->settings.judge.deny_columns.n;
    const char *left_ms = getenv(TRIAL);
    if (left_ms) return judge_alone(cli, pool, &judge, g_ascii_strtoll(left_ms, NULL, 10));
    fleet_settings_start(cli);
    read_words(pool);
    enum err_code code = denied_settings_check(cli, &judge.databases, denied_settings_warn, &err);
    if (!code) code = fleet_settings_open_bus(cli, &pool->bus, &err);
    if (!code) code = open_data(pool, cli, &judge, &err);
    if (!code) code = open_guards(pool, cli, &judge, &err);
    if (!code) code = fleet_settings_open_otlp(cli, "worker", &pool->otlp, &err);
    if (!code) code = open_workers(pool, cli, &judge, &err);
    struct health_config health_of = {.name = "worker",
                                      .parts = pool->parts,
                                      .n_parts = pool->n,
                                      .bus = pool->bus,
                                      .otlp = pool->otlp,
                                      .ctx = pool,
                                      .collect = collect};
    if (!code) code = fleet_settings_open_health(cli, &health_of, &health, &err);
    int exit_code = code ? complain_err("worker", &err)
                         : fleet_run(pool->parts, pool->n, program_version(), cli->settings.worker.drain_ms);
    health_close(health);
    pool_close(pool);
    return exit_code;
}

const struct command command_worker = {
    .name = "worker",
    .guide = "fleet.md",
    .sentence = "run the tasks that coordinators send through Kafka",
    .args = "--servers HOST:PORT --family NAME [--config FILE | --db-root DIR]",
    .description = "Receives tasks from Kafka, runs their signals on the databases, and returns the results through "
                   "the topic assay.results. --family limits the tasks to families of signals (--family "
                   "structure,join, or repeated). The databases are those of the configuration (section `databases`) "
                   "and those under --db-root. All workers belong to one consumer group. A worker for several families "
                   "parses and runs a candidate once for all of them. Workers for one family scale independently.\n\n"
                   "While a database does not answer, its circuit breaker is open for some time, and its tasks wait as "
                   "long as their deadlines allow. The limit max_statements of a database applies to all processes "
                   "together, and is counted in Redis. Without Redis, each process gets a share of the limit "
                   "(--processes). A task that crashed two processes runs in a separate process. If that process "
                   "crashes too, the task's result is `rejected`, and the task becomes a dead letter (`assay dlq`).\n\n"
                   "After SIGTERM, a worker accepts no new tasks, finishes the current tasks, returns the others and "
                   "exits. After --drain-ms it exits at once, and other workers repeat its tasks.",
    .examples = "assay worker --servers kafka:9092 --db-root databases\n"
                "assay worker --servers kafka:9092 --db-root databases --family execution,explain --redis redis:6379",
    .main_flags = "servers db-root family threads processes drain-ms",
    .groups = (const struct option_group *const[]){&options_worker, &options_kafka, &options_judge, &options_repair,
                                                   &options_encoder, &options_llm, &options_signals, &options_database,
                                                   &options_schema, &options_redis, &options_verdicts, &options_observe,
                                                   &options_general, NULL},
    .min_args = 0,
    .max_args = 0,
    .run = worker_command,
};
