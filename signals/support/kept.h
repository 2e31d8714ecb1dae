/* Whether rows without a partner are kept. The question may ask for all of a kind, "including those without"; a join
 * must then not drop such a row. Whether a join drops rows is read from the statistics of its columns; no statement
 * runs. */
#ifndef ASSAY_SIGNALS_SUPPORT_KEPT_H
#define ASSAY_SIGNALS_SUPPORT_KEPT_H

#include "lib/question/phrase.h"
#include "signals/support/shape.h"

enum vsig_keep {
    VSIG_KEEP_ONLY, /* the opposite: those without are to be left out */
    VSIG_KEEP_UNSAID,
    VSIG_KEEP_EACH,   /* each, every, all: an inner join is what most people mean all the same */
    VSIG_KEEP_HINTED, /* none, no, without ... near too, also, as well: it may mean so */
    VSIG_KEEP_SAID    /* including those without, zeros included, even if there are none ... */
};

enum vsig_drop {
    VSIG_DROP_NOTHING,
    VSIG_DROP_JOIN,     /* an inner join */
    VSIG_DROP_SIDE,     /* an outer join that keeps the rows of the other side */
    VSIG_DROP_FILTER,   /* an outer join, whose rows without a partner a later condition or join throws away */
    VSIG_DROP_UNJOINED, /* the table that holds all of them is not read */
    VSIG_DROP_COUNTED   /* none is dropped, but COUNT(*) counts the row without a partner as one */
};

struct vsig_kept {
    enum vsig_keep asked;
    struct question_phrase said; /* of VSIG_KEEP_SAID */
    enum vsig_drop drop;         /* the first cause found */
    const struct sql_node *at;   /* where */
    int table;                   /* whose rows are dropped; -1 */
    double rows, lost;           /* of that table; lost: at least so many have no partner */
    uint32_t n_outer;            /* outer joins of the answer */
    int spoken;                  /* the table that the words of the request name first: "vans without a depot"; -1 */
    bool meant;                  /* what the question speaks of is kept: by an outer join, or by COALESCE with a text */
    bool anti;                   /* the answer asks for the rows without a partner alone */
};

/* Computed once a subject; NULL if the arena is full. */
const struct vsig_kept *vsig_kept_look(struct vsig_subject *subject);

#endif
