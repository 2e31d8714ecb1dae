/* Mutators that preserve the form of the query: wrong values, columns, measures and units. Each replaces a part by
 * another one that is as long and as plausible. */
#include "lib/sql/mutate_ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- traits of columns ---- */

unsigned mutate_traits(const struct mutant *m, int table, int column)
{
    bool known = m->env->traits && table >= 0 && column >= 0;
    return known ? m->env->traits(m->env->self, table, column) : 0;
}

int mutate_column_with(const struct mutant *m, int table, unsigned traits, int except, uint32_t salt)
{
    int n = table < 0 ? 0 : m->env->catalog->n_columns(m->env->catalog->self, table);
    uint32_t fits = 0;
    for (int i = 0; i < n; i++) fits += i != except && (mutate_traits(m, table, i) & traits);
    uint32_t pick = mutate_pick(m, salt, fits);
    for (int i = 0; i < n; i++)
        if (i != except && (mutate_traits(m, table, i) & traits) && pick-- == 0) return i;
    return -1;
}

/* Returns the traits that make a column likely to be confused with another. */
static unsigned class_of(const struct mutant *m, const struct sql_ref *ref)
{
    return mutate_traits(m, ref->table, ref->column) & (SQL_TRAIT_NUMBER | SQL_TRAIT_TEXT | SQL_TRAIT_DATE);
}

/* Replaces a column by another one with one of these traits. Ways 0 and 1 take a column of the same table, way 2 one of
 * another table in FROM. */
static struct sql_node *put_like(struct mutant *m, const struct sql_node *at, unsigned traits, uint32_t way)
{
    const struct sql_source *source = at->ref->source;
    if (way < 2) {
        int column = mutate_column_with(m, at->ref->table, traits, at->ref->column, way);
        return column < 0 ? NULL : mutate_put_sibling(m, at, column);
    }
    const struct sql_block *block = source->block;
    const struct sql_source *other = &block->sources[mutate_pick(m, way, block->n_sources)];
    if (other == source || other->kind != SQL_SOURCE_TABLE) return NULL;
    int column = mutate_column_with(m, other->table, traits, -1, way + 1);
    struct sql_node *n = column < 0 ? NULL : mutate_column(m, other, column);
    if (n) sql_replace(mutate_copy(m, at), n);
    return n;
}

static uint32_t ways_like(const struct sql_ref *ref)
{
    return ref->source->block->n_sources > 1 ? 3 : 2;
}

static bool is_call(const struct sql_node *n, const char *name)
{
    return sql_is(n, SQL_CALL) && sql_name_is(n->text, n->text_len, name, strlen(name));
}

static bool is_extreme(const struct sql_node *n)
{
    return (is_call(n, "min") || is_call(n, "max")) && sql_is_aggregate(n);
}

static const struct sql_node *only_argument(const struct sql_node *call)
{
    const struct sql_node *args = sql_kid(call, CALL_ARGS);
    return args && args->n_kids == 1 ? args->kids[0] : NULL;
}

static struct sql_node *make_call(struct mutant *m, const char *name, struct sql_node *argument)
{
    struct sql_node *call = sql_make_text(m->arena, SQL_CALL, name), *args = sql_make(m->arena, SQL_ARGS);
    if (!call || !args) return NULL;
    if (argument && !sql_append(m->arena, args, argument)) return NULL;
    if (!argument) call->flags |= SQL_F_STAR;
    sql_set_kid(call, CALL_ARGS, args);
    return call;
}

static bool is_condition_clause(const struct sql_node *n)
{
    enum sql_clause clause = sql_clause_of(n);
    return clause == SQL_CLAUSE_WHERE || clause == SQL_CLAUSE_HAVING || clause == SQL_CLAUSE_FROM;
}

/* ---- values ---- */

enum { OTHER_VALUES = 4 };

