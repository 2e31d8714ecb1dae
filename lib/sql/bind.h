/* Binding: what each name means.
 *
 * Scopes follow SQL: the FROM items of a block, then those of the enclosing blocks (correlation), select aliases in
 * GROUP BY, HAVING and ORDER BY (SQLite also lets WHERE see them), CTEs by name from the inside out. SQLite's extras
 * are honoured: rowid, and a double-quoted word that is no column is a string. Where SQLite is narrower than the
 * standard (GROUP BY and ORDER BY of a subquery see no enclosing block, the body of an unused CTE is never looked at)
 * we are too.
 *
 * Ownership: everything handed out lives in the arena given to sql_bind. Nothing here keeps state; any thread may call.
 */
#ifndef ASSAY_LIB_SQL_BIND_H
#define ASSAY_LIB_SQL_BIND_H

#include "lib/sql/sql.h"

/* Columns that no star brings. */
enum sql_hidden {
    SQL_HIDDEN_NONE,
    SQL_HIDDEN_SYSTEM, /* tells rows or their versions apart, and holds none of their data: ctid, xmin */
    SQL_HIDDEN_ROW     /* through which any column of the row may be reached: docs in `docs MATCH 'x'` */
};

/* What binding needs to know of a database. lib/schema fills one; tests fill one by hand. Ids are dense from 0.
 * find_*: names compare without case; -1 when there is none. */
struct sql_catalog {
    const void *self;
    int (*find_table)(const void *self, const char *name, size_t len); /* tables and views */
    int (*find_column)(const void *self, int table, const char *name, size_t len);
    int (*n_tables)(const void *self);
    int (*n_columns)(const void *self, int table);
    const char *(*table_name)(const void *self, int table);
    const char *(*column_name)(const void *self, int table, int column);
    /* Optional: the table that "schema.name" means, -1. NULL: "main" is the only schema. */
    int (*find_in_schema)(const void *self, const char *schema, size_t schema_len, const char *name, size_t len);
    /* Optional: the schema without which a name does not reach the table, else NULL. table_name begins with it then,
     * and a dot. */
    const char *(*table_schema)(const void *self, int table);
    /* Optional: is it a column that no star brings? NULL: the engine has none but SQLite's rowid. */
    enum sql_hidden (*find_hidden)(const void *self, int table, const char *name, size_t len);
    /* The name of a FROM item that is no column means its whole row (PostgreSQL). */
    bool alias_is_row;
    /* A word in double quotes is a name, and no string where it names nothing (MariaDB, as lib/db has it read). */
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
    SQL_BLOCK_DERIVED, /* in FROM */
    SQL_BLOCK_SCALAR,  /* (SELECT ...) as a value, also right of a comparison */
    SQL_BLOCK_IN,
    SQL_BLOCK_EXISTS,
    SQL_BLOCK_QUANTIFIED
};

/* One column that a block hands out. */
struct sql_output {
    const char *name; /* alias, column name, or the text of the expression; not terminated */
    uint32_t name_len;
    int table, column;           /* base column when it is one, through any depth of derivation; else -1, -1 */
    const struct sql_node *expr; /* the ITEM's expression; NULL when it comes from a * */
};

/* One FROM item. */
struct sql_source {
    const struct sql_node *node; /* SQL_TABLE, SQL_DERIVED or SQL_FROM_CALL */
    enum sql_source_kind kind;
    const char *name; /* exposed name: alias, else table name; NULL for an unnamed derived table */
    uint32_t name_len;
    int table;                  /* catalog id for SQL_SOURCE_TABLE, else -1 */
    struct sql_block *block;    /* the block whose FROM it stands in */
    struct sql_block *of;       /* CTE and derived: first block of its body; else NULL */
    struct sql_output *outputs; /* CTE and derived; for tables use the catalog */
    uint32_t n_outputs;
    uint32_t index;              /* in block->sources */
    bool nullable;               /* on the optional side of an outer join */
    const struct sql_node *join; /* the JOIN that brings it in on its right side; NULL for the first of a FROM entry */
};

enum sql_ref_kind {
    SQL_REF_COLUMN,   /* a column of `source` */
    SQL_REF_ALIAS,    /* a select alias of the same block: see `expr` */
    SQL_REF_ROWID,    /* SQLite's rowid, oid, _rowid_ of a table; of a view or a subquery, where it is NULL */
    SQL_REF_SYSTEM,   /* PostgreSQL's ctid, xmin, ... of a table: no data */
    SQL_REF_ROW,      /* the whole row of `source`: its name as a value, or a hidden column that reaches all others */
    SQL_REF_STRING,   /* a double-quoted word that is no column: SQLite reads a string */
    SQL_REF_TABLE,    /* of a TABLE node: see `source` */
    SQL_REF_STAR,     /* of a STAR: source is the qualified one, or NULL for all */
    SQL_REF_UNKNOWN,  /* no such name; a diagnostic says so */
    SQL_REF_AMBIGUOUS /* more than one; likewise */
};

