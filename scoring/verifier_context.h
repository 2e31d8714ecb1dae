/* What the other candidates say of one: a prior over which answer is right, before anything is known of its content.
 *
 * The candidates that ran fall into answers (equal results). Each answer weighs exp(votes * its votes + first), `first`
 * only for the answer of the first candidate that ran; "none of them" weighs `none`; P is the answer's share of all
 * weight, and verifier_context returns its log-odds. So unanimity counts for more than a single voice, and a tie is a
 * tie.
 *
 * What a vote and a place in the list are worth depends on where the list comes from. Without feedback:
 *   - a list whose entries all answer differently, or fail, is a ranked guess, and its first that runs is likelier to
 *     be right; one whose entries agree is a vote of samples, and the first place says nothing. So `first` is weighed
 *     by the share of entries that differ. Votes of one generator are worth little each, for its samples err together.
 *     The numbers are those that do best on lists simulated from training questions: `vote` on samples
 *     (bench/verifier_prior.py), `first` on ranked guesses, where 2.1 and a margin of 0.1 gain on the mean of four
 *     kinds of errors and 0.7 loses (bench/combine_weights.py);
 *   - candidates of several named generators are a vote of systems, which share fewer errors. Independent votes of
 *     generators that are right in 70 % of all cases and wrong in three likely ways would be worth log 7 each; we take
 *     half.
 * Results without rows, or with one NULL or 0, agree by chance, so only repeats of their own text vote for them.
 */
#ifndef ASSAY_SCORING_VERIFIER_CONTEXT_H
#define ASSAY_SCORING_VERIFIER_CONTEXT_H

#include "scoring/verifier.h"

/* The prior of one generator: what a vote and a place in its list are worth. */
struct verifier_prior {
    double vote;        /* log-odds of one vote */
    double first;       /* of being the answer of the first candidate that runs, where all entries differ */
    double none;        /* weight of "none of them", above 0 */
    double temperature; /* the content's log-odds are multiplied by it */
};

/* The neutral defaults: lists of one generator (or of nobody named), ranked or not, and of several named ones. */
extern const struct verifier_prior verifier_prior_ranked, verifier_prior_one, verifier_prior_several;

/* Log-odds of the subject's answer under this prior. Looks at candidates before n_seen only; at most 64 of them. */
double verifier_context(const struct verifier_prior *prior, const struct verifier_subject *subject);

/* The generator that all candidates of the request name; "" where none is named; NULL: several. */
const char *verifier_generator(const struct msg_request *request);

#endif