uint32_t mutate_contradicted_value_ways(const struct mutant *m, const struct sql_node *at)
{
    if (!m->env->sample_value || (at->kind != SQL_LITERAL && !mutate_is_string(at)) || !is_condition_clause(at))
        return 0;
    const struct sql_ref *ref = mutate_column_beside(at);
    return ref && (mutate_traits(m, ref->table, ref->column) & SQL_TRAIT_FEW) ? OTHER_VALUES : 0;
}

struct sql_node *mutate_contradicted_value(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    const struct sql_ref *ref = mutate_column_beside(at);
    m->draw += way;
    struct sql_node *value = mutate_value(m, ref->table, ref->column);
    bool same = !value || (value->text_len == at->text_len && !memcmp(value->text, at->text, at->text_len));
    if (same) return NULL;
    sql_replace(mutate_copy(m, at), value);
    return value;
}

/* Returns the literal that a column is compared with, by a comparison, LIKE, BETWEEN or IN; NULL if there is none. */
static const struct sql_node *literal_beside(const struct sql_node *at)
{
    const struct sql_node *p = at->parent;
    bool compares = sql_is(p, SQL_BINARY) && sql_is_comparison((enum sql_op)p->op);
    if (compares || sql_is(p, SQL_LIKE) || sql_is(p, SQL_BETWEEN))
        return sql_plain_literal(sql_kid(p, at->slot == 0 ? 1 : 0));
    if (sql_is(p, SQL_IN) && sql_is(sql_kid(p, IN_RIGHT), SQL_LIST))
        return sql_plain_literal(sql_kid(sql_kid(p, IN_RIGHT), 0));
    return NULL;
}

uint32_t mutate_value_in_other_column_ways(const struct mutant *m, const struct sql_node *at)
{
    const struct sql_ref *ref = mutate_base_column(at);
    return ref && literal_beside(at) && is_condition_clause(at) && class_of(m, ref) ? ways_like(ref) : 0;
}

struct sql_node *mutate_value_in_other_column(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    return put_like(m, at, class_of(m, at->ref), way);
}

static const long long SCALES[] = {1000, 100, 60};
enum { N_SCALES = sizeof SCALES / sizeof *SCALES };

uint32_t mutate_units_ways(const struct mutant *m, const struct sql_node *at)
{
    (void)m;
    const struct sql_ref *ref = mutate_is_number(at) && at->op == SQL_LIT_INT && at->text_len < 12 && at->text_len > 1
                                    ? mutate_column_beside(at)
                                    : NULL;
    return ref && (class_of(m, ref) & SQL_TRAIT_NUMBER) ? N_SCALES : 0;
}

/* Divides the number by a scale such as 1000 if the result is whole; otherwise multiplies it. */
struct sql_node *mutate_units(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    const char *text = arena_strndup(m->arena, at->text, at->text_len);
    long long value = text ? strtoll(text, NULL, 10) : 0;
    bool whole = value && value % SCALES[way] == 0;
    struct sql_node *n = mutate_integer(m, whole ? value / SCALES[way] : value * SCALES[way]);
    if (n) sql_replace(mutate_copy(m, at), n);
    return n;
}

static const char *const PARTS[] = {"%Y", "%m", "%d"};
enum { N_PARTS = sizeof PARTS / sizeof *PARTS };

static bool is_date_pattern(const struct sql_node *at)
{
    if (!mutate_is_string(at) || at->text_len < 3) return false;
    if (!sql_is(at->parent, SQL_LIKE) || at->slot != LIKE_PATTERN) return false;
    for (uint32_t i = 0; i < at->text_len; i++)
        if (!strchr("0123456789-/%_", at->text[i])) return false;
    return (at->text[0] == '%') != (at->text[at->text_len - 1] == '%');
}

/* Mutates dates. It changes the format of strftime, or the column to another date. A pattern for the end of a date
 * becomes one for its beginning, or the reverse. */
uint32_t mutate_date_part_ways(const struct mutant *m, const struct sql_node *at)
{
    if (mutate_is_string(at) && is_call(at->parent ? at->parent->parent : NULL, "strftime")) return N_PARTS;
    if (is_date_pattern(at)) return 1;
    const struct sql_ref *ref = mutate_base_column(at);
    return ref && ref->clause != SQL_CLAUSE_FROM && (class_of(m, ref) & SQL_TRAIT_DATE) ? ways_like(ref) : 0;
}

