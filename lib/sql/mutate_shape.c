/* Mutators that rebuild a part of the query: the joins between tables, the scope of a negation, or two sets that are
 * compared. */
#include "lib/sql/mutate_ops.h"

#include <string.h>

/* ---- another table ---- */

static const struct sql_source *source_of(const struct mutant *m, const struct sql_node *table)
{
    const struct sql_block *block = sql_block_of(m->bound, table);
    for (uint32_t i = 0; block && i < block->n_sources; i++)
        if (block->sources[i].node == table && block->sources[i].kind == SQL_SOURCE_TABLE) return &block->sources[i];
    return NULL;
}

static const struct sql_mutate_key *key_at(const struct mutant *m, int table, int column)
{
    for (uint32_t i = 0; i < m->env->n_keys; i++)
        if (m->env->keys[i].table == table && m->env->keys[i].column == column) return &m->env->keys[i];
    return NULL;
}

static const struct sql_mutate_key *key_to(const struct mutant *m, int table, int ref_table)
{
    for (uint32_t i = 0; i < m->env->n_keys; i++)
        if (m->env->keys[i].table == table && m->env->keys[i].ref_table == ref_table) return &m->env->keys[i];
    return NULL;
}

/* Returns the counterpart of a column in another table, or -1. It is a key to the same table, else the column of the
 * same name, else a column with the same traits. */
static int counterpart(const struct mutant *m, const struct sql_ref *ref, int table)
{
    const struct sql_catalog *c = m->env->catalog;
    const struct sql_mutate_key *own = key_at(m, ref->table, ref->column),
                                *other = own ? key_to(m, table, own->ref_table) : NULL;
    if (other) return other->column;
    const char *name = c->column_name(c->self, ref->table, ref->column);
    int found = c->find_column(c->self, table, name, strlen(name));
    if (found >= 0) return found;
    unsigned traits = mutate_traits(m, ref->table, ref->column) & ~(unsigned)SQL_TRAIT_FEW;
    return mutate_column_with(m, table, traits, -1, (uint32_t)ref->column);
}

/* Replaces the table of a source by another table, and its columns by their counterparts. */
static struct sql_node *swap_table(struct mutant *m, const struct sql_source *source, int table)
{
    const struct sql_catalog *c = m->env->catalog;
    const char *name = c->table_name(c->self, table);
    struct sql_node *node = mutate_copy(m, source->node);
    if (c->table_schema && c->table_schema(c->self, table)) return NULL;
    struct sql_source now = *source;
    if (!node->alias) {
        now.name = name;
        now.name_len = (uint32_t)strlen(name);
    }
    now.table = table;
    for (uint32_t i = 0; i < m->bound->n_refs; i++) {
        const struct sql_ref *ref = m->bound->refs[i];
        if (ref->source != source || ref->node->kind != SQL_COLUMN) continue;
        int column = ref->column < 0 ? -1 : counterpart(m, ref, table);
        struct sql_node *replacement = column < 0 ? NULL : mutate_column(m, &now, column);
        if (!replacement) return NULL;
        sql_replace(mutate_copy(m, ref->node), replacement);
    }
    node->text2 = NULL;
    node->text2_len = 0;
    node->quote = 0;
    return mutate_set_text(m, node, name);
}

/* True if the key's table is another table than `table`, and both refer to the same table. */
static bool is_rival(const struct mutant *m, const struct sql_mutate_key *key, int table)
{
    return key->table != table && key_to(m, table, key->ref_table);
}

/* Returns the n-th table that refers to the same table as `table` does, or -1. */
static int rival(const struct mutant *m, int table, uint32_t n)
{
    const struct sql_mutate_key *keys = m->env->keys;
    for (uint32_t i = 0; i < m->env->n_keys; i++) {
        bool seen = !is_rival(m, &keys[i], table);
        for (uint32_t k = 0; k < i && !seen; k++) seen = keys[k].table == keys[i].table && is_rival(m, &keys[k], table);
        if (!seen && n-- == 0) return keys[i].table;
    }
    return -1;
}

