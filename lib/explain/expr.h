/* Narration of expressions. expr.c calls a function for each kind of node; condition.c, inner.c and call.c define some
 * of these functions. */
#ifndef ASSAY_LIB_EXPLAIN_EXPR_H
#define ASSAY_LIB_EXPLAIN_EXPR_H

#include "lib/explain/narrator.h"

/* How loosely an expression binds, from the loosest. An expression gets parentheses if it binds more loosely than its
 * surroundings. It also gets them if it binds equally loosely but has another operator. */
enum looseness { LOGIC, CONDITION, ARITHMETIC, TIGHT };

/* --- expr.c --- */

/* Writes an operand of an expression of the given looseness. */
void say_operand(struct narrator *t, struct say *out, const struct sql_node *n, enum looseness around);
/* Writes the operator: " is greater than ". */
void say_operator(struct narrator *t, struct say *out, const struct sql_node *n);
/* say_verb writes "is" or a similar verb in singular or plural. say_are returns true if the subject takes "are". */
void say_verb(struct say *out, const char *verb, bool plural);
bool say_are(const struct narrator *t, const struct say *out, const struct sql_node *subject);
/* Writes the entries of a list, at most NARRATE_MAX_LIST. */
void say_list(struct narrator *t, struct say *out, const struct sql_node *list);
bool narrate_is_null(const struct sql_node *n);

/* --- condition.c --- */

/* Narrates LIKE, BETWEEN and IN, whose first kid is the subject. */
narrate_fn say_subject_and_test;

/* --- inner.c --- */

narrate_fn say_exists, say_not_exists, say_quantified, say_subquery;
/* Writes a reference such as "the values of query 1". The prose writes out the simplest queries in place. */
void say_values_of(struct narrator *t, struct say *out, const struct sql_node *query);

/* --- call.c --- */

narrate_fn say_call;
/* Returns true for COUNT(*) and COUNT(1). */
bool narrate_counts_rows(const struct sql_node *call);

#endif
