/* Finds the block, the clause or the column of a node in a bound tree. */
#include "lib/sql/bind.h"

#include <string.h>

const char *sql_clause_name(enum sql_clause clause)
{
    static const char *const names[SQL_CLAUSE_COUNT] = {
        [SQL_CLAUSE_SELECT] = "SELECT",  [SQL_CLAUSE_FROM] = "JOIN",     [SQL_CLAUSE_WHERE] = "WHERE",
        [SQL_CLAUSE_GROUP] = "GROUP BY", [SQL_CLAUSE_HAVING] = "HAVING", [SQL_CLAUSE_ORDER] = "ORDER BY",
        [SQL_CLAUSE_LIMIT] = "LIMIT",    [SQL_CLAUSE_WINDOW] = "WINDOW",
    };
    return clause < SQL_CLAUSE_COUNT ? names[clause] : "?";
}

static const struct sql_node *first_body(const struct sql_node *n)
{
    while (n && n->kind != SQL_SELECT && n->kind != SQL_VALUES) {
        if (n->kind == SQL_QUERY)
            n = sql_kid(n, QUERY_BODY);
        else if (n->kind == SQL_COMPOUND)
            n = sql_kid(n, 0);
        else
            return NULL;
    }
    return n;
}

struct sql_block *sql_block_of(const struct sql_bound *bound, const struct sql_node *node)
{
    while (node && node->kind != SQL_SELECT && node->kind != SQL_VALUES && node->kind != SQL_QUERY)
        node = node->clause ? node->clause->parent : NULL;
    node = first_body(node);
    return node && node->id < bound->stmt->n_nodes ? bound->block_of[node->id] : NULL;
}

static enum sql_clause clause_of_slot(const struct sql_node *select, const struct sql_node *kid)
{
    static const enum sql_clause clauses[] = {
        [SELECT_DISTINCT] = SQL_CLAUSE_SELECT, [SELECT_ITEMS] = SQL_CLAUSE_SELECT, [SELECT_FROM] = SQL_CLAUSE_FROM,
        [SELECT_WHERE] = SQL_CLAUSE_WHERE,     [SELECT_GROUP] = SQL_CLAUSE_GROUP,  [SELECT_HAVING] = SQL_CLAUSE_HAVING,
        [SELECT_WINDOWS] = SQL_CLAUSE_WINDOW,
    };
    for (uint32_t i = 0; i < select->n_kids && i < sizeof clauses / sizeof *clauses; i++)
        if (select->kids[i] == kid) return clauses[i];
    return SQL_CLAUSE_SELECT;
}

enum sql_clause sql_clause_of(const struct sql_node *node)
{
    const struct sql_node *clause = node ? node->clause : NULL;
    for (; clause; clause = clause->parent->clause) {
        const struct sql_node *parent = clause->parent;
        if (clause->kind == SQL_WINDOW) return SQL_CLAUSE_WINDOW;
        if (parent->kind == SQL_SELECT) return clause_of_slot(parent, clause);
        if (parent->kind == SQL_VALUES) return SQL_CLAUSE_SELECT;
        if (clause->kind == SQL_ORDER) return SQL_CLAUSE_ORDER;
        if (clause->kind == SQL_LIMIT) return SQL_CLAUSE_LIMIT;
    }
    return SQL_CLAUSE_SELECT;
}

/* clang-format off */
static const char *const AGGREGATES[] = {
    "count", "sum", "avg", "total", "group_concat", "string_agg", "array_agg", "bool_and", "bool_or", "every",
    "bit_and", "bit_or", "json_agg", "jsonb_agg", "json_group_array", "json_group_object", "json_object_agg", "stddev",
    "stddev_pop", "stddev_samp", "variance", "var_pop", "var_samp", "corr", "percentile_cont", "percentile_disc",
    "mode", "median",
};
/* clang-format on */

bool sql_is_aggregate(const struct sql_node *call)
{
    if (!call || call->kind != SQL_CALL || sql_kid(call, CALL_WINDOW)) return false;
    for (size_t i = 0; i < sizeof AGGREGATES / sizeof *AGGREGATES; i++)
        if (sql_name_is(call->text, call->text_len, AGGREGATES[i], strlen(AGGREGATES[i]))) return true;
    const struct sql_node *args = sql_kid(call, CALL_ARGS);
    bool extreme =
        sql_name_is(call->text, call->text_len, "min", 3) || sql_name_is(call->text, call->text_len, "max", 3);
    return extreme && args && args->n_kids == 1;
}

const struct sql_ref *sql_plain_column(const struct sql_node *expr)
{
    while (sql_is(expr, SQL_UNARY) && expr->op == SQL_OP_PLUS) expr = sql_kid(expr, 0);
    if (!sql_is(expr, SQL_COLUMN) || !expr->ref) return NULL;
    const struct sql_ref *ref = expr->ref;
    if (ref->kind == SQL_REF_COLUMN || ref->kind == SQL_REF_ROWID) return ref;
    return ref->kind == SQL_REF_ALIAS && ref->table >= 0 ? ref : NULL;
}

const struct sql_node *sql_plain_literal(const struct sql_node *expr)
{
    while (sql_is(expr, SQL_UNARY) && (expr->op == SQL_OP_PLUS || expr->op == SQL_OP_NEG)) expr = sql_kid(expr, 0);
    if (sql_is(expr, SQL_TYPED)) expr = sql_kid(expr, 0);
    if (sql_is(expr, SQL_LITERAL)) return expr;
    return sql_is(expr, SQL_COLUMN) && expr->ref && expr->ref->kind == SQL_REF_STRING ? expr : NULL;
}

static uint32_t count_conjuncts(const struct sql_node *n)
{
    if (n && n->kind == SQL_BINARY && n->op == SQL_OP_AND)
        return count_conjuncts(n->kids[0]) + count_conjuncts(n->kids[1]);
    return n != NULL;
}

static const struct sql_node **put_conjuncts(const struct sql_node *n, const struct sql_node **at)
{
    if (n && n->kind == SQL_BINARY && n->op == SQL_OP_AND)
        return put_conjuncts(n->kids[1], put_conjuncts(n->kids[0], at));
    if (n) *at++ = n;
    return at;
}

int sql_conjuncts(struct arena *arena, const struct sql_node *expr, const struct sql_node ***out)
{
    if (sql_is(expr, SQL_WHERE) || sql_is(expr, SQL_HAVING) || sql_is(expr, SQL_ON)) expr = sql_kid(expr, 0);
    uint32_t n = count_conjuncts(expr);
    *out = arena_new_array(arena, n, const struct sql_node *);
    if (!*out) return -1;
    put_conjuncts(expr, *out);
    return (int)n;
}
