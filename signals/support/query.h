/* The actions of a query in terms of the question, found by one walk over the tree. */
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
    const struct sql_node *aggregate[QUERY_AGGREGATES]; /* the first call anywhere; NULL */
    const struct sql_node *answer[QUERY_AGGREGATES];    /* the first in the select list of the answer */
    unsigned windowed;                                  /* bits 1U << aggregate: calls with OVER */
    const struct sql_node *select;                      /* the answer's first SELECT; NULL for VALUES */
    const struct sql_node *items;                       /* its select list */
    const struct sql_node *order;                       /* the answer's ORDER BY, through a derived table; NULL */
    const struct sql_node *limit;                       /* the answer's LIMIT */
    const struct sql_node *any_limit, *any_order;       /* the first anywhere */
    const struct sql_node
        *negation; /* NOT, <>, EXCEPT, NOT IN / LIKE / BETWEEN / EXISTS, IS NOT, anti-join: the first */
    const struct sql_node *is_null;     /* IS NULL */
    const struct sql_node *compound[4]; /* UNION, INTERSECT, EXCEPT, UNION ALL: the first of each */
    const struct sql_node *or_node, *in_list, *distinct, *division, *window, *group, *having, *difference;
};
enum { QUERY_UNION, QUERY_INTERSECT, QUERY_EXCEPT, QUERY_UNION_ALL };

/* Fills the view; computed once a subject. */
void query_look(struct vsig_subject *subject, struct query_view *view);

/* True if the question is in a language that the cues do not cover. The signal is then made unavailable. */
bool query_foreign(struct vsig_run *run);

/* Returns the aggregate of a call; QUERY_AGGREGATES if it is not one. */
enum query_aggregate query_aggregate_of(const struct sql_node *node);
/* True if the node is in the select list of a block that gives the answer. */
bool query_in_answer(const struct vsig_subject *subject, const struct sql_node *node);
/* Returns the first block that gives the answer: the top block, or the arms of a top-level set operation. Looks through
 * a SELECT whose FROM is one derived table. NULL for VALUES. */
const struct sql_block *query_answer_block(const struct vsig_subject *subject);

/* A `column op number` of the query: a comparison, BETWEEN or IN with that number. It may be a bound of dates that
 * equals a comparison of years: >= '2015-01-01' is > 2014. */
struct query_comparison {
    const struct sql_node *node;  /* the comparison */
    const struct sql_node *other; /* the other operand */
    enum sql_op op;               /* with the literal on the right */
    bool excluded;                /* it excludes rows: under NOT, NOT IN, right of EXCEPT */
};
enum { QUERY_MAX_COMPARISONS = 16 };
uint32_t query_compared_with(const struct vsig_subject *subject, double number,
                             struct query_comparison out[QUERY_MAX_COMPARISONS]);
/* Finds comparisons with a number of the question: as written, or else ("ten million") with its scale. */
uint32_t query_compared_with_value(const struct vsig_subject *subject, const struct question_value *value,
                                   struct query_comparison out[QUERY_MAX_COMPARISONS]);
/* True if the node excludes rows: under NOT, in the right arm of EXCEPT, in NOT IN or NOT EXISTS. */
bool query_is_excluded(const struct sql_node *node);

/* Returns the text of a literal, also below a sign, or of a double-quoted string; *negative for -x. NULL if the node is
 * not a literal. */
const struct sql_node *query_literal(const struct sql_node *node, bool *negative);
bool query_literal_number(const struct sql_node *node, double *number);

/* Returns the schema column of a plain column expression, or NULL. */
const struct schema_column *query_column(const struct vsig_subject *subject, const struct sql_node *expr);
/* Returns the schema column of an expression through casts and signs: Age for CAST(Age AS INTEGER). */
const struct schema_column *query_cast_column(const struct vsig_subject *subject, const struct sql_node *expr);
/* True if the words of the column's name include one of these stems (NULL-terminated). False for a NULL column. */
bool query_name_has(const struct schema_column *column, const char *const *stems);
/* True if the name of any column used in the query includes one of these stems. */
bool query_uses_name(const struct vsig_subject *subject, const char *const *stems);

/* True if any FROM of the query contains the table itself. */
bool query_reads_table(const struct vsig_subject *subject, int table);

/* True for a key, or a name of only generic words and the table's own name: such a column represents the row. */
bool query_is_generic(const struct vsig_subject *subject, const struct schema_column *column);

/* A column of the query that no word of the question means, although the question fully names an unused column of the
 * same tables. */
struct query_odd {
    const struct sql_node *node; /* the use of the odd column */
    const struct schema_column *used, *wanted;
};
/* Finds the first odd column in that clause of any block. */
bool query_odd_column(const struct vsig_subject *subject, enum sql_clause clause, struct query_odd *odd);

/* True for an aggregate of a CASE whose results are literals: SUM(CASE WHEN ... THEN 1 ELSE 0 END). */
bool query_is_conditional_count(const struct sql_node *call);

#endif
