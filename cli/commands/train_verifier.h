/* Declares assay train verifier, wording, calibration and export. They return the exit codes of cli.h. Thread: main. */
#ifndef ASSAY_CLI_COMMANDS_TRAIN_VERIFIER_H
#define ASSAY_CLI_COMMANDS_TRAIN_VERIFIER_H

#include "cli/cli.h"
#include "train/verifier_data.h"

#include <glib.h>

/* Reports a skipped line of a log, or a skipped record, with the reason. */
void train_skipped(const char *where, const char *why);
/* Reports the requests whose databases could not be opened. Returns EXIT_JUDGED if there are any, else 0. */
int train_left_out(const struct verifier_data *data);

/* Appends the recipe in effect to the command that a model file contains, as a flag. The command then reproduces the
 * model. */
void train_append_recipe(const struct cli *cli, GString *command);

int train_verifier(struct cli *cli);
int train_wording(struct cli *cli);
int train_calibration(struct cli *cli);
int train_export(struct cli *cli);

#endif
