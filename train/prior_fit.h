/* Fits the four numbers of a generator (struct verifier_prior): the weights of votes, positions and the content model.
 * Reads lines with candidates and gold, or feedback.
 *
 * The fit maximises the likelihood of "right" over all candidates that ran, by coordinate search over fixed steps. It
 * starts at the neutral default. A penalty with the weight of PRIOR_FIT_PULL questions holds it near that default, so
 * ten questions of feedback change little.
 *
 * With feedback instead of gold (train/feedback.h), unlabelled candidates count as peers of the others, but have no
 * weight in the likelihood. A labelled candidate weighs as much as with gold. An answer marked right and one marked
 * wrong weigh the same, although only a right answer also shows that its peers are wrong.
 *
 * Thread: any. Pure, and the same samples give the same numbers. */
#ifndef ASSAY_TRAIN_PRIOR_FIT_H
#define ASSAY_TRAIN_PRIOR_FIT_H

#include "scoring/verifier_context.h"
#include "train/verifier_data.h"

enum { PRIOR_FIT_PULL = 20, PRIOR_FIT_QUESTIONS = 10 /* with fewer questions no number is fitted */ };

struct prior_fit {
    uint32_t n;  /* usable questions of the generator */
    bool fitted; /* false if there are too few; `prior` is then the neutral one */
    struct verifier_prior prior;
    double loss_neutral, loss; /* log loss for each question, before and after */
};

/* Returns the content model's log-odds of each sample; free with g_free. */
double *prior_fit_content(const struct verifier_model *model, const struct verifier_data *data);

/* Fits the lines that name this generator ("" for none, "*" for several). `content` is the result of
 * prior_fit_content. */
struct prior_fit prior_fit(const struct verifier_data *data, const double *content, const char *generator);

#endif
