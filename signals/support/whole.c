/* Inspects divisions of two counts of distinct keys.
 *
 * COUNT(DISTINCT child.parent_id) / COUNT(DISTINCT parent.id) is 1 over their inner join. With a condition in the first
 * count, the second one is still only the number of parents that have a child. The parents without a child are missing
 * from the whole. They are also missing from an average over a subquery that groups the rows of the join by the
 * parent. */
#include "signals/support/whole.h"

#include "signals/support/probe.h"
#include "signals/support/query.h"

#include <string.h>

/* Returns the only aggregate in an expression. Returns NULL if there is none, or several, or a subquery. */
static const struct sql_node *only_aggregate(const struct sql_node *node)
{
    const struct sql_node *found = NULL;
    for (const struct sql_node *n = node; n; n = sql_walk(node, n)) {
        if (sql_is(n, SQL_SUBQUERY) || (found && query_aggregate_of(n) != QUERY_AGGREGATES)) return NULL;
        if (query_aggregate_of(n) != QUERY_AGGREGATES) found = n;
    }
    return found;
}

static bool counts_distinct(const struct sql_node *call)
{
    return call && query_aggregate_of(call) == QUERY_COUNT && call->flags & SQL_F_DISTINCT &&
           !sql_kid(call, CALL_WINDOW) && sql_kid(call, CALL_ARGS)->n_kids == 1;
}

static const struct sql_node *operand_of(const struct sql_node *call)
{
    return sql_kid(sql_kid(call, CALL_ARGS), 0);
}

/* --- a count divided by itself --- */

/* True if an inner join makes the two columns equal in each row. */
static bool are_equal(const struct vsig_block_shape *shape, const struct sql_ref *a, const struct sql_ref *b)
{
    if (a->source->nullable || b->source->nullable) return false;
    for (uint32_t i = 0; i < shape->n_pairs; i++) {
        const struct sql_join_pair *pair = shape->pairs[i];
        bool same = pair->left->source == a->source && pair->left->output == a->output &&
                    pair->right->source == b->source && pair->right->output == b->output;
        bool turned = pair->left->source == b->source && pair->left->output == b->output &&
                      pair->right->source == a->source && pair->right->output == a->output;
        if ((same || turned) && pair->conjunct && !pair->negated) return true;
    }
    return false;
}

const struct sql_node *vsig_whole_by_itself(struct vsig_subject *subject)
{
    const struct vsig_shape *shapes = vsig_shape(subject);
    const struct sql_node *root = subject->stmt->root;
    for (const struct sql_node *n = root; shapes && n; n = sql_walk(root, n)) {
        if (!sql_is(n, SQL_BINARY) || n->op != SQL_OP_DIV) continue;
        const struct sql_node *part = only_aggregate(sql_kid(n, 0)), *all = only_aggregate(sql_kid(n, 1));
        const struct sql_block *block = all ? sql_block_of(subject->bound, all) : NULL;
        if (!counts_distinct(part) || !counts_distinct(all) || !block || sql_kid(part, CALL_FILTER) ||
            sql_kid(all, CALL_FILTER) || sql_block_of(subject->bound, part) != block)
            continue;
        const struct sql_ref *a = vsig_plain_column(operand_of(part)), *b = vsig_plain_column(operand_of(all));
        const struct vsig_block_shape *shape = &shapes->blocks[block->index];
        if (a && b && !shape->too_large && are_equal(shape, a, b)) return n;
    }
    return NULL;
}

/* --- a whole that lacks some things --- */

/* Returns the condition of a conditional count, and sets *key to the expression that it counts. Returns NULL if it is
 * not a conditional count. */
static const struct sql_node *condition_of(const struct sql_node *call, const struct sql_node **key)
{
    const struct sql_node *operand = operand_of(call), *args = sql_kid(operand, CALL_ARGS);
    *key = operand;
    if (sql_kid(call, CALL_FILTER)) return sql_kid(sql_kid(call, CALL_FILTER), 0);
    if (sql_is(operand, SQL_CASE) && operand->n_kids == CASE_FIRST_WHEN + 1 && !sql_kid(operand, CASE_OPERAND)) {
        const struct sql_node *when = sql_kid(operand, CASE_FIRST_WHEN);
        *key = sql_kid(when, WHEN_RESULT);
        return sql_kid(when, WHEN_CONDITION);
    }
    bool chooses = sql_is(operand, SQL_CALL) && args && args->n_kids >= 2 &&
                   (sql_name_is(operand->text, operand->text_len, "if", 2) ||
                    sql_name_is(operand->text, operand->text_len, "iif", 3));
    if (!chooses) return NULL;
    *key = sql_kid(args, 1);
    return sql_kid(args, 0);
}

