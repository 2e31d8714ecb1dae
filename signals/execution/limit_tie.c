/* limit_tie: ORDER BY ... LIMIT n cuts between rows that have equal keys and different output, so the choice is
 * arbitrary.
 *
 * Counts of groups often tie, although many questions ask for "the one with the most". Ties of this kind occurred in
 * 2.4 % of the training gold queries, and ties of stored values in 1.1 %. Therefore a tie in a grouped query is a note,
 * and only a tie of stored values is a vote. */
#include "signals/support/probe.h"
#include "signals/support/widened.h"

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
    long cut = vsig_cut_of(query);
    if (!cut || vsig_is_correlated(subject, query)) return ERR_OK;
    uint32_t n_keys = 0;
    const char *sql = vsig_widened(subject, query, cut + 1, &n_keys);
    if (!sql) return subject->arena->failed ? ERR_LIMIT_MEMORY : ERR_OK;
    struct db_result result;
    enum err_code code = vsig_probe(subject, sql, 0, &result);
    if (code != ERR_OK) return code;
    if (result.n_rows <= (uint32_t)cut || result.n_columns <= n_keys) return ERR_OK;
    uint32_t shown = result.n_columns - n_keys, last = (uint32_t)cut - 1;
    if (cells_equal(&result, last, shown, result.n_columns) && !cells_equal(&result, last, 0, shown)) {
        const char *what = "LIMIT cuts between rows with equal ORDER BY keys, so the choice of rows is arbitrary";
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
    .off_by_default = true, /* 6 of 16 findings were correct on the dev logs; the interval of its lift includes 1 */
    .sentence = "LIMIT cuts between rows that have equal ORDER BY keys but different output",
    .description = "Several rows at the limit have the same ORDER BY key, so the choice between them is arbitrary.",
    .example = "`SELECT name FROM singer ORDER BY age DESC LIMIT 1` returns only one singer, even if two singers have "
               "the highest age.",
    .instruction = "To return all tied rows, compare with the extreme value: `= (SELECT MAX(...) ...)`. Otherwise, add "
                   "ORDER BY keys that break the tie.",
    .eval = eval,
};
