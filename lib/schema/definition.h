/* Finds queries and expressions in a CREATE statement of SQLite. Thread: any. */
#ifndef ASSAY_LIB_SCHEMA_DEFINITION_H
#define ASSAY_LIB_SCHEMA_DEFINITION_H

#include "lib/base/arena.h"
#include "lib/sql/sql.h"

/* Returns the query of a CREATE VIEW statement, as a pointer into its text. Returns NULL if there is none. */
const char *definition_query(const char *definition);
/* Returns the expression of a generated column from its CREATE TABLE, in parentheses: name ... AS (expression).
 * `definition` may be NULL. The text is in the arena. Returns "" if the expression is not found or the arena is
 * full. */
const char *definition_expression(struct arena *arena, const char *definition, const char *column);

#endif
