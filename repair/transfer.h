/* Edit scripts taken from one query to another: what set a wrong query right there, done here.
 *
 * An example is a wrong query and the right one. The script between their trees (lib/sql/diff.h) is carried over to a query on another
 * schema (Algorithm 2 of Jain and Yang, "Context-Aware SQL Error Correction Using Few-Shot Learning", 2024):
 *
 *   1. all three are written in the normal form and flattened: FROM and each chain of AND and OR are lists, so that a condition or a
 *      table that comes or goes is one edit, whatever else there is;
 *   2. the wrong query is matched with the target by structure alone: a column counts as its type and its part in keys, names and
 *      values do not count. Each edit then has its place in the target; where one has none, nothing is carried over;
 *   3. tables and columns that the script brings in are chosen from the target's schema by what they are: where the keys lead, type,
 *      part in keys, words shared with the example's name, with the question, with a name that does not bind. Values are those of the
 *      question that the column holds, or the nearest stored one;
 *   4. what comes out must parse and bind.
 *
 * A script applied to its own wrong query on its own schema gives the right one.
 */
#ifndef ASSAY_REPAIR_TRANSFER_H
#define ASSAY_REPAIR_TRANSFER_H

#include "repair/propose.h"

/* Queries that one example gives at most. */
enum { REPAIR_MAX_TRANSFERS = 4 };

/* What the queries are that an example's script makes of `query`, best first; reasons begin with "as in: ". `out` and its texts live in
 * the arena. Count; 0: the script does not fit. -1 with `err` set when the query does not parse or memory is short; an example
 * that does not parse gives none. Work is bounded by the parser's limits and SQL_DIFF_BUDGET. Thread: any. */
int repair_transfer(struct arena *arena, const struct schema_index *schema, const struct repair_query *query,
                    const struct repair_example *example, struct repair_proposal **out, struct err *err);

/* The columns that the queries of an example use, as far as their names are known, for whoever makes one. Names point into the
 * index. Count; -1 when the arena is full. Thread: any. */
int repair_example_columns(struct arena *arena, const struct schema_index *schema, const char *wrong, const char *right,
                           const struct repair_column **out);

#endif
