/* Builds the configuration of an engine from the settings (engine_settings.h). Each part of the settings fills one part
 * of struct engine_config. The option tables have already validated all names and ranges. */
#include "cli/settings/engine_settings.h"

#include "cli/settings/catalogue.h"
#include "cli/settings/denied_settings.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Default of --llm-when, the condition for calling a configured language model. */
#define LLM_WHEN "0.1:0.95,disagree"

/* Returns the value of a name. Returns 0 (unset) for "auto" and NULL. The option tables accept only known names. */
static int named(int (*by_name)(const char *), const char *name)
{
    int value = name ? by_name(name) : -1;
    return value > 0 ? value : 0;
}

static struct scorer_config remote_config(const struct remote_model *remote)
{
    struct scorer_config config = scorer_defaults();
    config.backend = remote->backend && strcmp(remote->backend, "none") != 0 ? remote->backend : NULL;
    config.endpoint = remote->endpoint;
    config.model = remote->model;
    config.key_file = remote->key_file;
    config.key_variable = remote->key_variable;
    config.ca_file = remote->ca_file;
    config.proxy = remote->proxy;
    config.entail_label = remote->label;
    config.prompt_file = remote->prompt;
    config.timeout_ms = remote->timeout_ms;
    config.max_attempts = (uint32_t)remote->attempts;
    return config;
}

struct cache_config engine_settings_cache(const struct settings *s)
{
    return (struct cache_config){
        .address = s->redis.address,
        .tls = s->redis.tls,
        .user = s->redis.user,
        .password_file = s->redis.password_file,
        .password_variable = s->redis.password_variable,
        .database = (uint32_t)s->redis.database,
        .prefix = s->redis.prefix,
        .ttl_ms = s->redis.ttl_s * 1000,
        .timeout_ms = s->redis.timeout_ms,
        .wait_ms = s->redis.wait_ms,
        .retry_ms = s->redis.retry_ms,
        .max_bytes = (uint64_t)s->redis.max_bytes,
    };
}

static struct llm_config llm_config_of(const struct settings *s)
{
    struct llm_config config = {
        .model = remote_config(&s->llm.model),
        .endpoints = s->llm.endpoints.items,
        .n_endpoints = (uint32_t)s->llm.endpoints.n,
        .prompts = s->llm.prompts,
        .single = s->llm.calls && strcmp(s->llm.calls, "single") == 0,
        .entries = (uint32_t)s->llm.entries,
        .ttl_ms = s->llm.ttl_s * 1000,
        .price_in = s->llm.price_in,
        .price_out = s->llm.price_out,
        .budget = {.redis = engine_settings_cache(s),
                   .per_minute = {(double)s->llm.requests, (double)s->llm.tokens, s->llm.money}},
    };
    config.model.max_tokens = (uint32_t)s->llm.answer_tokens;
    return config;
}

void engine_settings_report_cache(const struct cli *cli, struct engine *engine)
{
    struct engine_stats stats;
    if (!cli->settings.redis.address || cli->settings.general.quiet) return;
    engine_stats(engine, &stats);
    const struct cache_stats *redis = &stats.redis;
    fprintf(stderr, "redis: %llu indexes found, %llu built here, %llu stored, %llu rejected, %llu failed calls%s%s\n",
            (unsigned long long)redis->hits, (unsigned long long)redis->builds, (unsigned long long)redis->stored,
            (unsigned long long)redis->rejected, (unsigned long long)redis->failures,
            redis->last_error[0] ? "; last: " : "", redis->last_error);
}

