/* Inspects the logic of conditions in the syntax tree: AND, OR and NOT, exclusions of rows, sets, and keys that are
 * compared by size. */
#ifndef ASSAY_SIGNALS_SUPPORT_LOGIC_H
#define ASSAY_SIGNALS_SUPPORT_LOGIC_H

#include "signals/support/query.h"

struct vsig_logic {
    const struct sql_node
        *loose; /* the AND in a = 1 OR a = 2 AND b = 3, whose b applies only to the last alternative; NULL if there is
                 * none */
    const struct sql_node *bound;        /* the condition b = 3 in `loose` */
    const struct sql_node *wide;         /* the OR in (a = 1 OR a = 2) AND b = 3; NULL if there is none */
    const struct sql_node *wide_bound;   /* the condition b = 3 beside `wide` */
    const struct sql_node *row_excluded; /* the first node counted in rows_excluded_joined; NULL if there is none */
    const struct sql_node *key_sized;    /* the first node counted in keys_sized; NULL if there is none */
    const struct sql_node *any_set;      /* the first node counted in any_of_sets; NULL if there is none */
    uint32_t or_over_and, and_over_or;
    const struct sql_node *narrowed; /* the first AND inside an OR that restricts two columns; NULL if there is none */
    uint32_t leaves_both;            /* NOT (a = 1 AND b = 2), or a <> 1 OR b <> 2: excludes only rows that meet both */
    uint32_t leaves_each;            /* a <> 1 AND b <> 2, or NOT (a = 1 OR b = 2): excludes rows that meet one of
                                      * them */
    uint32_t any_of_sets;            /* x IN (SELECT ...) OR x IN (SELECT ...), the same with EXISTS, or a UNION inside
                                      * IN */
    uint32_t each_of_sets;           /* the same as any_of_sets with AND instead of OR, or INTERSECT */
    uint32_t keys_sized;             /* comparisons of a key with a number by <, <=, > or >= */
    const struct sql_node *crossed;  /* <> between two keys that refer to each other, if one of their tables is not
                                      * joined by an equality; NULL if there is none */
    uint32_t rows_excluded_joined;   /* x <> 1 on rows that are not displayed: several of them belong to one displayed
                                      * row, or they are in a subquery */
    uint32_t sets_excluded;          /* NOT IN (SELECT ...), NOT EXISTS, EXCEPT */
};

/* Fills `logic`. The work is bounded by the statement's size. */
void vsig_logic_look(struct vsig_subject *subject, struct vsig_logic *logic);

/* Returns a comparison by <, <=, > or >= of a column in one row with the same column in another row. For example, NOT
 * EXISTS (... n.day > c.day) selects the last day. Returns NULL if there is none. */
const struct sql_node *vsig_compares_with_others(const struct vsig_subject *subject);

#endif
