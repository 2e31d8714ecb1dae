/* Draws the diagrams of `assay eval --plots DIR`: calibration.svg, coverage.svg, roc.svg. */
#ifndef ASSAY_EVAL_PLOTS_PLOTS_H
#define ASSAY_EVAL_PLOTS_PLOTS_H

#include "eval/eval.h"

/* Writes the diagrams that have data to the folder, and creates the folder if necessary. Returns ERR_OK or ERR_IO. */
enum err_code plots_write(const char *folder, const struct eval_report *report, const struct eval_data *data,
                          struct err *err);

/* Writes answer_triggering.svg and interaction_triggering.svg (triggering.h). Returns ERR_OK or ERR_IO. */
enum err_code plots_write_triggering(const char *folder, const struct eval_data *data, struct err *err);

#endif
