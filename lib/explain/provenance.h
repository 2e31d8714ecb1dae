/* Provenance: the source rows of a result row, and the reason of an empty result.
 *
 * DESIGN (seed 002 §IV-A). A statement has arms: the SELECTs of a set operation, or its only SELECT. For each arm one
 * statement is made from its syntax tree by three rules. The chosen row of the result becomes a condition (NULL-safe,
 * typed). The select list becomes all columns that the arm uses, and the keys of its tables. Aggregates, GROUP BY,
 * DISTINCT and LIMIT are removed. It runs in the sandbox under a row limit: one statement an arm. The same statement
 * without that limit is returned as text (`all_sql`). prov_check_sql makes of it a statement that computes the
 * explained values again, with which the tests verify the rows.
 *
 * Subqueries in conditions stay conditions; CTEs and derived tables stay sources. Both are followed further down, from
 * the arm's first source row on, in arms of their own (`condition`, `inside`), if options allow statements for it. They
 * give the rows that the row is IN, that EXIST for it, or that supply the value it is compared with.
 *
 * Why-not (future work in seed 002) finds the smallest set of conditions without which a row appears. It probes the
 * statement with conditions removed, at most `max_probes` times.
 *
 * No failure here ends the judging: a part that cannot be traced has a status and a reason. Everything returned lives
 * in the arena. Thread: the one that owns the arena and the database handle. */
#ifndef ASSAY_LIB_EXPLAIN_PROVENANCE_H
#define ASSAY_LIB_EXPLAIN_PROVENANCE_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/db/db.h"
#include "lib/schema/schema.h"
#include "lib/sql/bind.h"

/* The candidate to explain, which parses and binds. It must outlive its explanation. */
struct explain_source {
    const char *sql; /* not NUL-terminated; spans of nodes count its bytes */
    size_t sql_len;
    const struct sql_stmt *stmt;
    const struct sql_bound *bound; /* of that statement, against index->catalog; no diagnostics */
    const struct schema_index *index;
    struct db *db;                  /* if NULL, no statement can run, and provenance is unavailable */
    const struct db_result *result; /* the candidate's own; if NULL, it runs once more */
};

/* Bounds; 0 means the default. */
struct prov_options {
    uint32_t max_rows;    /* 8: source rows fetched for each arm */
    uint32_t max_arms;    /* 8: arms, and statements, of one candidate */
    uint32_t max_depth;   /* 2: nesting of followed derived tables, CTEs and subqueries */
    uint32_t max_columns; /* 64: projected columns of one arm; the rest is dropped and reported */
    uint32_t max_probes;  /* 24: probe statements of a why-not */
    int64_t time_ms;      /* 500, or thrice what the candidate itself took: each statement made here, and twice that
                             all of a trace or why-not; never more than the handle's own limit. Each is also held to
                             250,000 steps of the engine, or thrice the candidate's */
    uint64_t seed;        /* chooses the representative row, see prov_rule */
    bool no_conditions;   /* subqueries of conditions are not followed */
};

/* What an arm does with a column. KEY: added as a key of its table although it may not be used. */
enum prov_role {
    PROV_SELECTED = 1U << 0,   /* in the select list, as a value */
    PROV_AGGREGATED = 1U << 1, /* inside of an aggregate */
    PROV_FILTER = 1U << 2,     /* WHERE */
    PROV_JOIN = 1U << 3,       /* ON, USING, or an equality of two tables' columns in WHERE */
    PROV_GROUP = 1U << 4,
    PROV_HAVING = 1U << 5,
    PROV_ORDER = 1U << 6,
    PROV_WINDOW = 1U << 7,     /* inside a window function or its window */
    PROV_CORRELATED = 1U << 8, /* used by a subquery */
    PROV_KEY = 1U << 9,
};