/* Returns the n-th key between the tables of a join that the join does not use, or NULL. */
static const struct sql_mutate_key *other_key(const struct mutant *m, const struct sql_ref *a, const struct sql_ref *b,
                                              uint32_t n)
{
    for (uint32_t i = 0; i < m->env->n_keys; i++) {
        const struct sql_mutate_key *key = &m->env->keys[i];
        const struct sql_ref *from = key->table == a->table && key->ref_table == b->table   ? a
                                     : key->table == b->table && key->ref_table == a->table ? b
                                                                                            : NULL;
        const struct sql_ref *to = from == a ? b : a;
        if (!from || (from->column == key->column && to->column == key->ref_column)) continue;
        if (n-- == 0) return key;
    }
    return NULL;
}

static bool joins(const struct sql_node *at, const struct sql_ref **a, const struct sql_ref **b)
{
    if (!sql_is(at, SQL_BINARY) || at->op != SQL_OP_EQ) return false;
    *a = mutate_base_column(sql_kid(at, 0));
    *b = mutate_base_column(sql_kid(at, 1));
    return *a && *b && (*a)->source != (*b)->source;
}

uint32_t mutate_wrong_join_path_ways(const struct mutant *m, const struct sql_node *at)
{
    const struct sql_ref *a, *b;
    if (joins(at, &a, &b)) return other_key(m, a, b, 0) ? 1 : 0;
    const struct sql_source *source = at->kind == SQL_TABLE ? source_of(m, at) : NULL;
    if (!source || source->block->n_sources < 2 || rival(m, source->table, 0) < 0) return 0;
    return rival(m, source->table, 1) < 0 ? 1 : 2;
}

struct sql_node *mutate_wrong_join_path(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    const struct sql_ref *a, *b;
    if (at->kind == SQL_TABLE) {
        const struct sql_source *source = source_of(m, at);
        return swap_table(m, source, rival(m, source->table, way));
    }
    if (!joins(at, &a, &b)) return NULL;
    const struct sql_mutate_key *key = other_key(m, a, b, way);
    bool forward = key->table == a->table;
    struct sql_node *left = mutate_column(m, a->source, forward ? key->column : key->ref_column);
    struct sql_node *right = mutate_column(m, b->source, forward ? key->ref_column : key->column);
    struct sql_node *test = mutate_comparison(m, SQL_OP_EQ, left, right);
    if (test) sql_replace(mutate_copy(m, at), test);
    return test;
}

/* Returns the n-th table that a key connects to `table`, or -1. */
static int neighbour(const struct mutant *m, int table, uint32_t n)
{
    for (uint32_t i = 0; i < m->env->n_keys; i++) {
        const struct sql_mutate_key *key = &m->env->keys[i];
        if ((key->table == table) == (key->ref_table == table)) continue;
        if (n-- == 0) return key->table == table ? key->ref_table : key->table;
    }
    return -1;
}

enum { NEIGHBOURS = 3 };

uint32_t mutate_wrong_entity_ways(const struct mutant *m, const struct sql_node *at)
{
    const struct sql_source *source = at->kind == SQL_TABLE ? source_of(m, at) : NULL;
    uint32_t n = 0;
    while (source && source->block->n_sources == 1 && n < NEIGHBOURS && neighbour(m, source->table, n) >= 0) n++;
    return n;
}

struct sql_node *mutate_wrong_entity(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    const struct sql_source *source = source_of(m, at);
    return swap_table(m, source, neighbour(m, source->table, way));
}

/* ---- fan-out ---- */

static const struct sql_mutate_key *key_into(const struct mutant *m, const struct sql_block *block, uint32_t n)
{
    for (uint32_t i = 0; i < m->env->n_keys; i++) {
        const struct sql_mutate_key *key = &m->env->keys[i];
        bool known = false;
        for (uint32_t k = 0; k < block->n_sources; k++) known |= block->sources[k].table == key->table;
        if (key->ref_table == block->sources[0].table && !known && n-- == 0) return key;
    }
    return NULL;
}

uint32_t mutate_fan_out_aggregate_ways(const struct mutant *m, const struct sql_node *at)
{
    const struct sql_block *block = at->kind == SQL_FROM ? sql_block_of(m->bound, at) : NULL;
    if (!block || !block->aggregate || !block->n_sources || block->sources[0].kind != SQL_SOURCE_TABLE) return 0;
    return key_into(m, block, 1) ? 2 : key_into(m, block, 0) ? 1 : 0;
}

