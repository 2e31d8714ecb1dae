/* The values of a single column or expression for which a condition is true, and those for which it is false.
 *
 * The logic is three-valued: a NULL that makes the condition unknown is in neither set. Conditions over more than one
 * column are MIXED, and nothing is known about them here. */
#ifndef ASSAY_SIGNALS_SUPPORT_TRUTH_H
#define ASSAY_SIGNALS_SUPPORT_TRUTH_H

#include "signals/support/domain.h"
#include "signals/vsig.h"

/* A column of a FROM item, or an expression that gives the same value for the same row. */
struct vsig_term {
    const struct sql_source *source; /* of a column */
    int output;
    const struct sql_node *expr;        /* the column's or expression's first place */
    const struct schema_column *column; /* NULL when there is no base column */
    bool integer;                       /* holds whole numbers only */
    bool filled;                        /* its table holds no NULL in it */
    bool never_null;                    /* filled, and not on the optional side of an outer join */
    struct vsig_domain start;           /* the values that it can have at all */
};

enum { VSIG_TRUTH_CONSTANT = -1, VSIG_TRUTH_MIXED = -2, VSIG_MAX_TERMS = 32 };

struct vsig_truth {
    int term; /* index into terms, VSIG_TRUTH_CONSTANT or VSIG_TRUTH_MIXED */
    struct vsig_domain yes, no;
    bool exact; /* else both sets may be too large */
};

/* The terms met so far in one block. */
struct vsig_terms {
    struct vsig_subject *subject;
    const struct sql_block *block;
    struct vsig_calc calc;
    struct vsig_term items[VSIG_MAX_TERMS];
    uint32_t n;
};

void vsig_terms_init(struct vsig_terms *terms, struct vsig_subject *subject, const struct sql_block *block);
/* Returns the index of the term of `expr`, added if new. Returns -1 if it is not a term (a literal, a subquery) or
 * there are too many. */
int vsig_term_of(struct vsig_terms *terms, const struct sql_node *expr);
struct vsig_truth vsig_truth_of(struct vsig_terms *terms, const struct sql_node *condition);

#endif
