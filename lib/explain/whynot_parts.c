/* Collects the removable parts of a statement. */
#include "lib/explain/whynot.h"

#include <stdlib.h>
#include <string.h>

enum innocence {
    ABSENT_LITERAL,  /* the column does not hold the literal of the condition */
    INNER_CONDITION, /* a condition in a subquery, which is more specific than the condition around the subquery */
    CONDITION,
    WITH_SUBQUERY,
    JOINING,
    GROUPED,
    RIGHT_ARM,
    LEFT_ARM,
};

struct part_collector {
    struct arena *arena;
    const struct explain_source *source;
    const struct sql_node *top;
    struct whynot_parts *parts;
};

static void add(struct part_collector *c, enum whynot_kind kind, const struct sql_node *node,
                const struct sql_block *block, enum innocence innocence)
{
    if (c->parts->n == WHYNOT_MAX_PARTS) {
        c->parts->cut = true;
        return;
    }
    struct whynot_part *part = &c->parts->list[c->parts->n++];
    *part = (struct whynot_part){.culprit = {.kind = kind, .node = node, .block = block, .stored = -1}};
    part->innocence = innocence;
}

/* ---- conditions ------------------------------------------------------------------------------------------------- */

static bool is_join_condition(const struct sql_node *n)
{
    if (!sql_is(n, SQL_BINARY) || !sql_is_comparison((enum sql_op)n->op)) return false;
    return sql_plain_column(n->kids[0]) && sql_plain_column(n->kids[1]);
}

static enum innocence innocence_of(const struct sql_node *condition, const struct sql_block *block)
{
    if (rewrite_any(condition, rewrite_is_subquery)) return WITH_SUBQUERY;
    if (is_join_condition(condition)) return JOINING;
    bool inner = block->role != SQL_BLOCK_TOP && block->role != SQL_BLOCK_CTE && block->role != SQL_BLOCK_DERIVED;
    return inner ? INNER_CONDITION : CONDITION;
}

static void add_conjuncts(struct part_collector *c, enum whynot_kind kind, const struct sql_node *clause,
                          const struct sql_block *block)
{
    const struct sql_node **list;
    int n = clause ? sql_conjuncts(c->arena, clause, &list) : 0;
    for (int i = 0; i < n; i++) {
        enum innocence innocence = kind == WHYNOT_HAVING ? GROUPED : innocence_of(list[i], block);
        uint32_t at = c->parts->n;
        add(c, kind, list[i], block, innocence);
        if (at == c->parts->n) return;
        struct whynot_part *part = &c->parts->list[at];
        whynot_read(c->arena, c->source, &part->culprit);
        if (part->culprit.stored == 0) part->innocence = ABSENT_LITERAL;
    }
}

/* Adds the ON, USING and NATURAL of all joins in a table reference. Recursion is as deep as the tree. */
static void add_joins(struct part_collector *c, const struct sql_node *ref, const struct sql_block *block)
{
    if (sql_is(ref, SQL_FROM_PAREN)) add_joins(c, sql_kid(ref, 0), block);
    if (!sql_is(ref, SQL_JOIN)) return;
    add_joins(c, ref->kids[JOIN_LEFT], block);
    add_joins(c, ref->kids[JOIN_RIGHT], block);
    add_conjuncts(c, WHYNOT_ON, sql_kid(ref, JOIN_ON), block);
    bool by_name = sql_kid(ref, JOIN_USING) || ref->flags & SQL_F_NATURAL;
    if (by_name) add(c, WHYNOT_ON, ref, block, JOINING);
}

/* ---- blocks ----------------------------------------------------------------------------------------------------- */

/* True if removing a condition inside the node cannot add rows: under NOT and NOT IN, and on the right side of EXCEPT.
 * Also true for nodes outside of both c->top and the CTEs that it may use. */
static bool is_beside(const struct part_collector *c, const struct sql_node *n)
{
    for (; n && n->parent && n != c->top; n = n->parent) {
        const struct sql_node *parent = n->parent;
        bool not_in = parent->kind == SQL_IN && parent->flags & SQL_F_NOT;
        bool not_this = parent->kind == SQL_UNARY && parent->op == SQL_OP_NOT;
        bool except = parent->kind == SQL_COMPOUND && (parent->op == SQL_EXCEPT || parent->op == SQL_EXCEPT_ALL);
        if (not_in || not_this || (except && n == parent->kids[1])) return true;
        if (n->kind == SQL_WITH && parent == c->source->stmt->root) return false;
    }
    return n != c->top;
}

static void add_block(struct part_collector *c, const struct sql_block *block)
{
    if (block->node->kind != SQL_SELECT || is_beside(c, block->node)) return;
    const struct sql_node *from = sql_kid(block->node, SELECT_FROM);
    add_conjuncts(c, WHYNOT_WHERE, sql_kid(block->node, SELECT_WHERE), block);
    add_conjuncts(c, WHYNOT_HAVING, sql_kid(block->node, SELECT_HAVING), block);
    for (uint32_t i = 0; from && i < from->n_kids; i++) add_joins(c, from->kids[i], block);
    const struct sql_node *limit = block->arm ? NULL : sql_kid(block->query, QUERY_LIMIT);
    const struct sql_node *count = sql_kid(limit, LIMIT_COUNT);
    bool none = sql_is(count, SQL_LITERAL) && count->text_len == 1 && *count->text == '0';
    if (limit && (none || sql_kid(limit, LIMIT_OFFSET))) add(c, WHYNOT_LIMIT, limit, block, GROUPED);
}

/* Adds both sides of INTERSECT, and the right side of EXCEPT. */
static void add_arms(struct part_collector *c)
{
    for (const struct sql_node *n = c->top; n; n = sql_walk(c->top, n)) {
        if (n->kind != SQL_COMPOUND || is_beside(c, n)) continue;
        bool both = n->op == SQL_INTERSECT || n->op == SQL_INTERSECT_ALL;
        if (!both && n->op != SQL_EXCEPT && n->op != SQL_EXCEPT_ALL) continue;
        for (unsigned side = both ? 0 : 1; side < 2; side++)
            add(c, WHYNOT_ARM, n->kids[side], sql_block_of(c->source->bound, n->kids[side]),
                side ? RIGHT_ARM : LEFT_ARM);
    }
}

static int by_innocence(const void *a, const void *b)
{
    const struct whynot_part *x = a, *y = b;
    if (x->innocence != y->innocence) return x->innocence < y->innocence ? -1 : 1;
    uint32_t left = x->culprit.node->start, right = y->culprit.node->start;
    return (left > right) - (left < right);
}

void whynot_collect(struct arena *arena, const struct explain_source *source, const struct sql_node *top,
                    struct whynot_parts *parts)
{
    struct part_collector c = {arena, source, top, parts};
    parts->n = 0;
    parts->cut = false;
    for (uint32_t i = 0; i < source->bound->n_blocks; i++) add_block(&c, source->bound->blocks[i]);
    add_arms(&c);
    qsort(parts->list, parts->n, sizeof *parts->list, by_innocence);
}
