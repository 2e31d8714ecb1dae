/* incorrect_subquery_filter: the subquery of x op (SELECT ...) returns more than one distinct value (SQLens §A.1,
 * "Incorrect filter in subquery"). The engine silently uses the first.
 *
 * The signal differs from the paper in two ways. It finds the subquery in the syntax tree and not by a regular
 * expression. It counts distinct values, because repeats of one value are harmless. One probe evaluates a correlated
 * subquery for at most max_probe outer rows. */
#include "signals/support/probe.h"

#include <string.h>

enum { OPT_MAX_PROBE };

static const struct vsig_option OPTIONS[] = {
    [OPT_MAX_PROBE] = {"max_probe", 200, 1, 100000,
                       "maximum number of outer rows for which a correlated subquery is evaluated"},
    {NULL, 0, 0, 0, NULL},
};

static const struct sql_node *subquery_side(const struct sql_node *node)
{
    if (node->kind != SQL_BINARY) return NULL;
    if (!sql_is_comparison(node->op) && node->op != SQL_OP_IS && node->op != SQL_OP_IS_NOT) return NULL;
    for (unsigned side = 0; side < 2; side++)
        if (node->kids[side]->kind == SQL_SUBQUERY) return node->kids[side];
    return NULL;
}

/* True if the subquery returns at most one row, because it is an aggregate without GROUP BY or has no FROM clause. */
static bool is_single_row(const struct vsig_subject *subject, const struct sql_node *query)
{
    const struct sql_node *select = sql_kid(query, QUERY_BODY);
    if (!sql_is(select, SQL_SELECT)) return false;
    const struct sql_block *block = NULL;
    for (uint32_t i = 0; i < subject->bound->n_blocks; i++)
        if (subject->bound->blocks[i]->node == select) block = subject->bound->blocks[i];
    return block && ((block->aggregate && !block->grouped) || block->n_sources == 0);
}

static bool is_limited_to_one(const struct sql_node *query)
{
    const struct sql_node *count = sql_plain_literal(sql_kid(sql_kid(query, QUERY_LIMIT), LIMIT_COUNT));
    return count && count->text_len == 1 && count->text[0] == '1';
}

/* Returns 1 if the query has more than one distinct value, 0 if it has not, and -1 if the probe failed. *code gets the
 * error. */
static int ask_alone(struct vsig_subject *subject, const struct sql_node *query, enum err_code *code)
{
    const char *with = vsig_probe_with(subject, "assay_q(c)", query);
    struct db_result result;
    *code = with ? vsig_probe(subject, arena_printf(subject->arena, "%sSELECT DISTINCT c FROM assay_q LIMIT 2", with),
                              2, &result)
                 : ERR_LIMIT_MEMORY;
    return *code == ERR_OK ? result.n_rows > 1 : -1;
}

/* Returns a probe that counts the distinct values of the subquery for each row of the outer block, instead of computing
 * its value. Returns NULL if the probe cannot be built. */
static const char *correlated_probe(struct vsig_subject *subject, const struct sql_node *query, uint32_t max_rows)
{
    struct arena *arena = subject->arena;
    struct sql_node *copy = sql_copy(arena, query);
    const struct sql_node *outer = sql_up(query->parent, SQL_SELECT);
    if (!copy || !outer || !sql_kid(outer, SELECT_FROM)) return NULL;
    struct sql_node *items = sql_kid(sql_kid(copy, QUERY_BODY), SELECT_ITEMS);
    struct sql_node *call = sql_make_text(arena, SQL_CALL, "count"), *args = sql_make(arena, SQL_ARGS);
    if (!items || !call || !args || !sql_append(arena, args, items->kids[0]->kids[0])) return NULL;
    call->flags |= SQL_F_DISTINCT;
    sql_set_kid(call, CALL_ARGS, args);
    sql_set_kid(items->kids[0], 0, call);
    sql_set_kid(copy, QUERY_ORDER, NULL);
    const char *with = vsig_probe_with(subject, NULL, NULL), *inner = sql_print(arena, copy);
    const char *from = sql_print(arena, sql_kid(outer, SELECT_FROM));
    if (!with || !inner || !from) return NULL;
    return arena_printf(arena, "%sSELECT 1 FROM (SELECT (%s) AS n %s LIMIT %u) WHERE n > 1 LIMIT 1", with, inner, from,
                        max_rows);
}

/* True if a count can replace the select list without a change of the counted rows. */
static bool is_countable(const struct sql_node *query)
{
    const struct sql_node *select = sql_kid(query, QUERY_BODY);
    const struct sql_node *items = sql_kid(select, SELECT_ITEMS);
    return sql_is(select, SQL_SELECT) && !sql_kid(select, SELECT_GROUP) && !sql_kid(query, QUERY_LIMIT) &&
           !sql_kid(query, QUERY_WITH) && items && items->n_kids == 1 && items->kids[0]->kind == SQL_ITEM;
}

static enum err_code look_at(struct vsig_run *run, const struct sql_node *condition, const struct sql_node *subquery)
{
    struct vsig_subject *subject = run->subject;
    const struct sql_node *query = sql_kid(subquery, 0);
    if (is_single_row(subject, query)) return ERR_OK;
    bool correlated = vsig_is_correlated(subject, query);
    enum err_code code = ERR_OK;
    if (is_limited_to_one(query)) {
        if (sql_kid(query, QUERY_ORDER) || correlated) return ERR_OK;
        struct sql_node *all = sql_copy(subject->arena, query);
        if (!all) return ERR_LIMIT_MEMORY;
        sql_set_kid(all, QUERY_LIMIT, NULL);
        if (ask_alone(subject, all, &code) == 1)
            vsig_note(run, subquery,
                      "the subquery has LIMIT 1 but no ORDER BY, so it returns an arbitrary one of several values");
        return code;
    }
    if (correlated && !is_countable(query)) return ERR_REFUSED;
    int several =
        correlated
            ? vsig_probe_any(subject, correlated_probe(subject, query, (uint32_t)vsig_opt(run, OPT_MAX_PROBE)), &code)
            : ask_alone(subject, query, &code);
    if (several == 1) {
        struct vsig_finding *finding = vsig_fire(
            run, VSIG_ERROR, subquery, "the subquery returns several values, but the comparison uses only the first");
        vsig_add_clause(run, finding, condition);
    }
    return several < 0 ? code : ERR_OK;
}

static enum err_code eval(struct vsig_run *run)
{
    enum err_code worst = ERR_OK;
    const struct sql_node *root = run->subject->stmt->root;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        const struct sql_node *subquery = subquery_side(n);
        enum err_code code = subquery ? look_at(run, n, subquery) : ERR_OK;
        if (code != ERR_OK) worst = code;
    }
    if (run->verdict->state == VSIG_FIRED || worst == ERR_OK) return ERR_OK;
    if (worst != ERR_REFUSED) return worst;
    vsig_unavailable(run, "correlated subquery");
    return ERR_OK;
}

const struct vsig_def vsig_incorrect_subquery_filter = {
    .id = VSIG_ID_incorrect_subquery_filter,
    .name = "incorrect_subquery_filter",
    .family = VSIG_EXECUTION,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_DB,
    .sentence = "a value is compared with a subquery that returns more than one distinct value",
    .description = "A comparison needs one value, but its subquery returns several. SQLite uses only the first value. "
                   "PostgreSQL reports an error.",
    .example = "`WHERE city = (SELECT city FROM shops)` compares with the city of the first shop only.",
    .instruction =
        "Use IN to match any of the values. For one definite value, use an aggregate, or ORDER BY with LIMIT 1.",
    .options = OPTIONS,
    .eval = eval,
};