struct sql_node *mutate_fan_out_aggregate(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    const struct sql_block *block = sql_block_of(m->bound, at);
    return mutate_join_by(m, at, &block->sources[0], key_into(m, block, way));
}

/* ---- scope of a negation ---- */

/* Returns the block of the subquery in `x NOT IN (SELECT y FROM ... [WHERE ...])`, or NULL. */
static const struct sql_block *excluded(const struct mutant *m, const struct sql_node *at)
{
    if (!sql_is(at, SQL_IN) || !(at->flags & SQL_F_NOT) || !sql_is(sql_kid(at, IN_RIGHT), SQL_SUBQUERY)) return NULL;
    const struct sql_node *query = sql_kid(sql_kid(at, IN_RIGHT), 0), *select = sql_kid(query, QUERY_BODY);
    const struct sql_block *block = sql_is(select, SQL_SELECT) ? sql_block_of(m->bound, select) : NULL;
    return block && block->n_sources ? block : NULL;
}

/* Returns the first `column = literal` of a WHERE, or NULL. */
static struct sql_node *first_equality(const struct sql_node *where)
{
    for (struct sql_node *n = sql_kid(where, 0); n; n = sql_walk_over(where, n)) {
        while (sql_is(n, SQL_BINARY) && n->op == SQL_OP_AND) n = n->kids[0];
        if (sql_is(n, SQL_BINARY) && n->op == SQL_OP_EQ && sql_plain_literal(sql_kid(n, 1))) return n;
    }
    return NULL;
}

static struct sql_node *negate_first(struct sql_node *where)
{
    struct sql_node *test = first_equality(where);
    if (!test) return NULL;
    test->op = SQL_OP_NE;
    test->flags &= ~(uint32_t)SQL_F_EQ2;
    return test;
}

static bool is_except(const struct sql_node *at)
{
    return sql_is(at, SQL_COMPOUND) && at->op == SQL_EXCEPT && sql_is(sql_kid(at, 1), SQL_SELECT);
}

uint32_t mutate_never_vs_not_all_ways(const struct mutant *m, const struct sql_node *at)
{
    const struct sql_block *block = excluded(m, at);
    const struct sql_node *select = block ? block->node : is_except(at) ? sql_kid(at, 1) : NULL;
    return first_equality(sql_kid(select, SELECT_WHERE)) ? 1 : 0;
}

/* Turns x NOT IN (... c = v) into x IN (... c <> v), and EXCEPT into INTERSECT likewise. */
struct sql_node *mutate_never_vs_not_all(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    (void)way;
    const struct sql_block *block = excluded(m, at);
    struct sql_node *copy = mutate_copy(m, at), *select = block ? mutate_copy(m, block->node) : sql_kid(copy, 1);
    if (block)
        copy->flags &= ~(uint32_t)SQL_F_NOT;
    else
        copy->op = SQL_INTERSECT;
    return negate_first(sql_kid(select, SELECT_WHERE)) ? copy : NULL;
}

/* Returns the column that the subquery selects, or NULL if it does not select a single plain column. */
static const struct sql_ref *excluded_column(const struct sql_block *inner)
{
    return mutate_base_column(sql_kid(sql_kid(sql_kid(inner->node, SELECT_ITEMS), 0), 0));
}

static bool same_name(const struct sql_source *a, const struct sql_source *b)
{
    return !a->name || !b->name || sql_name_is(a->name, a->name_len, b->name, b->name_len);
}

/* True if the tables of the NOT IN subquery can be joined to the only table of the enclosing block. */
static bool may_join(const struct mutant *m, const struct sql_node *at, const struct sql_block *inner)
{
    const struct sql_block *outer = sql_block_of(m->bound, at);
    const struct sql_ref *x = mutate_base_column(sql_kid(at, IN_VALUE)), *y = excluded_column(inner);
    const struct sql_node *from = sql_kid(inner->node, SELECT_FROM);
    bool plain = !inner->grouped && !inner->aggregate && !inner->correlated && from && from->n_kids == 1;
    if (!plain || !outer || outer->n_sources != 1 || !x || !y || x->source != outer->sources) return false;
    for (uint32_t i = 0; i < inner->n_sources; i++)
        if (same_name(&inner->sources[i], outer->sources)) return false;
    return true;
}

