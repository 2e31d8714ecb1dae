/* Predicates are comparisons of one column with literals. This file finds them and decides whether any row of the
 * column's table meets one of them alone.
 *
 * The column may be inside functions: lower(name) = 'x' is a predicate on name. If the column belongs to a CTE or a
 * derived table, the probe runs on that table as the statement defines it. Conditions on computed columns and
 * aggregates are not predicates. */
#ifndef ASSAY_SIGNALS_SUPPORT_PREDICATE_H
#define ASSAY_SIGNALS_SUPPORT_PREDICATE_H

#include "signals/vsig.h"

enum { VSIG_MAX_PREDICATES = 24, VSIG_MAX_PREDICATE_LITERALS = 4 };

struct vsig_predicate {
    const struct sql_node *node;        /* the condition: BINARY, LIKE, BETWEEN, IN, or UNARY IS NULL */
    const struct sql_ref *ref;          /* the reference to its column */
    const struct schema_column *column; /* the schema column of `ref`; never NULL */
    const struct sql_node *literals[VSIG_MAX_PREDICATE_LITERALS];
    uint32_t n_literals;
    bool bare; /* true if the column is not inside a function */
    /* vsig_predicate_look sets the next two fields. */
    int live; /* 1 if some row meets the predicate, 0 if none does, -1 if unknown; `code` then has the reason */
    enum err_code code;
};

/* Lists all predicates of the statement in the order of the text, at most VSIG_MAX_PREDICATES. Returns their number.
 * The statement is searched once for each subject. The caller owns the copies in `out`. */
uint32_t vsig_predicates(struct vsig_subject *subject, struct vsig_predicate out[VSIG_MAX_PREDICATES]);

/* Sets `live`, from statistics if they are exact, otherwise by a probe with LIMIT 1. Counts the probe in *probes. If
 * *probes has reached max_probe, `live` is -1 and the code is ERR_LIMIT_COUNT. */
void vsig_predicate_look(struct vsig_subject *subject, struct vsig_predicate *predicate, uint32_t *probes,
                         uint32_t max_probe);

/* True for x IS NULL and x IS NOT NULL, in any spelling. *negated is true for IS NOT NULL. */
bool vsig_is_null_test(const struct sql_node *node, bool *negated);

/* True if the question or the evidence contains this literal word for word. False without a question. */
bool vsig_states_literal(const struct vsig_subject *subject, const struct sql_node *literal);

/* True if the question contains the literal or another form of it. Such forms are an inflected word ("females" for
 * 'female'), part of a quoted text, and the word of a code ("female" for 'F'). A date with the same year and day is
 * such a form, too. */
bool vsig_speaks_of_literal(const struct vsig_subject *subject, const struct sql_node *literal);

/* True if the question, not the query, is the cause of a predicate that no row meets. The question must state every
 * literal, and no other column may contain one. The column may contain the value in another spelling. In that case the
 * literal must be in the question byte for byte, and the spellings may differ only in spaces. The query is the cause if
 * it uses another case or other signs. It is also the cause if the column stores another form of the value: 'France'
 * for French, 'F' for female, or NULL where the query has 'null'. */
bool vsig_question_says_so(const struct vsig_subject *subject, const struct vsig_predicate *predicate);

#endif
