/* Prints the tables of `assay link train` and `assay link eval`. They have the measures of Reliable Text-to-SQL with
 * Adaptive Abstention, section 4. */
#ifndef ASSAY_CLI_OUTPUT_LINK_OUTPUT_H
#define ASSAY_CLI_OUTPUT_LINK_OUTPUT_H

#include "cli/output/format.h"
#include "linking/evaluate.h"

void link_print_training(const struct predictor *predictor, FILE *stream);

/* Prints the results of link_evaluate on a recording, with `options`. `surrogate` may be NULL. `ablation` adds the
 * results with many other options. */
enum err_code link_print_evaluation(const struct predictor *predictor, const struct predictor_options *options,
                                    const char *recording, const struct link_surrogate *surrogate, bool ablation,
                                    enum format format, FILE *stream, struct err *err);

#endif
