/* Finds outer joins whose unmatched rows are dropped again by a later condition or an inner join. The data must prove
 * this. */
#ifndef ASSAY_SIGNALS_SUPPORT_UNDONE_H
#define ASSAY_SIGNALS_SUPPORT_UNDONE_H

#include "signals/support/shape.h"

struct vsig_undone {
    const struct sql_node *at;     /* the condition or join that drops the rows; NULL if nothing is found */
    const struct sql_source *kept; /* the FROM item whose rows the outer join keeps */
    bool by_join;                  /* true if an inner join drops the rows, false if a condition of WHERE does */
    bool counts;                   /* true if the query counts or sums a column of the optional side */
    bool fills;                    /* true if the query replaces NULL of the optional side with a number */
};

/* Finds the first outer join whose unmatched rows are dropped. Reports it only if the data contain such rows. Runs at
 * most two probes for each join. */
enum err_code vsig_undone_look(struct vsig_subject *subject, struct vsig_undone *undone);

#endif
