/* not_in_null: x NOT IN (subquery) is never true, because the subquery returns NULL. */
#include "signals/support/probe.h"

static bool is_not_in_subquery(const struct sql_node *node)
{
    if (node->kind != SQL_IN || !sql_is(sql_kid(node, IN_RIGHT), SQL_SUBQUERY)) return false;
    const struct sql_node *up = node->parent;
    bool negated_around = sql_is(up, SQL_UNARY) && up->op == SQL_OP_NOT;
    return ((node->flags & SQL_F_NOT) != 0) != negated_around;
}

/* True if the statistics show that the subquery returns no NULL. Its only output is a column without NULL, of a FROM
 * item that is not optional. */
static bool never_null(const struct vsig_subject *subject, const struct sql_node *query)
{
    const struct sql_node *select = sql_kid(query, QUERY_BODY);
    if (!sql_is(select, SQL_SELECT)) return false;
    const struct sql_node *items = sql_kid(select, SELECT_ITEMS);
    if (!items || items->n_kids != 1 || items->kids[0]->kind != SQL_ITEM) return false;
    const struct sql_ref *ref = sql_plain_column(items->kids[0]->kids[0]);
    const struct schema_column *column = ref ? schema_column_of(subject->schema, ref) : NULL;
    if (!column || !ref->source || ref->source->kind != SQL_SOURCE_TABLE || ref->source->nullable) return false;
    return column->not_null || (!column->stats.sampled && column->stats.nulls == 0);
}

static enum err_code look_at(struct vsig_run *run, const struct sql_node *in)
{
    struct vsig_subject *subject = run->subject;
    const struct sql_node *query = sql_kid(in->kids[IN_RIGHT], 0);
    if (never_null(subject, query)) return ERR_OK;
    if (vsig_is_correlated(subject, query)) return ERR_REFUSED;
    const char *with = vsig_probe_with(subject, "assay_q(c)", query);
    enum err_code code = ERR_LIMIT_MEMORY;
    int any = -1;
    if (with)
        any = vsig_probe_any(
            subject, arena_printf(subject->arena, "%sSELECT 1 FROM assay_q WHERE c IS NULL LIMIT 1", with), &code);
    if (any == 1) vsig_fire(run, VSIG_ERROR, in, "the subquery returns NULL, so NOT IN is not true for any row");
    return any < 0 ? code : ERR_OK;
}

static enum err_code eval(struct vsig_run *run)
{
    enum err_code worst = ERR_OK;
    const struct sql_node *root = run->subject->stmt->root;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        if (!is_not_in_subquery(n)) continue;
        enum err_code code = look_at(run, n);
        if (code != ERR_OK) worst = code;
    }
    if (run->verdict->state == VSIG_FIRED || worst == ERR_OK) return ERR_OK;
    if (worst != ERR_REFUSED) return worst;
    vsig_unavailable(run, "correlated subquery");
    return ERR_OK;
}

const struct vsig_def vsig_not_in_null = {
    .id = VSIG_ID_not_in_null,
    .name = "not_in_null",
    .family = VSIG_EXECUTION,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_DB,
    .sentence = "NOT IN is used with a subquery that returns NULL",
    .description = "If a list contains NULL, NOT IN is not true for any value. The query then rejects every row.",
    .example = "`WHERE id NOT IN (SELECT owner_id FROM dogs)` returns nothing if one dog has no owner.",
    .instruction = "Add `WHERE ... IS NOT NULL` to the subquery, or use NOT EXISTS.",
    .eval = eval,
};
