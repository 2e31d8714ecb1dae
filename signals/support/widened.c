#include "signals/support/widened.h"

#include "signals/support/probe.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CUT = 1000 };

long vsig_cut_of(const struct sql_node *query)
{
    const struct sql_node *limit = sql_kid(query, QUERY_LIMIT), *order = sql_kid(query, QUERY_ORDER);
    const struct sql_node *count = sql_plain_literal(sql_kid(limit, LIMIT_COUNT));
    if (!order || !count || count->op != SQL_LIT_INT || count->text_len > 4 || (limit->flags & SQL_F_WITH_TIES))
        return 0;
    char digits[8] = {0};
    memcpy(digits, count->text, count->text_len);
    long cut = strtol(digits, NULL, 10);
    return cut > 0 && cut <= MAX_CUT ? cut : 0;
}

const struct sql_node *vsig_term_expression(const struct sql_node *term, const struct sql_node *items)
{
    const struct sql_node *expr = sql_kid(term, 0), *literal = sql_plain_literal(expr);
    if (literal && literal->op == SQL_LIT_INT) {
        char digits[8] = {0};
        if (literal->text_len >= sizeof digits) return NULL;
        memcpy(digits, literal->text, literal->text_len);
        const struct sql_node *item = sql_kid(items, (unsigned)strtoul(digits, NULL, 10) - 1);
        return sql_is(item, SQL_ITEM) ? item->kids[0] : NULL;
    }
    if (expr->kind == SQL_COLUMN && expr->ref && expr->ref->kind == SQL_REF_ALIAS) return expr->ref->expr;
    return expr;
}

const char *vsig_widened(struct vsig_subject *subject, const struct sql_node *query, long rows, uint32_t *n_keys)
{
    struct arena *arena = subject->arena;
    const struct sql_node *select = sql_kid(query, QUERY_BODY), *order = sql_kid(query, QUERY_ORDER);
    if (!sql_is(select, SQL_SELECT) || sql_kid(select, SELECT_DISTINCT)) return NULL;
    const struct sql_node *offset = sql_kid(sql_kid(query, QUERY_LIMIT), LIMIT_OFFSET);
    if (offset) return NULL;
    struct sql_node *copy = sql_copy(arena, query);
    if (!copy) return NULL;
    struct sql_node *items = sql_kid(sql_kid(copy, QUERY_BODY), SELECT_ITEMS);
    for (*n_keys = 0; *n_keys < order->n_kids; ++*n_keys) {
        const struct sql_node *expr = vsig_term_expression(order->kids[*n_keys], sql_kid(select, SELECT_ITEMS));
        struct sql_node *item = expr ? sql_make(arena, SQL_ITEM) : NULL, *key = item ? sql_copy(arena, expr) : NULL;
        if (!key) return NULL;
        sql_set_kid(item, 0, key);
        if (!sql_append(arena, items, item)) return NULL;
    }
    sql_set_kid(copy, QUERY_LIMIT, NULL);
    sql_set_kid(copy, QUERY_WITH, NULL);
    const char *with = vsig_probe_with(subject, NULL, NULL), *text = sql_print(arena, copy);
    return with && text ? arena_printf(arena, "%s%s LIMIT %ld", with, text, rows) : NULL;
}
