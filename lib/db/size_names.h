/* What the names of a statement stand for, by the size of the expressions behind them (size_bound.h).
 *
 * A source of FROM or WITH exports names: a derived table, a common table expression, a function, the items of a SELECT
 * for its own HAVING and ORDER BY. A column may be each export of its name that it can see, so that its size is the
 * largest of them. Columns of tables are in none of them and count as SIZE_COLUMN.
 */
#ifndef ASSAY_LIB_DB_SIZE_NAMES_H
#define ASSAY_LIB_DB_SIZE_NAMES_H

#include "lib/db/size_work.h"

struct size_names;

/* `nodes` has the statement's n nodes by id and must outlive the result. size_names_free. */
struct size_names *size_names_new(const struct sql_node *const *nodes, uint32_t n);
void size_names_free(struct size_names *names);

/* Notes that `exporter` (its node) has a column of that name which may be as large as `size`. Sizes only grow. */
void size_names_raise(struct size_names *names, const struct sql_node *exporter, const char *text, size_t len,
                      struct size size);
/* The size of a column, and of what * stands for. */
struct size size_names_find(const struct size_names *names, const struct sql_node *column);
struct size size_names_star(const struct size_names *names);
/* The size of all columns of a source together; of a table that is no common table expression those of a table. */
struct size size_names_row(const struct size_names *names, const struct sql_node *table, const struct size *sizes);

/* Begins a pass over the statement. */
void size_names_begin(struct size_names *names);
/* True if a name has grown in this pass. */
bool size_names_have_grown(const struct size_names *names);
/* Bounds the names that still grow: these are in a recursion. If each round adds the same little, time bounds them; else
 * they double. */
void size_names_settle(struct size_names *names);

#endif
