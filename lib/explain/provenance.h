/* Provenance: the source rows of a result row, and the reason of an empty result.
 *
 * DESIGN (CycleSQL paper, §IV-A). A statement has arms: the SELECTs of a set operation, or its only SELECT. For each
 * arm, three rules make one statement from the arm's syntax tree. Rule 1: the chosen row of the result becomes a
 * condition (NULL-safe, typed). Rule 2: the select list becomes all columns that the arm uses, and the keys of its
 * tables. Rule 3: aggregates, GROUP BY, DISTINCT and LIMIT are removed. The statement runs in the sandbox under a row
 * limit. The same statement without that limit is returned as text (`all_sql`). prov_check_sql turns it into a
 * statement that computes the explained values again; tests verify the rows with it.
 *
 * Subqueries in conditions stay conditions; CTEs and derived tables stay sources. If the options allow further
 * statements, both are also traced for the arm's first source row, in arms of their own (`condition`, `inside`). Such
 * an arm gives the rows that the source row is IN, that EXIST for it, or that supply the value compared with it.
 *
 * Why-not (future work in the CycleSQL paper) finds the smallest set of conditions whose removal makes a row appear. It
 * probes the statement with conditions removed, at most `max_probes` times.
 *
 * A failure here never ends the judging: a part that cannot be traced has a status and a reason. All returned memory
 * lives in the arena. Thread: the one that owns the arena and the database handle. */
#ifndef ASSAY_LIB_EXPLAIN_PROVENANCE_H
#define ASSAY_LIB_EXPLAIN_PROVENANCE_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/db/db.h"
#include "lib/schema/schema.h"
#include "lib/sql/bind.h"

/* The candidate to explain, which must parse and bind. It must outlive its explanation. */
struct explain_source {
    const char *sql; /* not NUL-terminated; spans of nodes are byte offsets into it */
    size_t sql_len;
    const struct sql_stmt *stmt;
    const struct sql_bound *bound; /* binding of `stmt` against index->catalog, without diagnostics */
    const struct schema_index *index;
    struct db *db;                  /* if NULL, no statement can run, and provenance is unavailable */
    const struct db_result *result; /* the candidate's own result; if NULL, the candidate runs once more */
};

/* Limits. A value of 0 means the default. */
struct prov_options {
    uint32_t max_rows;    /* source rows fetched for each arm; default 8 */
    uint32_t max_arms;    /* arms, and so statements, of one candidate; default 8 */
    uint32_t max_depth;   /* nesting of traced derived tables, CTEs and subqueries; default 2 */
    uint32_t max_columns; /* projected columns of one arm; default 64; further ones are dropped and reported */
    uint32_t max_probes;  /* probe statements of a why-not; default 24 */
    int64_t time_ms;      /* limit of each statement made here; default 500, at least three times the candidate's own
                           * time, and at most the handle's limit. A whole trace or why-not has twice that time. Each
                           * statement may also take 250,000 steps of the engine, or three times the candidate's steps
                           * if that is more */
    uint64_t seed;        /* chooses the representative row (prov_rule) */
    bool no_conditions;   /* true if subqueries in conditions are not traced */
};

/* The uses of a column by an arm, as bits. PROV_KEY marks a key of a table that was added although the arm may not use
 * it. */
enum prov_role {
    PROV_SELECTED = 1U << 0,   /* in the select list, as a value */
    PROV_AGGREGATED = 1U << 1, /* inside an aggregate */
    PROV_FILTER = 1U << 2,     /* in WHERE */
    PROV_JOIN = 1U << 3,       /* in ON or USING, or in an equality of two tables' columns in WHERE */
    PROV_GROUP = 1U << 4,
    PROV_HAVING = 1U << 5,
    PROV_ORDER = 1U << 6,
    PROV_WINDOW = 1U << 7,     /* inside a window function or its window */
    PROV_CORRELATED = 1U << 8, /* used by a subquery of the arm */
    PROV_KEY = 1U << 9,
};

struct prov_column {
    const struct sql_source *source;    /* the FROM item, which distinguishes the two sides of a self-join */
    const char *instance;               /* name of the FROM item: alias, else table; NULL for an unnamed derived
                                         * table */
    uint32_t instance_len;              /* `instance` is not NUL-terminated, like all names from the tree */
    const char *table;                  /* NUL-terminated name of the base table; NULL if computed or unknown */
    const struct schema_column *column; /* base column; NULL if computed in a derived table, or rowid */
    int output;                         /* position among the source's columns; -1 if rowid or unknown */
    const char *name;                   /* name of the column as the arm sees it, NUL-terminated */
    const char *label;                  /* name in the rewritten statement, such as "T1.name"; unique, NUL-terminated */
    unsigned roles;                     /* bits of enum prov_role */
    bool is_rowid;
};

