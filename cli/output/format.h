/* Defines the output formats, and chooses one for a run. */
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

/* Sets of formats, as bits. FORMATS_TABLE has the formats for tables and lists. FORMATS_VERDICT has those for any
 * number of verdicts. FORMATS_CHECK has those for the verdicts of one test run; some of them are buffered until its
 * end. */
enum {
    FORMATS_TABLE = 1U << FORMAT_TEXT | 1U << FORMAT_JSONL | 1U << FORMAT_JSON | 1U << FORMAT_CSV,
    FORMATS_VERDICT = FORMATS_TABLE | 1U << FORMAT_SARIF,
    FORMATS_CHECK = FORMATS_VERDICT | 1U << FORMAT_JUNIT | 1U << FORMAT_GITHUB
};

/* Chooses the format of --format; auto is text on a terminal and jsonl elsewhere. Returns false, with a message on
 * standard error, if the command does not support it. */
bool format_choose(const struct cli *cli, unsigned allowed, enum format *out);
const char *format_name(enum format format);

/* Writes JSON with at most 6 digits after the decimal point: in one line for jsonl, indented for json. */
void format_json(const json_t *value, enum format format, FILE *stream);

/* Writes JSON text, indented. */
void format_json_text(const char *text, FILE *stream);

/* Returns text from a database or a user as a JSON string, with invalid UTF-8 replaced. NULL gives null. */
json_t *format_text(const char *text);

/* Writes a list: an indented array for json, otherwise one item on each line. */
void format_json_list(const json_t *list, enum format format, FILE *stream);

#endif
