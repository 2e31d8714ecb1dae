/* Converts the settings to predictors of a schema linker's errors (linking/predictor.h). */
#ifndef ASSAY_CLI_SETTINGS_PREDICTOR_SETTINGS_H
#define ASSAY_CLI_SETTINGS_PREDICTOR_SETTINGS_H

#include "cli/cli.h"
#include "linking/predictor.h"

/* Returns the options of the section linker. */
struct predictor_options predictor_settings(const struct cli *cli);

/* Loads the predictors of --predictor. Free with predictor_free. Returns ERR_USAGE if --predictor is missing; other
 * errors are those of predictor_load. */
enum err_code predictor_settings_load(const struct cli *cli, struct predictor **out, struct err *err);

#endif
