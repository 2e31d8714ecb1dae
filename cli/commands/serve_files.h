/* The files that a serving process reads again when they change: tokens and the certificate. */
#ifndef ASSAY_CLI_COMMANDS_SERVE_FILES_H
#define ASSAY_CLI_COMMANDS_SERVE_FILES_H

#include "cli/cli.h"
#include "server/tls.h"
#include "server/tokens.h"
#include "worker/worker.h"

struct serve_files;

/* Reads the files that the settings name. Checks the tokens' denied columns against the databases of the catalogue and
 * the roots. The caller owes serve_files_close. Errors: those of the files, ERR_CONFIG. */
enum err_code serve_files_open(struct cli *cli, struct serve_files **out, struct err *err);

/* Starts a thread that looks at the files once a second: a check of denied columns takes as long as servers do. A new
 * file that is not right is logged, and the old one holds. ERR_NOMEM. */
enum err_code serve_files_watch(struct serve_files *files, struct err *err);

/* NULL: the settings name none. Live until serve_files_close. */
struct tokens *serve_files_tokens(const struct serve_files *files);
struct tls *serve_files_tls(const struct serve_files *files);

/* Stops the thread and closes the files. NULL is fine. */
void serve_files_close(struct serve_files *files);

#endif
