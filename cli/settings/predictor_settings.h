/* Loads the predictors of schema linker errors that the settings name (linking/predictor.h). */
#ifndef ASSAY_CLI_SETTINGS_PREDICTOR_SETTINGS_H
#define ASSAY_CLI_SETTINGS_PREDICTOR_SETTINGS_H

#include "cli/cli.h"
#include "linking/predictor.h"

/* Returns the options of section `linker` for the use of predictors. */
struct predictor_options predictor_settings(const struct cli *cli);

/* Loads the predictors of --predictor. Returns ERR_USAGE if --predictor names none, else the result of predictor_load.
 * Free with predictor_free. */
enum err_code predictor_settings_load(const struct cli *cli, struct predictor **out, struct err *err);

#endif
