/* Predicts from hidden states where a schema linker errs: branching point predictors (Reliable Text-to-SQL with
 * Adaptive Abstention, section 3.2).
 *
 * One perceptron for each layer estimates P(a token's choice is wrong) (sBPP). Its calibration turns that into a set of
 * the labels "continues correctly" and "branches", which contains the true label with a guaranteed probability. The
 * sets of the best layers, by AUC on the calibration points, are merged into one (mBPP). A token whose set contains
 * "branches" is uncertain.
 *
 * Tables and columns have separate models. Training and calibration need recordings of questions on databases that the
 * linker was not trained on, because it hardly errs on the others. Thread: training any; a trained or loaded predictor
 * is read-only and may be shared. */
#ifndef ASSAY_LINKING_PREDICTOR_H
#define ASSAY_LINKING_PREDICTOR_H

#include "lib/learn/conformal.h"
#include "lib/learn/perceptron.h"
#include "linking/trace.h"

struct predictor_layer {
    uint32_t number;
    struct perceptron *perceptron;
    double auc;        /* on the calibration points */
    double *p;         /* P(branches) of each calibration point */
    float *states;     /* their hidden states, standardised, a row a point */
    double *scores[3]; /* nonconformity, ascending: of points that do not branch, of those that do, of all */
};

struct predictor_stage {
    struct predictor_layer *layers; /* the highest AUC first */
    uint32_t n_layers;              /* 0 if this stage was not trained */
    uint8_t *branching;             /* 1 for each calibration point that is a branching point */
    size_t n, n_branching;
    size_t trained, trained_branching; /* points that the perceptrons learned from */
};

struct predictor {
    uint32_t hidden;
    struct predictor_stage stages[TRACE_STAGES];
};

/* Recordings by name, see recording_open. A stage that they lack stays untrained. Training returns ERR_CONFIG if no
 * stage has enough branching points, and the errors of points_read. `command` is informative and may be NULL. */
struct predictor_sources {
    const char *const *training, *const *calibration;
    uint32_t n_training, n_calibration;
};
enum err_code predictor_train(const struct predictor_sources *sources, const struct perceptron_options *options,
                              struct predictor **out, struct err *err);
void predictor_free(struct predictor *predictor);

/* Saves and loads a file in the safetensors format, of `assay-link/1`. */
enum err_code predictor_save(const struct predictor *predictor, const char *command, const char *path, struct err *err);
enum err_code predictor_load(const char *path, struct predictor **out, struct err *err);

/* --- use --- */

enum predictor_merge { PREDICTOR_MAJORITY, PREDICTOR_PERMUTED };

struct predictor_options {
    double alpha;    /* error rate of each layer's sets */
    uint32_t layers; /* number of layers merged, best first; more than exist means all */
    enum predictor_merge merge;
    double tau;    /* threshold of the majority vote */
    bool marginal; /* one threshold for both labels, as in the paper; otherwise one for each label */
    /* Number of nearest calibration points of each label, weighed by distance. 0: all points, with equal weight. */
    uint32_t near;
    /* Weights are exp(-distance / temperature). The distance is the mean square of the standardised states. */
    double temperature;
};
struct predictor_options predictor_options_default(void);

/* Checks that a recording has the layers that the predictor reads for a stage. Returns ERR_MALFORMED with the layer
 * that is missing or has another width, or ERR_CONFIG if the predictor was not trained for that stage. */
enum err_code predictor_check(const struct predictor *predictor, const struct predictor_options *options,
                              enum trace_stage stage, const struct recording *recording, struct err *err);

struct predictor_verdict {
    conformal_set set; /* CONFORMAL_POSITIVE: branches */
    double p;          /* mean of the layers' outputs */
};

/* Judges one token of a recording that passed predictor_check. Equal recordings and options give equal verdicts. */
enum err_code predictor_judge(const struct predictor *predictor, const struct predictor_options *options,
                              struct recording *recording, const struct trace *trace, uint32_t token,
                              struct predictor_verdict *out, struct err *err);

#endif
