/* Binding: resolves each name in a statement.
 *
 * Scopes follow SQL. A name is searched in the FROM items of its block, then in those of the enclosing blocks
 * (correlation). Select aliases are visible in GROUP BY, HAVING and ORDER BY; SQLite also admits them in WHERE. CTEs
 * are searched by name from the inside out. SQLite's extras are supported: rowid, and a double-quoted word that names
 * no column is a string. In two points binding is narrower than the standard, as SQLite is. GROUP BY and ORDER BY of a
 * subquery see no enclosing block. The body of an unused CTE is not checked.
 *
 * Ownership: every returned object lives in the arena given to sql_bind. Binding keeps no state; any thread may
 * call. */
#ifndef ASSAY_LIB_SQL_BIND_H
#define ASSAY_LIB_SQL_BIND_H

#include "lib/sql/sql.h"

/* Columns that a star does not expand to. */
enum sql_hidden {
    SQL_HIDDEN_NONE,
    SQL_HIDDEN_SYSTEM, /* identifies rows or row versions and holds no data: ctid, xmin */
    SQL_HIDDEN_ROW     /* refers to all columns of the row, as docs in `docs MATCH 'x'` */
};

/* The schema of a database, as binding reads it. lib/schema fills one; tests fill one by hand. Ids count from 0 without
 * gaps. The functions find_table, find_column and find_in_schema compare names without case and return -1 if the name
 * is unknown. */
struct sql_catalog {
    const void *self;
    int (*find_table)(const void *self, const char *name, size_t len); /* tables and views */
    int (*find_column)(const void *self, int table, const char *name, size_t len);
    int (*n_tables)(const void *self);
    int (*n_columns)(const void *self, int table);
    const char *(*table_name)(const void *self, int table);
    const char *(*column_name)(const void *self, int table, int column);
    /* Optional. Returns the table that "schema.name" means, or -1. If this is NULL, "main" is the only schema. */
    int (*find_in_schema)(const void *self, const char *schema, size_t schema_len, const char *name, size_t len);
    /* Optional. Returns the schema that must qualify the table's name; table_name then begins with it and a dot.
     * Returns NULL if the name needs no schema. */
    const char *(*table_schema)(const void *self, int table);
    /* Optional. Returns SQL_HIDDEN_NONE unless the name is a column that a star does not expand to. If this is NULL,
     * the engine has no such column except SQLite's rowid. */
    enum sql_hidden (*find_hidden)(const void *self, int table, const char *name, size_t len);
    /* A name that no column has, but a FROM item has, means the whole row of that item (PostgreSQL). */
    bool alias_is_row;
    /* A double-quoted word is always a name, never a string (MariaDB with the SQL mode that lib/db sets). */
    bool quotes_names;
};

enum sql_clause {
    SQL_CLAUSE_SELECT,
    SQL_CLAUSE_FROM, /* join conditions: ON and USING */
    SQL_CLAUSE_WHERE,
    SQL_CLAUSE_GROUP,
    SQL_CLAUSE_HAVING,
    SQL_CLAUSE_ORDER,
    SQL_CLAUSE_LIMIT,
    SQL_CLAUSE_WINDOW,
    SQL_CLAUSE_COUNT
};
const char *sql_clause_name(enum sql_clause clause); /* "SELECT", "JOIN", "WHERE", "GROUP BY" ... */

enum sql_source_kind { SQL_SOURCE_TABLE, SQL_SOURCE_CTE, SQL_SOURCE_DERIVED, SQL_SOURCE_FUNCTION, SQL_SOURCE_UNKNOWN };

enum sql_block_role {
    SQL_BLOCK_TOP,     /* the statement itself */
    SQL_BLOCK_CTE,     /* body of a CTE */
    SQL_BLOCK_DERIVED, /* a subquery in FROM */
    SQL_BLOCK_SCALAR,  /* (SELECT ...) as a value, also right of a comparison */
    SQL_BLOCK_IN,
    SQL_BLOCK_EXISTS,
    SQL_BLOCK_QUANTIFIED
};

