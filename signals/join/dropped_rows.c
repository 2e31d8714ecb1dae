/* dropped_rows: the question also asks for rows without a partner, and the query drops them.
 *
 * If the question says so ("including those without", "zeros included"), the statistics show whether any row has no
 * partner. If each row has one, an inner join gives the same result and the signal is silent. "Each" and "every" alone
 * prove nothing, because the gold queries of such questions use an inner join. */
#include "signals/support/kept.h"
#include "signals/support/names.h"

static const char *const CAUSES[] = {
    [VSIG_DROP_JOIN] = "the question asks for all rows, but the inner join drops rows without a match",
    [VSIG_DROP_SIDE] = "the question asks for all rows, but the outer join keeps the unmatched rows of the wrong table",
    [VSIG_DROP_FILTER] = "the outer join keeps unmatched rows, but this condition drops the unmatched rows again",
    [VSIG_DROP_UNJOINED] =
        "the question also asks for rows that nothing refers to, but the query does not read the table of these rows",
    [VSIG_DROP_COUNTED] = "COUNT(*) counts an unmatched row as 1, but the question asks for 0 in that case",
};

static enum err_code dropped_rows_eval(struct vsig_run *run)
{
    const struct vsig_kept *kept = vsig_kept_look(run->subject);
    if (!kept) return ERR_LIMIT_MEMORY;
    if (kept->asked != VSIG_KEEP_SAID || kept->drop == VSIG_DROP_NOTHING || kept->anti) return ERR_OK;
    if (kept->drop == VSIG_DROP_JOIN && kept->meant) return ERR_OK;
    bool other = kept->drop == VSIG_DROP_SIDE || kept->drop == VSIG_DROP_UNJOINED;
    if (other && kept->spoken >= 0 && kept->spoken != kept->table) return ERR_OK;
    struct vsig_finding *finding = vsig_fire(run, VSIG_ERROR, kept->at, "%s", CAUSES[kept->drop]);
    if (kept->table < 0) return ERR_OK;
    vsig_add_fact(run, finding, "table", false, "%s", run->subject->schema->tables[kept->table].name);
    if (kept->lost >= 1)
        vsig_add_fact(run, finding, "rows without a partner", true, "%.0f of %.0f", kept->lost, kept->rows);
    return ERR_OK;
}

const struct vsig_def vsig_dropped_rows = {
    .id = VSIG_ID_dropped_rows,
    .name = "dropped_rows",
    .family = VSIG_JOIN,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_QUESTION | VSIG_NEEDS_DATA,
    .sentence = "the question also asks for rows without a match, but a join or condition drops these rows",
    .description = "The question asks for all things of a kind, including things without a row in the other table. An "
                   "inner join drops these things. So does a condition on the optional side of an outer join.",
    .example = "How many staff does each department have, including departments without staff? - SELECT d.name, "
               "COUNT(*) FROM department d JOIN staff s ON s.dept_id = d.id GROUP BY d.id",
    .instruction = "Use LEFT JOIN from the table whose rows must all appear. Count a column of the other table, and "
                   "move conditions on the other table into ON.",
    .eval = dropped_rows_eval,
};
