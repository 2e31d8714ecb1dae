/* What votes, positions and the content model are worth for a generator: its four numbers (struct verifier_prior), fitted
 * to lines with candidates and gold, or feedback.
 *
 * By the likelihood of "right" over all candidates that ran: coordinate search over fixed steps, from the neutral
 * default, pulled towards it as much as by PRIOR_FIT_PULL questions, so that ten questions of feedback move little.
 *
 * Where feedback stands for gold (train/feedback.h), candidates that nobody spoke of are peers to the others and count
 * for nothing themselves. Each candidate weighs what it would with gold: an answer that was called right and one that
 * was called wrong weigh the same, though only the first says something of its peers too.
 *
 * Thread: any. Pure, and the same samples give the same numbers.
 */
#ifndef ASSAY_TRAIN_PRIOR_FIT_H
#define ASSAY_TRAIN_PRIOR_FIT_H

#include "scoring/verifier_context.h"
#include "train/verifier_data.h"

enum { PRIOR_FIT_PULL = 20, PRIOR_FIT_QUESTIONS = 10 /* with fewer nothing is fitted */ };

struct prior_fit {
    uint32_t n;  /* usable questions of the generator */
    bool fitted; /* false: too few; `prior` is the neutral one */
    struct verifier_prior prior;
    double loss_neutral, loss; /* log loss a question, before and after */
};

/* The content model's log-odds of each sample; g_free. */
double *prior_fit_content(const struct verifier_model *model, const struct verifier_data *data);

/* Fit the lines that name this generator ("": those that name none; "*": those with several). `content` is
 * prior_fit_content's. */
struct prior_fit prior_fit(const struct verifier_data *data, const double *content, const char *generator);

#endif