struct prov_column {
    const struct sql_source *source;    /* the FROM item, which distinguishes the sides of a self-join */
    const char *instance;               /* its exposed name (alias, else table); NULL for an unnamed derived table */
    uint32_t instance_len;              /* not NUL-terminated, as all names from the tree */
    const char *table;                  /* NUL-terminated name of the base table; NULL if computed or unknown */
    const struct schema_column *column; /* base column; NULL if computed in a derived table, or rowid */
    int output;                         /* its number among the source's columns; -1 if rowid or unknown */
    const char *name;                   /* column name as seen in the arm, NUL-terminated */
    const char *label;                  /* its name in the rewritten statement, "T1.name"; unique, NUL-terminated */
    unsigned roles;                     /* enum prov_role */
    bool is_rowid;
};

enum prov_arm_state {
    PROV_ARM_ROWS,        /* the chosen row came from here; `values` has source rows */
    PROV_ARM_OTHER,       /* ran and found none: the row came from another arm of a UNION */
    PROV_ARM_EXCLUDED,    /* right side of EXCEPT: has no such row by definition; not run, `sql` would find none */
    PROV_ARM_NO_SOURCE,   /* VALUES, or no FROM */
    PROV_ARM_UNAVAILABLE, /* could not run: `reason` */
};

/* How the rows of an arm form the row of the result. */
enum prov_arm_shape {
    PROV_SHAPE_PLAIN,  /* a source row a result row */
    PROV_SHAPE_WHOLE,  /* aggregates over all rows, no GROUP BY */
    PROV_SHAPE_GROUP,  /* the rows of the chosen group */
    PROV_SHAPE_MERGED, /* DISTINCT: the rows that were merged into one */
};

struct prov_arm {
    const struct sql_node *select; /* SELECT or VALUES of the statement */
    const struct sql_block *block;
    enum prov_arm_state state;
    enum prov_arm_shape shape;
    enum sql_op set_op; /* the innermost set operation it is an arm of: SQL_UNION ...; SQL_OP_NONE if of none */
    bool right;         /* its right side */
    int32_t parent;     /* arm whose first source row this one follows; -1 at the top */
    const struct sql_source *inside;  /* the derived table or CTE that this arm is the body of; else NULL */
    const struct sql_node *condition; /* the conjunct of the parent's WHERE whose subquery this arm is: IN, EXISTS or a
                                         comparison; else NULL */
    const struct db_value *value;     /* of a comparison: what the subquery gives; else NULL */
    const char *reason;               /* of PROV_ARM_UNAVAILABLE; "" otherwise */
    const char *sql;                  /* the statement that ran, NUL-terminated; NULL if none could be made */
    const char *all_sql;              /* the same without ORDER BY and LIMIT: every source row of the chosen row */
    const struct db_value *params;    /* ?1 ... of both texts: values too long to print */
    uint32_t n_params;
    const struct prov_column *columns; /* used columns in order of first use, then keys */
    uint32_t n_columns;
    bool columns_cut;              /* more than max_columns */
    const struct db_value *values; /* n_rows x n_columns, row-major. The most telling first: the row that has the
                                      explained minimum or maximum, or comes first by the arm's own ORDER BY */
    uint32_t n_rows;
    bool more;     /* there are source rows beyond n_rows */
    int64_t total; /* source rows altogether; -1: not known (it is never counted by an extra statement) */
    bool exact;    /* false: some value could not become a condition (window function, over-long blob): the rows hold
                      those of the chosen row, and may hold others */
};

enum prov_status {
    PROV_ROWS,        /* at least one arm has rows */
    PROV_NO_SOURCE,   /* no FROM anywhere: the result is made of constants */
    PROV_EMPTY,       /* the result has no row: see prov_whynot */
    PROV_NOTHING,     /* a row, but an aggregate over no rows: see prov_whynot */
    PROV_UNAVAILABLE, /* `reason` */
};

/* The rule that chooses the explained row of the result, the same on every machine. It starts at row 0 if the statement
 * orders its result or seed is 0, else at row splitmix64(seed) mod n_rows. From there it takes the first of 64 rows
 * (cyclic) that holds no NULL, or else the start. It then goes back to the first row equal to that one. */
enum prov_rule { PROV_RULE_ONLY, PROV_RULE_FIRST, PROV_RULE_SEEDED, PROV_RULE_NO_NULL };
const char *prov_rule_text(enum prov_rule rule); /* "the first row that holds no NULL" */

