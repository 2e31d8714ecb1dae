/* Which part of a query stands for which word of the question, for people and as JSON. */
#ifndef ASSAY_CLI_OUTPUT_LINKS_OUTPUT_H
#define ASSAY_CLI_OUTPUT_LINKS_OUTPUT_H

#include "lib/question/link.h"

#include <jansson.h>
#include <stdio.h>

/* {"words": [{text, start, end, kind, strength, role, part, own}], "unasked": [{role, part, start, end}], "rivals":
 * [{role, part, start, end, rival}]}: words by bytes of the question, parts by bytes of the SQL. The caller owes
 * json_decref. */
json_t *links_json(const struct link_query *links);

/* A table of the words; then what nothing asks for, and columns that the question names better. */
void links_print(const struct link_query *links, FILE *stream);

#endif
