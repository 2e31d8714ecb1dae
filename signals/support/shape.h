/* Joins and filters of each block of a statement. They are read once for each candidate, and the signals share them. */
#ifndef ASSAY_SIGNALS_SUPPORT_SHAPE_H
#define ASSAY_SIGNALS_SUPPORT_SHAPE_H

#include "signals/vsig.h"

/* A set of the FROM items of one block: bit i is block->sources[i]. */
typedef uint64_t vsig_sources;
enum { VSIG_MAX_SOURCES = 64, VSIG_MAX_CONDITIONS = 256 };

/* A condition that rows must meet: a conjunct at the top level of WHERE, ON or HAVING. */
struct vsig_condition {
    const struct sql_node *node;
    enum sql_clause clause;      /* SQL_CLAUSE_FROM for a condition of ON */
    const struct sql_node *join; /* the join of a condition of ON, else NULL */
    bool outer;                  /* true for ON of an outer join, which decides which rows are joined but drops none */
    vsig_sources sources;        /* sources of the columns that it uses, also in its subqueries */
    bool outside;                /* true if it uses columns of an enclosing block */
};

struct vsig_block_shape {
    const struct sql_block *block;
    const struct vsig_condition *conditions;
    uint32_t n_conditions;
    bool too_large;     /* true if the block has more FROM items, conditions or pairs than the limits; do not use the
                         * sets, and report this */
    vsig_sources used;  /* FROM items whose columns are used outside of join conditions, in this block or in its
                         * subqueries */
    vsig_sources shown; /* FROM items whose columns are used in the select list */
    bool count_star;    /* true if the block itself has COUNT(*) or COUNT(literal) */
    const struct sql_join_pair *const *pairs; /* join pairs between two FROM items of this block, except those of IN */
    uint32_t n_pairs;
};

struct vsig_shape {
    struct vsig_block_shape *blocks;   /* one for each block of bound->blocks */
    const struct sql_join_pair *pairs; /* all pairs of the statement */
    uint32_t n_pairs;
};

/* Returns the shape of the subject's statement, computed on first use. Returns NULL if the arena is full. */
const struct vsig_shape *vsig_shape(struct vsig_subject *subject);

/* Calls `look` for each block until it returns a code other than ERR_OK, and returns that code. Returns
 * ERR_LIMIT_MEMORY if the arena has no room for the shape. */
enum err_code vsig_each_block(struct vsig_run *run,
                              enum err_code (*look)(struct vsig_run *run, const struct vsig_block_shape *shape));

/* Returns the FROM items of `block` whose columns occur in `expr`, also through select aliases and in correlated
 * subqueries. Sets *outside (may be NULL) if columns of an enclosing block occur. */
vsig_sources vsig_sources_in(const struct sql_block *block, const struct sql_node *expr, bool *outside);

/* True if repeated rows of this block change the result. False under DISTINCT, in IN and EXISTS, and in arms of set
 * operations other than UNION ALL. */
bool vsig_repeats_matter(const struct sql_block *block);

/* Returns the column of an expression that is a plain column, through unary plus and select aliases. Its `source` is
 * set. Returns NULL for any other expression. */
const struct sql_ref *vsig_plain_column(const struct sql_node *expr);

/* Returns the set that contains only this source. Returns 0 if it is not a source of the block, or its index is 64 or
 * more. */
static inline vsig_sources vsig_source_bit(const struct sql_block *block, const struct sql_source *source)
{
    return source && source->block == block && source->index < VSIG_MAX_SOURCES ? (vsig_sources)1 << source->index : 0;
}

static inline vsig_sources vsig_all_sources(const struct sql_block *block)
{
    return block->n_sources >= VSIG_MAX_SOURCES ? ~(vsig_sources)0 : ((vsig_sources)1 << block->n_sources) - 1;
}

#endif
