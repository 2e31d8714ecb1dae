/* Internal to binding: scopes, CTEs, and the search for a name. Only bind_walk.h, scope.c and scope_near.c include
 * it. */
#ifndef ASSAY_LIB_SQL_SCOPE_H
#define ASSAY_LIB_SQL_SCOPE_H

#include "lib/sql/bind.h"

enum {
    SCOPE_MAX_SOURCES = 512,     /* FROM items of one block; SQLite's limit is 64 */
    SCOPE_MAX_OUTPUTS = 2000,    /* columns of one block, as in SQLite; more columns are dropped */
    SCOPE_MAX_LOOKUPS = 2000000, /* catalog and output searches of one statement */
    SCOPE_MAX_DIAGS = 16,
    SCOPE_MAX_CTE_NESTING = 64, /* CTEs bound while another CTE is being bound, such as those named before their
                                 * definition */
};

/* The columns of a query's rows. */
struct scope_rows {
    struct sql_block *first;
    struct sql_output *outputs;
    uint32_t n_outputs;
};

struct scope_with;

struct scope_cte {
    const struct sql_node *node; /* SQL_CTE */
    struct scope_with *home;
    struct scope_rows rows;
    bool started, finished;
    bool published; /* rows are known: set after the first arm, so that a recursive arm can see them */
    bool used;      /* reached from the statement itself; SQLite does not check other CTEs */
};

/* One WITH clause. */
struct scope_with {
    struct scope_cte *ctes;
    uint32_t n;
    const struct scope_with *outer;
};

/* A use of a CTE: the body of CTE `from` names CTE `to`. `from` is NULL if the statement itself names it. */
struct scope_use {
    struct scope_cte *from, *to;
    struct scope_use *next;
};

/* The names visible in a block. Lives on the stack while the block is bound. */
struct scope {
    struct sql_block *block;
    const struct scope *outer;
    bool aliases; /* select aliases are visible */
};

struct binder {
    struct arena *arena;
    struct sql_bound *bound;
    const struct sql_catalog *catalog;
    const struct scope_with *with;
    struct scope_cte *in_cte; /* the CTE whose body is being bound */
    struct scope_use *uses;
    struct scope_diag *diags; /* newest first */
    uint32_t n_diags, cap_blocks, cap_refs, lookups, cte_nesting, muted;
    enum sql_clause clause;
    const struct sql_node *aggregate; /* innermost aggregate around the current expression, as in sql_ref; may be
                                       * NULL */
    enum err_code failed;             /* code of the first limit that was exceeded */
    bool paren_alias;                 /* some parenthesised join has an alias */
};

/* A diagnostic that counts only if the CTE that contains it is used. */
struct scope_diag {
    struct sql_diag diag;
    struct scope_cte *cte;
    struct scope_diag *next;
};

/* The result of searching a name in the sources of one block. */
struct scope_hit {
    struct sql_source *source, *right; /* right: the other source, if USING or NATURAL merges the column */
    struct sql_source *open;           /* a source with unknown columns, which may have the name */
    int output;
    uint32_t matches;
    uint32_t visible; /* number of sources that the qualifier admits */
};

/* Searches the sources of one block for a column. */
struct scope_hit scope_search(struct binder *b, struct sql_block *block, const struct sql_node *column);
/* Returns the index of the named column among the source's columns, or -1. */
int scope_source_column(struct binder *b, const struct sql_source *source, const char *name, size_t len);
/* True if the qualifier of a COLUMN or STAR admits the source. A name without a qualifier admits every source. */
bool scope_admits(struct binder *b, const struct sql_source *source, const struct sql_node *name);
/* Returns the catalog id of the table that a TABLE node names, or -1 if it is unknown. `schema` is NULL for a bare
 * name. */
int scope_find_table(const struct binder *b, const char *schema, size_t schema_len, const struct sql_node *table);
/* Returns the ITEM with that explicit alias in the scope's block, or NULL. */
const struct sql_node *scope_alias(const struct scope *scope, const char *name, size_t len);
/* Returns the CTE of that name, searching from the inside out, or NULL. */
struct scope_cte *scope_find_cte(struct binder *b, const char *name, size_t len);

/* Records the code of an exceeded limit. Returns false, for `return scope_fail(...)`. */
bool scope_fail(struct binder *b, enum err_code code);

/* Report an unknown column, an unknown table, an unknown table before .*, or an ambiguous column. */
void scope_unknown_column(struct binder *b, const struct scope *scope, const struct sql_node *column);
void scope_unknown_table(struct binder *b, const struct sql_node *table);
void scope_unknown_star(struct binder *b, const struct scope *scope, const struct sql_node *star);
void scope_ambiguous(struct binder *b, const struct scope *scope, const struct sql_node *column);
/* Reports any other problem of a name. */
void scope_report(struct binder *b, enum err_code code, const struct sql_node *node, const char *message);

#endif