struct sql_node *mutate_date_part(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    if (at->kind == SQL_COLUMN && !mutate_is_string(at)) return put_like(m, at, SQL_TRAIT_DATE, way);
    if (!is_date_pattern(at)) return mutate_put_string(m, at, PARTS[way], strlen(PARTS[way]));
    bool ends = at->text[0] == '%';
    const char *text = ends ? arena_printf(m->arena, "%.*s%%", (int)at->text_len - 1, at->text + 1)
                            : arena_printf(m->arena, "%%%.*s", (int)at->text_len - 1, at->text);
    return mutate_put_string(m, at, text, at->text_len);
}

uint32_t mutate_boundary_ways(const struct mutant *m, const struct sql_node *at)
{
    (void)m;
    if (at->kind == SQL_BETWEEN) return !(at->flags & SQL_F_NOT);
    bool ordered = at->kind == SQL_BINARY && at->op >= SQL_OP_LT && at->op <= SQL_OP_GE;
    return ordered && (sql_plain_literal(sql_kid(at, 0)) || sql_plain_literal(sql_kid(at, 1)));
}

struct sql_node *mutate_boundary(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    static const uint8_t moved[SQL_OP_COUNT] = {
        [SQL_OP_LT] = SQL_OP_LE, [SQL_OP_LE] = SQL_OP_LT, [SQL_OP_GT] = SQL_OP_GE, [SQL_OP_GE] = SQL_OP_GT};
    (void)way;
    struct sql_node *c = mutate_copy(m, at);
    if (at->kind == SQL_BINARY) {
        c->op = moved[c->op];
        return c;
    }
    struct sql_node *x = sql_kid(c, BETWEEN_VALUE), *again = sql_copy(m->arena, x);
    struct sql_node *low = mutate_comparison(m, SQL_OP_GT, again, sql_copy(m->arena, sql_kid(c, BETWEEN_LOW)));
    struct sql_node *high =
        mutate_comparison(m, SQL_OP_LT, sql_copy(m->arena, x), sql_copy(m->arena, sql_kid(c, BETWEEN_HIGH)));
    struct sql_node *both = low && high ? sql_and(m->arena, low, high) : NULL;
    if (!both) return NULL;
    if (!sql_is(c->parent, SQL_WHERE) && !sql_is(c->parent, SQL_HAVING)) both->flags |= SQL_F_PAREN;
    sql_replace(c, both);
    return both;
}

/* ---- columns ---- */

/* True if the expression is the argument of MAX or MIN, or a sort key of a query with LIMIT. */
static bool is_superlative(const struct mutant *m, const struct sql_node *at)
{
    const struct sql_node *call = sql_is(at->parent, SQL_ARGS) ? at->parent->parent : NULL;
    if (call && is_extreme(call)) return true;
    if (!sql_is(at->parent, SQL_TERM)) return false;
    const struct sql_block *block = sql_block_of(m->bound, at);
    return block && sql_kid(block->query, QUERY_LIMIT);
}

uint32_t mutate_superlative_on_wrong_column_ways(const struct mutant *m, const struct sql_node *at)
{
    const struct sql_ref *ref = mutate_base_column(at);
    return ref && is_superlative(m, at) ? ways_like(ref) : 0;
}

struct sql_node *mutate_superlative_on_wrong_column(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    return put_like(m, at, SQL_TRAIT_NUMBER | SQL_TRAIT_DATE, way);
}

uint32_t mutate_wrong_projection_ways(const struct mutant *m, const struct sql_node *at)
{
    const struct sql_ref *ref = mutate_base_column(at);
    bool shown = ref && sql_is(at->parent, SQL_ITEM) && ref->block && ref->block->role == SQL_BLOCK_TOP;
    return shown && class_of(m, ref) ? ways_like(ref) : 0;
}

