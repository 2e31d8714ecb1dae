/* The built-in verifier (CycleSQL §IV-D): estimates whether the candidate and its result answer the question.
 *
 * P(entails) comes from two sources. Their models are trained separately, and their log-odds are added:
 *
 *   content   boosted trees over the candidate's features (scoring/features/features.h), the signals of the other
 *             families, and the difference between the candidate's components and the expected ones. For each
 *             component, a hashed linear model over the question's words predicts whether it is expected. The training
 *             data are gold queries, mutants, sibling queries and beams.
 *   context   evidence from the other candidates: votes, rank, equal results. In the training logs the first beam is
 *             nearly always correct and mutants have no votes, so these weights cannot be learned there. They come from
 *             a stated neutral prior, or from feedback on a generator (`assay train calibration`).
 *
 * Pure functions of their arguments: no database, no clock. Candidates from n_seen on are ignored, so the verdict does
 * not depend on how many were judged ahead. Thread: a loaded model is read-only and may be shared. */
#ifndef ASSAY_SCORING_VERIFIER_H
#define ASSAY_SCORING_VERIFIER_H

#include "lib/base/error.h"
#include "proto/message/msg.h"
#include "scoring/features/features.h"

struct verifier_model;

/* A candidate together with the other candidates of its request. */
struct verifier_subject {
    const struct msg_request *request;   /* question and evidence; the given candidates with generators and scores */
    const struct msg_judged *candidates; /* parallel to request->candidates; includes repeats (same_as) */
    uint32_t n_candidates;
    uint32_t n_seen;       /* number of candidates, from the first on, that count as judged */
    uint32_t index;        /* index of this candidate */
    const float *features; /* [FEATURE_COUNT] of this candidate, by index; NULL if the explain family sent no reply */
    /* Order of the candidates. If unset, the order fitted to their generator is used, otherwise unknown. */
    enum msg_order order;
};

/* Returns the calibrated P(entails), in [0, 1]. Returns NAN without a model or features. Takes less than 0.1 ms
 * (median). */
double verifier_entails(const struct verifier_model *model, const struct verifier_subject *subject);

/* The parts of P(entails), as log-odds, for explanations, tests and ablation. */
struct verifier_parts {
    double content; /* evidence from the candidate alone, calibrated on held-out databases; may be NAN */
    double context; /* evidence from the other candidates */
};
struct verifier_parts verifier_parts(const struct verifier_model *model, const struct verifier_subject *subject);

/* Returns the log-odds of the content model alone, to fit the weights of the context. `signals` are levels by id
 * (verifier_row.h). `question` may be NULL. Returns NAN without a model or features. */
double verifier_content(const struct verifier_model *model, const char *question, const float *features,
                        const float *signals);

/* True if the prior of the request's generator was fitted to feedback (docs/models.md, Verifier). */
bool verifier_is_fitted(const struct verifier_model *model, const struct msg_request *request);

/* Returns the importance of this signal in the content model, from 0 to 1 (learn_importance). */
double verifier_signal_importance(const struct verifier_model *model, const char *signal);

/* Load a verifier from a file or a text (docs/models.md). Free *out with verifier_free. */
enum err_code verifier_load(const char *path, struct verifier_model **out, struct err *err);
enum err_code verifier_load_text(const char *text, size_t len, struct verifier_model **out, struct err *err);
/* Returns the digest of the file that the model was loaded from (lib/learn/blocks.h). Returns 0 if it was not loaded
 * from a file. */
uint64_t verifier_digest(const struct verifier_model *model);
void verifier_free(struct verifier_model *model);

#endif
