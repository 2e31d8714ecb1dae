/* Mutators of clauses, joins and set operations. */
#include "lib/sql/mutate_ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Removes a clause or a list entry. Returns its parent, the touched node. */
static struct sql_node *drop(struct mutant *m, const struct sql_node *at)
{
    struct sql_node *clause = mutate_copy(m, at), *parent = clause->parent;
    sql_replace(clause, NULL);
    return parent;
}

static bool is_clause_of_query(const struct sql_node *at, enum sql_kind kind)
{
    return at->kind == kind && sql_is(at->parent, SQL_QUERY);
}

/* ---- DISTINCT, ORDER BY, LIMIT ---- */

uint32_t mutate_toggle_distinct_ways(const struct mutant *m, const struct sql_node *at)
{
    (void)m;
    const struct sql_node *distinct = at->kind == SQL_SELECT ? sql_kid(at, SELECT_DISTINCT) : NULL;
    return at->kind == SQL_SELECT && (!distinct || distinct->n_kids == 0);
}

struct sql_node *mutate_toggle_distinct(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    (void)way;
    struct sql_node *select = mutate_copy(m, at), *distinct = NULL;
    if (!sql_kid(select, SELECT_DISTINCT) && !(distinct = sql_make(m->arena, SQL_DISTINCT))) return NULL;
    sql_set_kid(select, SELECT_DISTINCT, distinct);
    return sql_kid(select, SELECT_ITEMS);
}

uint32_t mutate_drop_order_ways(const struct mutant *m, const struct sql_node *at)
{
    (void)m;
    return is_clause_of_query(at, SQL_ORDER);
}

struct sql_node *mutate_drop_order(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    (void)way;
    return drop(m, at);
}

uint32_t mutate_reverse_order_ways(const struct mutant *m, const struct sql_node *at)
{
    (void)m;
    return at->kind == SQL_TERM && is_clause_of_query(at->parent, SQL_ORDER);
}

struct sql_node *mutate_reverse_order(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    (void)way;
    struct sql_node *term = mutate_copy(m, at);
    term->op = term->op == SQL_DESC ? SQL_ASC : SQL_DESC;
    return term;
}

static const struct sql_node *limit_count(const struct sql_node *limit)
{
    const struct sql_node *count = sql_kid(limit, LIMIT_COUNT);
    return sql_is(count, SQL_LITERAL) && count->op == SQL_LIT_INT && count->text_len < 9 ? count : NULL;
}

uint32_t mutate_change_limit_ways(const struct mutant *m, const struct sql_node *at)
{
    (void)m;
    return at->kind == SQL_LIMIT && limit_count(at) ? 4 : 0;
}

struct sql_node *mutate_change_limit(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    const struct sql_node *count = limit_count(at);
    char text[12];
    snprintf(text, sizeof text, "%.*s", (int)count->text_len, count->text);
    long old = strtol(text, NULL, 10), more = old == 1 ? 5 : 1;
    long changed = way == 0 ? old + 1 : way == 1 ? old - 1 : way == 2 ? old + 2 : more;
    if (changed < 1) return NULL;
    struct sql_node *value = mutate_integer(m, changed);
    if (value) sql_replace(mutate_copy(m, count), value);
    return value;
}

uint32_t mutate_drop_limit_ways(const struct mutant *m, const struct sql_node *at)
{
    (void)m;
    return is_clause_of_query(at, SQL_LIMIT);
}

struct sql_node *mutate_drop_limit(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    (void)way;
    return drop(m, at);
}

uint32_t mutate_add_limit_ways(const struct mutant *m, const struct sql_node *at)
{
    (void)m;
    return is_clause_of_query(at, SQL_ORDER) && !sql_kid(at->parent, QUERY_LIMIT) ? 1 : 0;
}

struct sql_node *mutate_add_limit(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    (void)way;
    struct sql_node *limit = sql_make(m->arena, SQL_LIMIT), *one = mutate_integer(m, 1);
    if (!limit || !one) return NULL;
    sql_set_kid(limit, LIMIT_COUNT, one);
    sql_set_kid(mutate_copy(m, at->parent), QUERY_LIMIT, limit);
    return limit;
}

/* ---- GROUP BY, HAVING ---- */

