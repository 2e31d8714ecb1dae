/* Internal to binding: the parts of the walk. bind.c walks clauses, expressions and queries; bind_from.c makes sources
 * and outputs; bind_name.c resolves a name. Functions that return bool return false if a limit was exceeded; b->failed
 * has its code. bind_names_source is an exception. */
#ifndef ASSAY_LIB_SQL_BIND_WALK_H
#define ASSAY_LIB_SQL_BIND_WALK_H

#include "lib/sql/scope.h"

/* The context in which the walk reaches a query. */
struct way_in {
    enum sql_block_role role;
    struct sql_block *parent;
    const struct scope *outer;
    struct scope_cte *cte; /* the CTE whose body the query is, or NULL; its columns are published after the first arm */
    bool arm, except_right;
};

/* bind.c */
bool bind_query(struct binder *b, const struct sql_node *query, struct way_in way, struct scope_rows *rows);
bool bind_expr(struct binder *b, struct sql_node *n, struct scope *scope);
/* Binds the body of a CTE, once. `outer` and `parent` are the scope and the block that contain its WITH. */
bool bind_cte(struct binder *b, struct scope_cte *cte, const struct scope *outer, struct sql_block *parent);

/* bind_name.c */
/* Returns the node's ref: a new one, or the old one cleared if the node is bound again. NULL if memory ran out. */
struct sql_ref *bind_ref_new(struct binder *b, struct sql_node *node, struct sql_block *block);
/* Makes the ref mean a select alias of the scope's block. */
void bind_to_alias(struct sql_ref *ref, const struct scope *scope, const struct sql_node *item);
/* Sets ref->levels to the number of blocks from the ref's block out to its source's block. Marks these blocks as
 * correlated. */
void bind_mark_levels(struct sql_ref *ref);
/* Resolves a COLUMN in `block`. */
bool bind_column(struct binder *b, struct sql_node *c, const struct scope *scope, struct sql_block *block);

/* bind_from.c */
/* A growing list of output columns, truncated at SCOPE_MAX_OUTPUTS. */
struct bind_outputs {
    struct sql_output *list;
    uint32_t n, cap;
};
bool bind_put_output(struct binder *b, struct bind_outputs *out, struct sql_output output);
/* Renames the first columns of a query's rows to the column aliases `names`, which may be NULL. */
bool bind_rename(struct binder *b, struct scope_rows *rows, const struct sql_node *names);
/* Bind FROM in two passes. bind_from binds the sources. When all are known, bind_join_conditions binds ON, USING and
 * the arguments of table functions. */
bool bind_from(struct binder *b, const struct sql_node *from, struct scope *scope);
bool bind_join_conditions(struct binder *b, const struct sql_node *from, struct scope *scope);
/* Resolves the name of a source that is a TABLE node, to a CTE or a table. */
bool bind_table_source(struct binder *b, struct sql_source *source, const struct scope *outer);
/* Binds a whole row: STAR as an operand, or a COLUMN that may be the name of a source. */
bool bind_row(struct binder *b, struct sql_node *n, const struct scope *scope);
/* True if the unqualified name `column` is the name of the source. */
bool bind_names_source(const struct sql_source *source, const struct sql_node *column);
/* Adds the columns `names` of SEARCH and CYCLE clauses to a query's rows. `names` may be NULL. */
bool bind_add_columns(struct binder *b, struct scope_rows *rows, const struct sql_node *names);
/* Binds the select list: expressions and outputs. */
bool bind_items(struct binder *b, const struct sql_node *items, struct scope *scope);

#endif
