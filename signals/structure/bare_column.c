/* bare_column: a column beside an aggregate is neither grouped nor aggregated. SQLite returns its value from an
 * arbitrary row of the group. */
#include "signals/support/bare.h"
#include "signals/support/names.h"

static bool is_extreme(const struct sql_node *call)
{
    return sql_is_aggregate(call) &&
           (sql_name_is(call->text, call->text_len, "min", 3) || sql_name_is(call->text, call->text_len, "max", 3));
}

/* True if the block has exactly one MIN or MAX. SQLite documents that bare columns then come from the row with the
 * extreme. */
static bool one_extreme(const struct vsig_run *run, const struct sql_block *block)
{
    unsigned n = 0;
    const struct sql_node *top = block->query ? block->query : block->node;
    for (const struct sql_node *node = top; node; node = sql_walk(top, node))
        if (node->kind == SQL_CALL && is_extreme(node) && sql_block_of(run->subject->bound, node) == block) n++;
    return n == 1;
}

static void report(struct vsig_run *run, const struct sql_node *column)
{
    const struct sql_ref *ref = vsig_plain_column(column);
    const char *name = vsig_column_name(run->subject, ref);
    struct vsig_finding *finding =
        vsig_fire(run, VSIG_WARNING, column,
                  "%s is neither grouped nor aggregated, so its value comes from an arbitrary row of the group", name);
    vsig_add_fact(run, finding, "column", false, "%s", name);
}

static enum err_code look_at(struct vsig_run *run, const struct vsig_block_shape *shape)
{
    const struct sql_block *block = shape->block;
    if (!block->aggregate || !sql_is(block->node, SQL_SELECT) || one_extreme(run, block)) return ERR_OK;
    if (shape->too_large) return ERR_LIMIT_COUNT;
    struct vsig_bare bare;
    if (!vsig_bare_init(&bare, run->subject, shape)) return ERR_LIMIT_MEMORY;
    const struct sql_node *items = sql_kid(block->node, SELECT_ITEMS);
    for (uint32_t i = 0; items && i < items->n_kids; i++) {
        const struct sql_node *column = sql_is(items->kids[i], SQL_ITEM) ? vsig_bare_find(&bare, items->kids[i]) : NULL;
        if (column) report(run, column);
    }
    const struct sql_node *column = vsig_bare_find(&bare, sql_kid(block->node, SELECT_HAVING));
    if (column) report(run, column);
    return ERR_OK;
}

static enum err_code eval(struct vsig_run *run)
{
    return vsig_each_block(run, look_at);
}

const struct vsig_def vsig_bare_column = {
    .id = VSIG_ID_bare_column,
    .name = "bare_column",
    .family = VSIG_STRUCTURE,
    .cause = VSIG_MISALIGNMENT,
    .sentence = "a column that is neither grouped nor aggregated is used beside an aggregate",
    .description = "Beside an aggregate, the query uses a column that can have several values in one group. SQLite "
                   "returns an arbitrary one of these values. Other engines reject the query.",
    .example = "`SELECT name, COUNT(*) FROM singer GROUP BY country`. Each country has many names.",
    .instruction =
        "Group by the column or by a key that determines it. Otherwise, aggregate the column or leave it out.",
    .eval = eval,
};
