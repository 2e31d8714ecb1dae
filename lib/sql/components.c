/* Collects the components of a bound statement (components.h) in one walk over its nodes.
 *
 * Each see_* function inspects one kind of node and sets bits. Unresolved names set no bits. */
#include "lib/sql/components.h"

#include <string.h>

static const struct {
    const char *name;
    enum sql_component_group group;
} parts[] = {
#define X(id, name, group) [id] = {#name, SQL_PART_##group},
    SQL_COMPONENTS(X)
#undef X
};

const char *sql_component_name(enum sql_component component)
{
    return component < SQL_COMPONENT_COUNT ? parts[component].name : NULL;
}

enum sql_component_group sql_component_group_of(enum sql_component component)
{
    return component < SQL_COMPONENT_COUNT ? parts[component].group : SQL_PART_COUNT;
}

/* The facts collected about a statement. */
struct survey {
    const struct sql_bound *bound;
    uint64_t has;
    uint32_t conditions;
};

static void note(struct survey *s, enum sql_component component)
{
    s->has |= UINT64_C(1) << component;
}

static void note_if(struct survey *s, bool is, enum sql_component component)
{
    if (is) note(s, component);
}

/* --- calls --- */

enum function { COUNT, SUM, AVG, MAX, MIN, OTHER };

