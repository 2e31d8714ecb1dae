/* Verifies the rules of provenance. The statement built here computes the select list of an arm over the arm's own
 * source rows. It must return the explained row. */
#include "lib/explain/trace.h"

#include <string.h>

struct check {
    struct arena *arena;
    const struct prov_arm *arm;
    bool impossible;
};

static const struct prov_column *column_of(const struct prov_arm *arm, const struct sql_source *source, int output)
{
    for (uint32_t i = 0; i < arm->n_columns; i++)
        if (arm->columns[i].source == source && arm->columns[i].output == output) return &arm->columns[i];
    return NULL;
}

static struct sql_node *labelled(struct check *check, const struct prov_column *column)
{
    if (!column) {
        check->impossible = true;
        return NULL;
    }
    struct sql_node *node = rewrite_column(check->arena, NULL, 0, column->label, strlen(column->label));
    if (node) node->quote = '"';
    return node;
}

static struct sql_node *to_label(void *ctx, struct sql_node *n)
{
    struct check *check = ctx;
    if (rewrite_is_subquery(n) || rewrite_is_window(n) || rewrite_is_random(n)) check->impossible = true;
    if (n->kind != SQL_COLUMN || !n->ref || !n->ref->source) return n;
    return labelled(check, column_of(check->arm, n->ref->source, n->ref->output));
}

const char *prov_check_sql(struct arena *arena, const struct explain_source *source, const struct prov_arm *arm)
{
    struct tracer t = {.arena = arena, .source = source};
    struct arm_work work = {.t = &t, .arm = (struct prov_arm *)(uintptr_t)arm};
    struct check check = {.arena = arena, .arm = arm};
    uint32_t n = arm->block->n_outputs;
    if (!arm->all_sql || !n) return NULL;
    trace_outputs(&work);
    struct sql_node **items = arena_new_array(arena, n, struct sql_node *);
    if (!work.outputs || !items) return NULL;
    for (uint32_t i = 0; i < n && !check.impossible; i++) {
        const struct arm_output *output = &work.outputs[i];
        struct sql_node *expr = output->source ? labelled(&check, column_of(arm, output->source, output->column))
                                               : rewrite_map(arena, output->expr, to_label, &check);
        items[i] = rewrite_node(arena, SQL_ITEM, &expr, 1);
        if (!expr || !items[i]) check.impossible = true;
    }
    struct sql_node *list = check.impossible ? NULL : rewrite_node(arena, SQL_ITEMS, items, n);
    const char *text = list ? sql_print(arena, list) : NULL;
    return text ? arena_printf(arena, "SELECT %s FROM (%s) AS " PROV_ALIAS, text, arm->all_sql) : NULL;
}
