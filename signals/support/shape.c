/* Reads the joins and filters of all blocks of a statement.
 *
 * Each block gets its join pairs, its conditions, and the set of FROM items that are used outside of join conditions.
 * One pass over all names of the statement finds these uses. Sets are 64-bit masks. A block with more FROM items is
 * marked as too large, and its sets must not be used. Names are resolved through select aliases and into correlated
 * subqueries. The result is immutable and is allocated in the arena of the subject. */
#include "signals/support/shape.h"

static bool inside(const struct sql_block *block, const struct sql_block *inner)
{
    while (inner && inner != block) inner = inner->parent;
    return inner == block;
}

vsig_sources vsig_sources_in(const struct sql_block *block, const struct sql_node *expr, bool *outside)
{
    vsig_sources found = 0;
    for (const struct sql_node *n = expr; n; n = sql_walk(expr, n)) {
        if (n->kind != SQL_COLUMN || !n->ref) continue;
        if (n->ref->kind == SQL_REF_ALIAS) {
            /* An alias cannot refer to itself, so the recursion ends. In most dialects the expression of an alias
             * contains no aliases. */
            if (n->ref->expr && n->ref->expr != expr && n->ref->block == block)
                found |= vsig_sources_in(block, n->ref->expr, outside);
            continue;
        }
        const struct sql_source *source = n->ref->source;
        if (!source) continue;
        found |= vsig_source_bit(block, source);
        if (n->ref->using_right) found |= vsig_source_bit(block, n->ref->using_right);
        if (outside && !inside(block, source->block)) *outside = true;
    }
    return found;
}

const struct sql_ref *vsig_plain_column(const struct sql_node *expr)
{
    while (sql_is(expr, SQL_UNARY) && expr->op == SQL_OP_PLUS) expr = sql_kid(expr, 0);
    if (!sql_is(expr, SQL_COLUMN) || !expr->ref) return NULL;
    if (expr->ref->kind == SQL_REF_ALIAS) return expr->ref->expr != expr ? vsig_plain_column(expr->ref->expr) : NULL;
    bool named = expr->ref->kind == SQL_REF_COLUMN || expr->ref->kind == SQL_REF_ROWID;
    return named && expr->ref->source ? expr->ref : NULL;
}

bool vsig_repeats_matter(const struct sql_block *block)
{
    if (block->role != SQL_BLOCK_TOP && block->role != SQL_BLOCK_DERIVED && block->role != SQL_BLOCK_CTE) return false;
    if (!sql_is(block->node, SQL_SELECT) || sql_kid(block->node, SELECT_DISTINCT)) return false;
    const struct sql_node *parent = block->node->parent;
    return !sql_is(parent, SQL_COMPOUND) || parent->op == SQL_UNION_ALL;
}

struct conditions {
    struct vsig_subject *subject;
    const struct sql_block *block;
    struct vsig_condition *items;
    uint32_t n, cap;
    bool full; /* the arena is full */
};

static void add_condition(struct conditions *list, const struct vsig_condition *condition)
{
    if (list->n == list->cap) {
        uint32_t cap = list->cap ? list->cap * 2 : 4;
        struct vsig_condition *items = arena_new_array(list->subject->arena, cap, struct vsig_condition);
        if (!items) {
            list->full = true;
            return;
        }
        for (uint32_t i = 0; i < list->n; i++) items[i] = list->items[i];
        list->items = items;
        list->cap = cap;
    }
    list->items[list->n++] = *condition;
}

static void add_conjuncts(struct conditions *list, const struct sql_node *expr, enum sql_clause clause,
                          const struct sql_node *join)
{
    if (!expr) return;
    if (expr->kind == SQL_BINARY && expr->op == SQL_OP_AND) {
        for (uint32_t i = 0; i < expr->n_kids; i++) add_conjuncts(list, expr->kids[i], clause, join);
        return;
    }
    struct vsig_condition condition = {.node = expr, .clause = clause, .join = join};
    condition.outer = join && join->op != SQL_JOIN_INNER && join->op != SQL_JOIN_CROSS;
    condition.sources = vsig_sources_in(list->block, expr, &condition.outside);
    add_condition(list, &condition);
}

static void add_join_conditions(struct conditions *list, const struct sql_node *item)
{
    if (sql_is(item, SQL_FROM_PAREN)) {
        add_join_conditions(list, sql_kid(item, 0));
    } else if (sql_is(item, SQL_JOIN)) {
        add_join_conditions(list, sql_kid(item, JOIN_LEFT));
        add_join_conditions(list, sql_kid(item, JOIN_RIGHT));
        add_conjuncts(list, sql_kid(sql_kid(item, JOIN_ON), 0), SQL_CLAUSE_FROM, item);
    }
}

static bool read_conditions(struct vsig_subject *subject, struct vsig_block_shape *shape)
{
    const struct sql_node *select = shape->block->node;
    if (!sql_is(select, SQL_SELECT)) return true;
    struct conditions list = {.subject = subject, .block = shape->block};
    const struct sql_node *from = sql_kid(select, SELECT_FROM);
    for (uint32_t i = 0; from && i < from->n_kids; i++) add_join_conditions(&list, from->kids[i]);
    add_conjuncts(&list, sql_kid(sql_kid(select, SELECT_WHERE), 0), SQL_CLAUSE_WHERE, NULL);
    add_conjuncts(&list, sql_kid(sql_kid(select, SELECT_HAVING), 0), SQL_CLAUSE_HAVING, NULL);
    shape->conditions = list.items;
    shape->n_conditions = list.n;
    return !list.full;
}

