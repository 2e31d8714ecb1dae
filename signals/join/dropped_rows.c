/* The question asks for those without a partner too, and the query leaves them out.
 *
 * Said in so many words ("including those without", "zeros included"), it is asked of the statistics whether any row has
 * no partner; where none has, an inner join is as good and the signal stays silent. "Each" and "every" alone prove
 * nothing: an inner join is what the gold queries answer them with. */
#include "signals/support/kept.h"
#include "signals/support/names.h"

static const char *const CAUSES[] = {
    [VSIG_DROP_JOIN] = "the question asks for all, with or without a partner, and the inner join drops the others",
    [VSIG_DROP_SIDE] = "the question asks for all, with or without a partner, and the outer join keeps the wrong side",
    [VSIG_DROP_FILTER] = "the outer join keeps rows without a partner, and this drops them again",
    [VSIG_DROP_UNJOINED] = "the question asks for all, also those that nothing refers to, and their table is not read",
    [VSIG_DROP_COUNTED] = "COUNT(*) counts the row without a partner as one: zero was asked for",
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
    .sentence = "the question includes those without a partner, and a join or condition drops them",
    .description = "The question asks for all of a kind, also those for which the other table has no row. An inner "
                   "join, or a condition on the optional side of an outer one, leaves them out.",
    .example = "How many staff has each department, also those without? SELECT d.name, COUNT(*) FROM department d "
               "JOIN staff s ON s.dept_id = d.id GROUP BY d.id",
    .instruction = "LEFT JOIN from the table that all of are asked for, count a column of the other one, and put its "
                   "conditions into ON.",
    .eval = dropped_rows_eval,
};
