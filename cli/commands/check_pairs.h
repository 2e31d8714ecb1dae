/* assay check --pairs: many questions, each with its query in a file. */
#ifndef ASSAY_CLI_COMMANDS_CHECK_PAIRS_H
#define ASSAY_CLI_COMMANDS_CHECK_PAIRS_H

#include "cli/output/format.h"

/* Exit code: 0 each query validates, 1 one does not, 2 one could not be judged, or there is none. Thread: main. */
int check_pairs(struct cli *cli, enum format format);

#endif