struct sql_node *mutate_wrong_projection(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    return put_like(m, at, class_of(m, at->ref), way);
}

uint32_t mutate_group_key_ways(const struct mutant *m, const struct sql_node *at)
{
    const struct sql_ref *ref = mutate_base_column(at);
    return ref && ref->clause == SQL_CLAUSE_GROUP && mutate_traits(m, ref->table, ref->column) ? 2 : 0;
}

/* Replaces a key of GROUP BY by another column of its table. A text column becomes a key column (way 0) or another text
 * column (way 1). A key column becomes a text column. */
struct sql_node *mutate_group_key(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    bool key = mutate_traits(m, at->ref->table, at->ref->column) & SQL_TRAIT_KEY;
    unsigned wanted = key || way ? SQL_TRAIT_TEXT : SQL_TRAIT_KEY;
    int column = mutate_column_with(m, at->ref->table, wanted, at->ref->column, way);
    return column < 0 ? NULL : mutate_put_sibling(m, at, column);
}

/* Pairs of words whose columns are easily confused: home_team and away_team. */
static const char *const OPPOSITES[][2] = {{"source", "destination"},
                                           {"source", "dest"},
                                           {"home", "away"},
                                           {"mother", "father"},
                                           {"from", "to"},
                                           {"start", "end"},
                                           {"winner", "loser"},
                                           {"origin", "destination"},
                                           {"departure", "arrival"},
                                           {"first", "last"},
                                           {"min", "max"},
                                           {"buyer", "seller"},
                                           {"host", "guest"},
                                           {"visitor", "home"},
                                           {"sender", "receiver"},
                                           {"parent", "child"},
                                           {"begin", "end"},
                                           {"birth", "death"},
                                           {"low", "high"},
                                           {"husband", "wife"},
                                           {"join", "leave"},
                                           {"created", "updated"},
                                           {"billing", "shipping"}};
enum { N_OPPOSITES = sizeof OPPOSITES / sizeof *OPPOSITES };

static bool ascii_same(const char *a, const char *b, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((a[i] | 32) != (b[i] | 32)) return false;
    return true;
}

/* Returns the column whose name has `to` instead of `from`, or -1. */
static int renamed(const struct mutant *m, const struct sql_ref *ref, const char *from, const char *to)
{
    const struct sql_catalog *c = m->env->catalog;
    const char *name = c->column_name(c->self, ref->table, ref->column);
    size_t len = strlen(name), n = strlen(from);
    char text[128];
    if (len + strlen(to) >= sizeof text) return -1;
    for (size_t i = 0; i + n <= len; i++) {
        if (!ascii_same(name + i, from, n)) continue;
        if (snprintf(text, sizeof text, "%.*s%s%s", (int)i, name, to, name + i + n) >= (int)sizeof text) return -1;
        return c->find_column(c->self, ref->table, text, len - n + strlen(to));
    }
    return -1;
}

static int opposite_of(const struct mutant *m, const struct sql_ref *ref)
{
    int found = -1;
    for (unsigned i = 0; i < 2 * N_OPPOSITES && found < 0; i++)
        found = renamed(m, ref, OPPOSITES[i / 2][i % 2], OPPOSITES[i / 2][1 - i % 2]);
    const struct sql_mutate_key *keys = m->env->keys, *own = NULL;
    for (uint32_t i = 0; i < m->env->n_keys && found < 0 && !own; i++)
        if (keys[i].table == ref->table && keys[i].column == ref->column) own = &keys[i];
    for (uint32_t i = 0; i < m->env->n_keys && found < 0 && own; i++)
        if (keys[i].table == ref->table && keys[i].ref_table == own->ref_table && keys[i].column != own->column)
            found = keys[i].column;
    return found == ref->column ? -1 : found;
}

uint32_t mutate_self_join_relation_ways(const struct mutant *m, const struct sql_node *at)
{
    const struct sql_ref *ref = mutate_base_column(at);
    return ref && opposite_of(m, ref) >= 0 ? 1 : 0;
}

