/* Reloads the files of a serving process when they change: tokens and the certificate. */
#ifndef ASSAY_CLI_COMMANDS_SERVE_FILES_H
#define ASSAY_CLI_COMMANDS_SERVE_FILES_H

#include "cli/cli.h"
#include "server/tls.h"
#include "server/tokens.h"
#include "worker/worker.h"

struct serve_files;

/* Reads the files that the settings name. Checks that the denied columns of the token file exist in the databases of
 * the catalogue and of --db-root. Close with serve_files_close. Errors: those of the files, ERR_CONFIG. */
enum err_code serve_files_open(struct cli *cli, struct serve_files **out, struct err *err);

/* Starts a thread that checks the files once a second. A check of denied columns may wait for database servers. If a
 * new file is invalid, the error is logged, and the old file stays in effect. Errors: ERR_NOMEM. */
enum err_code serve_files_watch(struct serve_files *files, struct err *err);

/* Return the tokens and the certificate, or NULL if the settings name none. Valid until serve_files_close. */
struct tokens *serve_files_tokens(const struct serve_files *files);
struct tls *serve_files_tls(const struct serve_files *files);

/* Stops the thread and closes the files. `files` may be NULL. */
void serve_files_close(struct serve_files *files);

#endif
