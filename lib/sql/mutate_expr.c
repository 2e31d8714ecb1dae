/* Mutators of conditions, values, columns and calls. */
#include "lib/sql/mutate_ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- making nodes ---- */

struct sql_node *mutate_set_text(struct mutant *m, struct sql_node *n, const char *text)
{
    n->text = text ? arena_strdup(m->arena, text) : NULL;
    n->text_len = n->text ? (uint32_t)strlen(n->text) : 0;
    return n->text ? n : NULL;
}

void mutate_set_qualifier(struct sql_node *column, const struct sql_source *source)
{
    column->text2 = source->name;
    column->text2_len = source->name_len;
    column->text3 = NULL;
    column->text3_len = 0;
}

int mutate_n_columns(const struct mutant *m, const struct sql_source *source)
{
    if (!source || source->kind != SQL_SOURCE_TABLE) return 0;
    return m->env->catalog->n_columns(m->env->catalog->self, source->table);
}

static const char *column_name(const struct mutant *m, int table, int column)
{
    return m->env->catalog->column_name(m->env->catalog->self, table, column);
}

struct sql_node *mutate_column(struct mutant *m, const struct sql_source *source, int column)
{
    struct sql_node *n = sql_make(m->arena, SQL_COLUMN);
    if (!n || !mutate_set_text(m, n, column_name(m, source->table, column))) return NULL;
    if (source->block->n_sources > 1) mutate_set_qualifier(n, source);
    return n;
}

struct sql_node *mutate_integer(struct mutant *m, long long value)
{
    struct sql_node *n = sql_make(m->arena, SQL_LITERAL);
    if (!n) return NULL;
    n->op = SQL_LIT_INT;
    return mutate_set_text(m, n, arena_printf(m->arena, "%lld", value));
}

struct sql_node *mutate_comparison(struct mutant *m, enum sql_op op, struct sql_node *left, struct sql_node *right)
{
    struct sql_node *n = left && right ? sql_make(m->arena, SQL_BINARY) : NULL;
    if (!n) return NULL;
    n->op = (uint8_t)op;
    sql_set_kid(n, 0, left);
    sql_set_kid(n, 1, right);
    return n;
}

struct sql_node *mutate_value(struct mutant *m, int table, int column)
{
    if (!m->env->sample_value || table < 0 || column < 0) return NULL;
    const char *text = m->env->sample_value(m->env->self, m->arena, table, column, m->draw);
    return text ? sql_parse_expression(m->arena, text) : NULL;
}

void mutate_qualify(struct mutant *m, const struct sql_block *block)
{
    for (uint32_t i = 0; i < m->bound->n_refs; i++) {
        const struct sql_ref *ref = m->bound->refs[i];
        bool plain = ref->kind == SQL_REF_COLUMN || ref->kind == SQL_REF_ROWID;
        if (plain && ref->source->block == block && ref->node->kind == SQL_COLUMN && !ref->using_right &&
            ref->source->name)
            mutate_set_qualifier(mutate_copy(m, ref->node), ref->source);
    }
}

/* ---- conditions ---- */

static bool is_logic(const struct sql_node *n)
{
    return sql_is(n, SQL_BINARY) && (n->op == SQL_OP_AND || n->op == SQL_OP_OR);
}

static bool is_whole_condition(const struct sql_node *n)
{
    return sql_is(n, SQL_WHERE) || sql_is(n, SQL_HAVING);
}

struct sql_node *mutate_cut_condition(struct sql_node *condition)
{
    struct sql_node *parent = condition->parent;
    if (is_logic(parent)) {
        struct sql_node *above = parent->parent, *other = parent->kids[parent->kids[0] == condition];
        sql_replace(parent, other);
        return above;
    }
    if (!is_whole_condition(parent) && !sql_is(parent, SQL_ON)) return NULL;
    struct sql_node *above = parent->parent;
    sql_replace(parent, NULL);
    return above;
}