static bool joins_sources(const struct sql_join_pair *pair)
{
    const struct sql_source *left = pair->left->source, *right = pair->right->source;
    return !pair->is_in && left && right && left != right && left->block == pair->block && right->block == pair->block;
}

/* Assigns the join pairs to their blocks, and marks their nodes in `is_join`, which is indexed by node id. */
static bool read_pairs(struct vsig_subject *subject, struct vsig_shape *shape, bool *is_join)
{
    struct sql_join_pair *pairs = NULL;
    int n = sql_join_pairs(subject->arena, subject->bound, &pairs);
    if (n < 0) return false;
    shape->pairs = pairs;
    shape->n_pairs = (uint32_t)n;
    const struct sql_join_pair **sorted =
        arena_new_array(subject->arena, shape->n_pairs + 1, const struct sql_join_pair *);
    if (!sorted) return false;
    for (uint32_t b = 0; b < subject->bound->n_blocks; b++) {
        struct vsig_block_shape *home = &shape->blocks[b];
        home->pairs = sorted;
        for (uint32_t i = 0; i < shape->n_pairs; i++) {
            if (pairs[i].block != home->block || !joins_sources(&pairs[i])) continue;
            *sorted++ = &pairs[i];
            home->n_pairs++;
            is_join[pairs[i].node->id] = true;
        }
    }
    return true;
}

static void mark_star(struct vsig_block_shape *home, const struct sql_ref *ref)
{
    vsig_sources bits = ref->source ? vsig_source_bit(home->block, ref->source) : vsig_all_sources(home->block);
    home->used |= bits;
    home->shown |= bits;
}

/* Finds the sources that are used outside of join conditions, in one pass over all names of the statement. */
static void read_uses(struct vsig_subject *subject, struct vsig_shape *shape, const bool *is_join)
{
    for (uint32_t i = 0; i < subject->bound->n_refs; i++) {
        const struct sql_ref *ref = subject->bound->refs[i];
        if (ref->kind == SQL_REF_STAR && ref->block) {
            mark_star(&shape->blocks[ref->block->index], ref);
        } else if (ref->kind == SQL_REF_COLUMN || ref->kind == SQL_REF_ROWID) {
            const struct sql_node *parent = ref->node->parent;
            if (!ref->source || !ref->source->block || (parent && is_join[parent->id])) continue;
            struct vsig_block_shape *home = &shape->blocks[ref->source->block->index];
            vsig_sources bit = vsig_source_bit(home->block, ref->source);
            home->used |= bit;
            if (ref->clause == SQL_CLAUSE_SELECT && ref->block == home->block) home->shown |= bit;
        }
    }
}

static bool is_count_of_rows(const struct sql_node *call)
{
    if (!sql_is(call, SQL_CALL) || !sql_name_is(call->text, call->text_len, "count", 5)) return false;
    return (call->flags & SQL_F_STAR) || sql_is(sql_kid(sql_kid(call, CALL_ARGS), 0), SQL_LITERAL);
}

static void read_counts(struct vsig_subject *subject, struct vsig_shape *shape)
{
    const struct sql_node *root = subject->stmt->root;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        if (n->kind != SQL_CALL || !is_count_of_rows(n)) continue;
        const struct sql_block *block = sql_block_of(subject->bound, n);
        if (block) shape->blocks[block->index].count_star = true;
    }
}

const struct vsig_shape *vsig_shape(struct vsig_subject *subject)
{
    if (subject->shape) return subject->shape;
    const struct sql_bound *bound = subject->bound;
    struct vsig_shape *shape = arena_new(subject->arena, struct vsig_shape);
    bool *is_join = arena_new_array(subject->arena, subject->stmt->n_nodes + 1, bool);
    if (!shape || !is_join) return NULL;
    shape->blocks = arena_new_array(subject->arena, bound->n_blocks + 1, struct vsig_block_shape);
    if (!shape->blocks) return NULL;
    for (uint32_t b = 0; b < bound->n_blocks; b++) {
        shape->blocks[b].block = bound->blocks[b];
        if (!read_conditions(subject, &shape->blocks[b])) return NULL;
    }
    if (!read_pairs(subject, shape, is_join)) return NULL;
    for (uint32_t b = 0; b < bound->n_blocks; b++) {
        struct vsig_block_shape *home = &shape->blocks[b];
        home->too_large = home->block->n_sources > VSIG_MAX_SOURCES || home->n_conditions > VSIG_MAX_CONDITIONS ||
                          home->n_pairs > VSIG_MAX_CONDITIONS;
    }
    read_uses(subject, shape, is_join);
    read_counts(subject, shape);
    return subject->shape = shape;
}

enum err_code vsig_each_block(struct vsig_run *run,
                              enum err_code (*look)(struct vsig_run *run, const struct vsig_block_shape *shape))
{
    const struct vsig_shape *shape = vsig_shape(run->subject);
    if (!shape) return ERR_LIMIT_MEMORY;
    enum err_code code = ERR_OK;
    for (uint32_t i = 0; i < run->subject->bound->n_blocks && !code; i++) code = look(run, &shape->blocks[i]);
    return code;
}
