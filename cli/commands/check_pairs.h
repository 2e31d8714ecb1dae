/* assay check --pairs: judges many questions, each with its query in a file. */
#ifndef ASSAY_CLI_COMMANDS_CHECK_PAIRS_H
#define ASSAY_CLI_COMMANDS_CHECK_PAIRS_H

#include "cli/output/format.h"

/* Returns an exit code: 0 if each query validates, 1 if one does not. Returns 2 if a query could not be judged, or if
 * there are no queries. Thread: main. */
int check_pairs(struct cli *cli, enum format format);

#endif