static enum function function_of(const struct sql_node *call)
{
    static const struct {
        const char *name;
        enum function function;
    } names[] = {{"count", COUNT}, {"sum", SUM}, {"total", SUM}, {"avg", AVG}, {"max", MAX}, {"min", MIN}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (sql_name_is(call->text, call->text_len, names[i].name, strlen(names[i].name))) return names[i].function;
    return OTHER;
}

/* Returns the first aggregate in an expression, outside of its subqueries, or NULL. */
static const struct sql_node *aggregate_in(const struct sql_node *expr)
{
    for (const struct sql_node *n = expr; n; n = sql_is(n, SQL_QUERY) ? sql_walk_over(expr, n) : sql_walk(expr, n))
        if (sql_is(n, SQL_CALL) && sql_is_aggregate(n)) return n;
    return NULL;
}

/* --- the answer --- */

static void see_item(struct survey *s, const struct sql_node *item, uint32_t *aggregates)
{
    static const enum sql_component answers[] = {[COUNT] = SQL_HAS_answer_count,
                                                 [SUM] = SQL_HAS_answer_sum,
                                                 [AVG] = SQL_HAS_answer_avg,
                                                 [MAX] = SQL_HAS_answer_max,
                                                 [MIN] = SQL_HAS_answer_min};
    if (sql_is(item, SQL_STAR)) {
        note(s, SQL_HAS_answer_star);
        return;
    }
    const struct sql_node *expr = sql_kid(item, 0), *call = aggregate_in(expr);
    if (call) {
        (*aggregates)++;
        enum function function = function_of(call);
        if (function != OTHER) note(s, answers[function]);
    }
    note_if(s, expr && sql_is(expr, SQL_BINARY), SQL_HAS_answer_computed);
    const struct sql_ref *ref = sql_plain_column(expr);
    if (!ref || ref->table < 0 || ref->column < 0) return;
    const char *name = s->bound->catalog->column_name(s->bound->catalog->self, ref->table, ref->column);
    size_t len = name ? strlen(name) : 0;
    note_if(s, len >= 2 && sql_name_is(name + len - 2, 2, "id", 2), SQL_HAS_answer_key);
}

static void see_answer(struct survey *s, const struct sql_node *select)
{
    const struct sql_node *items = sql_kid(select, SELECT_ITEMS), *distinct = sql_kid(select, SELECT_DISTINCT);
    uint32_t n = items ? items->n_kids : 0, aggregates = 0;
    for (uint32_t i = 0; i < n; i++) see_item(s, items->kids[i], &aggregates);
    note_if(s, distinct != NULL, SQL_HAS_answer_distinct);
    note_if(s, n && aggregates == n, SQL_HAS_answer_only_aggregates);
    note_if(s, aggregates && aggregates < n, SQL_HAS_answer_column_and_aggregate);
    note_if(s, n == 1, SQL_HAS_answer_one_item);
    note_if(s, n == 2, SQL_HAS_answer_two_items);
    note_if(s, n > 2, SQL_HAS_answer_many_items);
}

/* Returns the first SELECT of a query, which is the first arm of a set operation. */
static const struct sql_node *first_select(const struct sql_node *root)
{
    const struct sql_node *n = root;
    while (n && !sql_is(n, SQL_SELECT))
        n = sql_is(n, SQL_QUERY) ? sql_kid(n, QUERY_BODY) : sql_is(n, SQL_COMPOUND) ? sql_kid(n, 0) : NULL;
    return n;
}

/* --- FROM --- */

static void see_tables(struct survey *s)
{
    static const enum sql_component counts[] = {SQL_HAS_one_table, SQL_HAS_two_tables, SQL_HAS_three_tables,
                                                SQL_HAS_many_tables};
    uint32_t n = 0;
    for (uint32_t b = 0; b < s->bound->n_blocks; b++) {
        const struct sql_block *block = s->bound->blocks[b];
        for (uint32_t i = 0; i < block->n_sources; i++) {
            const struct sql_source *source = &block->sources[i];
            n++;
            note_if(s, sql_is(source->node, SQL_DERIVED), SQL_HAS_derived_table);
            for (uint32_t k = 0; k < i && source->table >= 0 && i < 64; k++)
                note_if(s, block->sources[k].table == source->table, SQL_HAS_self_join);
        }
    }
    if (n) note(s, counts[n > 4 ? 3 : n - 1]);
}

/* --- conditions --- */

static const struct sql_node *subquery_of(const struct sql_node *comparison)
{
    for (unsigned i = 0; i < 2; i++)
        if (sql_is(sql_kid(comparison, i), SQL_SUBQUERY)) return comparison->kids[i];
    return NULL;
}

static void see_subquery(struct survey *s, const struct sql_node *subquery)
{
    const struct sql_node *query = sql_kid(subquery, 0), *select = first_select(query);
    const struct sql_node *call = aggregate_in(sql_kid(sql_kid(select, SELECT_ITEMS), 0));
    enum function function = call ? function_of(call) : OTHER;
    note(s, SQL_HAS_compares_subquery);
    note_if(s, function == AVG, SQL_HAS_compares_average);
    note_if(s, function == MAX || function == MIN || sql_kid(query, QUERY_LIMIT), SQL_HAS_compares_extreme);
}

static void see_comparison(struct survey *s, const struct sql_node *n)
{
    static const enum sql_component operators[SQL_OP_COUNT] = {[SQL_OP_GT] = SQL_HAS_greater,
                                                               [SQL_OP_GE] = SQL_HAS_greater_equal,
                                                               [SQL_OP_LT] = SQL_HAS_less,
                                                               [SQL_OP_LE] = SQL_HAS_less_equal,
                                                               [SQL_OP_NE] = SQL_HAS_not_equal};
    const struct sql_node *subquery = subquery_of(n);
    if (subquery) see_subquery(s, subquery);
    const struct sql_node *right = sql_plain_literal(sql_kid(n, 1)), *left = sql_plain_literal(sql_kid(n, 0));
    enum sql_op op = left && !right ? sql_op_swap((enum sql_op)n->op) : (enum sql_op)n->op;
    bool joins = sql_plain_column(sql_kid(n, 0)) && sql_plain_column(sql_kid(n, 1)) && op == SQL_OP_EQ && !right;
    if (joins) return;
    s->conditions++;
    const struct sql_node *literal = right ? right : left;
    bool text = literal && (literal->op == SQL_LIT_STRING || sql_is(literal, SQL_COLUMN));
    if (op == SQL_OP_EQ)
        note(s, text || !literal ? SQL_HAS_equals_text : SQL_HAS_equals_number);
    else if (operators[op])
        note(s, operators[op]);
}

static void see_in(struct survey *s, const struct sql_node *n)
{
    bool subquery = sql_is(sql_kid(n, IN_RIGHT), SQL_SUBQUERY), negated = n->flags & SQL_F_NOT;
    note(s, !subquery ? SQL_HAS_in_list : negated ? SQL_HAS_not_in_subquery : SQL_HAS_in_subquery);
    note_if(s, negated, SQL_HAS_negation);
    s->conditions++;
}

static void see_null_test(struct survey *s, const struct sql_node *n)
{
    bool negated = n->op == SQL_OP_IS_NOT || n->op == SQL_OP_NOTNULL;
    note(s, SQL_HAS_is_null);
    note_if(s, negated, SQL_HAS_negation);
    s->conditions++;
}

static void see_operator(struct survey *s, const struct sql_node *n)
{
    if (sql_is_comparison((enum sql_op)n->op)) see_comparison(s, n);
    if (n->op == SQL_OP_IS || n->op == SQL_OP_IS_NOT || n->op == SQL_OP_ISNULL || n->op == SQL_OP_NOTNULL)
        see_null_test(s, n);
    note_if(s, n->op == SQL_OP_OR, SQL_HAS_either);
    note_if(s, n->op == SQL_OP_NOT || n->op == SQL_OP_NE, SQL_HAS_negation);
}

/* --- grouping, order, sets --- */

static void see_having(struct survey *s, const struct sql_node *n)
{
    const struct sql_node *call = aggregate_in(n);
    note(s, SQL_HAS_having);
    note(s, call && function_of(call) == COUNT ? SQL_HAS_having_count : SQL_HAS_having_other);
}

static void see_term(struct survey *s, const struct sql_node *n)
{
    const struct sql_node *expr = sql_kid(n, 0);
    if (sql_up(n, SQL_WINDOW)) return;
    if (expr && expr->ref && expr->ref->kind == SQL_REF_ALIAS) expr = expr->ref->expr;
    const struct sql_node *call = aggregate_in(expr);
    note(s, SQL_HAS_ordered);
    note(s, n->op == SQL_DESC ? SQL_HAS_descending : SQL_HAS_ascending);
    if (call) note(s, function_of(call) == COUNT ? SQL_HAS_ordered_by_count : SQL_HAS_ordered_by_aggregate);
}

static void see_limit(struct survey *s, const struct sql_node *n)
{
    const struct sql_node *count = sql_kid(n, LIMIT_COUNT);
    bool one = sql_is(count, SQL_LITERAL) && count->text_len == 1 && count->text[0] == '1';
    note(s, one ? SQL_HAS_limit_one : SQL_HAS_limit_many);
}

static void see_compound(struct survey *s, const struct sql_node *n)
{
    bool difference = n->op == SQL_EXCEPT || n->op == SQL_EXCEPT_ALL;
    bool both = n->op == SQL_INTERSECT || n->op == SQL_INTERSECT_ALL;
    note(s, difference ? SQL_HAS_difference : both ? SQL_HAS_intersection : SQL_HAS_union_of);
    note_if(s, difference, SQL_HAS_negation);
}

static void see_group(struct survey *s, const struct sql_node *n)
{
    note(s, SQL_HAS_grouped);
    note_if(s, n->n_kids > 1, SQL_HAS_grouped_by_many);
}

static void see_call(struct survey *s, const struct sql_node *n)
{
    note_if(s, (n->flags & SQL_F_DISTINCT) && function_of(n) == COUNT, SQL_HAS_count_distinct);
    note_if(s, sql_kid(n, CALL_WINDOW) != NULL, SQL_HAS_window);
    note_if(s, sql_kid(n, CALL_FILTER) != NULL, SQL_HAS_case_or_filter);
}

static void see_test(struct survey *s, enum sql_component component, bool negated)
{
    note(s, component);
    note_if(s, negated, SQL_HAS_negation);
    s->conditions++;
}

static void see_like(struct survey *s, const struct sql_node *n)
{
    see_test(s, SQL_HAS_like, n->flags & SQL_F_NOT);
}
static void see_between(struct survey *s, const struct sql_node *n)
{
    see_test(s, SQL_HAS_between, n->flags & SQL_F_NOT);
}
static void see_exists(struct survey *s, const struct sql_node *n)
{
    (void)n;
    see_test(s, SQL_HAS_exists_subquery, false);
}
static void see_case(struct survey *s, const struct sql_node *n)
{
    (void)n;
    note(s, SQL_HAS_case_or_filter);
}
static void see_join(struct survey *s, const struct sql_node *n)
{
    note_if(s, n->op == SQL_JOIN_LEFT_OUTER || n->op == SQL_JOIN_RIGHT_OUTER || n->op == SQL_JOIN_FULL_OUTER,
            SQL_HAS_outer_join);
}

static void (*const see[SQL_KIND_COUNT])(struct survey *, const struct sql_node *) = {
    [SQL_BINARY] = see_operator, [SQL_UNARY] = see_operator,   [SQL_IN] = see_in,     [SQL_LIKE] = see_like,
    [SQL_BETWEEN] = see_between, [SQL_EXISTS] = see_exists,    [SQL_CASE] = see_case, [SQL_JOIN] = see_join,
    [SQL_GROUP] = see_group,     [SQL_HAVING] = see_having,    [SQL_TERM] = see_term, [SQL_LIMIT] = see_limit,
    [SQL_CALL] = see_call,       [SQL_COMPOUND] = see_compound};

uint64_t sql_components(const struct sql_bound *bound)
{
    static const enum sql_component counts[] = {SQL_HAS_no_condition, SQL_HAS_one_condition, SQL_HAS_two_conditions,
                                                SQL_HAS_many_conditions};
    struct survey survey = {.bound = bound};
    const struct sql_node *root = bound->stmt->root, *select = first_select(root);
    for (const struct sql_node *n = root; n; n = sql_walk(root, n))
        if (see[n->kind]) see[n->kind](&survey, n);
    if (select) see_answer(&survey, select);
    see_tables(&survey);
    note(&survey, counts[survey.conditions > 3 ? 3 : survey.conditions]);
    return survey.has;
}
