/* Internal to provenance: traces one arm, step by step. Only the files of provenance include this header. */
#ifndef ASSAY_LIB_EXPLAIN_TRACE_H
#define ASSAY_LIB_EXPLAIN_TRACE_H

#include "lib/explain/provenance.h"
#include "lib/explain/rewrite.h"

enum {
    TRACE_MAX_DERIVED = 16,    /* columns of a derived table that serve as its missing key */
    TRACE_MAX_CONDITIONS = 64, /* values of the chosen row that become conditions */
    TRACE_LONG_VALUE = 256,    /* bytes; longer values are bound as parameters instead of printed */
    TRACE_HUGE_VALUE = 65536,  /* bytes; longer values are omitted */
    TRACE_MAX_ALIASES = 64,    /* uses of select aliases whose columns are looked up */
};

/* The explained row. If `known` is NULL, all values are known. */
struct chosen {
    const struct db_value *values;
    const bool *known;
    uint32_t n;
    uint32_t copies; /* number of equal rows in the result; 0 if unknown */
};

struct tracer {
    struct arena *arena;
    const struct explain_source *source;
    struct prov_options options; /* the caller's options, with defaults filled in */
    struct provenance *out;
    uint32_t cap_arms;
};

/* The position of the traced query in the statement. */
struct origin {
    const struct sql_node *query;
    const struct sql_source *inside;
    const struct sql_node *condition;
    const struct db_value *value;
    int32_t parent;
    uint32_t depth;
    const struct outer_row *outer;
    struct chosen chosen;
};

/* How strictly the conditions compare source rows with the chosen row. TRACE_STRICT is tried first. TRACE_LOOSE is
 * tried if it finds no rows. TRACE_EXACT is tried if the rows found do not hold exactly the values of the chosen
 * row. */
enum trace_way {
    TRACE_STRICT,
    TRACE_LOOSE, /* only values that the engine returns unchanged; a computed one may differ in another plan */
    TRACE_EXACT, /* the identical value: no collation, no affinity */
};

/* The source row for which a correlated subquery is evaluated. Columns of this row become values in the subquery. */
struct outer_row {
    const struct prov_arm *arm; /* the arm whose first row it is */
    const struct outer_row *next;
};

/* One output column of the arm. */
struct arm_output {
    struct sql_node *expr;           /* NULL if the output cannot be written as an expression */
    const struct sql_source *source; /* the source, if `expr` is a plain column of it; otherwise NULL */
    int column;                      /* position among the source's columns; -1 for rowid */
};

/* The state of an arm while its statement is built. */
struct arm_work {
    struct tracer *t;
    struct prov_arm *arm;
    const struct sql_node *query; /* query around the arm; its ORDER BY and LIMIT apply only if the arm is `alone` in
                                   * it */
    bool alone;
    bool aliases; /* true if the arm uses select aliases, which must be expanded */
    const struct outer_row *outer;
    const struct chosen *chosen;
    enum trace_way way;
    struct arm_output *outputs; /* array of block->n_outputs entries */
    struct prov_column *columns;
    struct sql_node **projected; /* array parallel to `columns` */
    uint32_t n_columns;
    struct db_value *params;
    uint32_t n_params;
    bool skipped; /* true if some value did not become a condition */
};

/* Returns the options with defaults filled in. */
struct prov_options prov_defaults(const struct prov_options *asked);
/* Lowers the time and step limits of the handle to those of the options, which grow with the candidate's own cost. If
 * the engine counts steps, the step limit is reached first, so findings depend on the data and not on the load. Returns
 * the old limits, so that the caller can restore them. */
struct db_limits prov_limit(const struct explain_source *source, struct prov_options *options);

/* Applies rule 2: fills work->columns with all columns that the arm uses, then with the keys. */
void trace_columns(struct arm_work *work);
/* Fills work->outputs. Expands `*`. */
void trace_outputs(struct arm_work *work);
/* Returns the tree with the columns of outer rows replaced by their values. */
struct sql_node *trace_fill(struct arena *arena, const struct outer_row *outer, struct sql_node *node);
/* Replaces select aliases, positions in GROUP BY and ORDER BY, and columns of outer rows by the expressions or values
 * that they mean. */
struct sql_node *trace_expand(struct arm_work *work, struct sql_node *node);
/* Returns the position of a name among the source's columns, or -1. */
int trace_source_column(const struct tracer *t, const struct sql_source *source, const char *name, size_t len);

/* Traces the first row of the arm into derived tables, CTEs and subqueries of conditions. */
void trace_follow(struct tracer *t, const struct origin *origin, uint32_t arm);
/* Traces the arms of one query in order. */
void trace_query(struct tracer *t, const struct origin *origin);

/* Applies rule 1: returns a typed condition `expr` IS `value`. Returns NULL and sets work->skipped if SQL cannot
 * express it. */
struct sql_node *trace_condition(struct arm_work *work, struct sql_node *expr, const struct db_value *value);
/* Returns true if the output is one of the keys of the arm's GROUP BY. */
bool trace_is_key(struct arm_work *work, const struct arm_output *output);
/* Applies rules 1 and 3 to the whole arm: writes all_sql, and the clauses that turn it into sql. */
void trace_write(struct arm_work *work);

#endif
