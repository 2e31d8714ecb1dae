/* partner_dropped: "including those without any" asks for rows that an inner join drops.
 *
 * What keeps them: an outer join, a subquery beside each row, a set operation. A query over one table drops none. */
#include "signals/support/query.h"

static bool keeps_rows(const struct vsig_subject *subject, const struct query_view *view)
{
    if (subject->bound->n_blocks > 1 || view->compound[QUERY_UNION] || view->compound[QUERY_UNION_ALL]) return true;
    for (const struct sql_node *n = subject->stmt->root; n; n = sql_walk(subject->stmt->root, n))
        if (sql_is(n, SQL_JOIN) &&
            (n->op == SQL_JOIN_LEFT_OUTER || n->op == SQL_JOIN_RIGHT_OUTER || n->op == SQL_JOIN_FULL_OUTER))
            return true;
    return false;
}

static enum err_code partner_dropped_eval(struct vsig_run *run)
{
    const struct question *question = run->subject->analysis;
    const struct sql_block *block = query_answer_block(run->subject);
    struct query_view view;
    if (query_foreign(run) || !block || block->n_sources < 2) return ERR_OK;
    int cue = question_cue_next(question, QUESTION_CUE_INCLUDE, 0);
    query_look(run->subject, &view);
    if (cue < 0 || question->cues[cue].weak || keeps_rows(run->subject, &view)) return ERR_OK;
    vsig_fire(run, VSIG_ERROR, sql_kid(block->node, SELECT_FROM),
              "the question wants those without a partner too, the join drops them");
    return ERR_OK;
}

const struct vsig_def vsig_partner_dropped = {
    .id = VSIG_ID_partner_dropped,
    .name = "partner_dropped",
    .family = VSIG_QUESTION,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_QUESTION,
    .sentence = "rows without a partner are asked for, and an inner join drops them",
    .description =
        "The question says: including those without, zero where there are none. An inner join has no row for "
        "those.",
    .example = "How many pets has each owner, including those without any? - SELECT name, COUNT(*) FROM owner JOIN pet "
               "USING (owner_id) GROUP BY owner_id",
    .instruction = "Use a left join from the table whose rows must all be there, and count a column of the other.",
    .eval = partner_dropped_eval,
};
