/* The decision vector: numbers from signals, defined once for training and for deciding.
 *
 * Two views of a candidate. *Votes* are levels for the label model. Each signal has a column (0 silent or only notes, 1
 * warning, 2 error, missing if unavailable). Positive labelers and, with VOTES_REQUEST, facts about the other
 * candidates follow. *Features* are reals for a classifier: the same, with notes, the shape of the result, and the
 * label model's own probability. Model files carry the names of their columns. Columns may be added at any time; a
 * model reads those it knows.
 *
 * Request-level columns read only the candidates [0, n_seen). So a decision taken in order does not depend on how many
 * were judged ahead of it. Thread: any; pure. */
#ifndef ASSAY_SCORING_VOTES_H
#define ASSAY_SCORING_VOTES_H

#include "lib/learn/label_model.h"
#include "proto/message/msg.h"

enum { VOTES_REQUEST = 1U << 0 }; /* add the columns about the whole request */

enum { VOTES_MAX_RESULTS = 64 };

/* Sums over all candidates of a request, the same for each of them. */
struct votes_company {
    double votes, best_score; /* of all candidates that are not repeats */
    double judged, ran;       /* of the first n_seen: number judged, and number that ran to their end */
    double ran_votes;         /* votes of those that ran */
    unsigned least_fired;     /* least number of fired signals among those that ran; UINT_MAX if none ran */
    uint32_t n_results;       /* different ones, of the first VOTES_MAX_RESULTS candidates */
    struct {
        const struct msg_judged *first;
        double votes; /* votes of the candidates with this result */
    } results[VOTES_MAX_RESULTS];
};

/* Scans all candidates once, for a votes_subject of each. The candidates must outlive *out and stay unchanged. */
void votes_look_around(const struct msg_judged *candidates, uint32_t n, uint32_t n_seen, struct votes_company *out);

/* A candidate among those of its request. Invalid ones (invalid_sql) have no vector: they are wrong. */
struct votes_subject {
    const struct msg_judged *candidates; /* in input order, repeats (same_as) among them */
    uint32_t n_candidates;
    uint32_t n_seen;            /* number of candidates, from the first, that count as judged; all of them in
                                 * training */
    uint32_t index;             /* index of this candidate */
    bool places;                /* true if an earlier position means a better guess; otherwise `rank` is missing */
    bool unavailable_as_silent; /* unavailable signals count as silent: the best that they could have reported */
    const struct votes_company *company; /* sums over these candidates (votes_look_around); NULL computes them again */
};

/* Returns the columns of the label model, positive labelers last; at most LM_MAX_COLUMNS. The array is static. */
const struct lm_column *votes_columns(unsigned flags, unsigned *n);
const char *const *votes_names(unsigned flags, unsigned *n);
/* Fills one level for each column, including positive labelers (LM_MISSING if they abstain). */
void votes_levels(const struct votes_subject *subject, unsigned flags, uint8_t *votes);

/* Return names and values of the classifier's features; NAN for unknown values. label_model_p may be NAN. */
const char *const *votes_feature_names(unsigned flags, unsigned *n);
void votes_feature_row(const struct votes_subject *subject, unsigned flags, double label_model_p, float *row);

/* True if the candidate ran to its end. */
bool votes_ran(const struct msg_judged *judged);
/* Returns how often its generators proposed it, repeats included; 1 if that was not counted. */
double votes_count(const struct msg_judged *judged);

/* True if these two candidates have the same result (both ran, equal bags of rows). */
bool votes_same_result(const struct msg_judged *a, const struct msg_judged *b);

#endif
