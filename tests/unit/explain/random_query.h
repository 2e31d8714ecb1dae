/* Generates random queries over any database: joins, conditions with subqueries, groups, set operations, windows. Equal
 * seeds and schemas give equal texts. Most queries run, and many return no rows. */
#ifndef ASSAY_TESTS_UNIT_EXPLAIN_RANDOM_QUERY_H
#define ASSAY_TESTS_UNIT_EXPLAIN_RANDOM_QUERY_H

#include "lib/schema/schema.h"

#include <glib.h>

/* Writes one statement into `sql`, replacing its content. */
void random_query(const struct schema_index *index, uint64_t seed, GString *sql);

#endif
