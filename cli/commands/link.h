/* The parts of assay link. Exit codes as in cli.h. Thread: main. */
#ifndef ASSAY_CLI_COMMANDS_LINK_H
#define ASSAY_CLI_COMMANDS_LINK_H

#include "cli/cli.h"

int link_export(struct cli *cli);
int link_train(struct cli *cli);
int link_eval(struct cli *cli);
int link_judge(struct cli *cli);

#endif
