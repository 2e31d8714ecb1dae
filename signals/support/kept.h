/* Whether rows without a partner are kept. The question may ask for all of a kind, "including those without"; a join
 * must then not drop such a row. Whether a join drops rows is read from the statistics of its columns; no statement
 * runs. */
#ifndef ASSAY_SIGNALS_SUPPORT_KEPT_H
#define ASSAY_SIGNALS_SUPPORT_KEPT_H

#include "lib/question/phrase.h"
#include "signals/support/shape.h"

enum vsig_keep {
    VSIG_KEEP_ONLY, /* the opposite: rows without a partner must be excluded */
    VSIG_KEEP_UNSAID,
    VSIG_KEEP_EACH,   /* each, every, all: most users still expect an inner join */
    VSIG_KEEP_HINTED, /* none, no, without ... near too, also, as well: may mean it */
    VSIG_KEEP_SAID    /* including those without, zeros included, even if there are none ... */
};

enum vsig_drop {
    VSIG_DROP_NOTHING,
    VSIG_DROP_JOIN,     /* an inner join */
    VSIG_DROP_SIDE,     /* an outer join that keeps the rows of the other side */
    VSIG_DROP_FILTER,   /* an outer join whose rows without a partner a later condition or join drops */
    VSIG_DROP_UNJOINED, /* the query does not read the table that has all of them */
    VSIG_DROP_COUNTED   /* none is dropped, but COUNT(*) counts the row without a partner as one */
};

struct vsig_kept {
    enum vsig_keep asked;
    struct question_phrase said; /* of VSIG_KEEP_SAID */
    enum vsig_drop drop;         /* the first cause found */
    const struct sql_node *at;   /* where it is in the query */
    int table;                   /* the table whose rows are dropped; -1 */
    double rows, lost;           /* of that table; lost: lower bound of the rows without a partner */
    uint32_t n_outer;            /* outer joins of the answer */
    int spoken;                  /* the table that the words of the request name first: "vans without a depot"; -1 */
    bool meant;                  /* an outer join, or COALESCE with a text, keeps the requested rows */
    bool anti;                   /* the answer selects only the rows without a partner */
};

/* Computed once a subject; NULL if the arena is full. */
const struct vsig_kept *vsig_kept_look(struct vsig_subject *subject);

#endif
