/* unnecessary_subquery: the query has too many subqueries (SQLens A.1). */
#include "signals/support/names.h"
#include "signals/vsig.h"

enum { OPT_MAX_SUBQUERIES };

static const struct vsig_option OPTIONS[] = {
    {"max_subqueries", 3, 0, 1000, "maximum number of subqueries; queries with more subqueries are reported"},
    {NULL},
};

/* True for a subquery. Arms of a set operation do not count, with or without parentheses. */
static bool is_subquery(const struct sql_node *node)
{
    if (node->kind != SQL_QUERY || !node->parent) return false;
    return !sql_is(node->parent, SQL_COMPOUND) && !sql_is(node->parent, SQL_QUERY);
}

static enum err_code eval(struct vsig_run *run)
{
    const struct sql_node *root = run->subject->stmt->root;
    unsigned n = 0, allowed = (unsigned)vsig_opt(run, OPT_MAX_SUBQUERIES);
    for (const struct sql_node *node = root; node; node = sql_walk(root, node)) n += is_subquery(node);
    if (n <= allowed) return ERR_OK;

    struct vsig_finding *finding = NULL;
    for (const struct sql_node *node = root; node; node = sql_walk(root, node)) {
        if (!is_subquery(node)) continue;
        if (!finding || finding->n_clauses == VSIG_MAX_CLAUSES) {
            finding = vsig_fire(run, VSIG_WARNING, node->parent, "the query has %s, more than the limit of %u",
                                vsig_counted(run->subject, n, "subquery", "subqueries"), allowed);
            vsig_add_fact(run, finding, "subqueries", false, "%u", n);
            if (!finding) return ERR_OK; /* the list of findings is full */
        } else {
            vsig_add_clause(run, finding, node->parent);
        }
    }
    return ERR_OK;
}

const struct vsig_def vsig_unnecessary_subquery = {
    .id = VSIG_ID_unnecessary_subquery,
    .name = "unnecessary_subquery",
    .family = VSIG_STRUCTURE,
    .cause = VSIG_MISALIGNMENT,
    .sentence = "the query has more than max_subqueries subqueries, including CTEs and derived tables",
    .description =
        "The query has many subqueries. Each additional subquery makes a misreading of the question more likely.",
    .example = "Four nested SELECTs find the singer with the most concerts. One join with GROUP BY and `ORDER BY "
               "COUNT(*) DESC LIMIT 1` is enough.",
    .instruction = "Rewrite the query with joins and a single GROUP BY where that returns the same rows. Keep a "
                   "subquery only where it computes something that a join cannot.",
    .options = OPTIONS,
    .eval = eval,
};
