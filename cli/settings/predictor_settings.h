/* From the settings to predictors of where a schema linker goes wrong (linking/predictor.h). */
#ifndef ASSAY_CLI_SETTINGS_PREDICTOR_SETTINGS_H
#define ASSAY_CLI_SETTINGS_PREDICTOR_SETTINGS_H

#include "cli/cli.h"
#include "linking/predictor.h"

/* How the section linker says to use them. */
struct predictor_options predictor_settings(const struct cli *cli);

/* Those of --predictor. ERR_USAGE: none are named; else what predictor_load says. The caller owes predictor_free. */
enum err_code predictor_settings_load(const struct cli *cli, struct predictor **out, struct err *err);

#endif
