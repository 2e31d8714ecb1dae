/* incorrect_group_by: GROUP BY without an aggregate (SQLens A.1).
 *
 * The signal differs from the paper. If the groups determine all columns that the block returns and orders by, GROUP BY
 * acts as DISTINCT or has no effect. In the training logs such queries were correct more often than others, so this
 * case is only a note. The signal fires if the engine returns a value from an arbitrary row of the group. */
#include "signals/support/bare.h"

static bool has_window(const struct sql_node *select)
{
    for (const struct sql_node *n = select; n; n = sql_walk(select, n))
        if (n->kind == SQL_CALL && sql_kid(n, CALL_WINDOW)) return true;
    return false;
}

/* Returns a column in the select list or ORDER BY that may differ within a group, or NULL. */
static const struct sql_node *loose_column(const struct vsig_bare *bare)
{
    const struct sql_node *items = sql_kid(bare->block->node, SELECT_ITEMS);
    for (uint32_t i = 0; items && i < items->n_kids; i++)
        if (sql_is(items->kids[i], SQL_STAR)) return items->kids[i];
    const struct sql_node *loose = vsig_bare_find(bare, items);
    return loose || bare->block->arm ? loose : vsig_bare_find(bare, sql_kid(bare->block->query, QUERY_ORDER));
}

static enum err_code look_at(struct vsig_run *run, const struct vsig_block_shape *shape)
{
    const struct sql_block *block = shape->block;
    if (!block->grouped || block->aggregate || has_window(block->node)) return ERR_OK;
    if (shape->too_large) return ERR_LIMIT_COUNT;
    struct vsig_bare bare;
    if (!vsig_bare_init(&bare, run->subject, shape)) return ERR_LIMIT_MEMORY;
    const struct sql_node *loose = loose_column(&bare);
    if (!loose) {
        vsig_note(run, bare.group, "rows are grouped without an aggregate, so GROUP BY only acts as DISTINCT");
        return ERR_OK;
    }
    struct vsig_finding *finding =
        vsig_fire(run, VSIG_WARNING, bare.group,
                  "rows are grouped without an aggregate, so an arbitrary row of each group is returned");
    vsig_add_fact(run, finding, "grouping expressions", false, "%u", bare.group->n_kids);
    return ERR_OK;
}

static enum err_code eval(struct vsig_run *run)
{
    return vsig_each_block(run, look_at);
}

const struct vsig_def vsig_incorrect_group_by = {
    .id = VSIG_ID_incorrect_group_by,
    .name = "incorrect_group_by",
    .family = VSIG_STRUCTURE,
    .cause = VSIG_MISALIGNMENT,
    .sentence = "GROUP BY is used without an aggregate in SELECT, HAVING or ORDER BY, and the rows of a group differ",
    .description = "The query groups rows but computes nothing over the groups. SQLite then returns one arbitrary row "
                   "of each group.",
    .example = "How many singers does each country have? - SELECT country, name FROM singer GROUP BY country. Correct: "
               "SELECT country, COUNT(*) FROM singer GROUP BY country.",
    .instruction = "Add the aggregate that the question asks for. For distinct rows only, write SELECT DISTINCT. To "
                   "return all rows, remove GROUP BY.",
    .eval = eval,
};
