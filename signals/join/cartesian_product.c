/* cartesian_product: no condition connects some FROM items, so each row of one is combined with each row of the
 * other. */
#include "signals/support/keys.h"
#include "signals/support/names.h"

#include <string.h>

/* A union-find structure over the FROM items of a block. The last slot stands for all enclosing blocks. */
struct groups {
    unsigned parent[VSIG_MAX_SOURCES + 1];
};
enum { OUTSIDE = VSIG_MAX_SOURCES };

static unsigned find(struct groups *groups, unsigned i)
{
    while (groups->parent[i] != i) i = groups->parent[i] = groups->parent[groups->parent[i]];
    return i;
}

static void connect(struct groups *groups, vsig_sources sources, bool outside)
{
    unsigned first = outside ? find(groups, OUTSIDE) : OUTSIDE + 1;
    for (unsigned i = 0; sources; i++, sources >>= 1) {
        if (!(sources & 1)) continue;
        unsigned root = find(groups, i);
        if (first > OUTSIDE) first = root;
        groups->parent[root] = first;
    }
}

/* Connects FROM items whose columns occur in one output expression. An expression such as a.area - b.area shows that
 * the query combines them on purpose. */
static void connect_expressions(struct groups *groups, const struct sql_block *block)
{
    const struct sql_node *items = sql_kid(block->node, SELECT_ITEMS);
    for (uint32_t i = 0; items && i < items->n_kids; i++) {
        const struct sql_node *expr = sql_kid(items->kids[i], 0);
        if (sql_is(items->kids[i], SQL_ITEM) && expr && expr->kind != SQL_COLUMN)
            connect(groups, vsig_sources_in(block, expr, NULL), false);
    }
}

static void connect_all(struct groups *groups, const struct vsig_block_shape *shape)
{
    for (unsigned i = 0; i <= OUTSIDE; i++) groups->parent[i] = i;
    for (uint32_t i = 0; i < shape->n_conditions; i++)
        connect(groups, shape->conditions[i].sources, shape->conditions[i].outside);
    for (uint32_t i = 0; i < shape->n_pairs; i++) {
        const struct sql_join_pair *pair = shape->pairs[i];
        connect(groups,
                vsig_source_bit(shape->block, pair->left->source) | vsig_source_bit(shape->block, pair->right->source),
                false);
    }
    connect_expressions(groups, shape->block);
}

/* Returns the FROM items that do not count as a product: those with at most one row, table functions, and LATERAL
 * items, which depend on earlier items. Sets *failed if the arena is full. */
static vsig_sources one_row_items(struct vsig_run *run, const struct vsig_block_shape *shape, bool *failed)
{
    struct vsig_keys *keys = vsig_keys_new(run->subject, shape, false);
    *failed = !keys;
    if (!keys) return 0;
    vsig_keys_close(keys);
    vsig_sources found = vsig_keys_whole(keys);
    for (uint32_t i = 0; i < shape->block->n_sources; i++) {
        const struct sql_source *source = &shape->block->sources[i];
        bool single = source->kind == SQL_SOURCE_TABLE && source->table >= 0 &&
                      run->subject->schema->tables[source->table].rows == 1;
        if (single || source->kind == SQL_SOURCE_FUNCTION || (source->node->flags & SQL_F_LATERAL))
            found |= vsig_source_bit(shape->block, source);
    }
    return found;
}

static vsig_sources members(const struct vsig_block_shape *shape, struct groups *groups, unsigned of)
{
    vsig_sources found = 0;
    for (unsigned i = 0; i < shape->block->n_sources; i++)
        if (find(groups, i) == find(groups, of)) found |= (vsig_sources)1 << i;
    return found;
}

/* True for an aggregate that stays the same if every row is repeated equally often. A product repeats rows in this way.
 * COUNT and SUM grow, but the order of the groups stays the same, so they are harmless in ORDER BY. */
static bool ignores_repeats(const struct sql_node *call)
{
    static const char *const STEADY[] = {"min", "max", "avg"};
    for (size_t i = 0; i < sizeof STEADY / sizeof STEADY[0]; i++)
        if (sql_name_is(call->text, call->text_len, STEADY[i], strlen(STEADY[i]))) return true;
    return (call->flags & SQL_F_DISTINCT) || sql_clause_of(call) == SQL_CLAUSE_ORDER;
}