/* True for a <> x AND b <> y. */
static bool is_neither(const struct sql_node *at)
{
    if (!sql_is(at, SQL_BINARY) || at->op != SQL_OP_AND) return false;
    for (unsigned i = 0; i < 2; i++)
        if (!sql_is(sql_kid(at, i), SQL_BINARY) || sql_kid(at, i)->op != SQL_OP_NE) return false;
    return true;
}

uint32_t mutate_negation_scope_ways(const struct mutant *m, const struct sql_node *at)
{
    if (is_neither(at)) return 1;
    if (is_except(at)) return first_equality(sql_kid(sql_kid(at, 1), SELECT_WHERE)) ? 1 : 0;
    const struct sql_block *inner = excluded(m, at);
    return inner && may_join(m, at, inner) ? 1 : 0;
}

/* Turns WHERE x NOT IN (SELECT y FROM t WHERE c = v) into FROM t JOIN ... ON x = y WHERE c <> v. Without a condition
 * the join is ON x <> y. */
static struct sql_node *join_excluded(struct mutant *m, const struct sql_node *at, const struct sql_block *inner)
{
    const struct sql_block *outer = sql_block_of(m->bound, at);
    const struct sql_ref *x = mutate_base_column(sql_kid(at, IN_VALUE)), *y = excluded_column(inner);
    const struct sql_node *from = sql_kid(outer->node, SELECT_FROM), *where = sql_kid(inner->node, SELECT_WHERE);
    mutate_qualify(m, outer);
    mutate_qualify(m, inner);
    struct sql_node *test = where ? sql_kid(mutate_copy(m, where), 0) : NULL;
    if (where && !negate_first(mutate_copy(m, where))) return NULL;
    struct sql_node *here = mutate_column(m, x->source, x->column), *there = mutate_column(m, y->source, y->column);
    struct sql_node *join = sql_make(m->arena, SQL_JOIN), *on = sql_make(m->arena, SQL_ON);
    struct sql_node *pair = mutate_comparison(m, where ? SQL_OP_EQ : SQL_OP_NE, here, there);
    struct sql_node *left = sql_copy(m->arena, mutate_copy(m, sql_kid(sql_kid(inner->node, SELECT_FROM), 0)));
    if (!join || !on || !pair || !left) return NULL;
    mutate_set_qualifier(here, x->source);
    mutate_set_qualifier(there, y->source);
    struct sql_node *copy = mutate_copy(m, at), *right = mutate_copy(m, from->kids[0]);
    if (test)
        sql_replace(copy, sql_copy(m->arena, test));
    else if (!mutate_cut_condition(copy))
        return NULL;
    join->op = SQL_JOIN_INNER;
    sql_replace(right, join);
    sql_set_kid(join, JOIN_LEFT, left);
    sql_set_kid(join, JOIN_RIGHT, right);
    sql_set_kid(join, JOIN_ON, on);
    sql_set_kid(on, 0, pair);
    return join;
}

/* Turns a <> x AND b <> y into NOT (a = x AND b = y). */
static struct sql_node *not_both(struct mutant *m, const struct sql_node *at)
{
    struct sql_node *not_node = sql_make(m->arena, SQL_UNARY), *both = mutate_copy(m, at);
    if (!not_node) return NULL;
    not_node->op = SQL_OP_NOT;
    both->flags |= SQL_F_PAREN;
    for (unsigned i = 0; i < 2; i++) {
        both->kids[i]->op = SQL_OP_EQ;
        both->kids[i]->flags &= ~(uint32_t)SQL_F_EQ2;
    }
    sql_replace(both, not_node);
    sql_set_kid(not_node, 0, both);
    return not_node;
}

struct sql_node *mutate_negation_scope(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    (void)way;
    if (is_neither(at)) return not_both(m, at);
    const struct sql_block *inner = excluded(m, at);
    if (inner) return join_excluded(m, at, inner);
    struct sql_node *copy = mutate_copy(m, at), *right = sql_kid(copy, 1);
    if (!negate_first(sql_kid(right, SELECT_WHERE))) return NULL;
    sql_replace(copy, right);
    return right;
}

/* ---- two sets ---- */

static const struct sql_source *same_table(const struct sql_block *block, int table)
{
    for (uint32_t i = 0; i < block->n_sources; i++)
        if (block->sources[i].kind == SQL_SOURCE_TABLE && block->sources[i].table == table) return &block->sources[i];
    return NULL;
}

