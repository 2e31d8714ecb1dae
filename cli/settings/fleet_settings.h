/* Opens the parts that all processes of a fleet share, from the settings: transport, log, telemetry and health. */
#ifndef ASSAY_CLI_SETTINGS_FLEET_SETTINGS_H
#define ASSAY_CLI_SETTINGS_FLEET_SETTINGS_H

#include "cli/cli.h"
#include "proto/bus/transport.h"
#include "server/health.h"
#include "worker/cache.h"

/* Opens the transport that section `kafka` configures: servers, properties and the wait. A property value file:PATH is
 * read from that file, without the last line end. The strings live in the arena of `cli`. Returns ERR_CONFIG if no
 * server is named or a file cannot be read. Close with bus_close. */
enum err_code fleet_settings_open_bus(struct cli *cli, struct bus **out, struct err *err);

/* Calls fleet_start with the configured log format and level. Call it before any function that starts threads. */
void fleet_settings_start(const struct cli *cli);

/* Calls otlp_open with the address of --otlp, for the part of that name. *out stays NULL without --otlp. Returns
 * ERR_CONFIG or an error of otlp_open. */
enum err_code fleet_settings_open_otlp(const struct cli *cli, const char *part, struct otlp **out, struct err *err);

/* Calls health_open with the address of --listen. Sets listen, stall_ms and commit in `config`. */
enum err_code fleet_settings_open_health(const struct cli *cli, struct health_config *config, struct health **out,
                                         struct err *err);

/* Writes the Redis configuration of the verdict cache to `redis`, with the lifetime of a verdict. For callers that have
 * --verdict-cache. Returns ERR_CONFIG if no Redis is named. */
enum err_code fleet_settings_verdicts(const struct cli *cli, struct cache_config *redis, struct err *err);

#endif
