/* Functional dependencies in one block: which columns and FROM items are fixed.
 *
 * The set of fixed columns grows until it no longer changes. Equalities, constants, keys of base tables and keys of
 * derived tables add columns. A FROM item with a fixed key is fixed as a whole. At most MAX_FIXED single columns are
 * tracked. Further columns count as not fixed, which is the safe direction. */
#include "signals/support/keys.h"

enum { ROWID = -2 };
enum { MAX_FIXED = 256 }; /* number of single columns that are tracked; further columns count as not fixed */

struct fixed {
    const struct sql_source *source;
    int output; /* ROWID for SQLite's rowid */
};

struct vsig_keys {
    struct vsig_subject *subject;
    const struct vsig_block_shape *shape;
    bool measured;
    vsig_sources whole;
    uint32_t n;
    struct fixed items[MAX_FIXED];
};

static int output_of(const struct sql_ref *ref)
{
    return ref->kind == SQL_REF_ROWID ? ROWID : ref->output;
}

static bool has(const struct vsig_keys *keys, const struct sql_source *source, int output)
{
    if (vsig_source_bit(keys->shape->block, source) & keys->whole) return true;
    for (uint32_t i = 0; i < keys->n; i++)
        if (keys->items[i].source == source && keys->items[i].output == output) return true;
    return false;
}

vsig_sources vsig_keys_whole(const struct vsig_keys *keys)
{
    return keys->whole;
}

static void add(struct vsig_keys *keys, const struct sql_source *source, int output)
{
    if (keys->n < MAX_FIXED && !has(keys, source, output)) keys->items[keys->n++] = (struct fixed){source, output};
}

bool vsig_keys_has_column(const struct vsig_keys *keys, const struct sql_ref *ref)
{
    return has(keys, ref->source, output_of(ref));
}

void vsig_keys_add_column(struct vsig_keys *keys, const struct sql_ref *ref)
{
    add(keys, ref->source, output_of(ref));
}

void vsig_keys_add_source(struct vsig_keys *keys, const struct sql_source *source)
{
    keys->whole |= vsig_source_bit(keys->shape->block, source);
}

/* Adds the column of an equality whose other operand is constant in the block. */
static void add_constant(struct vsig_keys *keys, const struct sql_node *node)
{
    if (!sql_is(node, SQL_BINARY) || (node->op != SQL_OP_EQ && node->op != SQL_OP_IS)) return;
    for (unsigned side = 0; side < 2; side++) {
        const struct sql_ref *ref = vsig_plain_column(node->kids[side]);
        if (!ref || !vsig_source_bit(keys->shape->block, ref->source)) continue;
        if (vsig_sources_in(keys->shape->block, node->kids[1 - side], NULL) == 0)
            add(keys, ref->source, output_of(ref));
    }
}

bool vsig_limits_to_one(const struct sql_node *query)
{
    const struct sql_node *count = sql_plain_literal(sql_kid(sql_kid(query, QUERY_LIMIT), LIMIT_COUNT));
    return count && count->op == SQL_LIT_INT && count->text_len == 1 && count->text[0] == '1';
}

bool vsig_is_one_row(const struct sql_source *source)
{
    const struct sql_block *of = source->of;
    if (!of) return false;
    if (vsig_limits_to_one(of->query)) return true;
    if (of->arm) return false;
    if (sql_is(of->node, SQL_VALUES)) return of->node->n_kids == 1;
    if (of->n_sources == 0) return true;
    return of->aggregate && !of->grouped;
}

struct vsig_keys *vsig_keys_new(struct vsig_subject *subject, const struct vsig_block_shape *shape, bool measured)
{
    struct vsig_keys *keys = arena_alloc(subject->arena, sizeof *keys);
    if (!keys) return NULL;
    keys->subject = subject;
    keys->shape = shape;
    keys->measured = measured;
    keys->whole = 0;
    keys->n = 0;
    for (uint32_t i = 0; i < shape->n_conditions; i++) {
        const struct vsig_condition *condition = &shape->conditions[i];
        if (!condition->outer && condition->clause != SQL_CLAUSE_HAVING) add_constant(keys, condition->node);
    }
    for (uint32_t i = 0; i < shape->block->n_sources; i++)
        if (vsig_is_one_row(&shape->block->sources[i])) vsig_keys_add_source(keys, &shape->block->sources[i]);
    return keys;
}

