/* All learned models of a candidate, loaded once: label model, classifier and verifier, and the numbers that combine
 * them. A loaded set is read-only and may be shared by threads. Files: docs/models.md. */
#ifndef ASSAY_SCORING_MODELS_H
#define ASSAY_SCORING_MODELS_H

#include "lib/base/error.h"
#include "lib/learn/classifier.h"
#include "lib/learn/label_model.h"
#include "proto/message/msg.h"
#include "scoring/guarantee.h"
#include "scoring/verifier.h"
#include "scoring/votes.h"

enum { MODELS_MAX_FEATURES = 512 };

struct scoring_models {
    struct lm_model *label_model; /* may be NULL */
    struct lm_map map;
    struct learn_model *classifier; /* may be NULL */
    unsigned n_features;
    int from[MODELS_MAX_FEATURES];
    enum msg_strategy strategy;
    double threshold;                             /* of P(correct) */
    double margins[MSG_ORDER_COUNT];              /* by the order of the candidates; 0 if positions carry no
                                                   * information */
    double label_threshold, entailment_threshold; /* thresholds that each model must reach alone if a strategy uses
                                                   * both */
    double cyclesql_threshold;                    /* threshold of the entailment if no other model is used */
    double builtin_share[MSG_ORDER_COUNT];        /* of models_blend: the built-in verifier beside a remote one */
    double weights[3];                            /* of models_combine: constant, signals, verifier */
    double schema_only[2];                        /* of models_from_schema: constant, scale */
    bool knows_schemas;                           /* the decision file has them */
    double unfamiliar[2];                         /* of models_combine: constant, scale */
    double repair_margin;                         /* minimum gain in P(correct) of a repair over the old query */
    double unlearned[VSIG_ID_END];   /* log-odds of an error, in nats, of signals that no supervised model reads; else
                                    * 0 */
    uint8_t critical[VSIG_ID_END];   /* rank of each signal for a corrector, the most critical 0 */
    struct verifier_model *verifier; /* may be NULL */
    struct guarantee *guarantee;     /* guarantees on answers; may be NULL */
    char *label_model_version, *classifier_version, *verifier_version;
};

/* The files to load. Each but `dir` may be NULL (the file in `dir`), a replacement file, or "none". */
struct models_files {
    const char *dir; /* NULL means $ASSAY_MODELS, else the installed ones */
    const char *label_model, *classifier, *verifier;
    const char *calibration; /* may be NULL */
};

/* Loads label_model.json, classifier.json, verifier.json and decision.json. Only the label model is required. Without
 * any model there are no probabilities: candidates are ranked by the fired signals, and none validates. Use this to
 * collect vectors. Returns ERR_CONFIG if a model is missing and was not left out, or does not fit. */
enum err_code models_load(const struct models_files *files, struct scoring_models **out, struct err *err);
void models_free(struct scoring_models *models);

/* Return the strategy and the threshold that the decision file recommends. */
enum msg_strategy models_strategy(const struct scoring_models *models);
double models_threshold(const struct scoring_models *models);

/* The score of one candidate from its signals.
 * - p is the probability that it is correct, of the classifier if there is one (NAN without a model).
 * - label_model_p is that of the label model alone.
 * - score orders candidates; higher is better, always finite. */
struct models_score {
    double p, label_model_p, score;
};
struct models_score models_score(const struct scoring_models *models, const struct votes_subject *subject);

/* Blends the log-odds of both verifiers, for candidates of this order: the built-in one by its share, the remote one by
 * the rest. If one is NAN, returns the other. Thread: any. */
double models_blend(const struct scoring_models *models, enum msg_order order, double builtin, double remote);

/* Computes P(correct) from the signals' P and the verifier's entailment. Their calibrated log-odds are added with the
 * weights of the decision file, and shrunk if the verifier is not `fitted` to the generator. Either may be NAN: the
 * other one then decides. Returns NAN if both are. Never 0 or 1: 1e-6 remains. */
double models_combine(const struct scoring_models *models, double p, double entailment, bool fitted);

/* Updates P by a language model's answer on the candidate (family llm). The model is assumed correct in the share
 * `hit_rate` of all cases, 0.5 to 1:
 * - an error divides the odds by hit_rate / (1 - hit_rate), a warning by its square root;
 * - no finding multiplies the odds by it, unless more than a fifth of the signals are unavailable (the rule of the
 *   positive labelers).
 * Returns P unchanged if no model was consulted, or if the label model already weighs these signals. */
double models_hear(const struct scoring_models *models, const struct msg_judged *judged, double hit_rate, double p);

/* Adjusts P of a candidate that was judged from a schema without data. Applies a constant and a scale, fitted to such
 * verdicts, to the log-odds. Returns at most `p`; without fitted numbers also at most even odds. NAN stays NAN. */
double models_from_schema(const struct scoring_models *models, double p);

/* Finds the signals that neither the classifier nor the verifier reads: scoring/unlearned.c. models_load calls it. */
void models_find_unlearned(struct scoring_models *models);

/* Returns P lowered by the findings of such signals. NAN stays NAN. Thread: any. */
double models_apply_unlearned(const struct scoring_models *models, const struct msg_judged *judged, double p);

/* Reads the verifier's features from a message: out[FEATURE_COUNT] by index, NAN if absent. Returns false if the
 * message has none. */
bool models_read_features(const struct msg_explanation *explanation, float *out);

/* Lowers P by the amount that silence of the candidate's unavailable signals would have added. Returns P unchanged if
 * all signals ran. */
double models_discount(const struct scoring_models *models, const struct msg_judged *judged, double p);

#endif
