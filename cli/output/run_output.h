/* What a run comes to: as text, and as a page. */
#ifndef ASSAY_CLI_OUTPUT_RUN_OUTPUT_H
#define ASSAY_CLI_OUTPUT_RUN_OUTPUT_H

#include "lib/base/error.h"

#include <glib.h>
#include <jansson.h>
#include <stdio.h>

/* The summary of eval/runs/run_index.h for a person. */
void run_print(const json_t *summary, FILE *stream);

/* One page that needs no server, with the report of run_index_report in it: the screen of page/ and its style, nothing
 * loaded from anywhere. g_string_free. NULL with `err` set. Thread: any. */
GString *run_html(const json_t *report, struct err *err);

#endif