/* Returns a copy of the right arm's condition for the tables of the left arm. Returns NULL if the condition needs other
 * tables. */
static struct sql_node *borrowed(struct mutant *m, const struct sql_node *condition, const struct sql_block *block)
{
    struct sql_node *copy = sql_copy(m->arena, mutate_copy(m, condition)), *to = copy;
    for (const struct sql_node *n = condition; n && to; n = sql_walk(condition, n), to = sql_walk(copy, to)) {
        if (n->kind == SQL_SUBQUERY) return NULL;
        if (n->kind != SQL_COLUMN || mutate_is_string(n)) continue;
        const struct sql_ref *ref = mutate_base_column(n);
        const struct sql_source *source = ref ? same_table(block, ref->table) : NULL;
        if (!source || !source->name) return NULL;
        if (block->n_sources > 1) mutate_set_qualifier(to, source);
    }
    return copy;
}

static bool is_plain_select(const struct sql_node *n)
{
    return sql_is(n, SQL_SELECT) && sql_kid(n, SELECT_WHERE) && !sql_kid(n, SELECT_GROUP);
}

/* Merges two arms into one with both conditions, joined by OR (way 0) or AND (way 1), or splits such a condition into
 * two arms. */
uint32_t mutate_set_both_ways(const struct mutant *m, const struct sql_node *at)
{
    if (sql_is(at, SQL_COMPOUND))
        return at->op != SQL_EXCEPT && is_plain_select(sql_kid(at, 0)) && is_plain_select(sql_kid(at, 1)) ? 2 : 0;
    bool logic = sql_is(at, SQL_BINARY) && (at->op == SQL_OP_AND || at->op == SQL_OP_OR);
    if (!logic || !sql_is(at->parent, SQL_WHERE)) return 0;
    const struct sql_block *block = sql_block_of(m->bound, at);
    bool top = block && block->role == SQL_BLOCK_TOP && !block->arm && !block->grouped && !block->aggregate;
    return top && !sql_kid(block->query, QUERY_ORDER) && !sql_kid(block->query, QUERY_LIMIT) ? 2 : 0;
}

static struct sql_node *merge_arms(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    const struct sql_node *first = sql_kid(at, 0), *second = sql_kid(at, 1);
    const struct sql_block *block = sql_block_of(m->bound, first);
    struct sql_node *left = mutate_copy(m, first), *where = sql_kid(left, SELECT_WHERE), *own = sql_kid(where, 0);
    struct sql_node *other = block ? borrowed(m, sql_kid(sql_kid(second, SELECT_WHERE), 0), block) : NULL;
    struct sql_node *both = other ? mutate_comparison(m, way ? SQL_OP_AND : SQL_OP_OR, own, other) : NULL;
    if (!both) return NULL;
    for (unsigned i = 0; i < 2; i++)
        if (sql_is(both->kids[i], SQL_BINARY) && both->kids[i]->op != both->op &&
            (both->kids[i]->op == SQL_OP_AND || both->kids[i]->op == SQL_OP_OR))
            both->kids[i]->flags |= SQL_F_PAREN;
    sql_set_kid(where, 0, both);
    sql_replace(mutate_copy(m, at), left);
    return left;
}

struct sql_node *mutate_set_both(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    if (at->kind == SQL_COMPOUND) return merge_arms(m, at, way);
    const struct sql_block *block = sql_block_of(m->bound, at);
    struct sql_node *select = mutate_copy(m, block->node), *compound = sql_make(m->arena, SQL_COMPOUND);
    struct sql_node *one = sql_copy(m->arena, sql_kid(mutate_copy(m, at), 0)),
                    *two = sql_copy(m->arena, sql_kid(mutate_copy(m, at), 1));
    struct sql_node *first = sql_copy(m->arena, select), *second = sql_copy(m->arena, select);
    if (!compound || !one || !two || !first || !second) return NULL;
    compound->op = way ? SQL_UNION : SQL_INTERSECT;
    sql_set_kid(sql_kid(first, SELECT_WHERE), 0, one);
    sql_set_kid(sql_kid(second, SELECT_WHERE), 0, two);
    sql_replace(select, compound);
    sql_set_kid(compound, 0, first);
    sql_set_kid(compound, 1, second);
    return compound;
}
