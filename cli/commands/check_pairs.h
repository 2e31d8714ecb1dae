/* assay check --pairs: judges many questions, each with its query in a file. */
#ifndef ASSAY_CLI_COMMANDS_CHECK_PAIRS_H
#define ASSAY_CLI_COMMANDS_CHECK_PAIRS_H

#include "cli/output/format.h"

/* Returns an exit code: 0 if each query validates, 1 if one does not, 2 if one could not be judged or there are none.
 * Thread: main. */
int check_pairs(struct cli *cli, enum format format);

#endif
