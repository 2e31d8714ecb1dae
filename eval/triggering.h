/* Measures how well a score of the answers decides when to answer and when to ask a person. The paper is learned error
 * detection (seed 001), §3.1 and §4.2.4.
 *
 * Answer triggering: the answers with the highest scores are given, the others are withheld. The measure is precision
 * over the share of questions that are answered. Interaction triggering: questions without an answer, and then the
 * answers with the lowest scores, go to a person, who always corrects them. The measure is accuracy over the share of
 * such questions.
 *
 * All scores rate the same answers, those that Assay gives. Among answers with equal scores, the right ones count as
 * evenly distributed. Thread: any.
 */
#ifndef ASSAY_EVAL_TRIGGERING_H
#define ASSAY_EVAL_TRIGGERING_H

#include "eval/eval.h"

enum { TRIGGERING_STEPS = 4 }; /* shares of the questions: a quarter, a half, three quarters, all */

struct triggering {
    const char *name;      /* name of the score in JSON */
    uint32_t n;            /* answers that have the score; answers without it sort last */
    double precision_area; /* mean precision over all shares of the answers; NAN without answers */
    /* precision if that share of the questions is answered; NAN if there are too few answers */
    double precision[TRIGGERING_STEPS];
    double accuracy_area;      /* mean accuracy over all possible numbers of interactions */
    double interactions_to_95; /* share of questions that a person must correct to reach 95 % accuracy */
};

struct triggering triggering_measure(const struct eval_data *data, enum eval_score score);

/* Compute the curves. The first begins at one answer, the second at no interaction. Free with g_free. Return NULL and
 * set *n to 0 if there are no points. */
struct eval_point *triggering_answers(const struct eval_data *data, enum eval_score score, size_t *n);
struct eval_point *triggering_interactions(const struct eval_data *data, enum eval_score score, size_t *n);

#endif
