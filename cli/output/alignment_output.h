/* Prints the alignment of a question with a query, for people and as JSON. */
#ifndef ASSAY_CLI_OUTPUT_ALIGNMENT_OUTPUT_H
#define ASSAY_CLI_OUTPUT_ALIGNMENT_OUTPUT_H

#include "lib/question/align.h"

#include <jansson.h>
#include <stdio.h>

/* Returns {"asked": [{kind, text, start, end}], "items": [{aspect, agrees, certain, text, part, start, end, says}]}.
 * `asked` lists the elements of the frame, with byte offsets in the question. In an item, `text` is part of the
 * question and `part` is part of the SQL; start and end are byte offsets in the SQL. Release with json_decref. */
json_t *alignment_json(const struct question *question, const struct alignment *alignment, const char *sql);

/* Prints a line for each item, then the elements of the frame without an item. Prints nothing if there are none of
 * either. */
void alignment_print(const struct question *question, const struct alignment *alignment, const char *sql, FILE *stream);

#endif
