/* Predicates: comparisons of one column with literals, and whether any row of the column's table meets them alone.
 *
 * The column may be inside functions: lower(name) = 'x' is a predicate on name. If the column belongs to a CTE or a
 * derived table, the probe runs on that table as the statement defines it. Computed columns and aggregates are not
 * predicates on data. */
#ifndef ASSAY_SIGNALS_SUPPORT_PREDICATE_H
#define ASSAY_SIGNALS_SUPPORT_PREDICATE_H

#include "signals/vsig.h"

enum { VSIG_MAX_PREDICATES = 24, VSIG_MAX_PREDICATE_LITERALS = 4 };

struct vsig_predicate {
    const struct sql_node *node;        /* BINARY, LIKE, BETWEEN, IN, or UNARY IS NULL */
    const struct sql_ref *ref;          /* its column */
    const struct schema_column *column; /* its schema column; never NULL */
    const struct sql_node *literals[VSIG_MAX_PREDICATE_LITERALS];
    uint32_t n_literals;
    bool bare; /* the column is not inside a function */
    /* Set by vsig_predicate_look. */
    int live; /* 1 if some row meets it, 0 if none does, -1 if unknown (see code) */
    enum err_code code;
};

/* Lists all predicates of the statement in the order of the text, at most VSIG_MAX_PREDICATES. Returns the count. Found
 * once a subject; the caller owns the copies. */
uint32_t vsig_predicates(struct vsig_subject *subject, struct vsig_predicate out[VSIG_MAX_PREDICATES]);

/* Decides `live`, from statistics if they are exact, else by a probe with LIMIT 1. *probes counts the probes run. After
 * max_probe of them, live is -1 with ERR_LIMIT_COUNT. */
void vsig_predicate_look(struct vsig_subject *subject, struct vsig_predicate *predicate, uint32_t *probes,
                         uint32_t max_probe);

/* True for x IS NULL, or with *negated x IS NOT NULL, in any spelling. */
bool vsig_is_null_test(const struct sql_node *node, bool *negated);

/* True if the question (or the evidence) has this literal word for word. False without a question. */
bool vsig_states_literal(const struct vsig_subject *subject, const struct sql_node *literal);

/* True if the question has the literal in another form. This is an inflected word ("females" for 'female'), a part of a
 * quoted text, the word of a code ('F' for female), or a date by year and day. */
bool vsig_speaks_of_literal(const struct vsig_subject *subject, const struct sql_node *literal);

/* True if the question, not the query, causes a predicate that no row meets. The question must state every literal, and
 * no other column may hold one. If the column holds the value in another spelling, the literal must be in the question
 * byte for byte and differ only in spaces. Another case or other signs are the query's fault. So is another stored form
 * of a value ('France' for French, 'F' for female; NULL where the query says 'null'). */
bool vsig_question_says_so(const struct vsig_subject *subject, const struct vsig_predicate *predicate);

#endif
