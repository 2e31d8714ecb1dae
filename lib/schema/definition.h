/* Queries and expressions in the text of a CREATE statement of SQLite. Thread: any. */
#ifndef ASSAY_LIB_SCHEMA_DEFINITION_H
#define ASSAY_LIB_SCHEMA_DEFINITION_H

#include "lib/base/arena.h"
#include "lib/sql/sql.h"

/* The query of a CREATE VIEW, within its text. NULL: it has none. */
const char *definition_query(const char *definition);
/* The expression of a generated column of a CREATE TABLE (NULL: not known), in its parentheses: name ... AS
 * (expression). Arena text; "": it was not found, or the arena is full. */
const char *definition_expression(struct arena *arena, const char *definition, const char *column);

#endif