uint32_t mutate_drop_group_ways(const struct mutant *m, const struct sql_node *at)
{
    (void)m;
    return at->kind == SQL_GROUP && sql_is(at->parent, SQL_SELECT);
}

/* Removes HAVING as well, which cannot remain alone. */
struct sql_node *mutate_drop_group(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    (void)way;
    struct sql_node *select = drop(m, at);
    sql_set_kid(select, SELECT_HAVING, NULL);
    return select;
}

static const struct sql_ref *first_plain_item(const struct sql_node *select)
{
    const struct sql_node *items = sql_kid(select, SELECT_ITEMS);
    for (uint32_t i = 0; items && i < items->n_kids; i++) {
        const struct sql_ref *ref = sql_plain_column(sql_kid(items->kids[i], 0));
        if (ref && ref->kind == SQL_REF_COLUMN) return ref;
    }
    return NULL;
}

uint32_t mutate_add_group_ways(const struct mutant *m, const struct sql_node *at)
{
    (void)m;
    return at->kind == SQL_SELECT && !sql_kid(at, SELECT_GROUP) && first_plain_item(at) ? 1 : 0;
}

struct sql_node *mutate_add_group(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    (void)way;
    struct sql_node *group = sql_make(m->arena, SQL_GROUP);
    struct sql_node *column = sql_copy(m->arena, first_plain_item(at)->node);
    if (!column || !sql_append(m->arena, group, column)) return NULL;
    sql_set_kid(mutate_copy(m, at), SELECT_GROUP, group);
    return group;
}

uint32_t mutate_drop_having_ways(const struct mutant *m, const struct sql_node *at)
{
    (void)m;
    return at->kind == SQL_HAVING;
}

struct sql_node *mutate_drop_having(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    (void)way;
    return drop(m, at);
}

/* ---- the select list ---- */

uint32_t mutate_add_item_ways(const struct mutant *m, const struct sql_node *at)
{
    const struct sql_block *block = at->kind == SQL_ITEMS ? sql_block_of(m->bound, at) : NULL;
    bool free_width = block && (block->role == SQL_BLOCK_TOP) && !block->arm;
    return free_width && block->n_sources ? 3 : 0;
}

struct sql_node *mutate_add_item(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    const struct sql_block *block = sql_block_of(m->bound, at);
    const struct sql_source *source = &block->sources[mutate_pick(m, way, block->n_sources)];
    int n = mutate_n_columns(m, source);
    if (!n) return NULL;
    struct sql_node *item = sql_make(m->arena, SQL_ITEM);
    struct sql_node *column = mutate_column(m, source, (int)mutate_pick(m, way + 4, (uint32_t)n));
    if (!item || !column) return NULL;
    sql_set_kid(item, 0, column);
    return sql_append(m->arena, mutate_copy(m, at), item) ? item : NULL;
}

uint32_t mutate_drop_item_ways(const struct mutant *m, const struct sql_node *at)
{
    const struct sql_block *block = at->kind == SQL_ITEM ? sql_block_of(m->bound, at) : NULL;
    return block && block->role == SQL_BLOCK_TOP && !block->arm && at->parent->n_kids > 1 ? 1 : 0;
}

struct sql_node *mutate_drop_item(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    (void)way;
    return drop(m, at);
}

uint32_t mutate_swap_items_ways(const struct mutant *m, const struct sql_node *at)
{
    const struct sql_block *block = at->kind == SQL_ITEMS ? sql_block_of(m->bound, at) : NULL;
    return block && block->role == SQL_BLOCK_TOP && at->n_kids > 1 && at->n_kids <= 64 ? at->n_kids - 1 : 0;
}

struct sql_node *mutate_swap_items(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    struct sql_node *items = mutate_copy(m, at), *first = items->kids[way], *second = items->kids[way + 1];
    sql_set_kid(items, way, second);
    sql_set_kid(items, way + 1, first);
    return items;
}

/* ---- set operations ---- */

static const enum sql_op SET_OPERATORS[] = {SQL_UNION, SQL_INTERSECT, SQL_EXCEPT};
enum { N_SET_OPERATORS = sizeof SET_OPERATORS / sizeof *SET_OPERATORS };

uint32_t mutate_change_set_operator_ways(const struct mutant *m, const struct sql_node *at)
{
    (void)m;
    return at->kind == SQL_COMPOUND ? N_SET_OPERATORS : 0;
}

