/* Finds wrong queries for things without certain rows.
 *
 * JOIN and WHERE theme <> 'Jazz' returns each thing that has some row with another theme. COUNT(*) of the things minus
 * COUNT(*) of their rows subtracts a thing once for each of its rows. Both are correct if each thing has at most one
 * row. Therefore a probe must find a thing for which the query is wrong. */
#include "signals/support/without.h"

#include "signals/support/predicate.h"
#include "signals/support/probe.h"
#include "signals/support/query.h"

#include <string.h>

/* --- conditions on joined rows --- */

static bool is_zero(const struct sql_node *node)
{
    double number;
    if (!sql_is(node, SQL_LITERAL)) return false;
    return node->op == SQL_LIT_FALSE || (query_literal_number(node, &number) && number <= 0 && number >= 0);
}

/* True for a comparison with zero: qty = 0, qty <= 0, IS FALSE. */
static bool compares_with_zero(const struct sql_node *node)
{
    return sql_is(node, SQL_BINARY) && (node->op == SQL_OP_EQ || node->op == SQL_OP_LE || node->op == SQL_OP_IS) &&
           is_zero(sql_kid(node, 1));
}

/* True for an expression outside of a range: x < 'a' OR x > 'b'. */
static bool is_outside(const struct sql_node *low, const struct sql_node *high)
{
    if (!sql_is(low, SQL_BINARY) || !sql_is(high, SQL_BINARY)) return false;
    bool first = low->op == SQL_OP_LT || low->op == SQL_OP_LE, second = high->op == SQL_OP_GT || high->op == SQL_OP_GE;
    bool turned = (low->op == SQL_OP_GT || low->op == SQL_OP_GE) && (high->op == SQL_OP_LT || high->op == SQL_OP_LE);
    return ((first && second) || turned) && sql_equal(sql_kid(low, 0), sql_kid(high, 0));
}

/* True for a negated condition: x <> 'a', NOT (x = 'a'), x NOT IN, x NOT BETWEEN. */
static bool is_flipped(const struct sql_node *node)
{
    if (sql_is(node, SQL_UNARY)) return node->op == SQL_OP_NOT && !sql_is(sql_kid(node, 0), SQL_EXISTS);
    if (sql_is(node, SQL_BINARY))
        return node->op == SQL_OP_NE &&
               (query_literal(sql_kid(node, 0), NULL) || query_literal(sql_kid(node, 1), NULL));
    bool list = sql_is(node, SQL_IN) && sql_is(sql_kid(node, IN_RIGHT), SQL_LIST);
    return node->flags & SQL_F_NOT && (sql_is(node, SQL_BETWEEN) || sql_is(node, SQL_LIKE) || list);
}

/* True for a condition that is meant to be false for the rows that the question excludes. */
static bool is_negated(const struct sql_node *node)
{
    if (!sql_is(node, SQL_BINARY) || node->op != SQL_OP_OR) return is_flipped(node) || compares_with_zero(node);
    const struct sql_node *left = sql_kid(node, 0), *right = sql_kid(node, 1);
    return is_outside(left, right) || (is_flipped(left) && is_flipped(right));
}

/* Returns the column by which things are joined to rows of `many`, several of which may belong to one thing. The answer
 * must show columns of the things. Returns NULL if there is no such join. */
static const struct sql_ref *thing_of(const struct vsig_subject *subject, const struct vsig_block_shape *shape,
                                      vsig_sources many)
{
    for (uint32_t i = 0; i < shape->n_pairs; i++) {
        const struct sql_ref *ends[2] = {shape->pairs[i]->left, shape->pairs[i]->right};
        for (unsigned e = 0; e < 2; e++) {
            const struct schema_column *one = schema_column_of(subject->schema, ends[e]);
            const struct schema_column *row = schema_column_of(subject->schema, ends[1 - e]);
            if (vsig_source_bit(shape->block, ends[1 - e]->source) != many || !one || !row || !one->unique ||
                row->unique || !shape->pairs[i]->conjunct || ends[1 - e]->source->nullable)
                continue;
            if (shape->shown & vsig_source_bit(shape->block, ends[e]->source)) return ends[e];
        }
    }
    return NULL;
}

/* Returns the only output of a block if it is a foreign key that repeats, as in IN (SELECT code FROM stock ...).
 * Returns NULL otherwise. */
static const struct sql_ref *reference_shown(const struct vsig_subject *subject, const struct sql_block *block)
{
    const struct schema_index *schema = subject->schema;
    const struct sql_ref *ref =
        block->n_outputs == 1 && block->outputs[0].expr ? vsig_plain_column(block->outputs[0].expr) : NULL;
    const struct schema_column *column = ref ? schema_column_of(schema, ref) : NULL;
    for (uint32_t i = 0; column && !column->unique && i < schema->n_joins; i++)
        if (schema->joins[i].n_pairs == 1 && schema->joins[i].from[0] == column->id && schema->joins[i].to_unique)
            return ref;
    return NULL;
}

