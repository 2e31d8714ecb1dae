/* The question asks for those without a partner too, and the query leaves them out.
 *
 * Said in so many words ("including those without", "zeros included"), it is asked of the statistics whether any row has
 * no partner; where none has, an inner join is as good and the signal stays silent. "Each" and "every" alone prove
 * nothing: an inner join is what the gold queries answer them with. */
#include "signals/support/kept.h"
#include "signals/support/names.h"

static const char *const CAUSES[] = {
    [VSIG_DROP_JOIN] = "the question asks for all rows, but the inner join drops the rows without a partner",
    [VSIG_DROP_SIDE] = "the question asks for all rows, but the outer join keeps the unmatched rows of the wrong side",
    [VSIG_DROP_FILTER] = "the outer join keeps rows without a partner, but this condition drops them again",
    [VSIG_DROP_UNJOINED] =
        "the question asks for all rows, including unreferenced ones, but the query does not read their table",
    [VSIG_DROP_COUNTED] = "COUNT(*) counts a row without a partner as one, but the question asks for zero",
};

static enum err_code dropped_rows_eval(struct vsig_run *run)
{
    const struct vsig_kept *kept = vsig_kept_look(run->subject);
    if (!kept) return ERR_LIMIT_MEMORY;
    if (kept->asked != VSIG_KEEP_SAID || kept->drop == VSIG_DROP_NOTHING || kept->anti) return ERR_OK;
    struct vsig_finding *finding = vsig_fire(run, VSIG_ERROR, kept->at, "%s", CAUSES[kept->drop]);
    if (kept->table < 0) return ERR_OK;
    vsig_add_fact(run, finding, "table", false, "%s", run->subject->schema->tables[kept->table].name);
    vsig_add_fact(run, finding, "rows without a partner", true, "%.0f of %.0f", kept->lost, kept->rows);
    return ERR_OK;
}

const struct vsig_def vsig_dropped_rows = {
    .id = VSIG_ID_dropped_rows,
    .name = "dropped_rows",
    .family = VSIG_JOIN,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_QUESTION | VSIG_NEEDS_DATA,
    .sentence = "the question includes rows without a partner, but a join or condition drops them",
    .description = "The question asks for all things of a kind, including those without a row in the other table. An "
                   "inner join, or a condition on the optional side of an outer join, drops them.",
    .example = "How many staff does each department have, including departments without staff? - SELECT d.name, "
               "COUNT(*) FROM department d JOIN staff s ON s.dept_id = d.id GROUP BY d.id",
    .instruction = "LEFT JOIN from the table whose rows must all appear, count a column of the other table, and move "
                   "its conditions into ON.",
    .eval = dropped_rows_eval,
};
