/* Everything that is learned about a candidate, loaded once: label model, classifier, verifier, and how they are used
 * together. A loaded set is read-only and may be shared by threads. Files: docs/models.md.
 */
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
    struct lm_model *label_model; /* NULL: none */
    struct lm_map map;
    struct learn_model *classifier; /* NULL: none */
    unsigned n_features;
    int from[MODELS_MAX_FEATURES];
    enum msg_strategy strategy;
    double threshold;                             /* of P(correct) */
    double margins[MSG_ORDER_COUNT];              /* by how the candidates came about; 0 where places say nothing */
    double label_threshold, entailment_threshold; /* that each must reach by itself where a strategy asks both */
    double cyclesql_threshold;                    /* of the entailment, where nothing else is asked */
    double builtin_share[MSG_ORDER_COUNT];        /* of models_blend: the built-in verifier beside a remote one */
    double weights[3];                            /* of models_combine: constant, signals, verifier */
    double schema_only[2];                        /* of models_from_schema: constant, scale */
    bool knows_schemas;                           /* the decision file has them */
    double unfamiliar[2];                         /* of models_combine: constant, scale */
    double repair_margin;          /* in P(correct), by which a repair must be surer than the old query */
    double unlearned[VSIG_ID_END]; /* of signals that no supervised model reads, what an error means, in nats; else 0 */
    uint8_t critical[VSIG_ID_END]; /* rank of each signal for a corrector, the most critical 0 */
    struct verifier_model *verifier; /* NULL: none */
    struct guarantee *guarantee;     /* what may be promised of answers; NULL: nothing */
    char *label_model_version, *classifier_version, *verifier_version;
};

/* Which files. All but `dir` may be NULL (the one in `dir`), a file that replaces it, or "none". */
struct models_files {
    const char *dir; /* NULL: $ASSAY_MODELS, else the installed ones */
    const char *label_model, *classifier, *verifier;
    const char *calibration; /* NULL: none */
};

/* Load label_model.json, classifier.json, verifier.json and decision.json. Only the label model must be there. Without
 * any model nothing has a probability: candidates are ranked by the signals that fired and none validates; that is for
 * collecting vectors. ERR_CONFIG: a model is missing and was not left out, or does not fit. */
enum err_code models_load(const struct models_files *files, struct scoring_models **out, struct err *err);
void models_free(struct scoring_models *models);

/* Strategy and threshold that the decision file recommends. */
enum msg_strategy models_strategy(const struct scoring_models *models);
double models_threshold(const struct scoring_models *models);

/* What one candidate is worth to the signals. p: probability that it is right (NAN without a model), of the classifier
 * where there is one; label_model_p: the label model's alone; score orders candidates, higher is better, always finite.
 */
struct models_score {
    double p, label_model_p, score;
};
struct models_score models_score(const struct scoring_models *models, const struct votes_subject *subject);

/* What both verifiers say, of candidates that came about in this way: log-odds, the built-in one's
 * with its share and the remote one's with the rest. Where one is NAN the other one alone is it. Thread: any. */
double models_blend(const struct scoring_models *models, enum msg_order order, double builtin, double remote);

/* P(correct) from what the signals and the verifier say apart: calibrated log-odds, added with the weights of the
 * decision file, and believed less where the verifier is not `fitted` to the generator. Either may be NAN: the
 * other one alone decides; NAN when both are. Never 0 or 1: 1e-6 is left. */
double models_combine(const struct scoring_models *models, double p, double entailment, bool fitted);

/* P with the word of a language model on the candidate (family llm), which is taken to be right in this share of all cases, 0.5 to 1: an error that it
 * finds divides the odds by hit_rate / (1 - hit_rate), a warning by the root of it; where it finds nothing they are multiplied by it, unless more than a
 * fifth of its signals could not look (the rule of the positive labelers). P itself where it was not asked, or where the label model knows these
 * signals and has weighed them already. */
double models_hear(const struct scoring_models *models, const struct msg_judged *judged, double hit_rate, double p);

/* P of a candidate that was judged from a schema without data: log-odds with the constant and scale that were fitted to
 * such verdicts, and never more than `p`. Where none were, p, and at most even odds. NAN stays NAN. */
double models_from_schema(const struct scoring_models *models, double p);

/* Finds the signals that neither the classifier nor the verifier reads: scoring/unlearned.c. models_load calls it. */
void models_find_unlearned(struct scoring_models *models);

/* Gives P lowered by the findings of such signals. NAN stays NAN. Thread: any. */
double models_apply_unlearned(const struct scoring_models *models, const struct msg_judged *judged, double p);

/* The features of the verifier as they came in a message: out[FEATURE_COUNT] by index, NAN where nothing came.
 * False: nothing came at all. */
bool models_read_features(const struct msg_explanation *explanation, float *out);

/* P less what the silence of the candidate's unavailable signals would have been worth; P itself where all looked. */
double models_discount(const struct scoring_models *models, const struct msg_judged *judged, double p);

#endif