struct sql_node *mutate_self_join_relation(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    (void)way;
    return mutate_put_sibling(m, at, opposite_of(m, at->ref));
}

/* ---- measures ---- */

/* True if the query returns a single column and no groups, so that ORDER BY and LIMIT 1 can replace the aggregate. */
static bool is_lone_item(const struct mutant *m, const struct sql_node *at)
{
    const struct sql_block *block = sql_block_of(m->bound, at);
    const struct sql_node *items = sql_is(at->parent, SQL_ITEM) ? at->parent->parent : NULL;
    return items && items->n_kids == 1 && block && !block->arm && !block->grouped;
}

/* Adds ORDER BY x [DESC] LIMIT 1 to the copy of a query. */
static struct sql_node *put_first(struct mutant *m, const struct sql_node *query, struct sql_node *x, bool descending)
{
    struct sql_node *order = sql_make(m->arena, SQL_ORDER), *term = sql_make(m->arena, SQL_TERM);
    struct sql_node *limit = sql_make(m->arena, SQL_LIMIT), *one = mutate_integer(m, 1);
    if (!order || !term || !limit || !one || !x || !sql_append(m->arena, order, term)) return NULL;
    term->op = descending ? SQL_DESC : SQL_ASC;
    sql_set_kid(term, 0, x);
    sql_set_kid(limit, LIMIT_COUNT, one);
    sql_set_kid(mutate_copy(m, query), QUERY_ORDER, order);
    sql_set_kid(mutate_copy(m, query), QUERY_LIMIT, limit);
    return order;
}

static bool is_not_null(const struct sql_node *at)
{
    if (sql_is(at, SQL_UNARY)) return at->op == SQL_OP_NOTNULL;
    const struct sql_node *right = sql_is(at, SQL_BINARY) && at->op == SQL_OP_IS_NOT ? sql_kid(at, 1) : NULL;
    return sql_is(right, SQL_LITERAL) && right->op == SQL_LIT_NULL;
}

uint32_t mutate_null_extreme_ways(const struct mutant *m, const struct sql_node *at)
{
    if (is_not_null(at)) return 1;
    const struct sql_node *x = is_extreme(at) && is_lone_item(m, at) ? only_argument(at) : NULL;
    const struct sql_node *query = x ? sql_block_of(m->bound, at)->query : NULL;
    return query && mutate_base_column(x) && !sql_kid(query, QUERY_ORDER) && !sql_kid(query, QUERY_LIMIT);
}

/* Removes IS NOT NULL, or replaces MIN or MAX by the first row in order, whose value may be NULL. */
struct sql_node *mutate_null_extreme(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    (void)way;
    struct sql_node *copy = mutate_copy(m, at);
    if (is_not_null(at)) return mutate_cut_condition(copy);
    struct sql_node *x = mutate_copy(m, only_argument(at)), *again = sql_copy(m->arena, x);
    if (!again) return NULL;
    sql_replace(copy, again);
    return put_first(m, sql_block_of(m->bound, at)->query, sql_copy(m->arena, again), is_call(at, "max"));
}

uint32_t mutate_top_per_group_ways(const struct mutant *m, const struct sql_node *at)
{
    const struct sql_block *block = is_extreme(at) && sql_is(at->parent, SQL_ITEM) ? sql_block_of(m->bound, at) : NULL;
    if (!block || !block->grouped || block->arm || !only_argument(at)) return 0;
    const struct sql_node *query = block->query;
    return !sql_kid(query, QUERY_ORDER) && !sql_kid(query, QUERY_LIMIT) && !sql_kid(block->node, SELECT_HAVING);
}

struct sql_node *mutate_top_per_group(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    (void)way;
    const struct sql_block *block = sql_block_of(m->bound, at);
    struct sql_node *x = sql_copy(m->arena, mutate_copy(m, only_argument(at)));
    if (!x) return NULL;
    sql_replace(mutate_copy(m, at), x);
    sql_set_kid(mutate_copy(m, block->node), SELECT_GROUP, NULL);
    return put_first(m, block->query, sql_copy(m->arena, x), is_call(at, "max"));
}

