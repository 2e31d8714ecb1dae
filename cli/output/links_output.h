/* Prints the links between words of the question and parts of a query, for people and as JSON. */
#ifndef ASSAY_CLI_OUTPUT_LINKS_OUTPUT_H
#define ASSAY_CLI_OUTPUT_LINKS_OUTPUT_H

#include "lib/question/link.h"

#include <jansson.h>
#include <stdio.h>

/* Returns {"words": [{text, start, end, kind, strength, role, part, own}], "unasked": [{role, part, start, end}],
 * "rivals": [{role, part, start, end, rival}]}. Words are by bytes of the question, parts by bytes of the SQL. Release
 * with json_decref. */
json_t *links_json(const struct link_query *links);

/* Prints a table of the words, then parts that no word requires, and columns that the question names better. */
void links_print(const struct link_query *links, FILE *stream);

#endif
