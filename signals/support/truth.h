/* Computes the values of one column or expression for which a condition is true, and those for which it is false.
 *
 * The logic is three-valued. If NULL makes the condition unknown, NULL is in neither set. Conditions over more than one
 * column are MIXED and have no sets. */
#ifndef ASSAY_SIGNALS_SUPPORT_TRUTH_H
#define ASSAY_SIGNALS_SUPPORT_TRUTH_H

#include "signals/support/domain.h"
#include "signals/vsig.h"

/* A column of a FROM item, or an expression that has only one value for a row. */
struct vsig_term {
    const struct sql_source *source; /* the FROM item of a column; NULL for an expression */
    int output;
    const struct sql_node *expr;        /* the first occurrence of the column or expression */
    const struct schema_column *column; /* the schema column; NULL if there is none */
    bool integer;                       /* true if it has only whole numbers */
    bool filled;                        /* true if its table has no NULL in this column */
    bool never_null;                    /* true if it is filled and not on the optional side of an outer join; also true
                                         * for COUNT */
    struct vsig_domain start;           /* all values that it can have */
};

enum { VSIG_TRUTH_CONSTANT = -1, VSIG_TRUTH_MIXED = -2, VSIG_MAX_TERMS = 32 };

struct vsig_truth {
    int term; /* index into the items of vsig_terms, or VSIG_TRUTH_CONSTANT or VSIG_TRUTH_MIXED */
    struct vsig_domain yes, no;
    bool exact; /* false if the sets may be too large */
};

/* The terms of one block that were found so far. */
struct vsig_terms {
    struct vsig_subject *subject;
    const struct sql_block *block;
    struct vsig_calc calc;
    struct vsig_term items[VSIG_MAX_TERMS];
    uint32_t n;
};

void vsig_terms_init(struct vsig_terms *terms, struct vsig_subject *subject, const struct sql_block *block);
/* Returns the index of the term of `expr` and adds it if it is new. Returns -1 if `expr` is not a term (a literal, a
 * subquery) or there are too many terms. */
int vsig_term_of(struct vsig_terms *terms, const struct sql_node *expr);
struct vsig_truth vsig_truth_of(struct vsig_terms *terms, const struct sql_node *condition);

#endif
