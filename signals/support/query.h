/* Describes what a query does in terms of the question: its aggregates, order, limit, negations and set operations. One
 * walk over the tree finds them. */
#ifndef ASSAY_SIGNALS_SUPPORT_QUERY_H
#define ASSAY_SIGNALS_SUPPORT_QUERY_H

#include "lib/question/question.h"
#include "signals/vsig.h"

enum query_aggregate {
    QUERY_COUNT,
    QUERY_SUM,
    QUERY_AVG,
    QUERY_MAX,
    QUERY_MIN,
    QUERY_OTHER_AGGREGATE,
    QUERY_AGGREGATES
};

struct query_view {
    const struct sql_node *aggregate[QUERY_AGGREGATES]; /* the first call of each kind in the statement, or NULL */
    const struct sql_node *answer[QUERY_AGGREGATES];    /* the first call in the select list of the answer, or NULL */
    unsigned windowed;                                  /* bits 1U << aggregate: kinds of calls with OVER */
    const struct sql_node *select;                      /* the first SELECT of the answer; NULL for VALUES */
    const struct sql_node *items;                       /* the select list of `select` */
    const struct sql_node *order;                       /* ORDER BY of the answer, also of its derived table; or NULL */
    const struct sql_node *limit;                       /* LIMIT of the answer, or NULL */
    const struct sql_node *any_limit, *any_order;       /* the first ones in the statement, or NULL */
    const struct sql_node
        *negation; /* the first NOT, <>, EXCEPT, NOT IN, NOT LIKE, NOT BETWEEN, NOT EXISTS or IS NOT; or NULL */
    const struct sql_node *is_null;     /* the first IS NULL, or NULL */
    const struct sql_node *compound[4]; /* the first UNION, INTERSECT, EXCEPT and UNION ALL; or NULL */
    const struct sql_node *or_node, *in_list, *distinct, *division, *window, *group, *having, *difference;
};
enum { QUERY_UNION, QUERY_INTERSECT, QUERY_EXCEPT, QUERY_UNION_ALL };

/* Fills `view`. The view is computed once for each subject. */
void query_look(struct vsig_subject *subject, struct query_view *view);

/* True if the question is in a language without cues. Also makes the signal unavailable. */
bool query_foreign(struct vsig_run *run);

/* Returns the kind of an aggregate call. Returns QUERY_AGGREGATES if the node is not an aggregate call. */
enum query_aggregate query_aggregate_of(const struct sql_node *node);
/* True if the expression contains an aggregate. */
bool query_has_aggregate(const struct sql_node *expr);
/* True if the node is in the select list of the answer, which may have several blocks. */
bool query_in_answer(const struct vsig_subject *subject, const struct sql_node *node);
/* Returns the first block of the answer: the top block, or the first arm of a top-level set operation. For SELECT *
 * FROM (...), returns the block of the derived table. Returns NULL for VALUES. */
const struct sql_block *query_answer_block(const struct vsig_subject *subject);

/* A condition `column op number` of the query: a comparison, BETWEEN or IN with that number. A comparison with the
 * first or last day of a year counts as a comparison of years: >= '2015-01-01' is > 2014. */
struct query_comparison {
    const struct sql_node *node;  /* the condition */
    const struct sql_node *other; /* the operand that is not the number */
    enum sql_op op;               /* the operator, if the number is on the right */
    bool excluded;                /* the condition excludes rows: it is under NOT, in NOT IN, or in the right arm of
                                   * EXCEPT */
};
enum { QUERY_MAX_COMPARISONS = 16 };
uint32_t query_compared_with(const struct vsig_subject *subject, double number,
                             struct query_comparison out[QUERY_MAX_COMPARISONS]);
/* Finds comparisons with a number of the question. If there are none with the number as written, finds those with its
 * scaled value, such as 10000000 for "ten million". Returns their number. */
uint32_t query_compared_with_value(const struct vsig_subject *subject, const struct question_value *value,
                                   struct query_comparison out[QUERY_MAX_COMPARISONS]);
/* True if rows that meet this condition are excluded: it is under NOT, in the right arm of EXCEPT, in NOT IN or NOT
 * EXISTS. */
bool query_is_excluded(const struct sql_node *node);

/* Returns the literal of an expression, through signs, casts and types such as DATE '2024-06-30'. Also accepts a string
 * in double quotes. *negative (may be NULL) is true for -x. Returns NULL if the expression is not a literal. */
const struct sql_node *query_literal(const struct sql_node *node, bool *negative);
bool query_literal_number(const struct sql_node *node, double *number);

/* Returns the schema column of an expression that is a plain column. Returns NULL otherwise. */
const struct schema_column *query_column(const struct vsig_subject *subject, const struct sql_node *expr);
/* Returns the schema column of an expression through casts and a plus sign: Age for CAST(Age AS INTEGER). NULL if there
 * is none. */
const struct schema_column *query_cast_column(const struct vsig_subject *subject, const struct sql_node *expr);
/* True if the column's name contains one of the words, given as stems. The list ends with NULL. False for a NULL
 * column. */
bool query_name_has(const struct schema_column *column, const char *const *stems);
/* True if the name of any column in the query contains one of these stems. */
bool query_uses_name(const struct vsig_subject *subject, const char *const *stems);

/* True if any FROM clause of the query contains the table. */
bool query_reads_table(const struct vsig_subject *subject, int table);

/* True for a key, and for a column whose name has only generic words and words of its table's name. Such a column
 * stands for the row. */
bool query_is_generic(const struct vsig_subject *subject, const struct schema_column *column);

/* A column of the query that no word of the question refers to. The question must also fully name a column of the same
 * tables that the query does not use. */
struct query_odd {
    const struct sql_node *node; /* the place where the query uses the column `used` */
    const struct schema_column *used, *wanted;
};
/* Finds the first such column in that clause of any block. Returns false if there is none. */
bool query_odd_column(const struct vsig_subject *subject, enum sql_clause clause, struct query_odd *odd);

/* True for an aggregate of a CASE whose results are all literals: SUM(CASE WHEN ... THEN 1 ELSE 0 END). */
bool query_is_conditional_count(const struct sql_node *call);

#endif
