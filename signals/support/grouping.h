/* Checks the groups of a query. They may merge things of the same name, or be finer than the shown columns. The query
 * may also select a single extreme where the question asks for one of each group. */
#ifndef ASSAY_SIGNALS_SUPPORT_GROUPING_H
#define ASSAY_SIGNALS_SUPPORT_GROUPING_H

#include "signals/support/shape.h"

struct vsig_grouping {
    /* Lower bound for the share of a table's rows that have another row of the table in their group. Computed for
     * groups by a column that is not a key, if the table's own key joins it to another table. Otherwise 0. */
    float merged;
    const struct sql_node *merged_at;
    const struct schema_column *merged_by;
    bool merged_said;  /* the question names the column after "each", "every", "per" or "by" */
    bool merged_asked; /* the question names the table, not the column, after "each", "every" or "per" */
    /* Share of the first result rows that repeat the shown columns of a group; NAN if unknown. */
    float split;
    const struct sql_node *split_at;
    double each_things; /* number of rows or values that the words after "each" refer to; may be NAN */
    /* For questions such as "each ... the most": */
    bool each_extreme;              /* the question asks for an extreme of each group */
    bool per_group;                 /* the query selects an extreme for each group, by GROUP BY, a window or a
                                     * correlated subquery */
    const struct sql_node *for_all; /* the condition or LIMIT by which the query selects one extreme of all rows
                                     * instead; NULL if there is none */
    float key_score;                /* how well the words after "each" name the grouping or correlated columns; may be
                                     * NAN */
};

/* Computes the grouping facts. Returns false if the arena is full. `with_result` reads the candidate's own result if it
 * is grouped; otherwise `split` is unknown. */
bool vsig_grouping_look(struct vsig_subject *subject, bool with_result, struct vsig_grouping *grouping);

/* Computes only the facts about merged groups, for any block. Returns false if the arena is full. */
bool vsig_merged_look(struct vsig_subject *subject, const struct sql_block *block, struct vsig_grouping *grouping);

/* Returns the column that a key of GROUP BY refers to, also by position (GROUP BY 1). Returns NULL if it is not a plain
 * column. */
const struct sql_ref *vsig_group_column(const struct sql_block *block, const struct sql_node *key);

#endif