/* One output column of a block. */
struct sql_output {
    const char *name; /* alias, column name, or the text of the expression; not terminated */
    uint32_t name_len;
    int table, column;           /* the base column, through any depth of subqueries; both -1 if it is computed */
    const struct sql_node *expr; /* expression of the ITEM; NULL if the output comes from a * */
};

/* One FROM item. */
struct sql_source {
    const struct sql_node *node; /* SQL_TABLE, SQL_DERIVED or SQL_FROM_CALL */
    enum sql_source_kind kind;
    const char *name; /* exposed name: alias, else table name; NULL for an unnamed derived table */
    uint32_t name_len;
    int table;                  /* catalog id for SQL_SOURCE_TABLE, else -1 */
    struct sql_block *block;    /* the block whose FROM contains it */
    struct sql_block *of;       /* CTE and derived: first block of its body; else NULL */
    struct sql_output *outputs; /* columns of a CTE or derived table; for a table use the catalog */
    uint32_t n_outputs;
    uint32_t index;              /* in block->sources */
    bool nullable;               /* on the optional side of an outer join */
    const struct sql_node *join; /* the JOIN on whose right side it is; NULL for the first source of a FROM entry */
};

enum sql_ref_kind {
    SQL_REF_COLUMN,   /* a column of `source` */
    SQL_REF_ALIAS,    /* a select alias of the same block; `expr` is its expression */
    SQL_REF_ROWID,    /* SQLite's rowid, oid or _rowid_ of a table; for a view or a subquery the value is NULL */
    SQL_REF_SYSTEM,   /* PostgreSQL's ctid, xmin, ... of a table, which hold no data */
    SQL_REF_ROW,      /* the whole row of `source`: its name as a value, or a column such as FTS's table name */
    SQL_REF_STRING,   /* a double-quoted word that names no column: SQLite reads a string */
    SQL_REF_TABLE,    /* for a TABLE node: the table or CTE `source` */
    SQL_REF_STAR,     /* for a STAR: all columns of `source`, or of all sources if that is NULL */
    SQL_REF_UNKNOWN,  /* unknown name, reported by a diagnostic */
    SQL_REF_AMBIGUOUS /* ambiguous name, reported by a diagnostic */
};

/* The meaning of a COLUMN, TABLE or STAR node. */
struct sql_ref {
    enum sql_ref_kind kind;
    const struct sql_node *node;
    struct sql_source *source; /* source that has the name; NULL for ALIAS, STRING, UNKNOWN, AMBIGUOUS */
    int output;                /* index among the source's columns, or -1 */
    int table, column;         /* base table and column through any depth of derivation and aliases; -1 when computed */
    const struct sql_node *expr; /* ALIAS, or a computed column of a derived table: the expression that computes it */
    struct sql_block *block;     /* the block that contains the node */
    enum sql_clause clause;
    const struct sql_node *aggregate;     /* innermost aggregate call that contains the node, within `block`; or NULL */
    uint32_t levels;                      /* 0 for a local name; n for a name found n blocks further out (correlated) */
    const struct sql_source *using_right; /* for a name merged by USING or NATURAL: the other source; else NULL */
};

/* One SELECT (or VALUES) with its scope. */
struct sql_block {
    const struct sql_node *node;  /* SQL_SELECT or SQL_VALUES */
    const struct sql_node *query; /* the SQL_QUERY that contains it; the arms of a set operation share one */
    struct sql_block *parent;     /* enclosing block, NULL at the top */
    enum sql_block_role role;
    bool arm; /* an arm of a set operation */
    bool right_arm_of_except;
    bool grouped;    /* has GROUP BY */
    bool aggregate;  /* has its own aggregate call in SELECT, HAVING or ORDER BY */
    bool correlated; /* uses a column of an enclosing block */
    struct sql_source *sources;
    uint32_t n_sources;
    struct sql_output *outputs;
    uint32_t n_outputs;
    uint32_t index; /* in sql_bound.blocks */
};

struct sql_bound {
    const struct sql_stmt *stmt;
    const struct sql_catalog *catalog;
    struct sql_block **blocks; /* outer before inner */
    uint32_t n_blocks;
    struct sql_block *top; /* the first block of the statement itself; NULL if it has none */
    struct sql_ref **refs; /* one for each COLUMN, TABLE and STAR, in order of the text */
    uint32_t n_refs;
    struct sql_diag *diags;      /* unknown and ambiguous names, with near names; NULL if all are resolved */
    struct sql_block **block_of; /* by id of a SELECT or VALUES node; use sql_block_of */
};

