/* Checks whether the query keeps rows without a partner in the joined table. If the question asks for all of a kind,
 * "including those without", then a join must not drop such a row. The statistics of the join columns show whether a
 * join drops rows; no statement runs. */
#ifndef ASSAY_SIGNALS_SUPPORT_KEPT_H
#define ASSAY_SIGNALS_SUPPORT_KEPT_H

#include "lib/question/phrase.h"
#include "signals/support/shape.h"

enum vsig_keep {
    VSIG_KEEP_ONLY, /* the question asks to exclude rows without a partner */
    VSIG_KEEP_UNSAID,
    VSIG_KEEP_EACH,   /* "each", "every", "all": most users still expect an inner join */
    VSIG_KEEP_HINTED, /* "none", "no" or "without" close to "too", "also" or "as well": the question may ask to keep
                       * them */
    VSIG_KEEP_SAID    /* "including those without", "zeros included", "even if there are none" ... */
};

enum vsig_drop {
    VSIG_DROP_NOTHING,
    VSIG_DROP_JOIN,     /* an inner join */
    VSIG_DROP_SIDE,     /* an outer join whose optional side is the one with the requested rows */
    VSIG_DROP_FILTER,   /* an outer join whose unmatched rows a later condition or inner join drops */
    VSIG_DROP_UNJOINED, /* the query does not read the table that has all requested rows */
    VSIG_DROP_COUNTED   /* nothing is dropped, but COUNT(*) returns 1 for a row without a partner */
};

struct vsig_kept {
    enum vsig_keep asked;
    struct question_phrase said; /* the words that ask for it; set for VSIG_KEEP_SAID */
    enum vsig_drop drop;         /* the cause that drops the most rows */
    const struct sql_node *at;   /* the node in the query that drops rows */
    int table;                   /* the table whose rows are dropped; -1 if unknown */
    double rows, lost;           /* number of rows of this table; lower bound of its rows without a partner */
    uint32_t n_outer;            /* number of FROM items on the optional side of outer joins in the answer's block */
    int spoken;                  /* first table that the words in `said` or directly after them name: "vans without a
                                  * depot"; -1 if there is none */
    bool meant;                  /* an outer join, or COALESCE with a text, keeps the rows that the question asks for */
    bool anti;                   /* an IS NULL test selects only the rows without a partner */
};

/* Returns the facts, computed once for each subject. Returns NULL if the arena is full. */
const struct vsig_kept *vsig_kept_look(struct vsig_subject *subject);

#endif
