/* The built-in verifier (CycleSQL §IV-D): does what the candidate does, and what came of it, answer the question?
 *
 * P(entails) comes from two sources that are learned apart and added as log-odds:
 *
 *   content   boosted trees over the candidate's features (scoring/features/features.h), the signals of the other
 *             families, and how the candidate's components differ from those that the question calls for (hashed linear
 *             models over the question's words, one for each component). Learned from gold, mutants, sibling queries
 *             and beams.
 *   context   what is known from the other candidates: votes, rank, equal results. On the logs that a model is trained
 *             on, the first beam is nearly always right and mutants have no votes, so weights of this kind cannot be
 *             learned there: they come from a stated neutral prior, or from feedback on a generator (`assay train
 *             calibration`).
 *
 * Pure functions of what is passed: no database, no clock. Candidates from n_seen on are not looked at, so that the
 * verdict does not depend on how many were judged ahead. Thread: a loaded model is read-only and may be shared.
 */
#ifndef ASSAY_SCORING_VERIFIER_H
#define ASSAY_SCORING_VERIFIER_H

#include "lib/base/error.h"
#include "proto/message/msg.h"
#include "scoring/features/features.h"

struct verifier_model;

/* A candidate among those of its request. */
struct verifier_subject {
    const struct msg_request *request;   /* question, evidence; the given candidates with generators and scores */
    const struct msg_judged *candidates; /* parallel to request->candidates, repeats (same_as) among them */
    uint32_t n_candidates;
    uint32_t n_seen;       /* of those, the first so many count as judged */
    uint32_t index;        /* which one */
    const float *features; /* [FEATURE_COUNT] of that one, by index; NULL: the explain family did not answer */
    enum msg_order order;  /* how the candidates came about; unset: as fitted to their generator, else unknown */
};

/* Calibrated P(entails), in [0, 1]; NAN when there is nothing to go by (no model, no features). Median < 0.1 ms. */
double verifier_entails(const struct verifier_model *model, const struct verifier_subject *subject);

/* Where it comes from, as log-odds; for explanations, tests and ablation. */
struct verifier_parts {
    double content; /* of the candidate alone, calibrated on held-out databases; NAN */
    double context; /* added for what the other candidates say */
};
struct verifier_parts verifier_parts(const struct verifier_model *model, const struct verifier_subject *subject);

/* The content's log-odds by itself, for whoever fits what the context is worth. `signals` by id, as levels
 * (verifier_row.h). `question` may be NULL. NAN: nothing to go by. */
double verifier_content(const struct verifier_model *model, const char *question, const float *features,
                        const float *signals);

/* Have its numbers for the request's generator been fitted to feedback (docs/models.md, Verifier)? */
bool verifier_is_fitted(const struct verifier_model *model, const struct msg_request *request);

/* Gives the importance of this signal to the content model, 0 to 1 (learn_importance). */
double verifier_signal_importance(const struct verifier_model *model, const char *signal);

/* Files as for the other models: docs/models.md. On success the caller owes verifier_free. */
enum err_code verifier_load(const char *path, struct verifier_model **out, struct err *err);
enum err_code verifier_load_text(const char *text, size_t len, struct verifier_model **out, struct err *err);
/* Of the file that it was loaded from (lib/learn/blocks.h); 0: of none. */
uint64_t verifier_digest(const struct verifier_model *model);
void verifier_free(struct verifier_model *model);

#endif
