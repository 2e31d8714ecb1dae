/* From the settings to what the processes of a fleet have in common: transport, log, health. */
#ifndef ASSAY_CLI_SETTINGS_FLEET_SETTINGS_H
#define ASSAY_CLI_SETTINGS_FLEET_SETTINGS_H

#include "cli/cli.h"
#include "proto/bus/transport.h"
#include "server/health.h"
#include "worker/cache.h"

/* The transport of the section kafka: servers, properties (a value file:PATH read from that file, without its last line
 * end) and the wait. What they point to lives in the cli's arena. ERR_CONFIG: no server is named, or a file cannot be
 * read. The caller owes bus_close. */
enum err_code fleet_settings_open_bus(struct cli *cli, struct bus **out, struct err *err);

/* Before anything that starts threads: fleet_start with the log's form and level. */
void fleet_settings_start(const struct cli *cli);

/* otlp_open where --otlp says, for the part of that name; *out stays NULL where it does not. ERR_CONFIG, and as otlp_open says. */
enum err_code fleet_settings_open_otlp(const struct cli *cli, const char *part, struct otlp **out, struct err *err);

/* health_open where --listen says; sets listen, stall_ms and commit in `config`. */
enum err_code fleet_settings_open_health(const struct cli *cli, struct health_config *config, struct health **out,
                                         struct err *err);

/* Where verdicts are kept, if --verdict-cache says so: the Redis, with the time of a verdict. ERR_CONFIG: no Redis is named. */
enum err_code fleet_settings_verdicts(const struct cli *cli, struct cache_config *redis, struct err *err);

#endif