/* Returns a random numeric column of a table in FROM, or NULL. */
static struct sql_node *any_number(struct mutant *m, const struct sql_node *at, uint32_t salt)
{
    const struct sql_block *block = sql_block_of(m->bound, at);
    if (!block || !block->n_sources) return NULL;
    const struct sql_source *source = &block->sources[mutate_pick(m, salt, block->n_sources)];
    int column =
        source->kind == SQL_SOURCE_TABLE ? mutate_column_with(m, source->table, SQL_TRAIT_NUMBER, -1, salt + 1) : -1;
    return column < 0 ? NULL : mutate_column(m, source, column);
}

uint32_t mutate_count_vs_sum_ways(const struct mutant *m, const struct sql_node *at)
{
    if (!sql_is(at, SQL_CALL) || !sql_is_aggregate(at)) return 0;
    if (is_call(at, "sum")) return 1;
    return !is_call(at, "count") ? 0 : is_lone_item(m, at) ? 3 : 2;
}

/* Replaces a count by the sum of a column (ways 0 and 1) or by the column itself (way 2), and a sum by COUNT(*). */
struct sql_node *mutate_count_vs_sum(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    bool sum = is_call(at, "sum");
    struct sql_node *x = sum ? NULL : any_number(m, at, way);
    if (!sum && !x) return NULL;
    struct sql_node *n = sum ? make_call(m, "COUNT", NULL) : way == 2 ? x : make_call(m, "SUM", x);
    if (n) sql_replace(mutate_copy(m, at), n);
    return n;
}

static bool is_number_type(const struct sql_node *cast)
{
    static const char *const types[] = {"real", "float", "double", "integer", "int", "numeric", "decimal"};
    for (unsigned i = 0; i < sizeof types / sizeof *types; i++)
        if (sql_name_is(cast->text, cast->text_len, types[i], strlen(types[i]))) return true;
    return false;
}

uint32_t mutate_text_number_ways(const struct mutant *m, const struct sql_node *at)
{
    if (at->kind == SQL_CAST) return is_number_type(at);
    const struct sql_ref *ref = mutate_base_column(at);
    return ref && is_superlative(m, at) && (class_of(m, ref) & SQL_TRAIT_NUMBER) ? 1 : 0;
}

struct sql_node *mutate_text_number(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    (void)way;
    struct sql_node *copy = mutate_copy(m, at);
    if (at->kind == SQL_CAST) {
        struct sql_node *x = sql_kid(copy, 0);
        sql_replace(copy, x);
        return x;
    }
    struct sql_node *cast = sql_make_text(m->arena, SQL_CAST, "TEXT");
    if (!cast) return NULL;
    sql_replace(copy, cast);
    sql_set_kid(cast, 0, copy);
    return cast;
}

/* Puts an operand that is a binary operator in parentheses. */
static struct sql_node *in_parens(struct sql_node *n)
{
    if (sql_is(n, SQL_BINARY)) n->flags |= SQL_F_PAREN;
    return n;
}

uint32_t mutate_ratio_inverted_ways(const struct mutant *m, const struct sql_node *at)
{
    (void)m;
    return sql_is(at, SQL_BINARY) && (at->op == SQL_OP_DIV || at->op == SQL_OP_SUB);
}

struct sql_node *mutate_ratio_inverted(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    (void)way;
    struct sql_node *c = mutate_copy(m, at), *left = in_parens(c->kids[0]), *right = in_parens(c->kids[1]);
    sql_set_kid(c, 0, right);
    sql_set_kid(c, 1, left);
    return c;
}

static bool is_whole_float(const struct sql_node *at)
{
    if (!sql_is(at, SQL_LITERAL) || at->op != SQL_LIT_FLOAT || !sql_is(at->parent, SQL_BINARY)) return false;
    const char *dot = memchr(at->text, '.', at->text_len);
    for (const char *c = dot ? dot + 1 : at->text; dot && c < at->text + at->text_len; c++)
        if (*c != '0') return false;
    return dot && dot > at->text;
}

