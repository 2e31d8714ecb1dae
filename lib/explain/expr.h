/* Inside of the telling of expressions: expr.c hands each kind of node to its teller; condition.c, inner.c and call.c
 * have those of their kinds. */
#ifndef ASSAY_LIB_EXPLAIN_EXPR_H
#define ASSAY_LIB_EXPLAIN_EXPR_H

#include "lib/explain/teller.h"

/* Loosest first; what is looser than its surroundings, or as loose and not the same operator, gets parentheses. */
enum looseness { LOGIC, CONDITION, ARITHMETIC, TIGHT };

/* --- expr.c --- */

/* An operand of something of that looseness. */
void say_operand(struct teller *t, struct say *out, const struct sql_node *n, enum looseness around);
/* " is greater than " */
void say_operator(struct teller *t, struct say *out, const struct sql_node *n);
/* "is" and its like, or "are"; does the subject take "are"? */
void say_verb(struct say *out, const char *verb, bool plural);
bool say_are(const struct teller *t, const struct say *out, const struct sql_node *subject);
/* Entries of a list, as many as are told. */
void say_list(struct teller *t, struct say *out, const struct sql_node *list);
bool tell_is_null(const struct sql_node *n);

/* --- condition.c --- */

/* LIKE, BETWEEN, IN: their first kid is what they say something of. */
tell_fn say_subject_and_test;

/* --- inner.c --- */

tell_fn say_exists, say_not_exists, say_quantified, say_subquery;
/* "the values of query 1"; or, in prose, the simplest queries in place. */
void say_values_of(struct teller *t, struct say *out, const struct sql_node *query);

/* --- call.c --- */

tell_fn say_call;
/* COUNT(*), COUNT(1)? */
bool tell_counts_rows(const struct sql_node *call);

#endif
