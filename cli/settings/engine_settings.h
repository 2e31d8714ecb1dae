/* Converts the settings to an engine's configuration. The commands check, replay, eval and train share it. */
#ifndef ASSAY_CLI_SETTINGS_ENGINE_SETTINGS_H
#define ASSAY_CLI_SETTINGS_ENGINE_SETTINGS_H

#include "cli/cli.h"
#include "engine/engine.h"

/* Fills the engine's configuration from the settings. Points into `cli`, which must outlive the engine. */
void engine_settings(const struct cli *cli, struct engine_config *out);
/* Adds the polisher to the configuration, for commands whose verdicts people read. */
void engine_settings_polisher(const struct cli *cli, struct engine_config *out);

/* Creates a cache of schema indexes for code that needs them outside the engine (eval, train, mutate). Indexes are
 * built as in a worker. They respect the policy of the catalogue's entry, and omit values of --deny-column. Returns
 * NULL with `err` set on failure. Lists live as long as `cli`. Free with schema_cache_free. */
struct schema_cache *engine_settings_schemas(struct cli *cli, const struct engine_config *config, struct err *err);

/* Returns the options for building the index of a database that catalogue_pick has returned. */
struct schema_options engine_settings_schema_options(const struct cli *cli, const struct worker_database *database);

/* Returns the settings of the fleet's index cache in Redis. The cache is disabled if no address is set. For processes
 * that run workers. */
struct cache_config engine_settings_cache(const struct settings *settings);

/* Prints one line on standard error with the counts of the fleet's index cache. Prints nothing without a cache or with
 * --quiet. */
void engine_settings_report_cache(const struct cli *cli, struct engine *engine);

/* Prepares --db-root and the catalogue. Call it before engine_settings. Prints an error and returns false if both are
 * missing, a root is not a folder, or a password cannot be read. */
bool engine_settings_find_databases(struct cli *cli);
/* Does what engine_settings_find_databases does. Also returns false for a denied column that no database has
 * (cli/settings/denied_settings.h). Opens the databases if columns are denied. */
bool engine_settings_has_databases(struct cli *cli);

#endif