struct provenance {
    enum prov_status status;
    enum err_code code;             /* of PROV_UNAVAILABLE: why; else ERR_OK */
    const char *reason;             /* one sentence, "" unless unavailable */
    const struct db_result *result; /* the result that is explained: the source's, or the one run here */
    uint32_t row;                   /* the representative row */
    enum prov_rule rule;
    bool result_cut;       /* the result is only the first rows of a longer one */
    struct prov_arm *arms; /* in order of the text; those with a parent after it */
    uint32_t n_arms;
    bool arms_cut;       /* there are more than max_arms */
    uint32_t statements; /* run for this */
    int64_t sql_ns;      /* time of those statements */
};

/* Traces the representative row. Returns ERR_OK with *out filled, or ERR_LIMIT_MEMORY (arena full; *out is then
 * unavailable). `options` may be NULL. The handle's limits are restored. Paper: §IV-A, rules 1 to 3. */
enum err_code prov_trace(struct arena *arena, const struct explain_source *source, const struct prov_options *options,
                         struct provenance *out);

/* The alias of a subquery in FROM of a statement of provenance. Some engines require one. */
#define PROV_ALIAS "assay_rows"

/* Returns the statement that computes the arm's select list again, over the rows of its `all_sql`: it gives the
 * explained row. NULL if the list needs more than the source rows (a subquery, a window function), or the arena is
 * full. Takes the arm's params. */
const char *prov_check_sql(struct arena *arena, const struct explain_source *source, const struct prov_arm *arm);

enum whynot_status {
    WHYNOT_FOUND,       /* `culprits`: without them a row appears, and no smaller set found does that */
    WHYNOT_NOT_EMPTY,   /* there is a row: nothing to explain */
    WHYNOT_NO_DATA,     /* empty even with all parts removed: a table has no rows */
    WHYNOT_UNAVAILABLE, /* `reason` */
};

enum whynot_kind {
    WHYNOT_WHERE,  /* a conjunct of WHERE */
    WHYNOT_ON,     /* a conjunct of ON, or USING, or NATURAL: `node` is it */
    WHYNOT_HAVING, /* a conjunct of HAVING */
    WHYNOT_ARM,    /* one side of INTERSECT or EXCEPT: `node` is its SELECT */
    WHYNOT_LIMIT,  /* LIMIT or OFFSET */
};
const char *whynot_kind_name(enum whynot_kind kind); /* "WHERE", "JOIN", "HAVING", "set operation", "LIMIT" */

enum { WHYNOT_MAX_NEAREST = 3, WHYNOT_MAX_CULPRITS = 8 };

/* One condition that removes all rows. `column`, `literal` and the fields after them are set if it compares a column
 * with a literal. */
struct whynot_culprit {
    enum whynot_kind kind;
    const struct sql_node *node;   /* in the source's tree, with its span */
    const struct sql_block *block; /* the block that contains it; a block of IN or EXISTS if the cause is inside */
    const struct schema_column *column;
    const struct sql_node *literal;
    enum sql_op op;                          /* column OP literal; SQL_OP_LIKE, SQL_OP_NONE ... */
    const char *written;                     /* the literal's text, decoded; NUL-terminated */
    int stored;                              /* 1 if the column holds it, 0 if not, -1 if unknown or not an equality */
    const char *nearest[WHYNOT_MAX_NEAREST]; /* stored values nearest to it, best first, as text */
    uint32_t n_nearest;
};

struct whynot {
    enum whynot_status status;
    const char *reason; /* one sentence; "" unless unavailable */
    struct whynot_culprit culprits[WHYNOT_MAX_CULPRITS];
    uint32_t n_culprits;
    bool minimal;    /* every smaller set was probed; else the search found this one first within its budget */
    bool exhausted;  /* the budget of probes or time ended the search */
    uint32_t probes; /* statements run */
    int64_t sql_ns;
};

/* Finds why the result has no row, or an aggregate has no input. Returns ERR_OK with *out filled, or ERR_LIMIT_MEMORY.
 * Call it for PROV_EMPTY and PROV_NOTHING. */
enum err_code prov_whynot(struct arena *arena, const struct explain_source *source, const struct prov_options *options,
                          struct whynot *out);

#endif