/* True if the block has a HAVING clause, or an aggregate other than COUNT(DISTINCT x). */
static bool aggregates_rows(const struct vsig_subject *subject, const struct sql_block *block)
{
    if (sql_kid(block->node, SELECT_HAVING)) return true;
    for (const struct sql_node *n = block->query; block->aggregate && n; n = sql_walk(block->query, n)) {
        bool own = query_aggregate_of(n) != QUERY_AGGREGATES && sql_block_of(subject->bound, n) == block;
        if (own && (query_aggregate_of(n) != QUERY_COUNT || !(n->flags & SQL_F_DISTINCT))) return true;
    }
    return false;
}

/* True if the result of the block is a list of things, each of which may have several rows. */
static bool lists_things(const struct sql_block *block)
{
    return sql_kid(block->node, SELECT_DISTINCT) || block->grouped || block->role == SQL_BLOCK_TOP ||
           block->role == SQL_BLOCK_IN;
}

/* Returns the column by which a block selects things. Returns NULL if it returns the rows themselves. */
static const struct sql_ref *things_of(const struct vsig_subject *subject, const struct vsig_block_shape *shape,
                                       vsig_sources many)
{
    const struct sql_block *block = shape->block;
    if (aggregates_rows(subject, block)) return NULL;
    if (block->n_sources == 1) return block->aggregate ? NULL : reference_shown(subject, block);
    return shape->shown & many ? NULL : thing_of(subject, shape, many);
}

/* Returns a probe for a thing in the result that also has a row for which the condition is false. */
static const char *thing_with_both(struct vsig_subject *subject, const struct vsig_block_shape *shape,
                                   const struct sql_ref *thing, const struct sql_node *condition)
{
    struct arena *arena = subject->arena;
    const struct schema_column *column = schema_column_of(subject->schema, thing);
    const char *key = column ? vsig_probe_column(subject, thing->source, column) : NULL;
    const char *with = vsig_probe_with(subject, NULL, NULL), *all = vsig_probe_rows(subject, shape, 0, NULL);
    const char *others = vsig_probe_rows(subject, shape, 0, condition), *negated = sql_print(arena, condition);
    if (!key || !with || !all || !others || !negated) return NULL;
    bool more = false;
    for (uint32_t i = 0; i < shape->n_conditions; i++)
        more |= shape->conditions[i].clause == SQL_CLAUSE_WHERE && shape->conditions[i].node != condition;
    return arena_printf(arena, "%sSELECT 1 %s %s NOT (%s) AND %s IN (SELECT %s %s) LIMIT 1", with, others,
                        more ? "AND" : "WHERE", negated, key, key, all);
}

static enum err_code look_at_block(struct vsig_subject *subject, const struct vsig_block_shape *shape,
                                   struct vsig_without *without)
{
    const struct sql_block *block = shape->block;
    enum err_code code = ERR_OK;
    if (shape->too_large || block->correlated || !sql_is(block->node, SQL_SELECT) || query_is_excluded(block->node) ||
        !lists_things(block))
        return ERR_OK;
    for (uint32_t i = 0; i < shape->n_conditions && !without->at && !code; i++) {
        const struct vsig_condition *condition = &shape->conditions[i];
        vsig_sources many = condition->sources;
        if (condition->clause != SQL_CLAUSE_WHERE || !many || many & (many - 1) || !is_negated(condition->node))
            continue;
        const struct sql_ref *thing = things_of(subject, shape, many);
        if (!thing || !vsig_probe_proves(subject, thing_with_both(subject, shape, thing, condition->node), &code))
            continue;
        without->at = condition->node;
        without->zero = compares_with_zero(condition->node);
        for (uint32_t k = 0; k < block->n_sources; k++)
            if (many == vsig_source_bit(block, &block->sources[k])) without->rows = block->sources[k].table;
    }
    return code;
}

enum err_code vsig_without_rows(struct vsig_subject *subject, struct vsig_without *without)
{
    const struct vsig_shape *shapes = vsig_shape(subject);
    enum err_code code = shapes ? ERR_OK : ERR_LIMIT_MEMORY;
    *without = (struct vsig_without){NULL, -1, false};
    for (uint32_t i = 0; !code && !without->at && i < subject->bound->n_blocks; i++)
        code = look_at_block(subject, &shapes->blocks[i], without);
    return code;
}

/* --- differences between counts --- */

/* A count of rows, or of rows with a value in a column. */
struct count {
    const struct sql_node *call;
    const struct sql_block *block;
    bool distinct;
};

/* Reads COUNT(...), (SELECT COUNT(...) ...), or a column of a derived table that is such a count. Returns false for
 * other expressions, and for counts in a grouped or correlated block. */
