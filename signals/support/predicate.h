/* Predicates: comparisons of one column with literals, and whether any row of the column's table meets them alone.
 *
 * Functions around the column stay (lower(name) = 'x' is a predicate on name). A column of a CTE or a derived table is
 * asked of that table as the statement defines it; computed columns and aggregates are not predicates on data.
 */
#ifndef ASSAY_SIGNALS_SUPPORT_PREDICATE_H
#define ASSAY_SIGNALS_SUPPORT_PREDICATE_H

#include "signals/vsig.h"

enum { VSIG_MAX_PREDICATES = 24, VSIG_MAX_PREDICATE_LITERALS = 4 };

struct vsig_predicate {
    const struct sql_node *node;        /* BINARY, LIKE, BETWEEN, IN, or UNARY IS NULL */
    const struct sql_ref *ref;          /* its column */
    const struct schema_column *column; /* the same in the schema; never NULL */
    const struct sql_node *literals[VSIG_MAX_PREDICATE_LITERALS];
    uint32_t n_literals;
    bool bare; /* the column stands without functions around it */
    /* Set by vsig_predicate_look. */
    int live; /* 1: some row meets it; 0: none does; -1: not known, see code */
    enum err_code code;
};

/* All predicates of the statement in the order of the text, at most VSIG_MAX_PREDICATES. Count. Looked for
 * once a subject; what is handed out is the caller's own. */
uint32_t vsig_predicates(struct vsig_subject *subject, struct vsig_predicate out[VSIG_MAX_PREDICATES]);

/* Decide `live`, from statistics where they are exact, else by a probe with LIMIT 1. *probes counts those run, at most
 * max_probe; past that live is -1 with ERR_LIMIT_COUNT. */
void vsig_predicate_look(struct vsig_subject *subject, struct vsig_predicate *predicate, uint32_t *probes,
                         uint32_t max_probe);

/* Is it x IS NULL, or with *negated x IS NOT NULL, in any of their spellings? */
bool vsig_is_null_test(const struct sql_node *node, bool *negated);

/* Does the question (or the evidence) state this literal word for word? False without a question. */
bool vsig_states_literal(const struct vsig_subject *subject, const struct sql_node *literal);

/* The same with some licence, for a value that the column does hold: words in another form ("females" for 'female'), a
 * part of what is quoted, a code by the word that it starts ('F' for female), a date by its year and day. */
bool vsig_speaks_of_literal(const struct vsig_subject *subject, const struct sql_node *literal);

/* Of a predicate that no row meets: is the question to blame and not the query? So it is when the question states every
 * literal and no other column holds one. Where the column itself holds the value in another spelling, the literal must
 * stand in the question byte for byte and differ from what is stored in spaces alone, which nobody sees; another case or
 * other signs are the query's to get right, and so is the stored form of what the column has in another one ('France' for
 * French, 'F' for female; NULL where the query says 'null'). */
bool vsig_question_says_so(const struct vsig_subject *subject, const struct vsig_predicate *predicate);

#endif