/* True for a condition of WHERE or HAVING: the whole one, or a member of its AND / OR chain. */
static bool is_condition(const struct sql_node *n)
{
    if (is_logic(n)) return false;
    const struct sql_node *p = n->parent;
    while (is_logic(p)) p = p->parent;
    return is_whole_condition(p) && n->kind != SQL_ERROR;
}

uint32_t mutate_drop_condition_ways(const struct mutant *m, const struct sql_node *at)
{
    (void)m;
    return is_condition(at) && sql_is(at->parent, SQL_HAVING) == 0;
}

struct sql_node *mutate_drop_condition(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    (void)way;
    return mutate_cut_condition(mutate_copy(m, at));
}

uint32_t mutate_add_condition_ways(const struct mutant *m, const struct sql_node *at)
{
    if (at->kind != SQL_SELECT || !m->env->sample_value) return 0;
    const struct sql_block *block = sql_block_of(m->bound, at);
    return block && block->n_sources ? 3 : 0;
}

struct sql_node *mutate_add_condition(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    const struct sql_block *block = sql_block_of(m->bound, at);
    const struct sql_source *source = &block->sources[mutate_pick(m, way, block->n_sources)];
    int n = mutate_n_columns(m, source);
    if (!n) return NULL;
    int column = (int)mutate_pick(m, way + 16, (uint32_t)n);
    struct sql_node *value = mutate_value(m, source->table, column);
    bool number = value && value->op != SQL_LIT_STRING;
    struct sql_node *test =
        mutate_comparison(m, number ? SQL_OP_GT : SQL_OP_EQ, mutate_column(m, source, column), value);
    struct sql_node *select = mutate_copy(m, at), *where = sql_kid(select, SELECT_WHERE);
    if (!test) return NULL;
    if (!where) {
        where = sql_make(m->arena, SQL_WHERE);
        if (!where) return NULL;
        sql_set_kid(select, SELECT_WHERE, where);
        sql_set_kid(where, 0, test);
        return where;
    }
    struct sql_node *old = sql_kid(where, 0);
    if (sql_is(old, SQL_BINARY) && old->op == SQL_OP_OR) old->flags |= SQL_F_PAREN;
    sql_set_kid(where, 0, sql_and(m->arena, old, test));
    return test;
}

static const enum sql_op COMPARISONS[] = {SQL_OP_EQ, SQL_OP_NE, SQL_OP_LT, SQL_OP_LE, SQL_OP_GT, SQL_OP_GE};
enum { N_COMPARISONS = sizeof COMPARISONS / sizeof *COMPARISONS };

uint32_t mutate_change_comparison_ways(const struct mutant *m, const struct sql_node *at)
{
    (void)m;
    if (at->kind != SQL_BINARY || !sql_is_comparison((enum sql_op)at->op) || sql_up(at, SQL_ON)) return 0;
    return sql_plain_column(sql_kid(at, 0)) && sql_plain_column(sql_kid(at, 1)) ? 0 : N_COMPARISONS;
}

struct sql_node *mutate_change_comparison(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    struct sql_node *c = mutate_copy(m, at);
    const struct sql_node *literal = sql_plain_literal(sql_kid(at, 1));
    bool text = literal && (literal->kind == SQL_COLUMN || literal->op == SQL_LIT_STRING);
    if (COMPARISONS[way] == c->op || (text && COMPARISONS[way] != SQL_OP_NE && COMPARISONS[way] != SQL_OP_EQ))
        return NULL;
    c->op = (uint8_t)COMPARISONS[way];
    c->flags &= ~(uint32_t)SQL_F_EQ2;
    return c;
}

uint32_t mutate_negate_ways(const struct mutant *m, const struct sql_node *at)
{
    (void)m;
    switch (at->kind) {
    case SQL_LIKE:
    case SQL_IN:
    case SQL_BETWEEN:
    case SQL_EXISTS: return 1;
    case SQL_UNARY: return at->op == SQL_OP_NOT || at->op == SQL_OP_ISNULL || at->op == SQL_OP_NOTNULL;
    case SQL_BINARY: return at->op == SQL_OP_IS || at->op == SQL_OP_IS_NOT;
    default: return 0;
    }
}

