#include "signals/support/bare.h"

/* Returns the expression that a key of GROUP BY refers to. GROUP BY 2 refers to the second item, and GROUP BY month may
 * refer to an item with this alias. */
static const struct sql_node *meant_by(const struct sql_node *select, const struct sql_node *expr)
{
    if (sql_is(expr, SQL_COLUMN) && expr->ref && expr->ref->kind == SQL_REF_ALIAS && expr->ref->expr)
        return expr->ref->expr;
    if (!sql_is(expr, SQL_LITERAL) || expr->op != SQL_LIT_INT || expr->text_len > 3) return expr;
    uint32_t number = 0;
    for (uint32_t i = 0; i < expr->text_len; i++) number = number * 10 + (uint32_t)(expr->text[i] - '0');
    const struct sql_node *items = sql_kid(select, SELECT_ITEMS);
    const struct sql_node *item = number && items && number <= items->n_kids ? items->kids[number - 1] : NULL;
    return sql_is(item, SQL_ITEM) ? sql_kid(item, 0) : expr;
}

static void add_key(struct vsig_bare *bare, const struct sql_node *expr)
{
    const struct sql_ref *ref = vsig_plain_column(expr);
    if (ref && ref->source->block == bare->block) vsig_keys_add_column(bare->keys, ref);
}

bool vsig_bare_init(struct vsig_bare *bare, struct vsig_subject *subject, const struct vsig_block_shape *shape)
{
    bare->block = shape->block;
    bare->group = sql_kid(shape->block->node, SELECT_GROUP);
    bare->keys = vsig_keys_new(subject, shape, true);
    if (!bare->keys) return false;
    for (uint32_t i = 0; bare->group && i < bare->group->n_kids; i++) {
        const struct sql_node *key = bare->group->kids[i];
        bool several = sql_is_grouping_call(key); /* the columns in GROUPING SETS ((a, b), (a)) are keys, too */
        if (!several) add_key(bare, meant_by(shape->block->node, key));
        for (const struct sql_node *n = several ? key : NULL; n; n = sql_walk(key, n)) add_key(bare, n);
    }
    vsig_keys_close(bare->keys);
    return true;
}

static bool is_grouping(const struct vsig_bare *bare, const struct sql_node *expr)
{
    for (uint32_t i = 0; bare->group && i < bare->group->n_kids; i++)
        if (sql_equal(meant_by(bare->block->node, bare->group->kids[i]), expr)) return true;
    return false;
}

const struct sql_node *vsig_bare_find(const struct vsig_bare *bare, const struct sql_node *expr)
{
    for (const struct sql_node *n = expr; n;) {
        bool window = n->kind == SQL_CALL && sql_kid(n, CALL_WINDOW);
        bool closed = window || n->kind == SQL_QUERY || sql_is_aggregate(n) || is_grouping(bare, n);
        if (n->kind == SQL_COLUMN && n->ref && !closed) {
            const struct sql_ref *ref = vsig_plain_column(n);
            if (ref && ref->source->block == bare->block && !vsig_keys_has_column(bare->keys, ref)) return n;
        }
        n = closed ? sql_walk_over(expr, n) : sql_walk(expr, n);
    }
    return NULL;
}
