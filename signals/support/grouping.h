/* What is grouped by what: groups that throw together things of one name, groups finer than what is shown of them, and
 * one extreme for all where one for each was asked for. */
#ifndef ASSAY_SIGNALS_SUPPORT_GROUPING_H
#define ASSAY_SIGNALS_SUPPORT_GROUPING_H

#include "signals/support/shape.h"

struct vsig_grouping {
    /* Groups by a column that is no key of a table whose key is at hand: at least so many of its rows share a group
     * with another one (share of the rows); 0: none. */
    float merged;
    const struct sql_node *merged_at;
    const struct schema_column *merged_by;
    bool merged_asked; /* the question names the table behind each, every or per, and not the column */
    /* Rows of the result that repeat what is shown of the groups (share of the first rows); NAN: not known. */
    float split;
    const struct sql_node *split_at;
    double each_things; /* how many there are of what stands behind each; NAN */
    /* each ... the most */
    bool each_extreme;              /* the question asks for an extreme of each */
    bool per_group;                 /* the query picks per group, in one of the usual forms */
    const struct sql_node *for_all; /* the one extreme for all that it picks by instead; NULL */
    float key_score;                /* how well the words behind each name what is grouped or correlated by; NAN */
};

/* False when the arena is full. `with_result`: look at the candidate's own result where it is grouped; else
 * `split` is not known. */
bool vsig_grouping_look(struct vsig_subject *subject, bool with_result, struct vsig_grouping *grouping);

#endif
