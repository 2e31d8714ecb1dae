/* The output formats, and which one a run uses. */
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

/* Sets of formats, as bits: what tables and lists can be written as; verdicts of any number; and those of one run of
 * tests, of which some are kept until its end. */
enum {
    FORMATS_TABLE = 1U << FORMAT_TEXT | 1U << FORMAT_JSONL | 1U << FORMAT_JSON | 1U << FORMAT_CSV,
    FORMATS_VERDICT = FORMATS_TABLE | 1U << FORMAT_SARIF,
    FORMATS_CHECK = FORMATS_VERDICT | 1U << FORMAT_JUNIT | 1U << FORMAT_GITHUB
};

/* The format that --format asks for; auto is text on a terminal and jsonl elsewhere. False, with a message on standard
 * error, when the command cannot write it. */
bool format_choose(const struct cli *cli, unsigned allowed, enum format *out);
const char *format_name(enum format format);

/* Write JSON with all numbers at 6 digits after the point or fewer; one line each as jsonl, indented as json. */
void format_json(const json_t *value, enum format format, FILE *stream);

/* JSON text, indented. */
void format_json_text(const char *text, FILE *stream);

/* A string from a database or a user as JSON: invalid UTF-8 replaced. NULL gives null. */
json_t *format_text(const char *text);

/* A list: an indented array, or its items one a line. */
void format_json_list(const json_t *list, enum format format, FILE *stream);

#endif
