/* Internal to provenance: one arm, step by step. Only the files of provenance include this. */
#ifndef ASSAY_LIB_EXPLAIN_TRACE_H
#define ASSAY_LIB_EXPLAIN_TRACE_H

#include "lib/explain/provenance.h"
#include "lib/explain/rewrite.h"

enum {
    TRACE_MAX_DERIVED = 16,    /* columns of a derived table that replace its missing key */
    TRACE_MAX_CONDITIONS = 64, /* values of the chosen row that become conditions */
    TRACE_LONG_VALUE = 256,    /* bytes; longer ones are bound, not printed */
    TRACE_HUGE_VALUE = 65536,  /* bytes; longer ones are omitted */
    TRACE_MAX_ALIASES = 64,    /* uses of select aliases whose columns are looked up */
};

/* The explained row. If `known` is NULL, all values are known. */
struct chosen {
    const struct db_value *values;
    const bool *known;
    uint32_t n;
    uint32_t copies; /* equal rows of the result; 0 if unknown */
};

struct tracer {
    struct arena *arena;
    const struct explain_source *source;
    struct prov_options options; /* defaults filled in */
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

/* The source row for which a correlated subquery is evaluated: its columns become values. */
struct outer_row {
    const struct prov_arm *arm; /* its first row */
    const struct outer_row *next;
};

/* One output column of the arm. */
struct arm_output {
    struct sql_node *expr;           /* NULL if it cannot be written */
    const struct sql_source *source; /* source that `expr` is a plain column of; otherwise NULL */
    int column;                      /* number among the source's columns; -1: rowid */
};

/* One arm while its statement is made. */
struct arm_work {
    struct tracer *t;
    struct prov_arm *arm;
    const struct sql_node *query; /* query around it: its ORDER and LIMIT, for an arm that is alone in it */
    bool alone;
    bool aliases; /* uses select aliases, which must be expanded */
    const struct outer_row *outer;
    const struct chosen *chosen;
    enum trace_way way;
    struct arm_output *outputs; /* block->n_outputs */
    struct prov_column *columns;
    struct sql_node **projected; /* parallel to columns */
    uint32_t n_columns;
    struct db_value *params;
    uint32_t n_params;
    bool skipped; /* some value did not become a condition */
};

/* Returns the options with defaults filled in. */
struct prov_options prov_defaults(const struct prov_options *asked);
/* Reduces the handle's time and steps to those of the options; both grow with the candidate's own cost. The step limit
 * applies first if the engine counts steps, so that the findings depend on the data, not on the load. Returns the old
 * limits, to restore them. */
struct db_limits prov_limit(const struct explain_source *source, struct prov_options *options);

/* Rule 2. Fills work->columns: all columns that the arm uses, then keys. */
void trace_columns(struct arm_work *work);
/* Fills work->outputs, with `*` expanded. */
void trace_outputs(struct arm_work *work);
/* Returns the tree with columns of outer rows replaced by values. */
struct sql_node *trace_fill(struct arena *arena, const struct outer_row *outer, struct sql_node *node);
/* Expands a select alias, or a position in GROUP BY and ORDER BY. Columns of outer rows become values. */
struct sql_node *trace_expand(struct arm_work *work, struct sql_node *node);
/* Returns the position among the source's columns, or -1. */
int trace_source_column(const struct tracer *t, const struct sql_source *source, const char *name, size_t len);

/* Follows the first row of the arm into derived tables, CTEs and subqueries of conditions. */
void trace_follow(struct tracer *t, const struct origin *origin, uint32_t arm);
/* Traces the arms of one query in order. */
void trace_query(struct tracer *t, const struct origin *origin);

/* Rule 1. Returns `expr` IS `value`, typed. Returns NULL and sets work->skipped if SQL cannot express it. */
struct sql_node *trace_condition(struct arm_work *work, struct sql_node *expr, const struct db_value *value);
/* True if the output is one of the keys that the arm groups by. */
bool trace_is_key(struct arm_work *work, const struct arm_output *output);
/* Rules 1 and 3 for the whole arm: writes all_sql, and the clauses that turn it into sql. */
void trace_write(struct arm_work *work);

#endif