struct sql_node *mutate_change_set_operator(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    struct sql_node *c = mutate_copy(m, at);
    if (c->op == SET_OPERATORS[way]) return NULL;
    c->op = (uint8_t)SET_OPERATORS[way];
    return c;
}

uint32_t mutate_drop_set_arm_ways(const struct mutant *m, const struct sql_node *at)
{
    (void)m;
    return at->kind == SQL_COMPOUND ? 2 : 0;
}

struct sql_node *mutate_drop_set_arm(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    struct sql_node *c = mutate_copy(m, at), *arm = sql_kid(c, way);
    if (!arm) return NULL;
    sql_replace(c, arm);
    return arm;
}

/* ---- joins ---- */

/* Returns the source on that side of a join, or NULL if the side is not a single FROM item. */
static const struct sql_source *joined_source(const struct mutant *m, const struct sql_node *join, unsigned side)
{
    const struct sql_node *item = join->kind == SQL_JOIN ? sql_kid(join, side) : NULL;
    if (!sql_is(item, SQL_TABLE) && !sql_is(item, SQL_DERIVED)) return NULL;
    const struct sql_block *block = sql_block_of(m->bound, join);
    for (uint32_t i = 0; block && i < block->n_sources; i++)
        if (block->sources[i].node == item) return &block->sources[i];
    return NULL;
}

static bool uses_source(const struct sql_node *top, const struct sql_source *source)
{
    for (const struct sql_node *n = top; n; n = sql_walk(top, n))
        if (n->kind == SQL_COLUMN && n->ref && n->ref->source == source) return true;
    return false;
}

/* Removes the conditions that read the source from this block's ON, WHERE and HAVING. */
static void drop_conditions_on(struct mutant *m, const struct sql_node *select, const struct sql_source *source)
{
    for (const struct sql_node *n = select; n; n = sql_walk(select, n)) {
        if (n->kind != SQL_WHERE && n->kind != SQL_HAVING && n->kind != SQL_ON) continue;
        const struct sql_node **conjuncts;
        int count = sql_conjuncts(m->arena, n, &conjuncts);
        for (int i = 0; i < count; i++)
            if (uses_source(conjuncts[i], source)) mutate_cut_condition(mutate_copy(m, conjuncts[i]));
    }
}

/* Replaces columns of the removed source by columns of that name in other sources, or by a random column of another
 * source. */
static bool repoint_columns(struct mutant *m, const struct sql_source *gone)
{
    const struct sql_catalog *c = m->env->catalog;
    for (uint32_t i = 0; i < m->bound->n_refs; i++) {
        const struct sql_ref *ref = m->bound->refs[i];
        if (ref->node->kind != SQL_COLUMN || ref->source != gone) continue;
        const struct sql_source *other = NULL;
        int column = -1;
        for (uint32_t k = 0; k < gone->block->n_sources && column < 0; k++) {
            const struct sql_source *s = &gone->block->sources[k];
            if (s == gone || s->kind != SQL_SOURCE_TABLE) continue;
            other = s;
            column = c->find_column(c->self, s->table, ref->node->text, ref->node->text_len);
        }
        if (!other) return false;
        int n = mutate_n_columns(m, other);
        if (column < 0) column = (int)mutate_pick(m, i, (uint32_t)n);
        struct sql_node *replacement = n ? mutate_column(m, other, column) : NULL;
        if (!replacement) return false;
        sql_replace(mutate_copy(m, ref->node), replacement);
    }
    return true;
}

/* Removes the items that use the removed source, as long as one item remains. */
static void drop_items_on(struct mutant *m, const struct sql_node *select, const struct sql_source *source)
{
    const struct sql_node *items = sql_kid(select, SELECT_ITEMS);
    struct sql_node *copy = mutate_copy(m, items);
    for (uint32_t i = 0; items && i < items->n_kids; i++)
        if (copy->n_kids > 1 && uses_source(items->kids[i], source)) sql_replace(mutate_copy(m, items->kids[i]), NULL);
}

uint32_t mutate_drop_join_ways(const struct mutant *m, const struct sql_node *at)
{
    if (!joined_source(m, at, JOIN_RIGHT)) return 0;
    return joined_source(m, at, JOIN_LEFT) ? 4 : 2;
}

