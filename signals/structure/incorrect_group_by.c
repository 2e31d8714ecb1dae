/* GROUP BY without an aggregate (SQLens A.1). */
#include "signals/vsig.h"

static bool has_window(const struct sql_node *select)
{
    for (const struct sql_node *n = select; n; n = sql_walk(select, n))
        if (n->kind == SQL_CALL && sql_kid(n, CALL_WINDOW)) return true;
    return false;
}

static enum err_code eval(struct vsig_run *run)
{
    const struct sql_bound *bound = run->subject->bound;
    for (uint32_t i = 0; i < bound->n_blocks; i++) {
        const struct sql_block *block = bound->blocks[i];
        if (!block->grouped || block->aggregate || has_window(block->node)) continue;
        struct vsig_finding *finding = vsig_fire(run, VSIG_WARNING, sql_kid(block->node, SELECT_GROUP),
                                                 "rows are grouped, but nothing is computed over the groups");
        vsig_add_fact(run, finding, "grouping expressions", false, "%u", sql_kid(block->node, SELECT_GROUP)->n_kids);
    }
    return ERR_OK;
}

const struct vsig_def vsig_incorrect_group_by = {
    .id = VSIG_ID_incorrect_group_by,
    .name = "incorrect_group_by",
    .family = VSIG_STRUCTURE,
    .cause = VSIG_MISALIGNMENT,
    .sentence = "GROUP BY with no aggregate in SELECT, HAVING or ORDER BY of the same block",
    .description = "The query groups rows but computes nothing over the groups. SQLite then returns one row of each group, "
                   "and which one is left to chance.",
    .example = "SELECT country FROM singer GROUP BY country, where the question asks how many singers each country has: "
               "SELECT country, COUNT(*) FROM singer GROUP BY country.",
    .instruction = "Add the aggregate that the question asks for. If only distinct rows are wanted, write SELECT "
                   "DISTINCT; if nothing is to be merged, drop GROUP BY.",
    .eval = eval,
};
