/* When to answer and when to ask: what a score of the answers is worth for that (learned error detection, seed 001 §3.1 and §4.2.4).
 *
 * Answer triggering: the surest answers are given, the others held back; precision over the share of questions that are answered. Interaction
 * triggering: the least sure ones, and questions without an answer first of all, are put to a person, who always sets them right; accuracy over the
 * share of questions that are put so. All scores are of the same answers, those that Assay gives. Where scores are equal, right answers count
 * as if they were spread evenly among them. Thread: any.
 */
#ifndef ASSAY_EVAL_TRIGGERING_H
#define ASSAY_EVAL_TRIGGERING_H

#include "eval/eval.h"

enum { TRIGGERING_STEPS = 4 }; /* a quarter, half, three quarters, all of the questions */

struct triggering {
    const char *name;                   /* of the score, as in JSON */
    uint32_t n;                         /* answers that have it; those without come last */
    double precision_area;              /* mean precision over all shares of the answers; NAN without answers */
    double precision[TRIGGERING_STEPS]; /* when that share of the questions is answered; NAN: fewer can be */
    double accuracy_area;               /* mean accuracy over all numbers of interactions */
    double interactions_to_95;          /* share of questions to put to a person for 95 % right */
};

struct triggering triggering_measure(const struct eval_data *data, enum eval_score score);

/* The curves, from the first answer on and from no interaction on; g_free. NULL and 0: nothing to draw. */
struct eval_point *triggering_answers(const struct eval_data *data, enum eval_score score, size_t *n);
struct eval_point *triggering_interactions(const struct eval_data *data, enum eval_score score, size_t *n);

#endif
