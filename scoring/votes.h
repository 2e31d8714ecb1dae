/* From what the signals said to numbers: the one definition of the decision vector, for training and for deciding.
 *
 * Two views of a candidate. *Votes* are levels for the label model: a column a signal (0 silent or only notes, 1
 * warning, 2 error, missing when unavailable), the positive labelers over them, and, with VOTES_REQUEST, what is
 * known from the other candidates. *Features* are reals for a classifier: the same, with notes, shape of the result,
 * and the label model's own probability. Both are known by their names, which model files carry: columns may be added
 * at any time, a model takes those it knows.
 *
 * Request-level columns look at the candidates [0, n_seen) only, so that a decision taken in order does not hang on how
 * many were judged ahead of it. Thread: any; pure.
 */
#ifndef ASSAY_SCORING_VOTES_H
#define ASSAY_SCORING_VOTES_H

#include "lib/learn/label_model.h"
#include "proto/message/msg.h"

enum { VOTES_REQUEST = 1U << 0 }; /* add the columns that look at the whole request */

enum { VOTES_MAX_RESULTS = 64 };

/* What the candidates of a request say together, whichever of them is looked at. */
struct votes_company {
    double votes, best_score; /* of all that are no repeats */
    double judged, ran;       /* of those seen, how many were judged, and how many ran to their end */
    double ran_votes;         /* votes of those */
    unsigned least_fired;     /* signals that fired, in that of those with the least; UINT_MAX: none ran */
    uint32_t n_results;       /* different ones, of the first VOTES_MAX_RESULTS candidates */
    struct {
        const struct msg_judged *first;
        double votes; /* of all seen */
    } results[VOTES_MAX_RESULTS];
};

/* Look once at all candidates, for a votes_subject of each. The candidates must outlive *out and stay as they are. */
void votes_look_around(const struct msg_judged *candidates, uint32_t n, uint32_t n_seen, struct votes_company *out);

/* A candidate among those of its request. Invalid ones (invalid_sql) have no vector: they are wrong. */
struct votes_subject {
    const struct msg_judged *candidates; /* in input order, repeats (same_as) among them */
    uint32_t n_candidates;
    uint32_t n_seen;            /* of those, the first so many count as judged; training: all */
    uint32_t index;             /* which one */
    bool places;                /* does an earlier place mean a better guess? Otherwise `rank` is missing */
    bool unavailable_as_silent; /* its signals that could not look count as silent: what they might have said at best */
    const struct votes_company *company; /* of these candidates, where several are looked at; NULL: is found anew */
};

/* Columns of the label model, positive labelers last; at most LM_MAX_COLUMNS. The array lives for ever. */
const struct lm_column *votes_columns(unsigned flags, unsigned *n);
const char *const *votes_names(unsigned flags, unsigned *n);
/* One level a column. Those of positive labelers are filled in too (LM_MISSING where they abstain). */
void votes_levels(const struct votes_subject *subject, unsigned flags, uint8_t *votes);

/* Features of the classifier. label_model_p may be NAN. NAN: not known. */
const char *const *votes_feature_names(unsigned flags, unsigned *n);
void votes_feature_row(const struct votes_subject *subject, unsigned flags, double label_model_p, float *row);

/* Did the candidate run to its end? */
bool votes_ran(const struct msg_judged *judged);
/* How often its generators gave it, repeats included; 1 where nobody counted. */
double votes_count(const struct msg_judged *judged);

/* Do these two candidates have the same result (both ran, equal bags of rows)? */
bool votes_same_result(const struct msg_judged *a, const struct msg_judged *b);

#endif