struct sql_node *mutate_negate(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    (void)way;
    struct sql_node *c = mutate_copy(m, at);
    if (c->kind == SQL_UNARY && c->op == SQL_OP_NOT) {
        struct sql_node *inner = sql_kid(c, 0);
        sql_replace(c, inner);
        return inner;
    }
    if (c->kind == SQL_UNARY || c->kind == SQL_BINARY) {
        c->op = (uint8_t)sql_op_negate((enum sql_op)c->op);
        return c;
    }
    if (c->kind != SQL_EXISTS) {
        c->flags ^= SQL_F_NOT;
        return c;
    }
    struct sql_node *not = sql_make(m->arena, SQL_UNARY);
    if (!not || sql_is(c->parent, SQL_UNARY)) return NULL;
    not ->op = SQL_OP_NOT;
    sql_replace(c, not );
    sql_set_kid(not, 0, c);
    return not ;
}

uint32_t mutate_swap_and_or_ways(const struct mutant *m, const struct sql_node *at)
{
    (void)m;
    return is_logic(at) && !sql_up(at, SQL_ON);
}

struct sql_node *mutate_swap_and_or(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    (void)way;
    struct sql_node *c = mutate_copy(m, at);
    c->op = c->op == SQL_OP_AND ? SQL_OP_OR : SQL_OP_AND;
    for (unsigned i = 0; i < 2; i++)
        if (is_logic(c->kids[i]) && c->kids[i]->op != c->op) c->kids[i]->flags |= SQL_F_PAREN;
    if (is_logic(c->parent) && c->parent->op != c->op) c->flags |= SQL_F_PAREN;
    return c;
}

/* ---- values ---- */

bool mutate_is_string(const struct sql_node *n)
{
    if (n->kind == SQL_LITERAL) return n->op == SQL_LIT_STRING;
    return n->kind == SQL_COLUMN && n->ref && n->ref->kind == SQL_REF_STRING;
}

const struct sql_ref *mutate_column_beside(const struct sql_node *literal)
{
    const struct sql_node *p = literal->parent;
    if (sql_is(p, SQL_LIST)) p = p->parent;
    if (!sql_is(p, SQL_BINARY) && !sql_is(p, SQL_LIKE) && !sql_is(p, SQL_IN) && !sql_is(p, SQL_BETWEEN)) return NULL;
    const struct sql_ref *ref = sql_plain_column(sql_kid(p, 0));
    return ref ? ref : sql_plain_column(sql_kid(p, 1));
}

static bool in_condition(const struct sql_node *n)
{
    enum sql_clause clause = sql_clause_of(n);
    return clause == SQL_CLAUSE_WHERE || clause == SQL_CLAUSE_HAVING || clause == SQL_CLAUSE_FROM;
}

struct sql_node *mutate_put_string(struct mutant *m, const struct sql_node *at, const char *text, size_t len)
{
    struct sql_node *n = sql_make(m->arena, SQL_LITERAL), *old = mutate_copy(m, at);
    if (!n || !text) return NULL;
    n->op = SQL_LIT_STRING;
    n->quote = '\'';
    n->text = text;
    n->text_len = (uint32_t)len;
    sql_replace(old, n);
    return n;
}

uint32_t mutate_literal_value_ways(const struct mutant *m, const struct sql_node *at)
{
    if (!m->env->sample_value || (at->kind != SQL_LITERAL && !mutate_is_string(at)) || !in_condition(at)) return 0;
    const struct sql_ref *ref = mutate_column_beside(at);
    return ref && ref->table >= 0 && ref->column >= 0 && !sql_is(at->parent, SQL_LIKE) ? 2 : 0;
}

struct sql_node *mutate_literal_value(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    const struct sql_ref *ref = mutate_column_beside(at);
    m->draw += way;
    struct sql_node *value = mutate_value(m, ref->table, ref->column);
    if (!value) return NULL;
    sql_replace(mutate_copy(m, at), value);
    return value;
}

uint32_t mutate_literal_case_ways(const struct mutant *m, const struct sql_node *at)
{
    (void)m;
    return mutate_is_string(at) && in_condition(at) && at->text_len > 0 ? 2 : 0;
}