/* What a COLUMN, TABLE or STAR node means. */
struct sql_ref {
    enum sql_ref_kind kind;
    const struct sql_node *node;
    struct sql_source *source; /* where it was found; NULL for ALIAS, STRING, UNKNOWN, AMBIGUOUS */
    int output;                /* index among the source's columns; -1 */
    int table, column;         /* base table and column through any depth of derivation and aliases; -1 when computed */
    const struct sql_node *expr; /* ALIAS, or a computed column of a derived table: the expression behind it */
    struct sql_block *block;     /* the block it stands in */
    enum sql_clause clause;
    const struct sql_node *aggregate;     /* innermost aggregate call of that block around it; NULL: none */
    uint32_t levels;                      /* 0: local; n: found n blocks further out (correlated) */
    const struct sql_source *using_right; /* USING / NATURAL names: the other side; else NULL */
};

/* One SELECT (or VALUES) with its scope. */
struct sql_block {
    const struct sql_node *node;  /* SQL_SELECT or SQL_VALUES */
    const struct sql_node *query; /* the SQL_QUERY around it (shared by the arms of a set operation) */
    struct sql_block *parent;     /* enclosing block, NULL at the top */
    enum sql_block_role role;
    bool arm; /* an arm of a set operation */
    bool right_arm_of_except;
    bool grouped;    /* has GROUP BY */
    bool aggregate;  /* has an aggregate call of its own in SELECT, HAVING or ORDER BY */
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
    struct sql_block *top; /* the first block of the statement itself; NULL: it has none */
    struct sql_ref **refs; /* one for each COLUMN, TABLE and STAR, in order of the text */
    uint32_t n_refs;
    struct sql_diag *diags;      /* unknown and ambiguous names, with near names; NULL: all resolved */
    struct sql_block **block_of; /* by id of a SELECT or VALUES node; use sql_block_of */
};

/* Bind a cleanly parsed statement: fills node->ref everywhere and returns the scopes. ERR_OK, ERR_UNKNOWN_NAME or
 * ERR_AMBIGUOUS_NAME (*out set in all three), ERR_LIMIT_MEMORY, or ERR_LIMIT_COUNT when a FROM clause or the search for
 * names grows past any honest size. The catalog must outlive the result. A tree that is edited must be renumbered
 * (sql_renumber) and bound again. At most 16 diagnostics. */
enum err_code sql_bind(struct arena *arena, struct sql_stmt *stmt, const struct sql_catalog *catalog,
                       struct sql_bound **out);

/* The block that a node stands in: for ORDER BY, LIMIT and WITH the first block of their query. NULL outside of all. */
struct sql_block *sql_block_of(const struct sql_bound *bound, const struct sql_node *node);
/* The clause of its block that a node stands in. */
enum sql_clause sql_clause_of(const struct sql_node *node);

/* Is this call an aggregate (count, sum, avg, min, max with one argument, total, group_concat, string_agg, ...) and not
 * a window function? */
bool sql_is_aggregate(const struct sql_node *call);

/* A resolved plain column, looking through parentheses and unary plus: its ref, else NULL. */
const struct sql_ref *sql_plain_column(const struct sql_node *expr);
/* A literal, looking through parentheses and a sign; strings that were written with double quotes count. NULL if none.
 */
const struct sql_node *sql_plain_literal(const struct sql_node *expr);

/* One `column op column` equality that joins: ON, USING, NATURAL, WHERE, correlated conditions, IN pairs. */
struct sql_join_pair {
    const struct sql_node *node;        /* the condition (BINARY, IN), or the USING name, or the NATURAL join */
    const struct sql_ref *left, *right; /* for USING / NATURAL synthesised refs */
    struct sql_block *block;
    bool negated;  /* NOT IN */
    bool is_in;    /* x IN (SELECT y ...) */
    bool conjunct; /* must hold for every row; false under OR, NOT, CASE */
};
/* All of them. Returns the count; *out in the arena; -1 when the arena is full. */
int sql_join_pairs(struct arena *arena, const struct sql_bound *bound, struct sql_join_pair **out);

/* The tree behind sql_normal_form: spans are those of the nodes it was made from, so that a comparison of two normal
 * trees (diff.h) tells in the original text where two statements differ, aliases and spelling aside. No refs. NULL when
 * the arena is full. */
struct sql_node *sql_normal_tree(struct arena *arena, const struct sql_node *node);

/* The same of a statement that is bound only in part: what a name means is written as in the normal form, a name without meaning
 * stays as it is. To compare wrong statements by; two of equal trees need not have equal results. NULL when the arena is full. */
struct sql_node *sql_partly_normal_tree(struct arena *arena, const struct sql_node *node);

/* Names near to a misspelt one, best first: Damerau-Levenshtein within a third of its length, or one a part of the
 * other. Returns how many of `names` (NUL-terminated) were put into `out` (room for `cap`), each once. */
uint32_t sql_near_names(const char *name, size_t len, const char *const *names, uint32_t n_names, const char **out,
                        uint32_t cap);

/* Top-level conjuncts of an expression (through AND and parentheses). Count, or -1 when the arena is full. */
int sql_conjuncts(struct arena *arena, const struct sql_node *expr, const struct sql_node ***out);

#endif
