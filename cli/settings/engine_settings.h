/* Turns the settings into the configuration of an engine, for the commands check, replay, eval and train. */
#ifndef ASSAY_CLI_SETTINGS_ENGINE_SETTINGS_H
#define ASSAY_CLI_SETTINGS_ENGINE_SETTINGS_H

#include "cli/cli.h"
#include "engine/engine.h"

/* Writes the engine's configuration from the settings to `out`. `out` points into `cli`, which must outlive the engine.
 */
void engine_settings(const struct cli *cli, struct engine_config *out);
/* Adds the polisher to `out`. Call it after engine_settings, in commands whose verdicts people read. */
void engine_settings_polisher(const struct cli *cli, struct engine_config *out);

/* Creates a cache of schema indexes for commands that read indexes beside the engine (eval, train, mutate). Each index
 * is built as a worker builds it, within the limits of its catalogue entry. No index has values of a column that
 * --deny-column names. Returns NULL with `err` set on error. Lists live as long as `cli`. Free with schema_cache_free.
 */
struct schema_cache *engine_settings_schemas(struct cli *cli, const struct engine_config *config, struct err *err);

/* Returns the index options for one database that catalogue_pick found. */
struct schema_options engine_settings_schema_options(const struct cli *cli, const struct worker_database *database);

/* Returns the configuration of the fleet's index cache, for commands that run workers. The address is NULL if the
 * settings name no cache. */
struct cache_config engine_settings_cache(const struct settings *settings);

/* Prints one line about the use of the fleet's index cache on standard error. Prints nothing without a cache or with
 * --quiet. */
void engine_settings_report_cache(const struct cli *cli, struct engine *engine);

/* Prepares --db-root and the catalogue for the engine. Call it before engine_settings. Prints an error and returns
 * false if both are missing, the root is not a directory, or a password cannot be read. */
bool engine_settings_find_databases(struct cli *cli);
/* Does the same as engine_settings_find_databases, and also returns false for a denied column that no database has
 * (cli/settings/denied_settings.h). Opens databases if columns are denied. */
bool engine_settings_has_databases(struct cli *cli);

#endif
