/* What the query does, in the question's terms: one walk over the tree. */
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

/* Looked at once a subject. */
void query_look(struct vsig_subject *subject, struct query_view *view);

/* Is the question in a language that the cues are not for? Then the signal is made unavailable. */
bool query_foreign(struct vsig_run *run);

/* Which aggregate a call is; QUERY_AGGREGATES if none. */
enum query_aggregate query_aggregate_of(const struct sql_node *node);
/* Does the node stand in the select list of a block that gives the answer? */
bool query_in_answer(const struct vsig_subject *subject, const struct sql_node *node);
/* Blocks that give the answer: the top block, or the arms of a top-level set operation, seen through a SELECT whose
 * FROM is one derived table. The first of them; NULL for VALUES. */
const struct sql_block *query_answer_block(const struct vsig_subject *subject);

/* `column op number` in the query: comparisons, BETWEEN and IN whose literal is that number, or a bound of dates that comes to
 * the same for a year: >= '2015-01-01' is > 2014. */
struct query_comparison {
    const struct sql_node *node;  /* the comparison */
    const struct sql_node *other; /* what is compared */
    enum sql_op op;               /* with the literal on the right */
    bool excluded;                /* it says what is left out: under NOT, NOT IN, right of EXCEPT */
};
enum { QUERY_MAX_COMPARISONS = 16 };
uint32_t query_compared_with(const struct vsig_subject *subject, double number,
                             struct query_comparison out[QUERY_MAX_COMPARISONS]);
/* With a number of the question: as it stands, or else ("ten million") with its scale. */
uint32_t query_compared_with_value(const struct vsig_subject *subject, const struct question_value *value,
                                   struct query_comparison out[QUERY_MAX_COMPARISONS]);
/* Does it stand where it excludes: under NOT, in the right arm of EXCEPT, in NOT IN or NOT EXISTS? */
bool query_is_excluded(const struct sql_node *node);

/* The text of a literal: of LITERAL, also below a sign, and of double-quoted words that are strings; *negative for -x.
 * NULL when the node is no literal. */
const struct sql_node *query_literal(const struct sql_node *node, bool *negative);
bool query_literal_number(const struct sql_node *node, double *number);

/* The schema column of a plain column expression; NULL. */
const struct schema_column *query_column(const struct vsig_subject *subject, const struct sql_node *expr);
/* The same, seen through casts and signs: Age of CAST(Age AS INTEGER). */
const struct schema_column *query_cast_column(const struct vsig_subject *subject, const struct sql_node *expr);
/* Do the words of the column's name hold one of these stems (NULL-terminated)? NULL column: no. */
bool query_name_has(const struct schema_column *column, const char *const *stems);
/* Does the name of any column used in the query hold one of them? */
bool query_uses_name(const struct vsig_subject *subject, const char *const *stems);

/* Does any FROM of the query hold the table itself? */
bool query_reads_table(const struct vsig_subject *subject, int table);

/* A key, or nothing but words that any table has beside its own name: such a column stands for the row. */
bool query_is_generic(const struct vsig_subject *subject, const struct schema_column *column);

/* A column of the query that no word of the question means, where the question names a column of the same tables by all
 * its words and the query makes no use of that. */
struct query_odd {
    const struct sql_node *node; /* the use of the odd column */
    const struct schema_column *used, *wanted;
};
/* The first odd column in that clause of any block. */
bool query_odd_column(const struct vsig_subject *subject, enum sql_clause clause, struct query_odd *odd);

/* True for an aggregate of a CASE whose results are literals: SUM(CASE WHEN ... THEN 1 ELSE 0 END). */
bool query_is_conditional_count(const struct sql_node *call);

#endif
