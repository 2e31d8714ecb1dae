/* Reports databases that a command could not open. The results of the command then omit the requests on these
 * databases. */
#ifndef ASSAY_CLI_OUTPUT_UNREACHED_H
#define ASSAY_CLI_OUTPUT_UNREACHED_H

#include "eval/label.h"

/* Prints the databases that `labeler` could not open. Returns `code`, but EXIT_JUDGED instead of 0 if there are any. */
int report_unreached(const struct labeler *labeler, int code);

/* True if the verdict failed because its database could not be opened or did not answer. */
bool verdict_is_unreached(const struct msg_verdict *verdict);

#endif
