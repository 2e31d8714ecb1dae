/* The alignment of a question with a query, for people and as JSON. */
#ifndef ASSAY_CLI_OUTPUT_ALIGNMENT_OUTPUT_H
#define ASSAY_CLI_OUTPUT_ALIGNMENT_OUTPUT_H

#include "lib/question/align.h"

#include <jansson.h>
#include <stdio.h>

/* Returns {"asked": [{kind, text, start, end}], "items": [{aspect, agrees, certain, text, part, start, end, says}]}.
 * `asked` has the elements of the frame, by bytes of the question. In an item, `text` is of the question, `part` of the
 * SQL, and start and end are bytes of the SQL. Release with json_decref. */
json_t *alignment_json(const struct question *question, const struct alignment *alignment, const char *sql);

/* Prints a line for each item, then the elements without an item. Prints nothing if there are no items and no
 * elements. */
void alignment_print(const struct question *question, const struct alignment *alignment, const char *sql, FILE *stream);

#endif