enum prov_arm_state {
    PROV_ARM_ROWS,        /* the chosen row came from this arm; `values` has its source rows */
    PROV_ARM_OTHER,       /* the arm ran and found no rows, because the row came from another arm of a UNION */
    PROV_ARM_EXCLUDED,    /* right side of EXCEPT, which by definition has no such row; it does not run */
    PROV_ARM_NO_SOURCE,   /* the arm is VALUES, or has no FROM */
    PROV_ARM_UNAVAILABLE, /* the arm could not run; `reason` says why */
};

/* How the rows of an arm form the row of the result. */
enum prov_arm_shape {
    PROV_SHAPE_PLAIN,  /* each source row gives one result row */
    PROV_SHAPE_WHOLE,  /* aggregates over all rows, without GROUP BY */
    PROV_SHAPE_GROUP,  /* the rows of the chosen group */
    PROV_SHAPE_MERGED, /* DISTINCT: the rows that were merged into one */
};

struct prov_arm {
    const struct sql_node *select; /* SELECT or VALUES of the statement */
    const struct sql_block *block;
    enum prov_arm_state state;
    enum prov_arm_shape shape;
    enum sql_op set_op; /* innermost set operation that the arm belongs to, such as SQL_UNION; SQL_OP_NONE if there is
                         * none */
    bool right;         /* true for the right side of `set_op` */
    int32_t parent;     /* arm for whose first source row this arm was traced; -1 at the top */
    const struct sql_source *inside;  /* derived table or CTE whose body this arm is; else NULL */
    const struct sql_node *condition; /* conjunct of the parent's WHERE whose subquery this arm is (IN, EXISTS or a
                                       * comparison); else NULL */
    const struct db_value *value;     /* for a comparison: the value that the subquery gives; else NULL */
    const char *reason;               /* reason of PROV_ARM_UNAVAILABLE; otherwise "" */
    const char *sql;                  /* the statement that ran, NUL-terminated; NULL if it could not be built */
    const char *all_sql;              /* `sql` without ORDER BY and LIMIT, which finds every source row of the chosen
                                       * row */
    const struct db_value *params;    /* parameters ?1, ?2 and so on of both texts: values that are too long to print */
    uint32_t n_params;
    const struct prov_column *columns; /* used columns in order of first use, then keys */
    uint32_t n_columns;
    bool columns_cut;              /* true if the arm uses more than max_columns columns */
    const struct db_value *values; /* n_rows x n_columns, row-major. The first row has the explained minimum or maximum,
                                    * or comes first by the arm's own ORDER BY */
    uint32_t n_rows;
    bool more;     /* true if there are more than n_rows source rows */
    int64_t total; /* number of all source rows; -1 if unknown, because no extra statement counts them */
    bool exact;    /* false if some value, such as that of a window function or an over-long blob, could not become a
                    * condition. The rows then include those of the chosen row, and may include others */
};

enum prov_status {
    PROV_ROWS,        /* at least one arm has rows */
    PROV_NO_SOURCE,   /* no arm has a FROM; the result consists of constants */
    PROV_EMPTY,       /* the result has no row; prov_whynot finds the reason */
    PROV_NOTHING,     /* the result has a row that aggregates no rows; prov_whynot finds the reason */
    PROV_UNAVAILABLE, /* the trace failed; `reason` says why */
};

/* The rule that chooses the explained row of the result, the same on every machine. The search starts at row 0 if the
 * statement orders its result or `seed` is 0; otherwise at row splitmix64(seed) mod n_rows. It chooses the first row
 * without NULL among the next 64 rows (cyclic), or the start if each has a NULL. The first row equal to the chosen one
 * is explained. */
enum prov_rule { PROV_RULE_ONLY, PROV_RULE_FIRST, PROV_RULE_SEEDED, PROV_RULE_NO_NULL };
const char *prov_rule_text(enum prov_rule rule); /* Returns a description such as "the first row that holds no NULL". */