/* Changes letter case. Way 0 makes the string lower case, or upper case if it is already lower case. Way 1 changes the
 * case of the first letter. */
struct sql_node *mutate_literal_case(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    char *text = arena_strndup(m->arena, at->text, at->text_len);
    if (!text) return NULL;
    bool any_upper = false;
    for (char *c = text; *c; c++) any_upper |= *c >= 'A' && *c <= 'Z';
    for (char *c = text; *c; c++) {
        bool letter = (*c >= 'A' && *c <= 'Z') || (*c >= 'a' && *c <= 'z');
        if (!letter) continue;
        if (way == 1) {
            *c = (char)(*c ^ 32);
            break;
        }
        *c = (char)(any_upper ? *c | 32 : *c & ~32);
    }
    return mutate_put_string(m, at, text, at->text_len);
}

uint32_t mutate_literal_plural_ways(const struct mutant *m, const struct sql_node *at)
{
    (void)m;
    if (!mutate_is_string(at) || !in_condition(at) || at->text_len < 3) return 0;
    char last = at->text[at->text_len - 1];
    return (last >= 'a' && last <= 'z') || (last >= 'A' && last <= 'Z');
}

struct sql_node *mutate_literal_plural(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    (void)way;
    uint32_t len = at->text_len;
    if ((at->text[len - 1] | 32) == 's') return mutate_put_string(m, at, at->text, len - 1);
    char *text = arena_printf(m->arena, "%.*ss", (int)len, at->text);
    return mutate_put_string(m, at, text, len + 1);
}

bool mutate_is_number(const struct sql_node *n)
{
    return sql_is(n, SQL_LITERAL) && (n->op == SQL_LIT_INT || n->op == SQL_LIT_FLOAT) && n->text_len < 18;
}

uint32_t mutate_literal_number_ways(const struct mutant *m, const struct sql_node *at)
{
    (void)m;
    return mutate_is_number(at) && in_condition(at) && sql_clause_of(at) != SQL_CLAUSE_HAVING ? 2 : 0;
}

static struct sql_node *off_by_one(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    struct sql_node *n = mutate_copy(m, at);
    char text[24];
    snprintf(text, sizeof text, "%.*s", (int)at->text_len, at->text);
    int step = way ? -1 : 1;
    if (at->op == SQL_LIT_INT) {
        long long value = strtoll(text, NULL, 0) + step;
        return value < 0 ? NULL : mutate_set_text(m, n, arena_printf(m->arena, "%lld", value));
    }
    double value = strtod(text, NULL) + step;
    return value < 0 ? NULL : mutate_set_text(m, n, arena_printf(m->arena, "%.*f", 3, value));
}

struct sql_node *mutate_literal_number(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    return off_by_one(m, at, way);
}

uint32_t mutate_change_having_ways(const struct mutant *m, const struct sql_node *at)
{
    (void)m;
    return mutate_is_number(at) && sql_clause_of(at) == SQL_CLAUSE_HAVING ? 2 : 0;
}

struct sql_node *mutate_change_having(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    return off_by_one(m, at, way);
}

uint32_t mutate_like_pattern_ways(const struct mutant *m, const struct sql_node *at)
{
    (void)m;
    if (!mutate_is_string(at) || !sql_is(at->parent, SQL_LIKE) || at->parent->kids[LIKE_PATTERN] != at) return 0;
    return memchr(at->text, '%', at->text_len) ? 3 : 0;
}

/* Removes wildcards: every % (way 0), the first (way 1) or the last (way 2). */
struct sql_node *mutate_like_pattern(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    const char *first = memchr(at->text, '%', at->text_len), *last = memrchr(at->text, '%', at->text_len);
    char *text = arena_alloc(m->arena, at->text_len + 1);
    uint32_t len = 0;
    if (!text || (way == 2 && first == last)) return NULL;
    for (const char *c = at->text; c < at->text + at->text_len; c++) {
        bool drop = way == 0 ? *c == '%' : way == 1 ? c == first : c == last;
        if (!drop) text[len++] = *c;
    }
    return mutate_put_string(m, at, text, len);
}

