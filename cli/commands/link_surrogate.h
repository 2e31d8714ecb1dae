/* Our own judge in place of a person who says whether a table or column is meant: what the answer of a verdict uses (Reliable Text-to-SQL
 * with Adaptive Abstention, section 3.3, surrogate filter). */
#ifndef ASSAY_CLI_COMMANDS_LINK_SURROGATE_H
#define ASSAY_CLI_COMMANDS_LINK_SURROGATE_H

#include "cli/cli.h"
#include "linking/evaluate.h"

struct surrogate;

/* From verdicts of `assay replay`, by id, and the databases of the settings. Lines that are none, and answers that cannot be read, are told on
 * standard error and know nothing. ERR_IO, ERR_CONFIG. The caller owes surrogate_close. */
enum err_code surrogate_open(struct cli *cli, const char *verdicts, struct surrogate **out, struct err *err);
void surrogate_close(struct surrogate *surrogate); /* NULL is fine */

struct link_surrogate surrogate_of(struct surrogate *surrogate);

#endif
