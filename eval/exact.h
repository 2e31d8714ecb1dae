/* Approximates Spider's exact match: two queries match if their normal forms (lib/sql) are equal after all literals are
 * replaced by the same literal. Case, aliases, values, the order of AND and OR and the sides of a comparison are
 * ignored. Unlike in Spider, the order of the select list, DISTINCT and join conditions count. */
#ifndef ASSAY_EVAL_EXACT_H
#define ASSAY_EVAL_EXACT_H

#include "lib/sql/bind.h"

/* Returns the text to compare, in the arena. Returns NULL if the SQL does not parse or bind, or the arena is full. */
const char *exact_form(struct arena *arena, const struct sql_catalog *catalog, const char *sql, size_t len);

#endif