/* ---- columns ---- */

const struct sql_ref *mutate_base_column(const struct sql_node *n)
{
    const struct sql_ref *ref = sql_is(n, SQL_COLUMN) ? n->ref : NULL;
    return ref && ref->kind == SQL_REF_COLUMN && ref->source->kind == SQL_SOURCE_TABLE && ref->column >= 0 ? ref : NULL;
}

struct sql_node *mutate_put_sibling(struct mutant *m, const struct sql_node *at, int column)
{
    const struct sql_ref *ref = at->ref;
    struct sql_node *n = mutate_copy(m, at);
    if (column == ref->column) return NULL;
    n->quote = 0;
    if (ref->source->block->n_sources > 1 && ref->source->name) mutate_set_qualifier(n, ref->source);
    return mutate_set_text(m, n, column_name(m, ref->table, column));
}

uint32_t mutate_column_sibling_ways(const struct mutant *m, const struct sql_node *at)
{
    const struct sql_ref *ref = mutate_base_column(at);
    if (!ref || ref->clause == SQL_CLAUSE_FROM || ref->clause == SQL_CLAUSE_GROUP) return 0;
    return mutate_n_columns(m, ref->source) > 1 ? 3 : 0;
}

struct sql_node *mutate_column_sibling(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    int n = mutate_n_columns(m, at->ref->source);
    return mutate_put_sibling(m, at, (int)mutate_pick(m, way, (uint32_t)n));
}

uint32_t mutate_change_group_ways(const struct mutant *m, const struct sql_node *at)
{
    const struct sql_ref *ref = mutate_base_column(at);
    if (!ref || ref->clause != SQL_CLAUSE_GROUP) return 0;
    return mutate_n_columns(m, ref->source) > 1 ? 3 : 0;
}

struct sql_node *mutate_change_group(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    return mutate_column_sibling(m, at, way);
}

uint32_t mutate_column_other_table_ways(const struct mutant *m, const struct sql_node *at)
{
    (void)m;
    const struct sql_ref *ref = mutate_base_column(at);
    bool self_join = ref && ref->clause == SQL_CLAUSE_FROM;
    return ref && !self_join && ref->source->block->n_sources > 1 && ref->source->block->n_sources <= 16
               ? ref->source->block->n_sources
               : 0;
}

struct sql_node *mutate_column_other_table(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    const struct sql_source *other = &at->ref->source->block->sources[way];
    const struct sql_catalog *c = m->env->catalog;
    if (other == at->ref->source || other->kind != SQL_SOURCE_TABLE || !other->name) return NULL;
    if (c->find_column(c->self, other->table, at->text, at->text_len) < 0) return NULL;
    struct sql_node *n = mutate_copy(m, at);
    mutate_set_qualifier(n, other);
    return n;
}

uint32_t mutate_string_column_ways(const struct mutant *m, const struct sql_node *at)
{
    (void)m;
    const struct sql_ref *ref = mutate_base_column(at);
    return ref && (ref->clause == SQL_CLAUSE_SELECT || ref->clause == SQL_CLAUSE_ORDER) && at->text_len > 3 ? 2 : 0;
}

/* Misspells the column in double quotes: with spaces instead of underscores (way 0), or with its second letter doubled
 * (way 1). */
struct sql_node *mutate_string_column(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    struct sql_node *n = mutate_copy(m, at);
    char *text = arena_alloc(m->arena, at->text_len + 2);
    if (!text) return NULL;
    uint32_t len = 0;
    for (uint32_t i = 0; i < at->text_len; i++) {
        char c = at->text[i];
        text[len++] = way == 0 && c == '_' ? ' ' : c;
        if (way == 1 && i == 1) text[len++] = c;
    }
    text[len] = '\0';
    if (way == 0 && !memchr(at->text, '_', at->text_len)) return NULL;
    n->text2 = n->text3 = NULL;
    n->text2_len = n->text3_len = 0;
    n->quote = '"';
    return mutate_set_text(m, n, text);
}

/* ---- calls ---- */

