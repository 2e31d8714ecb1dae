/* Things without rows of another table ("carriers without a pickup"), written in ways that do not exclude the right
 * things. The data prove each fault. */
#ifndef ASSAY_SIGNALS_SUPPORT_WITHOUT_H
#define ASSAY_SIGNALS_SUPPORT_WITHOUT_H

#include "signals/support/shape.h"

struct vsig_without {
    const struct sql_node *at; /* the condition; NULL if there is none */
    int rows;                  /* the table of its column */
    bool zero;                 /* it compares with zero */
};

/* Finds a negated condition, or a comparison with zero, on rows that the answer does not show. At least one returned
 * thing must also have a row for which the condition is false. */
enum err_code vsig_without_rows(struct vsig_subject *subject, struct vsig_without *without);

/* Finds a difference of two counts whose second one counts rows that refer to the rows of the first one. At least one
 * thing must have several of these rows. Sets *at to the second count, or to NULL. */
enum err_code vsig_without_count(struct vsig_subject *subject, const struct sql_node **at);

#endif
