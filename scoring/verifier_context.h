/* The context of a candidate: a prior over which answer is correct, from the other candidates alone.
 *
 * Candidates that ran and have equal results form an answer. An answer weighs exp(vote * its votes + first), where
 * `first` is added only for the answer of the first candidate that ran. "None of the answers is correct" weighs `none`.
 * P is the answer's share of the total weight, and verifier_context returns its log-odds. So unanimity counts for more
 * than a single vote, and a tie gives equal P.
 *
 * The weight of a vote and of a position depends on the origin of the list. Without feedback:
 *   - One generator. If all candidates of a list answer differently or fail, the list is a ranked guess. Its first
 *     candidate that runs is then the most likely one. If they agree, the list is a vote of samples, and the first
 *     position carries no information. So `first` is multiplied by the share of candidates that differ. A vote of one
 *     generator has little weight, because its samples make the same errors. The numbers are the best ones on lists
 *     that were simulated from training questions. `vote` is fitted on samples (bench/verifier_prior.py), `first` on
 *     ranked guesses. On the mean of four kinds of errors, `first` 2.1 with a margin of 0.1 gains, and `first` 0.7
 *     loses (bench/combine_weights.py).
 *   - Several named generators. Their candidates are a vote of systems, which share fewer errors. Suppose that each
 *     generator is correct in 70 % of all cases and is wrong in three likely ways. Independent votes would then weigh
 *     log 7 each. The prior uses half of that.
 * Results without rows may be equal by chance, so only repeats of the same text vote for them. */
#ifndef ASSAY_SCORING_VERIFIER_CONTEXT_H
#define ASSAY_SCORING_VERIFIER_CONTEXT_H

#include "scoring/verifier.h"

/* The prior of one generator: the weight of a vote and of a position in its list. */
struct verifier_prior {
    double vote; /* log-odds of one vote */
    /* Log-odds of being the answer of the first candidate that runs, if all candidates differ. */
    double first;
    double none;        /* weight of "none of the answers is correct", above 0 */
    double temperature; /* factor of the content's log-odds, for calibration */
};

/* The neutral defaults: for lists of one generator (or without a name) that are ranked, or not ranked, and for lists of
 * several named generators. */
extern const struct verifier_prior verifier_prior_ranked, verifier_prior_one, verifier_prior_several;

/* Returns the log-odds of the subject's answer under this prior. Reads only candidates before n_seen, and at most 64 of
 * them. */
double verifier_context(const struct verifier_prior *prior, const struct verifier_subject *subject);

/* Returns the generator that all candidates of the request name. Returns "" if none is named, and NULL if there are
 * several. */
const char *verifier_generator(const struct msg_request *request);

#endif
