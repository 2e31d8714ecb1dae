/* Joins and filters, block by block: read once a candidate and shared by the signals. */
#ifndef ASSAY_SIGNALS_SUPPORT_SHAPE_H
#define ASSAY_SIGNALS_SUPPORT_SHAPE_H

#include "signals/vsig.h"

/* A set of the FROM items of one block: bit i is block->sources[i]. */
typedef uint64_t vsig_sources;
enum { VSIG_MAX_SOURCES = 64, VSIG_MAX_CONDITIONS = 256 };

/* A condition that rows must meet: a top-level conjunct of WHERE, ON or HAVING. */
struct vsig_condition {
    const struct sql_node *node;
    enum sql_clause clause;      /* SQL_CLAUSE_FROM for ON */
    const struct sql_node *join; /* of ON, else NULL */
    bool outer;                  /* ON of an outer join: it decides which rows are joined, but drops none */
    vsig_sources sources;        /* sources of the columns it uses, including those in its subqueries */
    bool outside;                /* it uses columns of an enclosing block */
};

struct vsig_block_shape {
    const struct sql_block *block;
    const struct vsig_condition *conditions;
    uint32_t n_conditions;
    bool too_large;     /* more FROM items, conditions or pairs than a vsig_sources can hold: the sets are useless,
                         * report this */
    vsig_sources used;  /* their columns are used outside of join conditions, in this block or deeper */
    vsig_sources shown; /* their columns are used in the select list */
    bool count_star;    /* COUNT(*) or COUNT(literal) of its own */
    const struct sql_join_pair *const *pairs; /* join pairs between two FROM items of this block, without IN pairs */
    uint32_t n_pairs;
};

struct vsig_shape {
    struct vsig_block_shape *blocks;   /* parallel to bound->blocks */
    const struct sql_join_pair *pairs; /* all of the statement */
    uint32_t n_pairs;
};

/* Returns the shape of the subject's statement, computed on first use. NULL if the arena is full. */
const struct vsig_shape *vsig_shape(struct vsig_subject *subject);

/* Inspects each block's shape in turn and returns the first code that is not ERR_OK. ERR_LIMIT_MEMORY if there is no
 * shape. */
enum err_code vsig_each_block(struct vsig_run *run,
                              enum err_code (*look)(struct vsig_run *run, const struct vsig_block_shape *shape));

/* Returns the FROM items of `block` whose columns occur below `expr`, also through select aliases and correlated
 * subqueries. Sets *outside (may be NULL) if columns of an enclosing block occur. */
vsig_sources vsig_sources_in(const struct sql_block *block, const struct sql_node *expr, bool *outside);

/* True if repeated rows of this block change the result. False under DISTINCT, in arms of set operations, IN and
 * EXISTS. */
bool vsig_repeats_matter(const struct sql_block *block);

/* Returns the plain column of an expression, through parentheses, unary plus and select aliases; its `source` is set.
 * NULL for any other expression. */
const struct sql_ref *vsig_plain_column(const struct sql_node *expr);

/* Returns the bit of a source. Returns 0 if it is not a source of the block, or beyond the 64th. */
static inline vsig_sources vsig_source_bit(const struct sql_block *block, const struct sql_source *source)
{
    return source && source->block == block && source->index < VSIG_MAX_SOURCES ? (vsig_sources)1 << source->index : 0;
}

static inline vsig_sources vsig_all_sources(const struct sql_block *block)
{
    return block->n_sources >= VSIG_MAX_SOURCES ? ~(vsig_sources)0 : ((vsig_sources)1 << block->n_sources) - 1;
}

#endif
