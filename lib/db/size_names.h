/* Maps the names of a statement to the sizes of the expressions that they denote (size_bound.h).
 *
 * A source exports names: a derived table, a common table expression, a function, or the items of a SELECT for its own
 * HAVING and ORDER BY. A column may be any visible export of its name, so its size is the largest of them. Columns of
 * tables are not exported and count as SIZE_COLUMN.
 */
#ifndef ASSAY_LIB_DB_SIZE_NAMES_H
#define ASSAY_LIB_DB_SIZE_NAMES_H

#include "lib/db/size_work.h"

struct size_names;

/* Creates the map. `nodes` holds the statement's n nodes by id and must outlive the map. Free with size_names_free. */
struct size_names *size_names_new(const struct sql_node *const *nodes, uint32_t n);
void size_names_free(struct size_names *names);

/* Records that `exporter` (its node) has a column of that name with at least the given `size`. Sizes only grow. */
void size_names_raise(struct size_names *names, const struct sql_node *exporter, const char *text, size_t len,
                      struct size size);
/* Return the size of a column, and of the columns of a *. */
struct size size_names_find(const struct size_names *names, const struct sql_node *column);
struct size size_names_star(const struct size_names *names);
/* Returns the size of a row named by its table: all columns of common table expressions of that name, otherwise
 * SIZE_COLUMN. */
struct size size_names_row(const struct size_names *names, const struct sql_node *table, const struct size *sizes);

/* Begins a pass over the statement. */
void size_names_begin(struct size_names *names);
/* True if a name has grown in this pass. */
bool size_names_have_grown(const struct size_names *names);
/* Bounds the names that still grow, which are part of a recursion. A name with constant growth is bounded by time; any
 * other name doubles. */
void size_names_settle(struct size_names *names);

#endif
