/* What assay eval prints. Thread: main. */
#ifndef ASSAY_CLI_OUTPUT_EVAL_OUTPUT_H
#define ASSAY_CLI_OUTPUT_EVAL_OUTPUT_H

#include "cli/output/format.h"
#include "eval/eval.h"
#include "eval/eval_gold.h"

/* The report as tables; `profile`: also where the time went. */
void eval_print(FILE *stream, const struct eval_report *report, const struct eval_data *data, bool profile);

/* When to answer and when to ask (eval/triggering.h), a row a score. */
void eval_print_triggering(FILE *stream, const struct eval_data *data);

/* How often each signal fired on gold queries: a table, or JSON. */
void eval_gold_write(const struct eval_gold *golds, enum format format, FILE *stream);

#endif