/* Removes the right side (ways 0, 1) or the left (2, 3). Even ways preserve the number of output columns. Odd ways drop
 * the items that use the removed table. */
struct sql_node *mutate_drop_join(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    unsigned side = way < 2 ? JOIN_RIGHT : JOIN_LEFT;
    const struct sql_source *gone = joined_source(m, at, side);
    struct sql_node *join = mutate_copy(m, at), *from = sql_up(join, SQL_FROM);
    drop_conditions_on(m, gone->block->node, gone);
    bool free_width = gone->block->role == SQL_BLOCK_TOP && !gone->block->arm;
    if (way % 2 == 1 && free_width) drop_items_on(m, gone->block->node, gone);
    sql_replace(join, sql_kid(join, side == JOIN_RIGHT ? JOIN_LEFT : JOIN_RIGHT));
    return repoint_columns(m, gone) ? from : NULL;
}

static bool key_touches(const struct sql_mutate_key *key, int table)
{
    return key->table == table || key->ref_table == table;
}

static bool has_source(const struct sql_block *block, const char *name)
{
    for (uint32_t i = 0; i < block->n_sources; i++)
        if (block->sources[i].name &&
            sql_name_is(block->sources[i].name, block->sources[i].name_len, name, strlen(name)))
            return true;
    return false;
}

/* Makes a TABLE node. It includes the schema if the name must be qualified. */
static struct sql_node *table_node(struct mutant *m, int table)
{
    const struct sql_catalog *c = m->env->catalog;
    const char *name = c->table_name(c->self, table),
               *schema = c->table_schema ? c->table_schema(c->self, table) : NULL;
    struct sql_node *n = sql_make_text(m->arena, SQL_TABLE, schema ? name + strlen(schema) + 1 : name);
    if (!n || !schema) return n;
    n->text2 = schema;
    n->text2_len = (uint32_t)strlen(schema);
    return n;
}

bool mutate_new_source(struct mutant *m, struct sql_block *block, int table, struct sql_source *source)
{
    struct sql_node *n = table_node(m, table);
    const char *name = n ? n->text : NULL, *alias = NULL;
    for (uint32_t k = block->n_sources + 1; n && has_source(block, alias ? alias : name); k++)
        if (!(alias = arena_printf(m->arena, "T%u", k))) return false;
    if (!n) return false;
    if (alias) {
        n->alias = alias;
        n->alias_len = (uint32_t)strlen(alias);
        n->flags |= SQL_F_AS;
    }
    *source = (struct sql_source){.node = n, .name = alias ? alias : n->text, .table = table, .block = block};
    source->name_len = (uint32_t)strlen(source->name);
    return true;
}

uint32_t mutate_add_join_ways(const struct mutant *m, const struct sql_node *at)
{
    const struct sql_block *block = at->kind == SQL_FROM ? sql_block_of(m->bound, at) : NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; block && block->n_sources && i < m->env->n_keys; i++)
        n += key_touches(&m->env->keys[i], block->sources[0].table);
    return n > 3 ? 3 : n;
}

struct sql_node *mutate_join_by(struct mutant *m, const struct sql_node *from, const struct sql_source *source,
                                const struct sql_mutate_key *key)
{
    if (!source->name) return NULL;
    bool outwards = key->table == source->table;
    int table = outwards ? key->ref_table : key->table;
    struct sql_node *join = sql_make(m->arena, SQL_JOIN), *on = sql_make(m->arena, SQL_ON);
    struct sql_source added;
    if (!join || !on || !mutate_new_source(m, source->block, table, &added)) return NULL;
    mutate_qualify(m, source->block);
    struct sql_node *here = mutate_column(m, source, outwards ? key->column : key->ref_column);
    struct sql_node *there = mutate_column(m, &added, outwards ? key->ref_column : key->column);
    struct sql_node *test = mutate_comparison(m, SQL_OP_EQ, here, there);
    if (!test) return NULL;
    mutate_set_qualifier(here, source);
    mutate_set_qualifier(there, &added);
    struct sql_node *left = mutate_copy(m, from->kids[from->n_kids - 1]);
    join->op = SQL_JOIN_INNER;
    sql_replace(left, join);
    sql_set_kid(join, JOIN_LEFT, left);
    sql_set_kid(join, JOIN_RIGHT, (struct sql_node *)added.node);
    sql_set_kid(join, JOIN_ON, on);
    sql_set_kid(on, 0, test);
    return join;
}