/* True if all columns of a key of the base table are fixed. */
static bool table_is_fixed(const struct vsig_keys *keys, const struct sql_source *source)
{
    const struct schema_table *table = &keys->subject->schema->tables[source->table];
    uint32_t in_pk = 0;
    for (uint32_t i = 0; i < keys->n; i++) {
        const struct fixed *item = &keys->items[i];
        if (item->source != source) continue;
        if (item->output == ROWID) return true;
        if (item->output < 0 || (uint32_t)item->output >= table->n_columns) continue;
        const struct schema_column *column = &table->columns[item->output];
        if (column->unique && (keys->measured || !column->unique_measured)) return true;
        if (column->pk) in_pk++;
    }
    return table->n_pk && in_pk == table->n_pk;
}

static int output_for(const struct sql_block *block, const struct sql_node *expr)
{
    const struct sql_ref *wanted = vsig_plain_column(expr);
    for (uint32_t i = 0; i < block->n_outputs; i++) {
        const struct sql_node *given = block->outputs[i].expr;
        if (!given) continue;
        const struct sql_ref *ref = vsig_plain_column(given);
        if (ref && wanted && ref->source == wanted->source && ref->output == wanted->output) return (int)i;
        if (given == expr || (!ref && sql_equal(given, expr))) return (int)i;
    }
    return -1;
}

/* True if a key of the derived table or CTE is fixed. The key of a grouped query is its grouping columns. The key of a
 * DISTINCT query is all its columns. */
static bool body_is_fixed(const struct vsig_keys *keys, const struct sql_source *source)
{
    const struct sql_block *of = source->of;
    if (!of || of->arm || !sql_is(of->node, SQL_SELECT)) return false;
    const struct sql_node *group = sql_kid(of->node, SELECT_GROUP);
    if (group) {
        for (uint32_t i = 0; i < group->n_kids; i++) {
            int output = output_for(of, group->kids[i]);
            if (output < 0 || !has(keys, source, output)) return false;
        }
        return group->n_kids > 0;
    }
    if (!sql_kid(of->node, SELECT_DISTINCT)) return false;
    for (uint32_t i = 0; i < source->n_outputs; i++)
        if (!has(keys, source, (int)i)) return false;
    return source->n_outputs > 0;
}

static bool follow_keys(struct vsig_keys *keys)
{
    vsig_sources before = keys->whole;
    const struct sql_block *block = keys->shape->block;
    for (uint32_t i = 0; i < block->n_sources && i < VSIG_MAX_SOURCES; i++) {
        const struct sql_source *source = &block->sources[i];
        if (keys->whole & vsig_source_bit(block, source)) continue;
        bool fixed = source->kind == SQL_SOURCE_TABLE && source->table >= 0 ? table_is_fixed(keys, source)
                                                                            : body_is_fixed(keys, source);
        if (fixed) vsig_keys_add_source(keys, source);
    }
    return keys->whole != before;
}

static bool follow_equalities(struct vsig_keys *keys)
{
    uint32_t before = keys->n;
    for (uint32_t i = 0; i < keys->shape->n_pairs; i++) {
        const struct sql_join_pair *pair = keys->shape->pairs[i];
        if (!pair->conjunct || pair->negated) continue;
        if (has(keys, pair->left->source, output_of(pair->left)))
            add(keys, pair->right->source, output_of(pair->right));
        else if (has(keys, pair->right->source, output_of(pair->right)))
            add(keys, pair->left->source, output_of(pair->left));
    }
    return keys->n != before;
}

void vsig_keys_close(struct vsig_keys *keys)
{
    bool more = true;
    while (more) {
        more = follow_keys(keys);
        more = follow_equalities(keys) || more;
    }
}
