/* From the settings to an engine: what check, replay, eval and train have in common. */
#ifndef ASSAY_CLI_SETTINGS_ENGINE_SETTINGS_H
#define ASSAY_CLI_SETTINGS_ENGINE_SETTINGS_H

#include "cli/cli.h"
#include "engine/engine.h"

/* The engine's configuration as the settings ask for it. Points into `cli`, which must outlive the engine. */
void engine_settings(const struct cli *cli, struct engine_config *out);
/* And the polisher, after it: for commands whose verdicts are read. */
void engine_settings_polisher(const struct cli *cli, struct engine_config *out);

/* Indexes for whoever reads them beside the engine (eval, train, mutate): each built as its entry of the catalogue
 * allows and as a worker's would be, none with values of what --deny-column names. NULL with `err` set. Lists live as
 * long as `cli`; the caller owes schema_cache_free. */
struct schema_cache *engine_settings_schemas(struct cli *cli, const struct engine_config *config, struct err *err);

/* The index options for one database, as catalogue_pick found it. */
struct schema_options engine_settings_schema_options(const struct cli *cli, const struct worker_database *database);

/* The fleet's index cache as the settings ask for it; no address: none. For whoever runs workers. */
struct cache_config engine_settings_cache(const struct settings *settings);

/* One line on standard error: what the fleet's index cache did. Nothing without one, or with --quiet. */
void engine_settings_report_cache(const struct cli *cli, struct engine *engine);

/* --db-root and the catalogue as the engine wants them, before engine_settings. Complains and returns false when there
 * is neither, a root that is no folder, or a password that cannot be read. */
bool engine_settings_find_databases(struct cli *cli);
/* The same, and false for a denied column that no database has (cli/settings/denied_settings.h). Opens databases if
 * columns are denied. */
bool engine_settings_has_databases(struct cli *cli);

#endif
