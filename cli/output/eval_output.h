/* Prints the output of assay eval. Thread: main. */
#ifndef ASSAY_CLI_OUTPUT_EVAL_OUTPUT_H
#define ASSAY_CLI_OUTPUT_EVAL_OUTPUT_H

#include "cli/output/format.h"
#include "eval/eval.h"
#include "eval/eval_gold.h"

/* Prints the report as tables; with `profile` also the distribution of time. */
void eval_print(FILE *stream, const struct eval_report *report, const struct eval_data *data, bool profile);

/* Prints when to answer and when to ask (eval/triggering.h), one row for each score. */
void eval_print_triggering(FILE *stream, const struct eval_data *data);

/* Prints how often each signal fired on gold queries: a table, or JSON. */
void eval_gold_write(const struct eval_gold *golds, enum format format, FILE *stream);

#endif