static bool read_count(const struct vsig_subject *subject, const struct sql_node *node, struct count *count)
{
    enum { MAX_STEPS = 6 };
    for (unsigned step = 0; node && step < MAX_STEPS; step++) {
        if (query_aggregate_of(node) == QUERY_COUNT) break;
        if (sql_is(node, SQL_SUBQUERY)) {
            const struct sql_node *select = sql_kid(sql_kid(node, 0), QUERY_BODY);
            const struct sql_node *items = sql_is(select, SQL_SELECT) ? sql_kid(select, SELECT_ITEMS) : NULL;
            node = items && items->n_kids == 1 ? sql_kid(items->kids[0], 0) : NULL;
        } else if (sql_is(node, SQL_COLUMN)) {
            node = node->ref && node->ref->expr != node ? node->ref->expr : NULL;
        } else if (sql_is(node, SQL_CAST)) {
            node = sql_kid(node, 0);
        } else {
            return false;
        }
    }
    if (!node || query_aggregate_of(node) != QUERY_COUNT || sql_kid(node, CALL_FILTER) || sql_kid(node, CALL_WINDOW))
        return false;
    *count = (struct count){node, sql_block_of(subject->bound, node), (node->flags & SQL_F_DISTINCT) != 0};
    return count->block && sql_is(count->block->node, SQL_SELECT) && !count->block->grouped &&
           !count->block->correlated;
}

static bool counts_rows(const struct count *count)
{
    const struct sql_node *operand = sql_kid(sql_kid(count->call, CALL_ARGS), 0);
    return count->call->flags & SQL_F_STAR || sql_is(operand, SQL_LITERAL) || vsig_plain_column(operand);
}

/* Returns a column of `child` that refers to `parent` and may have repeated values. Returns NULL if there is none. */
static const struct schema_column *reference_to(const struct schema_index *schema, int child, int parent)
{
    for (uint32_t i = 0; i < schema->n_joins; i++) {
        const struct schema_join *join = &schema->joins[i];
        if (join->n_pairs != 1 || (int)join->from_table != child || (int)join->to_table != parent || !join->to_unique)
            continue;
        const struct schema_column *from = schema->columns[join->from[0]];
        if (!from->unique) return from;
    }
    for (uint32_t c = 0; c < schema->tables[child].n_columns; c++) {
        const struct schema_column *from = &schema->tables[child].columns[c];
        int other = schema_find_column(schema, parent, from->name, strlen(from->name));
        bool key = other >= 0 && schema->tables[parent].columns[other].pk && schema->tables[parent].n_pk == 1;
        if (key && !from->unique) return from;
    }
    return NULL;
}

static enum err_code look_at_difference(struct vsig_subject *subject, const struct vsig_shape *shapes,
                                        const struct sql_node *node, const struct sql_node **at)
{
    struct count things, rows;
    if (!read_count(subject, sql_kid(node, 0), &things) || !read_count(subject, sql_kid(node, 1), &rows)) return ERR_OK;
    /* counts for each row, whose difference is 1 - 0 or 1 - 1 */
    if (rows.block == things.block && !things.distinct) return ERR_OK;
    if (rows.distinct || !counts_rows(&things) || !counts_rows(&rows) || things.block->n_sources < 1) return ERR_OK;
    const struct sql_source *parent = &things.block->sources[0];
    enum err_code code = ERR_OK;
    for (uint32_t i = 0; i < rows.block->n_sources && !code && !*at; i++) {
        const struct sql_source *child = &rows.block->sources[i];
        const struct vsig_block_shape *shape = &shapes->blocks[rows.block->index];
        if (child->kind != SQL_SOURCE_TABLE || parent->kind != SQL_SOURCE_TABLE || child->table == parent->table ||
            child->table < 0 || parent->table < 0 || shape->too_large)
            continue;
        const struct schema_column *refers = reference_to(subject->schema, child->table, parent->table);
        const char *key = refers ? vsig_probe_column(subject, child, refers) : NULL;
        const char *from = key ? vsig_probe_rows(subject, shape, 0, NULL) : NULL;
        const char *with = from ? vsig_probe_with(subject, NULL, NULL) : NULL;
        const char *sql = with ? arena_printf(subject->arena,
                                              "%sSELECT 1 FROM (SELECT %s AS thing %s) counted_rows WHERE thing IS NOT "
                                              "NULL GROUP BY thing HAVING COUNT(*) > 1 LIMIT 1",
                                              with, key, from)
                               : NULL;
        if (sql && vsig_probe_proves(subject, sql, &code)) *at = rows.call;
    }
    return code;
}

enum err_code vsig_without_count(struct vsig_subject *subject, const struct sql_node **at)
{
    const struct vsig_shape *shapes = vsig_shape(subject);
    const struct sql_node *root = subject->stmt->root;
    enum err_code code = shapes ? ERR_OK : ERR_LIMIT_MEMORY;
    *at = NULL;
    for (const struct sql_node *n = root; n && !code && !*at; n = sql_walk(root, n))
        if (sql_is(n, SQL_BINARY) && n->op == SQL_OP_SUB) code = look_at_difference(subject, shapes, n, at);
    return code;
}