/* True if the result of this block does not depend on how often its FROM clause returns a row. */
static bool hides_repeats(const struct vsig_run *run, const struct sql_block *block)
{
    if (block->grouped && !block->aggregate) return true;
    if (!block->aggregate) return !vsig_repeats_matter(block) || vsig_limits_to_one(block->query);
    const struct sql_node *top = block->arm ? block->node : block->query;
    for (const struct sql_node *n = top; n; n = sql_walk(top, n))
        if (sql_is_aggregate(n) && sql_block_of(run->subject->bound, n) == block && !ignores_repeats(n)) return false;
    return true;
}

/* True if the product does not change the result: the query uses no column of one of the two groups, and repeated rows
 * have no effect. */
static bool changes_nothing(const struct vsig_run *run, const struct vsig_block_shape *shape, struct groups *groups,
                            unsigned a, unsigned b)
{
    bool idle = !(members(shape, groups, a) & shape->used) || !(members(shape, groups, b) & shape->used);
    return idle && hides_repeats(run, shape->block);
}

/* True for an arm of UNION, INTERSECT or EXCEPT. The set operation removes repeated rows, and the other arm often
 * removes the additional rows again. Measured on mutants of the training gold: two thirds of such products change the
 * result, fewer than of all mutants. */
static bool is_set_arm(const struct sql_block *block)
{
    return block->arm && sql_is(block->node->parent, SQL_COMPOUND) && block->node->parent->op != SQL_UNION_ALL;
}

static void report(struct vsig_run *run, const struct sql_source *first, const struct sql_source *second, bool harmless)
{
    const char *a = vsig_source_name(run->subject, first), *b = vsig_source_name(run->subject, second);
    struct vsig_finding *finding =
        vsig_fire(run, harmless ? VSIG_NOTE : VSIG_ERROR, second->node,
                  "no condition connects %s with %s, so every row of one is paired with every row of the other", a, b);
    vsig_add_clause(run, finding, first->node);
    vsig_add_fact(run, finding, "tables", false, "%s, %s", a, b);
}

static enum err_code look_at(struct vsig_run *run, const struct vsig_block_shape *shape)
{
    const struct sql_block *block = shape->block;
    if (block->n_sources < 2) return ERR_OK;
    if (shape->too_large) return ERR_LIMIT_COUNT;
    struct groups groups;
    connect_all(&groups, shape);
    bool failed;
    vsig_sources free_ones = one_row_items(run, shape, &failed);
    if (failed) return ERR_LIMIT_MEMORY;
    const struct sql_source *first = NULL; /* the first item of the first relevant group */
    for (unsigned i = 0; i < block->n_sources; i++) {
        const struct sql_source *source = &block->sources[i];
        if (free_ones & vsig_source_bit(block, source)) continue;
        if (!first) first = source;
        unsigned root = find(&groups, i);
        if (root == find(&groups, first->index)) continue;
        report(run, first, source, is_set_arm(block) || changes_nothing(run, shape, &groups, first->index, i));
        groups.parent[root] = find(&groups, first->index); /* report each group only once */
    }
    return ERR_OK;
}

static enum err_code eval(struct vsig_run *run)
{
    return vsig_each_block(run, look_at);
}

const struct vsig_def vsig_cartesian_product = {
    .id = VSIG_ID_cartesian_product,
    .name = "cartesian_product",
    .family = VSIG_JOIN,
    .cause = VSIG_MISALIGNMENT,
    .sentence = "no condition connects two items of FROM, either directly or through other items",
    .description = "The query combines every row of one table with every row of another. Counts and sums are "
                   "multiplied, and unrelated rows are combined.",
    .example =
        "`SELECT singer.name FROM singer, concert WHERE concert.year = 2014`. No condition says which singer sang.",
    .instruction = "Join the tables by the foreign key between them, through a linking table if necessary. Or remove "
                   "the table that is not needed.",
    .eval = eval,
};
