/* Checks that the columns denied by the configuration exist. Each command that opens databases calls it first. */
#ifndef ASSAY_CLI_SETTINGS_DENIED_SETTINGS_H
#define ASSAY_CLI_SETTINGS_DENIED_SETTINGS_H

#include "cli/cli.h"
#include "server/tokens.h"
#include "worker/worker.h"

/* Checks the entries of each of the databases, and those of --deny-column against all of them (worker/deny_check.h).
 * Texts of `databases` are names of the catalogue or paths. ERR_CONFIG: `err` names the file or flag, and the entry. */
enum err_code denied_settings_check(const struct cli *cli, const struct worker_databases *databases,
                                    void (*warn)(const char *text), struct err *err);

/* Checks the entries of a token file's tenants against the databases that each tenant may use. Is a tokens_check_fn;
 * `ctx` is a struct worker_databases. */
enum err_code denied_settings_check_tenants(void *ctx, const char *path, const struct tenant *const *tenants,
                                            uint32_t n, struct err *err);

/* Reports an undecided entry: in the log of a service, and on standard error of a command. */
void denied_settings_warn(const char *text);

#endif
