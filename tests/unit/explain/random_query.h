/* Queries made up at random over any database: joins, conditions with subqueries, groups, set operations, windows. The
 * same seed and schema give the same text; most run, many give nothing. */
#ifndef ASSAY_TESTS_UNIT_EXPLAIN_RANDOM_QUERY_H
#define ASSAY_TESTS_UNIT_EXPLAIN_RANDOM_QUERY_H

#include "lib/schema/schema.h"

#include <glib.h>

/* Put one statement into `sql`, over what it held. */
void random_query(const struct schema_index *index, uint64_t seed, GString *sql);

#endif
