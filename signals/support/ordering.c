#include "signals/support/ordering.h"

#include "signals/support/query.h"

static bool compares_order(const struct sql_node *node)
{
    return node->kind == SQL_BETWEEN || (node->kind == SQL_BINARY && (node->op == SQL_OP_LT || node->op == SQL_OP_LE ||
                                                                      node->op == SQL_OP_GT || node->op == SQL_OP_GE));
}

/* Returns the column that an ORDER BY term sorts by, or that MAX or MIN compares. Returns NULL for other nodes. */
static const struct schema_column *ordered_column(const struct vsig_subject *subject, const struct sql_node *node)
{
    enum query_aggregate aggregate = query_aggregate_of(node);
    const struct sql_node *owner = node->kind == SQL_TERM                             ? node
                                   : aggregate == QUERY_MAX || aggregate == QUERY_MIN ? sql_kid(node, CALL_ARGS)
                                                                                      : NULL;
    const struct sql_node *expr = sql_kid(owner, 0);
    if (sql_is(expr, SQL_COLUMN) && expr->ref && expr->ref->kind == SQL_REF_ALIAS) expr = expr->ref->expr;
    return expr ? query_column(subject, expr) : NULL;
}

void vsig_each_ordering(struct vsig_subject *subject, vsig_ordering_fn *each, void *ctx)
{
    struct vsig_predicate predicates[VSIG_MAX_PREDICATES];
    const struct sql_node *root = subject->stmt->root;
    uint32_t n = vsig_predicates(subject, predicates);
    for (uint32_t i = 0; i < n; i++) {
        struct vsig_ordering ordering = {predicates[i].node, predicates[i].column, &predicates[i]};
        if (predicates[i].bare && compares_order(ordering.node)) each(ctx, &ordering);
    }
    for (const struct sql_node *node = root; node; node = sql_walk(root, node)) {
        struct vsig_ordering ordering = {node, ordered_column(subject, node), NULL};
        if (ordering.column) each(ctx, &ordering);
    }
}

const char *vsig_ordering_verb(const struct vsig_ordering *ordering)
{
    return ordering->node->kind == SQL_TERM ? "sorted" : "compared";
}