void engine_settings(const struct cli *cli, struct engine_config *out)
{
    const struct settings *s = &cli->settings;
    *out = (struct engine_config){
        .workers = (uint32_t)s->replay.workers,
        .window = (uint32_t)s->replay.window,
        .databases = catalogue_databases(cli),
        .models_dir = s->judge.models,
        .label_model = s->judge.label_model,
        .classifier = s->judge.classifier,
        .verifier = s->judge.verifier,
        .calibration = s->judge.calibration,
        .ignore_drift = !s->judge.watch_drift,
        .remote = remote_config(&s->verifier),
        .remote_threads = (uint32_t)s->verifier.threads,
        .corrector = remote_config(&s->corrector),
        .corrector_threads = (uint32_t)s->corrector.threads,
        .corrector_per_minute = (uint32_t)s->corrector.per_minute,
        .corrector_rounds = (uint32_t)s->corrector.rounds,
        .encoder = remote_config(&s->encoder),
        .llm = llm_config_of(s),
        .llm_threads = (uint32_t)s->llm.model.threads,
        .llm_when = s->llm.when          ? s->llm.when
                    : s->llm.endpoints.n ? LLM_WHEN
                                         : "never",
        .consult = {.hit_rate = s->llm.hit_rate,
                    .max_candidates = (uint32_t)s->llm.candidates,
                    .wait_ms = s->llm.wait_ms,
                    .max_tokens = (uint64_t)s->llm.request_tokens},
        .shots = {.path = s->shots.path,
                  .key = (enum examples_key)named(examples_key_by_name, s->shots.key),
                  .n = (uint32_t)s->shots.n},
        .schema = {.max_bytes = (uint64_t)s->schema.max_bytes,
                   .max_values = (uint64_t)s->schema.max_values,
                   .time_ms = s->schema.time_ms,
                   .no_inferred_joins = !s->schema.inferred_joins,
                   .descriptions_dir = s->schema.descriptions,
                   .deny_columns = s->judge.deny_columns.items,
                   .n_deny_columns = s->judge.deny_columns.n,
                   .deny_hides = catalogue_databases(cli).deny_mode == WORKER_DENY_HIDE},
        .schema_cache_bytes = (uint64_t)s->replay.cache_bytes,
        .redis = engine_settings_cache(s),
        .limits = {.time_ms = s->database.time_ms,
                   .max_rows = (uint32_t)s->database.max_rows,
                   .max_bytes = (uint64_t)s->database.max_bytes},
        .signals = cli->signals,
        .defaults = {.deadline_ms = s->judge.deadline_ms,
                     .max_iterations = (uint32_t)s->judge.max_iterations,
                     .speculate = (uint32_t)s->judge.speculate,
                     .strategy = (enum msg_strategy)named(msg_strategy_by_name, s->judge.strategy),
                     .policy = (enum msg_policy)named(msg_policy_by_name, s->judge.policy),
                     .order = (enum msg_order)named(msg_order_by_name, s->judge.order),
                     .expose = (enum msg_expose)named(msg_expose_by_name, s->judge.expose),
                     .repair = (enum msg_repair)named(msg_repair_by_name, s->judge.repair),
                     .repair_margin = s->judge.repair_margin,
                     .ask_gain = s->judge.ask_gain,
                     .threshold = s->judge.threshold,
                     .alpha = s->judge.alpha,
                     .delta = s->judge.delta,
                     .families = s->judge.families.items,
                     .n_families = s->judge.families.n,
                     .deny_columns = s->judge.deny_columns.items,
                     .n_deny_columns = s->judge.deny_columns.n,
                     .explain = s->judge.explain ? MSG_EXPLAIN_ON : MSG_EXPLAIN_OFF},
    };
}

void engine_settings_polisher(const struct cli *cli, struct engine_config *out)
{
    out->polisher = remote_config(&cli->settings.polish);
    out->polisher_threads = (uint32_t)cli->settings.polish.threads;
}

struct schema_cache *engine_settings_schemas(struct cli *cli, const struct engine_config *config, struct err *err)
{
    struct worker_databases databases = config->databases;
    struct schema_options options = config->schema;
    databases.deny_columns = options.deny_columns = cli->settings.judge.deny_columns.items;
    databases.n_deny_columns = options.n_deny_columns = cli->settings.judge.deny_columns.n;
    struct schema_cache *schemas = schema_cache_new(&options, 0);
    if (worker_databases_apply(&databases, schemas, &options, &cli->arena, err) == ERR_OK) return schemas;
    schema_cache_free(schemas);
    return NULL;
}

struct schema_options engine_settings_schema_options(const struct cli *cli, const struct worker_database *database)
{
    struct engine_config config;
    engine_settings(cli, &config);
    if (database->descriptions) config.schema.descriptions_dir = database->descriptions;
    config.schema.deny_columns = database->deny_columns;
    config.schema.n_deny_columns = database->n_deny_columns;
    config.schema.deny_hides = database->deny_mode == WORKER_DENY_HIDE;
    return config.schema;
}

bool engine_settings_find_databases(struct cli *cli)
{
    const struct string_list *roots = &cli->settings.database.root;
    struct err err = {0};
    if (catalogue_open(cli, &err)) {
        complain_err(NULL, &err);
        return false;
    }
    bool some = roots->n || cli->catalogue;
    if (!some)
        complain("no databases are given" ERR_HINT
                 "set --db-root=DIR, a folder that holds DB/DB.sqlite, or add the section "
                 "`databases` to a configuration file");
    for (unsigned i = 0; i < roots->n; i++)
        if (!g_file_test(roots->items[i], G_FILE_TEST_IS_DIR)) {
            complain("--db-root %s is not a directory", roots->items[i]);
            return false;
        }
    return some;
}

bool engine_settings_has_databases(struct cli *cli)
{
    struct err err = {0};
    if (!engine_settings_find_databases(cli)) return false;
    const struct worker_databases databases = catalogue_databases(cli);
    return !denied_settings_check(cli, &databases, denied_settings_warn, &err) || (complain_err(NULL, &err), false);
}
