/* Internal to provenance: one arm, step by step. Only the files of provenance include this. */
#ifndef ASSAY_LIB_EXPLAIN_TRACE_H
#define ASSAY_LIB_EXPLAIN_TRACE_H

#include "lib/explain/provenance.h"
#include "lib/explain/rewrite.h"

enum {
    TRACE_MAX_DERIVED = 16,    /* columns of a derived table that replace its missing key */
    TRACE_MAX_CONDITIONS = 64, /* values of the chosen row that become conditions */
    TRACE_LONG_VALUE = 256,    /* bytes; longer ones are bound, not printed */
    TRACE_HUGE_VALUE = 65536,  /* bytes; longer ones are left out */
    TRACE_MAX_ALIASES = 64,    /* uses of select aliases whose columns are looked up */
};

/* The row that is explained; `known` NULL: all of it. */
struct chosen {
    const struct db_value *values;
    const bool *known;
    uint32_t n;
    uint32_t copies; /* equal rows of the result; 0: not known */
};

struct tracer {
    struct arena *arena;
    const struct explain_source *source;
    struct prov_options options; /* defaults filled in */
    struct provenance *out;
    uint32_t cap_arms;
};

/* Where the arms of one query come from. */
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

/* Strictness of the conditions. Each way is tried if the one before found nothing, or too much. */
enum trace_way {
    TRACE_STRICT,
    TRACE_LOOSE, /* only values that the engine hands out unchanged: a computed one may differ in another plan */
    TRACE_EXACT, /* the very value: no collation, no affinity */
};

/* The source row that a correlated subquery is asked for: its columns become values. */
struct outer_row {
    const struct prov_arm *arm; /* its first row */
    const struct outer_row *next;
};

/* One column that the arm hands out. */
struct arm_output {
    struct sql_node *expr;           /* NULL: cannot be written */
    const struct sql_source *source; /* when it is a plain column of it, else NULL */
    int column;                      /* number among the source's columns; -1: rowid */
};

/* One arm while its statement is made. */
struct arm_work {
    struct tracer *t;
    struct prov_arm *arm;
    const struct sql_node *query; /* around it: its ORDER and LIMIT, for an arm that is alone in it */
    bool alone;
    bool aliases; /* uses select aliases: they have to be written out */
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

/* The options with defaults filled in. */
struct prov_options prov_defaults(const struct prov_options *asked);
/* Reduces the handle's time and steps to those of the options; both grow with the candidate's own cost. The step limit
 * applies first if the engine counts steps, so that the findings depend on the data, not on the load. Returns the old
 * limits, to restore them. */
struct db_limits prov_limit(const struct explain_source *source, struct prov_options *options);

/* Rule 2. Fill work->columns: all that the arm uses, then keys. */
void trace_columns(struct arm_work *work);
/* Fill work->outputs, with `*` written out. */
void trace_outputs(struct arm_work *work);
/* The tree with columns of outer rows as values. */
struct sql_node *trace_fill(struct arena *arena, const struct outer_row *outer, struct sql_node *node);
/* A select alias, or a number in GROUP BY and ORDER BY, written out; columns of outer rows as values. */
struct sql_node *trace_expand(struct arm_work *work, struct sql_node *node);
/* Position among the source's columns, or -1. */
int trace_source_column(const struct tracer *t, const struct sql_source *source, const char *name, size_t len);

/* Derived tables, CTEs and subqueries of conditions: follow what the arm's first row is made of and met by. */
void trace_follow(struct tracer *t, const struct origin *origin, uint32_t arm);
/* Arms of one query, traced one after the other. */
void trace_query(struct tracer *t, const struct origin *origin);

/* Rule 1. `expr` IS `value`, typed; NULL: cannot be said, and work->skipped is set. */
struct sql_node *trace_condition(struct arm_work *work, struct sql_node *expr, const struct db_value *value);
/* True if the output is one of the keys that the arm groups by. */
bool trace_is_key(struct arm_work *work, const struct arm_output *output);
/* Rules 1 and 3 for the whole arm: all_sql and the tail that makes sql of it. */
void trace_write(struct arm_work *work);

#endif
