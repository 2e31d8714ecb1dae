/* Finds wrong queries for things without rows of another table, such as "carriers without a pickup". They return things
 * that do have such a row. The data must prove each fault. */
#ifndef ASSAY_SIGNALS_SUPPORT_WITHOUT_H
#define ASSAY_SIGNALS_SUPPORT_WITHOUT_H

#include "signals/support/shape.h"

struct vsig_without {
    const struct sql_node *at; /* the wrong condition; NULL if nothing is found */
    int rows;                  /* the table whose rows the condition tests */
    bool zero;                 /* true if the condition compares with zero */
};

/* Finds a negated condition, or a comparison with zero, on rows that the answer does not show. Reports it only if at
 * least one returned thing also has a row for which the condition is false. */
enum err_code vsig_without_rows(struct vsig_subject *subject, struct vsig_without *without);

/* Finds a difference of two counts: things minus rows that refer to these things. Reports it only if at least one thing
 * has several such rows. Sets *at to the second count, or to NULL. */
enum err_code vsig_without_count(struct vsig_subject *subject, const struct sql_node **at);

#endif
