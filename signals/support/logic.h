/* The logic of conditions: which rows AND, OR and NOT include and exclude, sets compared with rows, and keys compared
 * like numbers. Read from the tree alone. */
#ifndef ASSAY_SIGNALS_SUPPORT_LOGIC_H
#define ASSAY_SIGNALS_SUPPORT_LOGIC_H

#include "signals/support/query.h"

struct vsig_logic {
    const struct sql_node
        *loose; /* the AND of a = 1 OR a = 2 AND b = 3: b applies only to the last alternative; NULL */
    const struct sql_node *bound;        /* that b */
    const struct sql_node *wide;         /* the OR of (a = 1 OR a = 2) AND b = 3; NULL */
    const struct sql_node *wide_bound;   /* that b */
    const struct sql_node *row_excluded; /* the first of rows_excluded_joined; NULL */
    const struct sql_node *key_sized;    /* the first of keys_sized; NULL */
    const struct sql_node *any_set;      /* the first of any_of_sets; NULL */
    uint32_t or_over_and, and_over_or;
    const struct sql_node *narrowed; /* the first such alternative that restricts two columns */
    uint32_t leaves_both;            /* NOT (a = 1 AND b = 2), a <> 1 OR b <> 2: only rows with both are out */
    uint32_t leaves_each;            /* a <> 1 AND b <> 2, NOT (a = 1 OR b = 2) */
    uint32_t any_of_sets;            /* x IN (SELECT ...) OR x IN (SELECT ...), EXISTS alike; UNION inside of IN */
    uint32_t each_of_sets;           /* as above with AND, or INTERSECT */
    uint32_t keys_sized;             /* a key compared by size with a number */
    const struct sql_node *crossed;  /* <> between keys that refer to each other, where no equality joins both; NULL */
    uint32_t rows_excluded_joined;   /* x <> 1 on rows that are joined or looked up for another thing */
    uint32_t sets_excluded;          /* NOT IN (SELECT ...), NOT EXISTS, EXCEPT */
};

/* Fills `logic`. Bounded by the statement. */
void vsig_logic_look(struct vsig_subject *subject, struct vsig_logic *logic);

/* Returns a comparison by <, <=, > or >= of a column of one row with the same column of another row. NOT EXISTS (...
 * n.day > c.day) has one, and selects the last day. NULL if there is none. */
const struct sql_node *vsig_compares_with_others(const struct vsig_subject *subject);

#endif
