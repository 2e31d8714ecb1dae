/* wrong_grouping: the data show that the groups differ from those of the question. Three cases fire. One group holds
 * two things of the same name. One displayed thing has several groups. One extreme is computed over all rows where the
 * question asks for one in each group. */
#include "signals/support/grouping.h"
#include "signals/support/names.h"

static const char *const EACH_OF[] = {"for each", "for every", "within each", "within every", "in each",
                                      "in every", "of each",   "of every",    "per",          NULL};

static enum err_code wrong_grouping_eval(struct vsig_run *run)
{
    struct vsig_grouping grouping;
    struct vsig_subject *subject = run->subject;
    if (!vsig_grouping_look(subject, false, &grouping)) return ERR_LIMIT_MEMORY;
    if (grouping.merged > 0 && grouping.merged_asked) {
        const struct schema_table *table = &subject->schema->tables[grouping.merged_by->table];
        struct vsig_finding *finding =
            vsig_fire(run, VSIG_WARNING, grouping.merged_at,
                      "several rows of %s have the same %s, so GROUP BY merges these rows into one group", table->name,
                      grouping.merged_by->name);
        vsig_add_fact(run, finding, "share of rows", true, "%.3f", (double)grouping.merged);
    }
    if (grouping.each_extreme && !grouping.per_group && grouping.for_all && vsig_question_says(subject, EACH_OF))
        vsig_fire(run, VSIG_ERROR, grouping.for_all,
                  "the question asks for an extreme per group, but the query uses one extreme for all rows");
    return ERR_OK;
}

const struct vsig_def vsig_wrong_grouping = {
    .id = VSIG_ID_wrong_grouping,
    .name = "wrong_grouping",
    .family = VSIG_STRUCTURE,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_QUESTION,
    .sentence = "the query groups by a name that several things share, or uses one extreme of all rows instead of one "
                "per group",
    .description = "The query does not use the groups that the question names. Things with the same name are merged, "
                   "or rows are compared with the extreme of all rows instead of the extreme of their group.",
    .example = "Who earns most in each department? - SELECT name FROM staff WHERE pay = (SELECT MAX(pay) FROM staff)",
    .instruction =
        "Group by the key. Compute the extreme within the group, with a correlated subquery or a window function.",
    .eval = wrong_grouping_eval,
};
