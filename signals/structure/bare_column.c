/* A column beside an aggregate that is neither grouped nor aggregated: SQLite picks its value from any row of the group. */
#include "signals/common/keys.h"
#include "signals/common/names.h"

#include <string.h>

static bool is_extreme(const struct sql_node *call)
{
    return sql_is_aggregate(call) &&
           (sql_name_is(call->text, call->text_len, "min", 3) || sql_name_is(call->text, call->text_len, "max", 3));
}

/* SQLite's documented rule: with exactly one MIN or MAX, bare columns come from the row that holds it. */
static bool one_extreme(const struct vsig_run *run, const struct sql_block *block)
{
    unsigned n = 0;
    const struct sql_node *top = block->query ? block->query : block->node;
    for (const struct sql_node *node = top; node; node = sql_walk(top, node))
        if (node->kind == SQL_CALL && is_extreme(node) && sql_block_of(run->subject->bound, node) == block) n++;
    return n == 1;
}

static bool is_grouping(const struct sql_node *group, const struct sql_node *expr)
{
    for (uint32_t i = 0; group && i < group->n_kids; i++)
        if (sql_equal(group->kids[i], expr)) return true;
    return false;
}

struct search {
    struct vsig_run *run;
    const struct sql_block *block;
    const struct sql_node *group;
    const struct vsig_keys *keys;
};

/* The first column below `expr` that has no one value in a group, or NULL. Aggregates and subqueries are passed over. */
static const struct sql_node *find_bare(const struct search *search, const struct sql_node *expr)
{
    for (const struct sql_node *n = expr; n;) {
        bool closed = sql_is_aggregate(n) || n->kind == SQL_QUERY || is_grouping(search->group, n);
        if (n->kind == SQL_CALL && sql_kid(n, CALL_WINDOW)) closed = true;
        if (n->kind == SQL_COLUMN && n->ref && !closed) {
            const struct sql_ref *ref = vsig_plain_column(n);
            bool local = ref && ref->source->block == search->block;
            if (local && !vsig_keys_has(search->keys, ref->source, ref->kind == SQL_REF_ROWID ? -2 : ref->output)) return n;
        }
        n = closed ? sql_walk_over(expr, n) : sql_walk(expr, n);
    }
    return NULL;
}

/* GROUP BY 2: the number of an item. */
static const struct sql_node *meant_by(const struct sql_node *select, const struct sql_node *expr)
{
    if (!sql_is(expr, SQL_LITERAL) || expr->op != SQL_LIT_INT || expr->text_len > 3) return expr;
    uint32_t number = 0;
    for (uint32_t i = 0; i < expr->text_len; i++) number = number * 10 + (uint32_t)(expr->text[i] - '0');
    const struct sql_node *items = sql_kid(select, SELECT_ITEMS);
    const struct sql_node *item = number && items && number <= items->n_kids ? items->kids[number - 1] : NULL;
    return sql_is(item, SQL_ITEM) ? sql_kid(item, 0) : expr;
}

static struct vsig_keys *fixed_by_groups(struct vsig_run *run, const struct vsig_block_shape *shape)
{
    struct vsig_keys *keys = vsig_keys_new(run->subject, shape);
    const struct sql_node *group = sql_kid(shape->block->node, SELECT_GROUP);
    for (uint32_t i = 0; keys && group && i < group->n_kids; i++) {
        const struct sql_ref *ref = vsig_plain_column(meant_by(shape->block->node, group->kids[i]));
        if (ref && ref->source->block == shape->block)
            vsig_keys_add(keys, ref->source, ref->kind == SQL_REF_ROWID ? -2 : ref->output);
    }
    if (keys) vsig_keys_close(keys);
    return keys;
}

static void report(struct vsig_run *run, const struct sql_node *column)
{
    const struct sql_ref *ref = vsig_plain_column(column);
    const char *name = vsig_column_name(run->subject, ref);
    struct vsig_finding *finding = vsig_fire(run, VSIG_WARNING, column,
                                             "%s is neither grouped nor aggregated: its value comes from any row of a group", name);
    vsig_add_fact(run, finding, "column", false, "%s", name);
}

static enum err_code look_at(struct vsig_run *run, const struct vsig_block_shape *shape)
{
    const struct sql_block *block = shape->block;
    if (!block->aggregate || shape->too_wide || !sql_is(block->node, SQL_SELECT) || one_extreme(run, block)) return ERR_OK;
    struct vsig_keys *keys = fixed_by_groups(run, shape);
    if (!keys) return ERR_LIMIT_MEMORY;
    struct search search = {run, block, sql_kid(block->node, SELECT_GROUP), keys};
    const struct sql_node *items = sql_kid(block->node, SELECT_ITEMS);
    for (uint32_t i = 0; items && i < items->n_kids; i++) {
        if (!sql_is(items->kids[i], SQL_ITEM)) continue;
        if (is_grouping(search.group, items->kids[i])) continue;
        const struct sql_node *bare = find_bare(&search, sql_kid(items->kids[i], 0));
        if (bare) report(run, bare);
    }
    const struct sql_node *bare = find_bare(&search, sql_kid(block->node, SELECT_HAVING));
    if (bare) report(run, bare);
    return ERR_OK;
}

static enum err_code eval(struct vsig_run *run)
{
    const struct vsig_shape *shape = vsig_shape(run->subject);
    if (!shape) return ERR_LIMIT_MEMORY;
    for (uint32_t i = 0; i < run->subject->bound->n_blocks; i++) {
        enum err_code code = look_at(run, &shape->blocks[i]);
        if (code != ERR_OK) return code;
    }
    return ERR_OK;
}

const struct vsig_def vsig_bare_column = {
    .id = VSIG_ID_bare_column,
    .name = "bare_column",
    .family = VSIG_STRUCTURE,
    .cause = VSIG_MISALIGNMENT,
    .sentence = "a column that is neither grouped nor aggregated stands beside an aggregate",
    .description = "Beside an aggregate the query returns a column that can have several values in one group. SQLite takes "
                   "one of them without saying which; other engines refuse the query.",
    .example = "SELECT name, COUNT(*) FROM singer GROUP BY country: each country has many names.",
    .instruction = "Group by the column (or by a key that determines it), aggregate it, or leave it out.",
    .eval = eval,
};