/* Changes 100.0 to 100, or an average to a sum divided by a count. Way 0 divides integers; way 1 first multiplies the
 * sum by 1.0. */
uint32_t mutate_percentage_integer_division_ways(const struct mutant *m, const struct sql_node *at)
{
    if (is_whole_float(at)) return 1;
    const struct sql_node *x = is_call(at, "avg") && sql_is_aggregate(at) ? only_argument(at) : NULL;
    const struct sql_ref *ref = x ? mutate_base_column(x) : NULL;
    return ref && (class_of(m, ref) & SQL_TRAIT_NUMBER) ? 2 : 0;
}

struct sql_node *mutate_percentage_integer_division(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    if (at->kind == SQL_LITERAL) {
        const char *dot = memchr(at->text, '.', at->text_len);
        struct sql_node *n = mutate_copy(m, at);
        n->op = SQL_LIT_INT;
        return mutate_set_text(m, n, arena_strndup(m->arena, at->text, (size_t)(dot - at->text)));
    }
    struct sql_node *x = mutate_copy(m, only_argument(at));
    struct sql_node *sum = make_call(m, "SUM", sql_copy(m->arena, x));
    struct sql_node *count = make_call(m, "COUNT", sql_copy(m->arena, x));
    struct sql_node *one = way ? sql_parse_expression(m->arena, "1.0") : NULL;
    if (way) sum = mutate_comparison(m, SQL_OP_MUL, sum, one);
    struct sql_node *share = mutate_comparison(m, SQL_OP_DIV, sum, count);
    if (!share) return NULL;
    if (!sql_is(at->parent, SQL_ITEM)) share->flags |= SQL_F_PAREN;
    sql_replace(mutate_copy(m, at), share);
    return share;
}

/* ---- conditions on rows or groups ---- */

/* Moves a condition of HAVING on an aggregate to WHERE as a condition on its argument. Moves a condition of WHERE in a
 * grouped block to HAVING as a condition on an aggregate. */
uint32_t mutate_having_vs_where_ways(const struct mutant *m, const struct sql_node *at)
{
    if (!sql_is(at, SQL_BINARY) || !sql_is_comparison((enum sql_op)at->op) || !mutate_is_number(sql_kid(at, 1)))
        return 0;
    const struct sql_block *block = sql_block_of(m->bound, at);
    const struct sql_node *left = sql_kid(at, 0);
    enum sql_clause clause = sql_clause_of(at);
    if (!block || !block->grouped) return 0;
    if (clause == SQL_CLAUSE_HAVING) return sql_is(left, SQL_CALL) && sql_is_aggregate(left) && only_argument(left);
    return clause == SQL_CLAUSE_WHERE && mutate_base_column(left) && !sql_kid(block->node, SELECT_HAVING) ? 2 : 0;
}

/* Adds a condition to WHERE or HAVING, and the clause itself if it is missing. */
static struct sql_node *put_condition(struct mutant *m, struct sql_node *select, unsigned slot, struct sql_node *test)
{
    struct sql_node *clause = sql_kid(select, slot), *old = sql_kid(clause, 0);
    if (!clause && !(clause = sql_make(m->arena, slot == SELECT_WHERE ? SQL_WHERE : SQL_HAVING))) return NULL;
    sql_set_kid(select, slot, clause);
    if (sql_is(old, SQL_BINARY) && old->op == SQL_OP_OR) old->flags |= SQL_F_PAREN;
    sql_set_kid(clause, 0, old ? sql_and(m->arena, old, test) : test);
    return clause;
}

