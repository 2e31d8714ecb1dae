/* The context of a candidate: a prior over which answer is correct, from the other candidates alone.
 *
 * The candidates that ran fall into answers (equal results). Each answer weighs exp(votes * its votes + first), with
 * `first` only for the answer of the first candidate that ran. "None of them" weighs `none`. P is the answer's share of
 * all weight, and verifier_context returns its log-odds. Unanimity therefore counts for more than a single vote, and a
 * tie is a tie.
 *
 * The worth of a vote and of a position depends on the origin of the list. Without feedback:
 *   - A list whose entries all answer differently, or fail, is a ranked guess: its first that runs is likelier to be
 *     correct. A list whose entries agree is a vote of samples, and the first position carries no information. So
 *     `first` is weighed by the share of entries that differ. Votes of one generator are worth little each, because its
 *     samples err together. The numbers are those that do best on lists simulated from training questions. `vote` is
 *     fitted on samples (bench/verifier_prior.py), `first` on ranked guesses: 2.1 and a margin of 0.1 gain on the mean
 *     of four kinds of errors, and 0.7 loses (bench/combine_weights.py).
 *   - Candidates of several named generators are a vote of systems, which share fewer errors. Independent votes of
 *     generators that are correct in 70 % of all cases and wrong in three likely ways would be worth log 7 each. We
 *     take half.
 * Results without rows may agree by chance, so only repeats of their own text vote for them. */
#ifndef ASSAY_SCORING_VERIFIER_CONTEXT_H
#define ASSAY_SCORING_VERIFIER_CONTEXT_H

#include "scoring/verifier.h"

/* The prior of one generator: the worth of a vote and of a position in its list. */
struct verifier_prior {
    double vote;        /* log-odds of one vote */
    double first;       /* log-odds of being the answer of the first candidate that runs, if all entries differ */
    double none;        /* weight of "none of them", above 0 */
    double temperature; /* factor of the content's log-odds */
};

/* The neutral defaults: lists of one generator (or without a name), ranked or not, and lists of several named ones. */
extern const struct verifier_prior verifier_prior_ranked, verifier_prior_one, verifier_prior_several;

/* Returns the log-odds of the subject's answer under this prior. Reads candidates before n_seen only; at most 64 of
 * them. */
double verifier_context(const struct verifier_prior *prior, const struct verifier_subject *subject);

/* Returns the generator that all candidates of the request name: "" if none is named, NULL if there are several. */
const char *verifier_generator(const struct msg_request *request);

#endif