/* Binds a statement that was parsed without errors. Groups its operators as the engine does (precedence.h), sets
 * node->ref of all names, and returns the scopes. Returns ERR_OK, ERR_UNKNOWN_NAME or ERR_AMBIGUOUS_NAME, and sets *out
 * in all three cases. Returns ERR_LIMIT_MEMORY, or ERR_LIMIT_COUNT if a FROM clause or the name search exceeds its
 * bound. Reports at most 16 diagnostics. The catalog must outlive the result. An edited tree must be renumbered
 * (sql_renumber) and bound again. */
enum err_code sql_bind(struct arena *arena, struct sql_stmt *stmt, const struct sql_catalog *catalog,
                       struct sql_bound **out);

/* Returns the block that contains a node. ORDER BY, LIMIT and WITH belong to the first block of their query. Returns
 * NULL if no block contains the node. */
struct sql_block *sql_block_of(const struct sql_bound *bound, const struct sql_node *node);
/* Returns the clause that contains a node, within the node's block. */
enum sql_clause sql_clause_of(const struct sql_node *node);

/* True if this call is an aggregate (count, sum, avg, min, max with one argument, total, group_concat, string_agg, ...)
 * and not a window function. */
bool sql_is_aggregate(const struct sql_node *call);

/* Returns the ref of an expression that is a resolved column, or NULL. Parentheses and a unary plus around the column
 * are ignored. */
const struct sql_ref *sql_plain_column(const struct sql_node *expr);
/* Returns the literal of an expression that is a literal, or NULL. Parentheses, a sign and a type such as DATE around
 * the literal are ignored. A string in double quotes counts as a literal. */
const struct sql_node *sql_plain_literal(const struct sql_node *expr);

/* An equality of two columns that joins rows. It comes from ON, USING, NATURAL, WHERE, a correlated condition or IN
 * (SELECT ...). */
struct sql_join_pair {
    const struct sql_node *node;        /* the condition (BINARY or IN), the name in USING, or the NATURAL join */
    const struct sql_ref *left, *right; /* for USING and NATURAL, refs that sql_join_pairs makes */
    struct sql_block *block;
    bool negated;  /* NOT IN */
    bool is_in;    /* x IN (SELECT y ...) */
    bool conjunct; /* the condition must hold for every row; false under OR, NOT, CASE */
};
/* Finds all join pairs. Returns the count and sets *out (arena), or -1 if the arena is full. */
int sql_join_pairs(struct arena *arena, const struct sql_bound *bound, struct sql_join_pair **out);

/* Returns the tree that sql_normal_form prints, without refs. Its spans are those of the original nodes. A comparison
 * of two normal trees (diff.h) therefore locates differences in the original text and ignores aliases and spelling.
 * Returns NULL if the arena is full. */
struct sql_node *sql_normal_tree(struct arena *arena, const struct sql_node *node);

/* Returns the normal tree of a statement that is bound only in part. Resolved names are written as in the normal form;
 * an unresolved name stays as it is. Use the tree to compare wrong statements: equal trees do not imply equal results.
 * NULL if the arena is full. */
struct sql_node *sql_partly_normal_tree(struct arena *arena, const struct sql_node *node);

/* Finds names near a misspelt one, best first. Names are near if their Damerau-Levenshtein distance is at most a third
 * of the longer one's length, or if one contains the other. Puts at most `cap` distinct entries of `names`
 * (NUL-terminated) into `out` and returns their number. */
uint32_t sql_near_names(const char *name, size_t len, const char *const *names, uint32_t n_names, const char **out,
                        uint32_t cap);

/* Collects the conditions that AND connects at the top level of an expression, or of a WHERE, HAVING or ON node.
 * Parentheses are ignored. Returns the count, or -1 if the arena is full. */
int sql_conjuncts(struct arena *arena, const struct sql_node *expr, const struct sql_node ***out);

#endif
