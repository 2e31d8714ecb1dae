/* assay train verifier, assay train calibration. Exit codes as in cli.h. Thread: main. */
#ifndef ASSAY_CLI_COMMANDS_TRAIN_VERIFIER_H
#define ASSAY_CLI_COMMANDS_TRAIN_VERIFIER_H

#include "cli/cli.h"

/* Says that a line of a log, or a record, is left out, and why. */
void train_skipped(const char *where, const char *why);

int train_verifier(struct cli *cli);
int train_calibration(struct cli *cli);

#endif
