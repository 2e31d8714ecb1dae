/* The built-in verifier (CycleSQL §IV-D): estimates whether the candidate and its result answer the question.
 *
 * P(entails) comes from two sources that are learned apart and added as log-odds:
 *
 *   content   boosted trees over the candidate's features (scoring/features/features.h), the signals of the other
 *             families, and the difference between the candidate's components and those that the question calls for.
 *             Hashed linear models over the question's words predict the latter, one for each component. Learned from
 *             gold, mutants, sibling queries and beams.
 *   context   evidence from the other candidates: votes, rank, equal results. On the training logs the first beam is
 *             nearly always correct and mutants have no votes, so weights of this kind cannot be learned there. They
 *             come from a stated neutral prior, or from feedback on a generator (`assay train calibration`).
 *
 * Pure functions of their arguments: no database, no clock. Candidates from n_seen on are ignored, so that the verdict
 * does not depend on how many were judged ahead. Thread: a loaded model is read-only and may be shared. */
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
    uint32_t n_seen;       /* number of candidates, from the first, that count as judged */
    uint32_t index;        /* index of this candidate */
    const float *features; /* [FEATURE_COUNT] of this candidate, by index; NULL without a reply of the explain family */
    enum msg_order order;  /* order of the candidates; if unset, as fitted to their generator, else unknown */
};

/* Returns the calibrated P(entails), in [0, 1]; NAN without a model or features. Median < 0.1 ms. */
double verifier_entails(const struct verifier_model *model, const struct verifier_subject *subject);

/* The parts of P(entails), as log-odds; for explanations, tests and ablation. */
struct verifier_parts {
    double content; /* of the candidate alone, calibrated on held-out databases; may be NAN */
    double context; /* added for the other candidates */
};
struct verifier_parts verifier_parts(const struct verifier_model *model, const struct verifier_subject *subject);

/* Returns the content's log-odds alone, to fit the weights of the context. `signals` are levels by id (verifier_row.h).
 * `question` may be NULL. NAN without a model or features. */
double verifier_content(const struct verifier_model *model, const char *question, const float *features,
                        const float *signals);

/* True if the numbers for the request's generator were fitted to feedback (docs/models.md, Verifier). */
bool verifier_is_fitted(const struct verifier_model *model, const struct msg_request *request);

/* Returns the importance of this signal to the content model, 0 to 1 (learn_importance). */
double verifier_signal_importance(const struct verifier_model *model, const char *signal);

/* Loads a verifier's file (docs/models.md). On success the caller owes verifier_free. */
enum err_code verifier_load(const char *path, struct verifier_model **out, struct err *err);
enum err_code verifier_load_text(const char *text, size_t len, struct verifier_model **out, struct err *err);
/* Returns the digest of the file that the model was loaded from (lib/learn/blocks.h); 0 without a file. */
uint64_t verifier_digest(const struct verifier_model *model);
void verifier_free(struct verifier_model *model);

#endif