static bool is_count(const struct sql_node *call)
{
    return sql_name_is(call->text, call->text_len, "count", 5);
}

static const char *const AGGREGATES[] = {"MAX", "MIN", "AVG", "SUM", "COUNT"};
enum { N_AGGREGATES = sizeof AGGREGATES / sizeof *AGGREGATES };

uint32_t mutate_change_aggregate_ways(const struct mutant *m, const struct sql_node *at)
{
    (void)m;
    bool applies = sql_is_aggregate(at) && !(at->flags & SQL_F_STAR) && sql_kid(sql_kid(at, CALL_ARGS), 0);
    return applies ? N_AGGREGATES : 0;
}

struct sql_node *mutate_change_aggregate(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    if (sql_name_is(at->text, at->text_len, AGGREGATES[way], strlen(AGGREGATES[way]))) return NULL;
    struct sql_node *call = mutate_copy(m, at);
    if (is_count(at)) call->flags &= ~(uint32_t)SQL_F_DISTINCT;
    return mutate_set_text(m, call, AGGREGATES[way]);
}

uint32_t mutate_count_what_ways(const struct mutant *m, const struct sql_node *at)
{
    (void)m;
    return sql_is_aggregate(at) && is_count(at) ? 2 : 0;
}

/* Turns COUNT(*) into a count of a random column's distinct values. Otherwise way 0 adds or removes DISTINCT, and way 1
 * turns COUNT(DISTINCT x) into COUNT(*). */
struct sql_node *mutate_count_what(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    struct sql_node *call = mutate_copy(m, at);
    const struct sql_block *block = sql_block_of(m->bound, at);
    if (at->flags & SQL_F_STAR) {
        if (!block || !block->n_sources) return NULL;
        const struct sql_source *source = &block->sources[mutate_pick(m, way, block->n_sources)];
        int n = mutate_n_columns(m, source);
        struct sql_node *args = sql_kid(call, CALL_ARGS);
        if (!args && (args = sql_make(m->arena, SQL_ARGS))) sql_set_kid(call, CALL_ARGS, args);
        struct sql_node *column = n ? mutate_column(m, source, (int)mutate_pick(m, way + 8, (uint32_t)n)) : NULL;
        if (!args || !column || !sql_append(m->arena, args, column)) return NULL;
        call->flags = (call->flags & ~(uint32_t)SQL_F_STAR) | SQL_F_DISTINCT;
        return call;
    }
    if (way == 0) {
        call->flags ^= SQL_F_DISTINCT;
        return call;
    }
    if (!(at->flags & SQL_F_DISTINCT)) return NULL;
    struct sql_node *args = sql_make(m->arena, SQL_ARGS);
    if (!args) return NULL;
    sql_set_kid(call, CALL_ARGS, args);
    call->flags = (call->flags & ~(uint32_t)SQL_F_DISTINCT) | SQL_F_STAR;
    return call;
}

/* ---- subqueries ---- */

static const struct sql_block *scalar_block(const struct mutant *m, const struct sql_node *at)
{
    if (at->kind != SQL_SUBQUERY || sql_is(at->parent, SQL_IN) || sql_is(at->parent, SQL_QUANTIFIED)) return NULL;
    const struct sql_block *block = sql_block_of(m->bound, sql_kid(at, 0));
    return block && block->n_outputs == 1 ? block : NULL;
}

uint32_t mutate_subquery_to_literal_ways(const struct mutant *m, const struct sql_node *at)
{
    return scalar_block(m, at) != NULL;
}

struct sql_node *mutate_subquery_to_literal(struct mutant *m, const struct sql_node *at, uint32_t way)
{
    (void)way;
    const struct sql_output *output = &scalar_block(m, at)->outputs[0];
    const struct sql_ref *beside = mutate_column_beside(at);
    struct sql_node *value = mutate_value(m, output->table, output->column);
    if (!value && beside) value = mutate_value(m, beside->table, beside->column);
    if (!value) value = mutate_integer(m, 10 + (long long)mutate_pick(m, way, 90));
    if (value) sql_replace(mutate_copy(m, at), value);
    return value;
}
