/* Declares the subcommands of assay link. They return the exit codes of cli.h. Thread: main. */
#ifndef ASSAY_CLI_COMMANDS_LINK_H
#define ASSAY_CLI_COMMANDS_LINK_H

#include "cli/cli.h"
#include "linking/predictor.h"

int link_export(struct cli *cli);
int link_train(struct cli *cli);
int link_eval(struct cli *cli);
int link_judge(struct cli *cli);

/* Judges the traces of --from-topic and prints one line for each. With --follow, runs until a signal. Skips unusable
 * records and reports them on standard error. Errors: those of the topic and of the brokers. */
enum err_code link_judge_topic(struct cli *cli, const struct predictor *predictor,
                               const struct predictor_options *options, struct err *err);

#endif