/* The tables of a share: one with the things, and one with the rows that the condition tests. */
struct counted_share {
    const struct vsig_block_shape *shape;
    const struct sql_source *child;     /* the FROM item whose columns the condition uses */
    const struct schema_column *refers; /* column of `child` that refers to the thing */
    const struct schema_column *key;    /* key of the thing */
    const struct sql_source *things;    /* FROM item with the things; NULL if the query does not read their table */
};

static bool refers_to(struct vsig_subject *subject, const struct sql_ref *from, const struct sql_ref *to,
                      struct counted_share *share)
{
    const struct schema_column *a = schema_column_of(subject->schema, from), *b = schema_column_of(subject->schema, to);
    if (from->source != share->child || !a || !b || a->unique || !b->unique) return false;
    share->refers = a;
    share->key = b;
    share->things = to->source;
    return true;
}

/* Finds the table of the things, by a join with the child or by a foreign key of the child. */
static bool find_things(struct vsig_subject *subject, const struct sql_ref *counted, struct counted_share *share)
{
    const struct schema_index *schema = subject->schema;
    const struct schema_column *column = schema_column_of(schema, counted);
    if (!column) return false;
    for (uint32_t i = 0; i < share->shape->n_pairs; i++) {
        const struct sql_join_pair *pair = share->shape->pairs[i];
        bool counts = pair->left->source == counted->source || pair->right->source == counted->source;
        if (!counts || !pair->conjunct || pair->left->source->nullable || pair->right->source->nullable) continue;
        bool found =
            refers_to(subject, pair->left, pair->right, share) || refers_to(subject, pair->right, pair->left, share);
        if (found && (column == share->key || column == share->refers)) return true;
    }
    if (share->shape->block->n_sources != 1 || counted->source != share->child) return false;
    for (uint32_t i = 0; i < schema->n_joins; i++) {
        const struct schema_join *join = &schema->joins[i];
        if (join->n_pairs != 1 || join->from[0] != column->id || !join->to_unique) continue;
        share->refers = column;
        share->key = schema->columns[join->to[0]];
        share->things = NULL;
        return true;
    }
    return false;
}

/* True if a condition of WHERE or ON uses only the child. The whole then consists of the selected rows on purpose. */
static bool is_restricted(const struct counted_share *share)
{
    vsig_sources child = vsig_source_bit(share->shape->block, share->child);
    for (uint32_t i = 0; i < share->shape->n_conditions; i++)
        if (share->shape->conditions[i].sources == child) return true;
    return false;
}

/* Returns a probe for a thing that no row of the child refers to. It has the conditions of WHERE that use only the
 * thing's table. */
static const char *things_without(struct vsig_subject *subject, const struct counted_share *share)
{
    struct arena *arena = subject->arena;
    const struct schema_table *table = &subject->schema->tables[share->key->table],
                              *child = &subject->schema->tables[share->refers->table];
    const char *refers = db_quote_name(arena, share->refers->name, strlen(share->refers->name)),
               *from = share->things ? sql_print(arena, share->things->node) : schema_quote_table(arena, table),
               *key = share->things ? vsig_probe_column(subject, share->things, share->key)
                                    : db_quote_name(arena, share->key->name, strlen(share->key->name)),
               *other = schema_quote_table(arena, child);
    if (!refers || !from || !key || !other) return NULL;
    const char *text = arena_printf(arena, "SELECT 1 FROM %s WHERE %s NOT IN (SELECT %s FROM %s WHERE %s IS NOT NULL)",
                                    from, key, refers, other, refers);
    vsig_sources things = share->things ? vsig_source_bit(share->shape->block, share->things) : 0;
    for (uint32_t i = 0; text && things && i < share->shape->n_conditions; i++) {
        const struct vsig_condition *condition = &share->shape->conditions[i];
        if (condition->clause != SQL_CLAUSE_WHERE || condition->sources != things || condition->outside) continue;
        const char *printed = sql_print(arena, condition->node);
        text = printed ? arena_printf(arena, "%s AND (%s)", text, printed) : NULL;
    }
    return text ? arena_printf(arena, "%s LIMIT 1", text) : NULL;
}

