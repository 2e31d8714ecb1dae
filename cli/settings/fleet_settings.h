/* Converts the settings to the parts shared by the processes of a fleet: transport, log, health. */
#ifndef ASSAY_CLI_SETTINGS_FLEET_SETTINGS_H
#define ASSAY_CLI_SETTINGS_FLEET_SETTINGS_H

#include "cli/cli.h"
#include "proto/bus/transport.h"
#include "server/health.h"
#include "worker/cache.h"

/* Opens the transport with the servers, wait and properties of section kafka. A property value "file:PATH" means the
 * contents of that file, without the last line end. Texts live in the arena of `cli`. Close with bus_close. Returns
 * ERR_CONFIG if no server is named, or a file cannot be read. */
enum err_code fleet_settings_open_bus(struct cli *cli, struct bus **out, struct err *err);

/* Calls fleet_start with the log's form and level. Call before any thread starts. */
void fleet_settings_start(const struct cli *cli);

/* Calls otlp_open for the part of that name if --otlp is set; otherwise *out stays NULL. Errors: ERR_CONFIG, and those
 * of otlp_open. */
enum err_code fleet_settings_open_otlp(const struct cli *cli, const char *part, struct otlp **out, struct err *err);

/* Calls health_open if --listen is set; sets listen, stall_ms and commit in `config`. */
enum err_code fleet_settings_open_health(const struct cli *cli, struct health_config *config, struct health **out,
                                         struct err *err);

/* Sets *redis to the Redis that stores verdicts, with the lifetime of a verdict, if --verdict-cache is set. Returns
 * ERR_CONFIG if no Redis is named. */
enum err_code fleet_settings_verdicts(const struct cli *cli, struct cache_config *redis, struct err *err);

#endif
