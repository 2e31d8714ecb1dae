/* Maps the names in a statement to the maximum sizes of the expressions that they refer to (size_bound.h).
 *
 * An exporter defines names. It is a derived table, a common table expression, a function, or a SELECT, whose items are
 * visible in its HAVING and ORDER BY. Names are not resolved. A column may refer to any visible export of its name, so
 * the largest one counts. Columns of tables are not exported; they count as SIZE_COLUMN bytes.
 */
#ifndef ASSAY_LIB_DB_SIZE_NAMES_H
#define ASSAY_LIB_DB_SIZE_NAMES_H

#include "lib/db/size_work.h"

struct size_names;

/* Creates the map. `nodes` are the n nodes of the statement, indexed by id; they must outlive the map. Free with
 * size_names_free. */
struct size_names *size_names_new(const struct sql_node *const *nodes, uint32_t n);
void size_names_free(struct size_names *names);

/* Records that the node `exporter` exports the name `text`, and raises the size of this export to at least `size`. */
void size_names_raise(struct size_names *names, const struct sql_node *exporter, const char *text, size_t len,
                      struct size size);
/* Return the size of a column, and the size of the columns of a `*`. */
struct size size_names_find(const struct size_names *names, const struct sql_node *column);
struct size size_names_star(const struct size_names *names);
/* Returns the size of a whole row that is referred to by its table's name. This is the size of all columns of common
 * table expressions of that name, otherwise SIZE_COLUMN. */
struct size size_names_row(const struct size_names *names, const struct sql_node *table, const struct size *sizes);

/* Begins a pass over the statement. The following calls of size_names_raise belong to the pass. */
void size_names_begin(struct size_names *names);
/* True if the size of a name has grown in this pass. */
bool size_names_have_grown(const struct size_names *names);
/* Sets a final size for the names that still grow, which are part of a recursion. A name that grows by a small constant
 * in each round counts SIZE_ROUNDS rounds. Any other name counts as unbounded. */
void size_names_settle(struct size_names *names);

#endif
