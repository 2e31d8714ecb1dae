/* The output formats, and the choice of one for a run. */
#ifndef ASSAY_CLI_OUTPUT_FORMAT_H
#define ASSAY_CLI_OUTPUT_FORMAT_H

#include "cli/cli.h"

#include <jansson.h>
#include <stdio.h>

enum format {
    FORMAT_TEXT,
    FORMAT_JSONL,
    FORMAT_JSON,
    FORMAT_CSV,
    FORMAT_SARIF,
    FORMAT_JUNIT,
    FORMAT_GITHUB,
    FORMAT_COUNT
};

/* Sets of formats, as bits. FORMATS_TABLE: for tables and lists. FORMATS_VERDICT: for any number of verdicts.
 * FORMATS_CHECK: for the verdicts of one test run, some of which are buffered until its end. */
enum {
    FORMATS_TABLE = 1U << FORMAT_TEXT | 1U << FORMAT_JSONL | 1U << FORMAT_JSON | 1U << FORMAT_CSV,
    FORMATS_VERDICT = FORMATS_TABLE | 1U << FORMAT_SARIF,
    FORMATS_CHECK = FORMATS_VERDICT | 1U << FORMAT_JUNIT | 1U << FORMAT_GITHUB
};

/* Chooses the format of --format; auto is text on a terminal and jsonl elsewhere. Returns false, with a message on
 * standard error, if the command does not support it. */
bool format_choose(const struct cli *cli, unsigned allowed, enum format *out);
const char *format_name(enum format format);

/* Writes JSON with at most 6 digits after the point: one line as jsonl, indented as json. */
void format_json(const json_t *value, enum format format, FILE *stream);

/* Writes JSON text, indented. */
void format_json_text(const char *text, FILE *stream);

/* Returns a string from a database or a user as JSON, with invalid UTF-8 replaced. NULL gives null. */
json_t *format_text(const char *text);

/* Writes a list: an indented array, or one item a line. */
void format_json_list(const json_t *list, enum format format, FILE *stream);

#endif
