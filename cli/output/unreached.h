/* Reports databases that a command could not open. Its figures then omit the requests on these databases. */
#ifndef ASSAY_CLI_OUTPUT_UNREACHED_H
#define ASSAY_CLI_OUTPUT_UNREACHED_H

#include "eval/label.h"

/* Complains of the databases that `labeler` could not open. Returns `code`, but EXIT_JUDGED in place of 0 if there are
 * any. */
int report_unreached(const struct labeler *labeler, int code);

/* True if the verdict failed because its database could not be opened or did not answer. */
bool verdict_is_unreached(const struct msg_verdict *verdict);

#endif
