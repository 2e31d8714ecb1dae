/* Prints the summary of a run as text, and as a page. */
#ifndef ASSAY_CLI_OUTPUT_RUN_OUTPUT_H
#define ASSAY_CLI_OUTPUT_RUN_OUTPUT_H

#include "lib/base/error.h"

#include <glib.h>
#include <jansson.h>
#include <stdio.h>

/* Prints the summary of eval/runs/run_index.h for people. */
void run_print(const json_t *summary, FILE *stream);

/* Returns a page that needs no server and loads nothing: the report of run_index_report with the scripts and style of
 * page/. Free with g_string_free. Returns NULL with `err` set. Thread: any. */
GString *run_html(const json_t *report, struct err *err);

#endif
