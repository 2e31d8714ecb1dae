/* Replaces a person who confirms tables and columns by Assay's verdicts. A table or column is confirmed if the answer
 * of the verdict uses it. This is the surrogate filter of Reliable Text-to-SQL with Adaptive Abstention, section
 * 3.3. */
#ifndef ASSAY_CLI_COMMANDS_LINK_SURROGATE_H
#define ASSAY_CLI_COMMANDS_LINK_SURROGATE_H

#include "cli/cli.h"
#include "linking/evaluate.h"

struct surrogate;

/* Opens a surrogate from a file of verdicts of `assay replay` and the databases of the settings. A trace is matched to
 * its verdict by id. Invalid lines and unreadable answers are reported on standard error and confirm nothing. Close
 * with surrogate_close. Errors: ERR_IO, ERR_CONFIG. */
enum err_code surrogate_open(struct cli *cli, const char *verdicts, struct surrogate **out, struct err *err);
void surrogate_close(struct surrogate *surrogate); /* NULL is fine */

struct link_surrogate surrogate_of(struct surrogate *surrogate);

#endif
