/* The decision vectors: numbers from signals, defined once for training and for judging.
 *
 * A candidate has two vectors. *Votes* are levels for the label model. Each signal has a column: 0 if silent or with
 * notes only, 1 for a warning, 2 for an error, missing if unavailable. Columns of positive labelers follow and, with
 * VOTES_REQUEST, of facts about the other candidates. *Features* are real numbers for a classifier: the same columns,
 * the number of notes, the shape of the result, and the label model's probability. Model files contain the names of
 * their columns. New columns may be added at any time, because a model reads only those that it knows.
 *
 * Columns about the request read only the candidates [0, n_seen). So a decision that is taken in order does not depend
 * on how many later candidates were judged ahead. Pure functions; thread: any. */
#ifndef ASSAY_SCORING_VOTES_H
#define ASSAY_SCORING_VOTES_H

#include "lib/learn/label_model.h"
#include "proto/message/msg.h"

enum { VOTES_REQUEST = 1U << 0 }; /* add the columns about the other candidates */

enum { VOTES_MAX_RESULTS = 64 };

/* Sums over all candidates of a request, which are the same for each candidate. */
struct votes_company {
    double votes, best_score; /* sum and maximum over all candidates that are not repeats */
    double judged, ran;       /* among the first n_seen candidates: number judged, and number that ran to the end */
    double ran_votes;         /* votes of the candidates that ran */
    unsigned least_fired;     /* least number of fired signals of a candidate that ran; UINT_MAX if none ran */
    uint32_t n_results;       /* number of different results among the first VOTES_MAX_RESULTS candidates */
    struct {
        const struct msg_judged *first;
        double votes; /* votes of the candidates with this result */
    } results[VOTES_MAX_RESULTS];
};

/* Computes the sums over all candidates once, for the votes_subject of each candidate. The candidates must outlive *out
 * and stay unchanged. */
void votes_look_around(const struct msg_judged *candidates, uint32_t n, uint32_t n_seen, struct votes_company *out);

/* A candidate together with the other candidates of its request. A candidate that is not valid (invalid_sql) has no
 * vector, because it is certainly wrong. */
struct votes_subject {
    const struct msg_judged *candidates; /* in input order; includes repeats (same_as) */
    uint32_t n_candidates;
    /* Number of candidates, from the first on, that count as judged. In training: all of them. */
    uint32_t n_seen;
    uint32_t index;             /* index of this candidate */
    bool places;                /* true if candidates are in order of decreasing quality; otherwise `rank` is missing */
    bool unavailable_as_silent; /* unavailable signals count as silent, the best report that they could have made */
    const struct votes_company *company; /* result of votes_look_around on these candidates; NULL computes it again */
};

/* Returns the columns of the label model. Positive labelers come last. At most LM_MAX_COLUMNS; the array is static. */
const struct lm_column *votes_columns(unsigned flags, unsigned *n);
const char *const *votes_names(unsigned flags, unsigned *n);
/* Writes one level for each column, including positive labelers (LM_MISSING if they abstain). */
void votes_levels(const struct votes_subject *subject, unsigned flags, uint8_t *votes);

/* votes_feature_names returns the names of the classifier's features. votes_feature_row writes their values, NAN if
 * unknown. label_model_p may be NAN. */
const char *const *votes_feature_names(unsigned flags, unsigned *n);
void votes_feature_row(const struct votes_subject *subject, unsigned flags, double label_model_p, float *row);

/* True if the candidate ran to the end. */
bool votes_ran(const struct msg_judged *judged);
/* Returns how often generators proposed the candidate, including repeats; 1 if this was not counted. */
double votes_count(const struct msg_judged *judged);

/* True if both candidates ran and returned the same rows, in any order. */
bool votes_same_result(const struct msg_judged *a, const struct msg_judged *b);

#endif
