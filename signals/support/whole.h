/* Finds shares whose whole is counted over an inner join. Things without a partner are missing from both counts. */
#ifndef ASSAY_SIGNALS_SUPPORT_WHOLE_H
#define ASSAY_SIGNALS_SUPPORT_WHOLE_H

#include "signals/support/shape.h"

struct vsig_whole {
    const struct sql_node *at; /* the count that is used as the whole; NULL if nothing is found */
    int table;                 /* the table of the things, some of which have no partner in the join */
};

/* Finds a count of distinct keys that is divided by a count of the equal keys of a joined table. The result is 1 for
 * any data. Returns the division, or NULL. Runs no statement. */
const struct sql_node *vsig_whole_by_itself(struct vsig_subject *subject);

/* Finds a conditional count of distinct keys that is divided by a count of the same keys, over rows of another table.
 * Also finds an average over groups of such rows with one group for each key. Reports them only if the data contain a
 * thing without such a row. Runs at most one probe for each division. */
enum err_code vsig_whole_look(struct vsig_subject *subject, struct vsig_whole *whole);

#endif
