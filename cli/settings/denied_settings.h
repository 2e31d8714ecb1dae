/* Checks that the columns denied by the configuration exist. Each command that opens databases calls it first. */
#ifndef ASSAY_CLI_SETTINGS_DENIED_SETTINGS_H
#define ASSAY_CLI_SETTINGS_DENIED_SETTINGS_H

#include "cli/cli.h"
#include "server/tokens.h"
#include "worker/worker.h"

/* Checks the denied columns of each database, and those of --deny-column against all databases (worker/deny_check.h).
 * The names in `databases` are names of the catalogue or paths. Returns ERR_CONFIG if a column does not exist; `err`
 * names the file or flag, and the column. */
enum err_code denied_settings_check(const struct cli *cli, const struct worker_databases *databases,
                                    void (*warn)(const char *text), struct err *err);

/* Checks the denied columns of each tenant of a token file against the databases that the tenant may use. It is a
 * tokens_check_fn; `ctx` is a struct worker_databases. */
enum err_code denied_settings_check_tenants(void *ctx, const char *path, const struct tenant *const *tenants,
                                            uint32_t n, struct err *err);

/* Warns that a denied column could not be checked. A service writes the warning to its log, a command to standard
 * error. */
void denied_settings_warn(const char *text);

#endif
