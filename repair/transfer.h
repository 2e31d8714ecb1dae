/* Transfers the edit script of an example to a query.
 *
 * An example is a wrong query and its correction. The script is the difference between their trees (lib/sql/diff.h). It
 * is transferred to a target query on another schema (Algorithm 2 of Jain and Yang, "Context-Aware SQL Error Correction
 * Using Few-Shot Learning", 2024):
 *
 *   1. All three queries are written in the normal form and flattened. FROM and each chain of AND and OR become lists,
 *      so adding or removing a condition or a table is one edit.
 *   2. The wrong query is matched with the target by structure alone. A column counts as its type and its role in keys;
 *      names and values do not count. Each edit then has a place in the target. If an edit has none, nothing is
 *      transferred.
 *   3. Tables and columns that the script introduces are chosen from the target's schema. The choice depends on keys,
 *      type, role in keys, and words. The words are those of the example's name, of the question, and of a name that
 *      does not bind. A value is a text of the question that the column holds, or the nearest stored value.
 *   4. The result must parse and bind.
 *
 * A script that is applied to its own wrong query, on its own schema, gives the correction. */
#ifndef ASSAY_REPAIR_TRANSFER_H
#define ASSAY_REPAIR_TRANSFER_H

#include "repair/propose.h"

/* Maximum number of queries from one example. */
enum { REPAIR_MAX_TRANSFERS = 4 };

/* Creates the queries that the script of an example gives for `query`, best first. Each reason begins with "as in: ".
 * `out` and its texts are in the arena. Returns their number; 0 if the script does not fit or the example does not
 * parse. Returns -1 with `err` if the query does not parse or memory runs out. The work is bounded by the parser's
 * limits and SQL_DIFF_BUDGET. Thread: any. */
int repair_transfer(struct arena *arena, const struct schema_index *schema, const struct repair_query *query,
                    const struct repair_example *example, struct repair_proposal **out, struct err *err);

/* Lists the columns that the queries of an example use, if their names are known. Use it to create an example. Names
 * point into the index. Returns the number of columns; -1 if the arena is full. Thread: any. */
int repair_example_columns(struct arena *arena, const struct schema_index *schema, const char *wrong, const char *right,
                           const struct repair_column **out);

#endif
