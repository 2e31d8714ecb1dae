/* ORDER BY ... LIMIT n cuts through rows with equal keys and different output: which of them come back is chance.
 *
 * Groups tie in their counts all the time, and people ask for "the one with the most" all the same: that fired on 2.4 %
 * of the training gold, so a tie of aggregates is a note, and a tie of stored values (1.1 %) the vote. */
#include "signals/support/probe.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CUT = 1000 };

/* LIMIT's count, or 0 when it is no small number or there is no order to tie in. */
static long cut_of(const struct sql_node *query)
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

/* The expression that a term orders by: a position and an alias stand for a select item. */
static const struct sql_node *term_expression(const struct sql_node *term, const struct sql_node *items)
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

/* The query with its order keys as further columns and a limit one higher; NULL if it cannot be widened. */
static const char *widened(struct vsig_subject *subject, const struct sql_node *query, long cut, uint32_t *n_keys)
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
        const struct sql_node *expr = term_expression(order->kids[*n_keys], sql_kid(select, SELECT_ITEMS));
        struct sql_node *item = expr ? sql_make(arena, SQL_ITEM) : NULL, *key = item ? sql_copy(arena, expr) : NULL;
        if (!key) return NULL;
        sql_set_kid(item, 0, key);
        if (!sql_append(arena, items, item)) return NULL;
    }
    sql_set_kid(copy, QUERY_LIMIT, NULL);
    sql_set_kid(copy, QUERY_WITH, NULL);
    const char *with = vsig_probe_with(subject, NULL, NULL), *text = sql_print(arena, copy);
    return with && text ? arena_printf(arena, "%s%s LIMIT %ld", with, text, cut + 1) : NULL;
}

static bool cells_equal(const struct db_result *r, uint32_t row, uint32_t from, uint32_t to)
{
    for (uint32_t c = from; c < to; c++)
        if (db_value_compare(&r->values[(size_t)row * r->n_columns + c],
                             &r->values[(size_t)(row + 1) * r->n_columns + c]))
            return false;
    return true;
}

static enum err_code look_at(struct vsig_run *run, const struct sql_node *query)
{
    struct vsig_subject *subject = run->subject;
    long cut = cut_of(query);
    if (!cut || vsig_is_correlated(subject, query)) return ERR_OK;
    uint32_t n_keys = 0;
    const char *sql = widened(subject, query, cut, &n_keys);
    if (!sql) return subject->arena->failed ? ERR_LIMIT_MEMORY : ERR_OK;
    struct db_result result;
    enum err_code code = vsig_probe(subject, sql, 0, &result);
    if (code != ERR_OK) return code;
    if (result.n_rows <= (uint32_t)cut || result.n_columns <= n_keys) return ERR_OK;
    uint32_t shown = result.n_columns - n_keys, last = (uint32_t)cut - 1;
    if (cells_equal(&result, last, shown, result.n_columns) && !cells_equal(&result, last, 0, shown)) {
        const char *what = "the limit cuts through rows with equal order keys";
        const struct sql_node *limit = sql_kid(query, QUERY_LIMIT);
        bool groups = sql_kid(sql_kid(query, QUERY_BODY), SELECT_GROUP) != NULL;
        struct vsig_finding *finding =
            groups ? vsig_note(run, limit, "%s", what) : vsig_fire(run, VSIG_WARNING, limit, "%s", what);
        vsig_add_clause(run, finding, sql_kid(query, QUERY_ORDER));
    }
    return ERR_OK;
}

static enum err_code eval(struct vsig_run *run)
{
    enum err_code worst = ERR_OK;
    const struct sql_node *root = run->subject->stmt->root;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        enum err_code code = n->kind == SQL_QUERY ? look_at(run, n) : ERR_OK;
        if (code != ERR_OK) worst = code;
    }
    return run->verdict->state == VSIG_FIRED ? ERR_OK : worst;
}

const struct vsig_def vsig_limit_tie = {
    .id = VSIG_ID_limit_tie,
    .name = "limit_tie",
    .family = VSIG_EXECUTION,
    .cause = VSIG_QUESTION_AMBIGUITY,
    .needs = VSIG_NEEDS_DB,
    .off_by_default = true, /* 6 right of 16 on the dev logs: its lift interval includes 1 */
    .sentence = "ORDER BY with LIMIT cuts through rows that have equal keys and different output",
    .description = "Several rows share the order key at the cut, so which of them is returned depends on chance.",
    .example = "SELECT name FROM singer ORDER BY age DESC LIMIT 1 when two singers have the highest age.",
    .instruction =
        "Compare with the extreme value (= (SELECT MAX(...) ...)) to get all, or add keys that break the tie.",
    .eval = eval,
};