static enum err_code look_at_division(struct vsig_subject *subject, const struct vsig_shape *shapes,
                                      const struct sql_node *division, struct vsig_whole *whole)
{
    const struct sql_node *part = only_aggregate(sql_kid(division, 0)), *all = only_aggregate(sql_kid(division, 1));
    const struct sql_block *block = all ? sql_block_of(subject->bound, all) : NULL;
    if (!counts_distinct(part) || !counts_distinct(all) || !block || sql_kid(all, CALL_FILTER) ||
        sql_block_of(subject->bound, part) != block)
        return ERR_OK;
    const struct sql_node *key = NULL, *condition = condition_of(part, &key);
    const struct sql_ref *counted = vsig_plain_column(operand_of(all));
    if (!condition || !counted || !vsig_plain_column(key)) return ERR_OK;
    struct counted_share share = {.shape = &shapes->blocks[block->index]};
    vsig_sources of = vsig_sources_in(block, condition, NULL);
    for (uint32_t i = 0; i < block->n_sources; i++)
        if (of == vsig_source_bit(block, &block->sources[i])) share.child = &block->sources[i];
    if (!share.child || share.child->kind != SQL_SOURCE_TABLE || share.shape->too_large ||
        !find_things(subject, counted, &share) || is_restricted(&share))
        return ERR_OK;
    enum err_code code = ERR_OK;
    if (!vsig_probe_proves(subject, things_without(subject, &share), &code)) return code;
    *whole = (struct vsig_whole){all, (int)share.key->table};
    return code;
}

/* Inspects an average over a subquery with one row for each thing, or a division by the number of these rows. */
static enum err_code look_at_groups(struct vsig_subject *subject, const struct vsig_shape *shapes,
                                    const struct sql_node *count, struct vsig_whole *whole)
{
    const struct sql_block *block = count ? sql_block_of(subject->bound, count) : NULL;
    const struct sql_block *inner = block && block->n_sources == 1 ? block->sources[0].of : NULL;
    if (!inner || !inner->grouped || inner->arm || inner->correlated || sql_kid(block->node, SELECT_WHERE) ||
        sql_kid(inner->node, SELECT_HAVING) || shapes->blocks[inner->index].too_large)
        return ERR_OK;
    const struct sql_node *group = sql_kid(inner->node, SELECT_GROUP);
    struct counted_share share = {.shape = &shapes->blocks[inner->index]};
    bool found = false;
    for (uint32_t i = 0; i < group->n_kids && !found; i++) {
        const struct sql_ref *counted = vsig_plain_column(group->kids[i]);
        for (uint32_t k = 0; counted && k < inner->n_sources && !found; k++) {
            share.child = &inner->sources[k];
            found = share.child->kind == SQL_SOURCE_TABLE && find_things(subject, counted, &share);
        }
    }
    if (!found || is_restricted(&share)) return ERR_OK;
    enum err_code code = ERR_OK;
    if (vsig_probe_proves(subject, things_without(subject, &share), &code))
        *whole = (struct vsig_whole){count, (int)share.key->table};
    return code;
}

static enum err_code look_at_node(struct vsig_subject *subject, const struct vsig_shape *shapes,
                                  const struct sql_node *node, struct vsig_whole *whole)
{
    if (query_aggregate_of(node) == QUERY_AVG) return look_at_groups(subject, shapes, node, whole);
    if (!sql_is(node, SQL_BINARY) || node->op != SQL_OP_DIV) return ERR_OK;
    enum err_code code = look_at_division(subject, shapes, node, whole);
    const struct sql_node *all = only_aggregate(sql_kid(node, 1));
    bool counts = !code && !whole->at && all && query_aggregate_of(all) == QUERY_COUNT &&
                  !(all->flags & SQL_F_DISTINCT) && only_aggregate(sql_kid(node, 0));
    return counts ? look_at_groups(subject, shapes, all, whole) : code;
}

enum err_code vsig_whole_look(struct vsig_subject *subject, struct vsig_whole *whole)
{
    const struct vsig_shape *shapes = vsig_shape(subject);
    const struct sql_node *root = subject->stmt->root;
    enum err_code code = shapes ? ERR_OK : ERR_LIMIT_MEMORY;
    *whole = (struct vsig_whole){NULL, -1};
    for (const struct sql_node *n = root; n && !code && !whole->at; n = sql_walk(root, n))
        code = look_at_node(subject, shapes, n, whole);
    return code;
}