struct provenance {
    enum prov_status status;
    enum err_code code;             /* error of PROV_UNAVAILABLE; else ERR_OK */
    const char *reason;             /* one sentence for PROV_UNAVAILABLE; otherwise "" */
    const struct db_result *result; /* explained result: that of the source, or that of a run made here */
    uint32_t row;                   /* the representative row */
    enum prov_rule rule;
    bool result_cut;       /* true if `result` has only the first rows of a longer result */
    struct prov_arm *arms; /* arms in the order of the text; an arm with a parent comes after that parent */
    uint32_t n_arms;
    bool arms_cut;       /* true if there are more than max_arms arms */
    uint32_t statements; /* number of statements that the trace ran */
    int64_t sql_ns;      /* time of the statements that the trace ran */
};

/* Traces the representative row by rules 1 to 3 (CycleSQL paper, §IV-A). Returns ERR_OK with *out filled. Returns
 * ERR_LIMIT_MEMORY if the arena is full; *out is then unavailable. `options` may be NULL. Restores the limits of the
 * handle. */
enum err_code prov_trace(struct arena *arena, const struct explain_source *source, const struct prov_options *options,
                         struct provenance *out);

/* The alias of a subquery in FROM in statements made here. Some engines require an alias. */
#define PROV_ALIAS "assay_rows"

/* Returns a statement that computes the arm's select list again over the rows of `all_sql`, and so gives the explained
 * row. It has the parameters of the arm. Returns NULL if the list needs more than the source rows (a subquery, a window
 * function), or if the arena is full. */
const char *prov_check_sql(struct arena *arena, const struct explain_source *source, const struct prov_arm *arm);

enum whynot_status {
    WHYNOT_FOUND,       /* a row appears if `culprits` are removed; no smaller set with this effect was found */
    WHYNOT_NOT_EMPTY,   /* the result has a row, so there is nothing to explain */
    WHYNOT_NO_DATA,     /* empty even without all removable parts, because a table has no rows */
    WHYNOT_UNAVAILABLE, /* the search failed; `reason` says why */
};

enum whynot_kind {
    WHYNOT_WHERE,  /* a conjunct of WHERE */
    WHYNOT_ON,     /* `node` is a conjunct of ON, or a USING or NATURAL */
    WHYNOT_HAVING, /* a conjunct of HAVING */
    WHYNOT_ARM,    /* `node` is the SELECT of one side of INTERSECT or EXCEPT */
    WHYNOT_LIMIT,  /* LIMIT or OFFSET */
};
/* Returns "WHERE", "JOIN", "HAVING", "set operation" or "LIMIT". */
const char *whynot_kind_name(enum whynot_kind kind);

enum { WHYNOT_MAX_NEAREST = 3, WHYNOT_MAX_CULPRITS = 8 };

/* One condition that removes all rows. `column`, `literal` and the members after them are set only if the condition
 * compares a column with a literal. */
struct whynot_culprit {
    enum whynot_kind kind;
    const struct sql_node *node;   /* node of the source's tree */
    const struct sql_block *block; /* block of the condition; if the cause is inside IN or EXISTS, a block of that
                                    * subquery */
    const struct schema_column *column;
    const struct sql_node *literal;
    enum sql_op op;                          /* operator between column and literal, such as SQL_OP_LIKE; may be
                                              * SQL_OP_NONE */
    const char *written;                     /* decoded text of the literal, NUL-terminated */
    int stored;                              /* 1 if the column has a value for which `column op literal` is true, 0 if
                                              * not, -1 if unknown */
    const char *nearest[WHYNOT_MAX_NEAREST]; /* stored values nearest to the literal, as text, best first */
    uint32_t n_nearest;
};

struct whynot {
    enum whynot_status status;
    const char *reason; /* one sentence for WHYNOT_UNAVAILABLE; otherwise "" */
    struct whynot_culprit culprits[WHYNOT_MAX_CULPRITS];
    uint32_t n_culprits;
    bool minimal;    /* true if every smaller set was probed; false if the search found this set first within its
                      * budget */
    bool exhausted;  /* true if the budget of probes or time ended the search */
    uint32_t probes; /* number of statements that the search ran */
    int64_t sql_ns;
};

/* Finds why the result has no row, or why an aggregate has no input (PROV_EMPTY, PROV_NOTHING). Returns ERR_OK with
 * *out filled, or ERR_LIMIT_MEMORY. */
enum err_code prov_whynot(struct arena *arena, const struct explain_source *source, const struct prov_options *options,
                          struct whynot *out);

#endif