struct sql_node *mutate_having_vs_where(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    static const char *const functions[] = {"SUM", "AVG"};
    const struct sql_block *block = sql_block_of(m->bound, at);
    bool having = sql_clause_of(at) == SQL_CLAUSE_HAVING;
    struct sql_node *left = mutate_copy(m, having ? only_argument(sql_kid(at, 0)) : sql_kid(at, 0));
    struct sql_node *x = sql_copy(m->arena, left), *number = sql_copy(m->arena, mutate_copy(m, sql_kid(at, 1)));
    if (x && !having) x = make_call(m, functions[way], x);
    struct sql_node *test = mutate_comparison(m, (enum sql_op)at->op, x, number);
    if (!test || !mutate_cut_condition(mutate_copy(m, at))) return NULL;
    return put_condition(m, mutate_copy(m, block->node), having ? SELECT_WHERE : SELECT_HAVING, test);
}

/* ---- equivalent forms ---- */

static struct sql_node *said(struct mutant *m, const char *text, unsigned slot, struct sql_node *x)
{
    struct sql_node *n = sql_parse_expression(m->arena, text);
    if (n && x) sql_set_kid(n, slot, x);
    return x ? n : NULL;
}

/* For the column of a MAX, MIN or ORDER BY ... LIMIT, way 0 excludes rows without a value, and way 1 casts the column.
 * For COUNT(*), way 0 counts keys. */
uint32_t mutate_said_with_care_ways(const struct mutant *m, const struct sql_node *at)
{
    const struct sql_ref *ref = mutate_base_column(at);
    if (ref) return is_superlative(m, at) && (class_of(m, ref) & (SQL_TRAIT_NUMBER | SQL_TRAIT_DATE)) ? 2 : 0;
    const struct sql_block *block =
        is_call(at, "count") && (at->flags & SQL_F_STAR) ? sql_block_of(m->bound, at) : NULL;
    return block && block->n_sources && block->sources[0].kind == SQL_SOURCE_TABLE;
}

struct sql_node *mutate_said_with_care(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    struct sql_node *copy = mutate_copy(m, at);
    const struct sql_block *block = sql_block_of(m->bound, at);
    if (at->kind == SQL_CALL) {
        int key = mutate_column_with(m, block->sources[0].table, SQL_TRAIT_KEY, -1, way);
        struct sql_node *call = key < 0 ? NULL : make_call(m, "COUNT", mutate_column(m, &block->sources[0], key));
        if (call) sql_replace(copy, call);
        return call;
    }
    struct sql_node *again = sql_copy(m->arena, copy);
    if (way == 0) {
        struct sql_node *test = said(m, "x IS NOT NULL", 0, again);
        return test ? put_condition(m, mutate_copy(m, block->node), SELECT_WHERE, test) : NULL;
    }
    if (!(class_of(m, at->ref) & SQL_TRAIT_NUMBER)) return NULL;
    struct sql_node *cast = said(m, "CAST(x AS REAL)", 0, again);
    if (cast) sql_replace(copy, cast);
    return cast;
}

/* ---- conditions that nearly all rows meet ---- */

static const struct sql_ref *tested_column(const struct sql_node *at)
{
    bool compares = sql_is(at, SQL_BINARY) && sql_is_comparison((enum sql_op)at->op);
    if (!compares && !sql_is(at, SQL_LIKE) && !sql_is(at, SQL_IN) && !sql_is(at, SQL_BETWEEN)) return NULL;
    if (mutate_base_column(sql_kid(at, 1)) || sql_clause_of(at) != SQL_CLAUSE_WHERE) return NULL;
    return mutate_base_column(sql_kid(at, 0));
}

uint32_t mutate_idle_condition_ways(const struct mutant *m, const struct sql_node *at)
{
    (void)m;
    return tested_column(at) ? 2 : 0;
}

/* Replaces the condition by IS NOT NULL on its column (way 0) or on another column of the table (way 1). */
struct sql_node *mutate_idle_condition(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    const struct sql_ref *ref = tested_column(at);
    int n = mutate_n_columns(m, ref->source), column = way ? (int)mutate_pick(m, way, (uint32_t)n) : ref->column;
    struct sql_node *test = said(m, "x IS NOT NULL", 0, mutate_column(m, ref->source, column));
    if (test) sql_replace(mutate_copy(m, at), test);
    return test;
}
