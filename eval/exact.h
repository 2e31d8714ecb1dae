/* Exact match, in the way of Spider but approximately: two queries match when their normal forms (lib/sql) are equal
 * once every literal is the same. Case, aliases, the order of AND and OR and the side of a comparison do not count, and
 * values do not. Unlike Spider's, the order of the select list, DISTINCT and join conditions do count. */
#ifndef ASSAY_EVAL_EXACT_H
#define ASSAY_EVAL_EXACT_H

#include "lib/sql/bind.h"

/* Returns the normal form to compare, as arena text. Returns NULL if `sql` does not parse or bind, or if the arena is
 * full. */
const char *exact_form(struct arena *arena, const struct sql_catalog *catalog, const char *sql, size_t len);

#endif
