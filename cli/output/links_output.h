/* Prints the links between words of the question and parts of a query, for people and as JSON. */
#ifndef ASSAY_CLI_OUTPUT_LINKS_OUTPUT_H
#define ASSAY_CLI_OUTPUT_LINKS_OUTPUT_H

#include "lib/question/link.h"

#include <jansson.h>
#include <stdio.h>

/* Returns {"words": [{text, start, end, kind, strength, role, part, own}], "unasked": [{role, part, start, end}],
 * "rivals": [{role, part, start, end, rival}]}. start and end are byte offsets: of words in the question, of parts in
 * the SQL. Release with json_decref. */
json_t *links_json(const struct link_query *links);

/* Prints a table of the words, then parts that no word requires, and then columns that match the question better than
 * the used ones. */
void links_print(const struct link_query *links, FILE *stream);

#endif
