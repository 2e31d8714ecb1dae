/* Shares whose whole is counted over an inner join: things without a partner are in neither count. */
#ifndef ASSAY_SIGNALS_SUPPORT_WHOLE_H
#define ASSAY_SIGNALS_SUPPORT_WHOLE_H

#include "signals/support/shape.h"

struct vsig_whole {
    const struct sql_node *at; /* the count that is the whole; NULL if nothing is found */
    int table;                 /* the table of the things, some of which have no partner */
};

/* Finds a count of distinct keys that is divided by a count of distinct keys of a joined table: the result is 1 for any
 * data. Returns the division, or NULL. Runs no statement. */
const struct sql_node *vsig_whole_by_itself(struct vsig_subject *subject);

/* Finds a conditional count of distinct keys that is divided by a count of the same keys, over rows of another table.
 * Also finds an average over groups of such rows, one for each key. Only a thing in the data
 * without such a row counts: at most one probe for each division. */
enum err_code vsig_whole_look(struct vsig_subject *subject, struct vsig_whole *whole);

#endif