struct sql_node *mutate_add_join(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    const struct sql_source *first = &sql_block_of(m->bound, at)->sources[0];
    uint32_t seen = 0;
    for (uint32_t i = 0; i < m->env->n_keys; i++)
        if (key_touches(&m->env->keys[i], first->table) && seen++ == way)
            return mutate_join_by(m, at, first, &m->env->keys[i]);
    return NULL;
}

/* Returns the ref of a column that is an operand of an equality between columns of two sources, or NULL. */
static const struct sql_ref *join_side(const struct sql_node *at)
{
    const struct sql_node *p = at->parent;
    if (at->kind != SQL_COLUMN || !sql_is(p, SQL_BINARY) || p->op != SQL_OP_EQ) return NULL;
    const struct sql_ref *ref = sql_plain_column(at), *other = sql_plain_column(p->kids[p->kids[0] == at]);
    bool joins = ref && other && ref->source && other->source && ref->source != other->source;
    return joins && ref->source->kind == SQL_SOURCE_TABLE && ref->column >= 0 ? ref : NULL;
}

static struct sql_node *put_column(struct mutant *m, const struct sql_node *at, int column)
{
    if (column == at->ref->column) return NULL;
    struct sql_node *replacement = mutate_column(m, at->ref->source, column), *copy = mutate_copy(m, at);
    if (replacement) sql_replace(copy, replacement);
    return replacement;
}

uint32_t mutate_wrong_join_column_ways(const struct mutant *m, const struct sql_node *at)
{
    const struct sql_ref *ref = join_side(at);
    return ref && mutate_n_columns(m, ref->source) > 1 ? 2 : 0;
}

struct sql_node *mutate_wrong_join_column(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    return put_column(m, at, (int)mutate_pick(m, way, (uint32_t)mutate_n_columns(m, at->ref->source)));
}

static const struct sql_mutate_key *key_of(const struct mutant *m, int table, int column)
{
    for (uint32_t i = 0; i < m->env->n_keys; i++)
        if (m->env->keys[i].table == table && m->env->keys[i].column == column) return &m->env->keys[i];
    return NULL;
}

/* Returns another column of the table that refers to the same table, such as friend_id for student_id; -1 if there is
 * none. */
static int twin_key(const struct mutant *m, const struct sql_ref *ref)
{
    const struct sql_mutate_key *own = key_of(m, ref->table, ref->column);
    for (uint32_t i = 0; own && i < m->env->n_keys; i++) {
        const struct sql_mutate_key *key = &m->env->keys[i];
        if (key->table == ref->table && key->column != ref->column && key->ref_table == own->ref_table)
            return key->column;
    }
    return -1;
}

uint32_t mutate_flip_join_column_ways(const struct mutant *m, const struct sql_node *at)
{
    const struct sql_ref *ref = join_side(at);
    return ref && twin_key(m, ref) >= 0 ? 1 : 0;
}

struct sql_node *mutate_flip_join_column(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    (void)way;
    return put_column(m, at, twin_key(m, at->ref));
}

uint32_t mutate_drop_join_condition_ways(const struct mutant *m, const struct sql_node *at)
{
    (void)m;
    return at->kind == SQL_JOIN && sql_kid(at, JOIN_ON) && at->op == SQL_JOIN_INNER ? 1 : 0;
}

struct sql_node *mutate_drop_join_condition(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    (void)way;
    struct sql_node *join = mutate_copy(m, at);
    sql_set_kid(join, JOIN_ON, NULL);
    return join;
}

uint32_t mutate_outer_join_ways(const struct mutant *m, const struct sql_node *at)
{
    (void)m;
    bool simple = at->kind == SQL_JOIN && (at->op == SQL_JOIN_INNER || at->op == SQL_JOIN_LEFT_OUTER);
    return simple && sql_kid(at, JOIN_ON) ? 1 : 0;
}

struct sql_node *mutate_outer_join(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    (void)way;
    struct sql_node *join = mutate_copy(m, at);
    join->op = join->op == SQL_JOIN_INNER ? SQL_JOIN_LEFT_OUTER : SQL_JOIN_INNER;
    join->flags &= ~(uint32_t)SQL_F_OUTER_KW;
    return join;
}
