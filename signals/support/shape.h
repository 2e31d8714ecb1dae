/* What joins and what filters, block by block: read once a candidate and shared by the signals that ask. */
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
    bool outer;                  /* ON of an outer join: it decides what is joined, no row is lost by it */
    vsig_sources sources;        /* whose columns it uses, also from inside of its subqueries */
    bool outside;                /* it uses columns of an enclosing block */
};

struct vsig_block_shape {
    const struct sql_block *block;
    const struct vsig_condition *conditions;
    uint32_t n_conditions;
    bool too_large;     /* more FROM items, conditions or pairs than anybody writes: the sets are useless, say so */
    vsig_sources used;  /* their columns are used outside of join conditions, in this block or deeper */
    vsig_sources shown; /* their columns are used in the select list */
    bool count_star;    /* COUNT(*) or COUNT(literal) of its own */
    const struct sql_join_pair *const *pairs; /* join pairs between two FROM items of this block, IN pairs left out */
    uint32_t n_pairs;
};

struct vsig_shape {
    struct vsig_block_shape *blocks;   /* parallel to bound->blocks */
    const struct sql_join_pair *pairs; /* all of the statement */
    uint32_t n_pairs;
};

/* The shape of the subject's statement, made on first use. NULL when the arena is full. */
const struct vsig_shape *vsig_shape(struct vsig_subject *subject);

/* Look at each block's shape in turn, until one fails: the first code that is not ERR_OK. ERR_LIMIT_MEMORY: no shape.
 */
enum err_code vsig_each_block(struct vsig_run *run,
                              enum err_code (*look)(struct vsig_run *run, const struct vsig_block_shape *shape));

/* FROM items of `block` whose columns stand below `expr`, seen through select aliases and correlated subqueries.
 * *outside (may be NULL) is set when columns of an enclosing block do. */
vsig_sources vsig_sources_in(const struct sql_block *block, const struct sql_node *expr, bool *outside);

/* Does it matter how often a row of this block comes back? Not under DISTINCT, in arms of set operations, IN and
 * EXISTS. */
bool vsig_repeats_matter(const struct sql_block *block);

/* The plain column that an expression is, seen through parentheses, unary plus and select aliases; its `source` is set.
 * NULL when it is anything else. */
const struct sql_ref *vsig_plain_column(const struct sql_node *expr);

/* Bit of a source, 0 when it is not one of the block or beyond the 64th. */
static inline vsig_sources vsig_source_bit(const struct sql_block *block, const struct sql_source *source)
{
    return source && source->block == block && source->index < VSIG_MAX_SOURCES ? (vsig_sources)1 << source->index : 0;
}

static inline vsig_sources vsig_all_sources(const struct sql_block *block)
{
    return block->n_sources >= VSIG_MAX_SOURCES ? ~(vsig_sources)0 : ((vsig_sources)1 << block->n_sources) - 1;
}

#endif
