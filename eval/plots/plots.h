/* The diagrams of `assay eval --plots DIR`: calibration.svg, coverage.svg, roc.svg. */
#ifndef ASSAY_EVAL_PLOTS_PLOTS_H
#define ASSAY_EVAL_PLOTS_PLOTS_H

#include "eval/eval.h"

/* Write those that there are data for into the folder, which is made if it is not there. ERR_IO. */
enum err_code plots_write(const char *folder, const struct eval_report *report, const struct eval_data *data,
                          struct err *err);

/* And answer_triggering.svg, interaction_triggering.svg (triggering.h). ERR_IO. */
enum err_code plots_write_triggering(const char *folder, const struct eval_data *data, struct err *err);

#endif
