/* All learned models that judge a candidate: label model, classifier and verifier, and the numbers that combine them.
 * They are loaded once. A loaded set is read-only and may be shared by threads. docs/models.md describes the files. */
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
    double threshold; /* P(correct) at which a candidate validates */
    /* Lead in P(correct) that another candidate needs over the first one that executes, by the order of the candidates.
     * 0 if positions carry no information. */
    double margins[MSG_ORDER_COUNT];
    /* Thresholds of the signals' probability and of the entailment, if a strategy uses both models. */
    double label_threshold, entailment_threshold;
    double cyclesql_threshold; /* threshold of the entailment, if a strategy uses no other model */
    /* For models_blend: share of the built-in verifier, if there is also a remote one. */
    double builtin_share[MSG_ORDER_COUNT];
    double weights[3];     /* for models_combine: constant, weight of the signals, weight of the verifier */
    double schema_only[2]; /* for models_from_schema: constant, scale */
    bool knows_schemas;    /* the decision file has `schema_only` */
    double unfamiliar[2];  /* for models_combine: constant, scale */
    double repair_margin;  /* lead in P(correct) that a repair needs over the old query */
    /* By signal: log-odds of an error, in nats, if no supervised model reads the signal; otherwise 0. */
    double unlearned[VSIG_ID_END];
    uint8_t critical[VSIG_ID_END];   /* rank of each signal for a corrector; the most critical has 0 */
    struct verifier_model *verifier; /* may be NULL */
    struct guarantee *guarantee;     /* may be NULL */
    char *label_model_version, *classifier_version, *verifier_version;
};

/* The files to load. A file is NULL for the default file in `dir`, a path, or "none". */
struct models_files {
    const char *dir; /* NULL selects $ASSAY_MODELS, otherwise the installed models */
    const char *label_model, *classifier, *verifier;
    const char *calibration; /* may be NULL */
};

/* Loads label_model.json, classifier.json, verifier.json and decision.json. Only the label model is required. If all
 * models are "none", there are no probabilities: candidates are ranked by the fired signals, and none validates. Use
 * this to collect vectors. Returns ERR_CONFIG if a required model is missing, or a model does not fit. */
enum err_code models_load(const struct models_files *files, struct scoring_models **out, struct err *err);
void models_free(struct scoring_models *models);

/* Return the strategy and the threshold that the decision file recommends. */
enum msg_strategy models_strategy(const struct scoring_models *models);
double models_threshold(const struct scoring_models *models);

/* The score of one candidate from its signals.
 * - p is the probability that the candidate is correct, from the classifier if there is one. NAN without a model.
 * - label_model_p is the probability from the label model alone.
 * - score orders candidates; higher is better. It is always finite. */
struct models_score {
    double p, label_model_p, score;
};
struct models_score models_score(const struct scoring_models *models, const struct votes_subject *subject);

/* Combines the log-odds of both verifiers, for candidates of this order. The built-in verifier weighs its share, and
 * the remote verifier the rest. If one value is NAN, returns the other. Thread: any. */
double models_blend(const struct scoring_models *models, enum msg_order order, double builtin, double remote);

/* Returns P(correct) from the signals' `p` and the verifier's entailment. Adds their calibrated log-odds with the
 * weights of the decision file. Shrinks the sum if the verifier is not `fitted` to the generator. If one value is NAN,
 * the other decides. Returns NAN if both are. The result stays 1e-6 away from 0 and 1. */
double models_combine(const struct scoring_models *models, double p, double entailment, bool fitted);

/* Updates P by the report of a language model on the candidate (family llm). The model is assumed to be correct in the
 * share `hit_rate` of all cases, 0.5 to 1.
 * - An error divides the odds by hit_rate / (1 - hit_rate), a warning by the square root of it.
 * - A report without findings multiplies the odds by it. If more than a fifth of the signals are unavailable, such a
 *   report does not count (the rule of the positive labelers).
 * Returns P unchanged if no model was consulted, or if the label model already weighs these signals. */
double models_hear(const struct scoring_models *models, const struct msg_judged *judged, double hit_rate, double p);

/* Lowers P of a candidate that was judged from a schema without data. Applies a constant and a scale to the log-odds,
 * which were fitted to such verdicts. Never returns more than `p`. Without fitted numbers, returns at most 0.5. NAN
 * stays NAN. */
double models_from_schema(const struct scoring_models *models, double p);

/* Finds the signals that neither the classifier nor the verifier reads (scoring/unlearned.c). models_load calls
 * this. */
void models_find_unlearned(struct scoring_models *models);

/* Lowers P by the findings of the signals that no supervised model reads, and returns it. NAN stays NAN. Thread:
 * any. */
double models_apply_unlearned(const struct scoring_models *models, const struct msg_judged *judged, double p);

/* Reads the verifier's features from a message into out[FEATURE_COUNT], by index. An absent feature is NAN. Returns
 * false if the message has none. */
bool models_read_features(const struct msg_explanation *explanation, float *out);

/* Lowers P by the amount that the unavailable signals would have added if they were silent. Returns P unchanged if all
 * signals ran. */
double models_discount(const struct scoring_models *models, const struct msg_judged *judged, double p);

#endif
