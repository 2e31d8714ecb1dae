/* Outer joins whose unmatched rows a later condition or an inner join drops again, with proof from the data. */
#ifndef ASSAY_SIGNALS_SUPPORT_UNDONE_H
#define ASSAY_SIGNALS_SUPPORT_UNDONE_H

#include "signals/support/shape.h"

struct vsig_undone {
    const struct sql_node *at;     /* the condition or join that drops the rows; NULL if there is none */
    const struct sql_source *kept; /* the FROM item whose rows the outer join keeps */
    bool by_join;                  /* an inner join drops them, not a condition of WHERE */
    bool counts;                   /* the query counts or adds a column of the optional side */
    bool fills;                    /* the query replaces NULL of the optional side with a number */
};

/* Finds the first outer join whose unmatched rows are dropped. Runs at most two probes for each such join;
 * only a join with lost rows in the data counts. */
enum err_code vsig_undone_look(struct vsig_subject *subject, struct vsig_undone *undone);

#endif
