/* Predicts from hidden states where a schema linker makes an error: branching point predictors (Reliable Text-to-SQL
 * with Adaptive Abstention, section 3.2).
 *
 * A perceptron for each layer estimates the probability that the linker's choice of a token is wrong (sBPP).
 * Calibration turns this into a set of the labels "continues correctly" and "branches". The set contains the true label
 * with a guaranteed probability. The sets of the best layers, by AUC on the calibration points, are merged into one
 * (mBPP). A token whose set contains "branches" is uncertain.
 *
 * Tables and columns have separate models. Train and calibrate on recordings of databases that the linker was not
 * trained on, because it makes hardly any errors on the others. Thread: training any; a trained or loaded predictor is
 * read-only and may be shared. */
#ifndef ASSAY_LINKING_PREDICTOR_H
#define ASSAY_LINKING_PREDICTOR_H

#include "lib/learn/conformal.h"
#include "lib/learn/perceptron.h"
#include "linking/trace.h"

struct predictor_layer {
    uint32_t number;
    struct perceptron *perceptron;
    double auc;    /* on the calibration points */
    double *p;     /* for each calibration point: P(branches) */
    float *states; /* standardised hidden states of the calibration points, one row for each point */
    /* Nonconformity in ascending order: of points that do not branch, of points that do, of all points. */
    double *scores[3];
};

struct predictor_stage {
    struct predictor_layer *layers; /* ordered by AUC, highest first */
    uint32_t n_layers;              /* 0 if the stage was not trained */
    uint8_t *branching;             /* 1 for each calibration point that is a branching point */
    size_t n, n_branching;
    size_t trained, trained_branching; /* number of training points, and of branching points among them */
};

struct predictor {
    uint32_t hidden;
    struct predictor_stage stages[TRACE_STAGES];
};

/* Names of recordings (see recording_open). A stage that the recordings do not contain stays untrained. Training
 * returns ERR_CONFIG if no stage has enough branching points, and the errors of points_read. `command` is stored in the
 * file for information and may be NULL. */
struct predictor_sources {
    const char *const *training, *const *calibration;
    uint32_t n_training, n_calibration;
};
enum err_code predictor_train(const struct predictor_sources *sources, const struct perceptron_options *options,
                              struct predictor **out, struct err *err);
void predictor_free(struct predictor *predictor);

/* Save and load a file in the safetensors format, with the format name `assay-link/1`. */
enum err_code predictor_save(const struct predictor *predictor, const char *command, const char *path, struct err *err);
enum err_code predictor_load(const char *path, struct predictor **out, struct err *err);

/* --- use --- */

enum predictor_merge { PREDICTOR_MAJORITY, PREDICTOR_PERMUTED };

struct predictor_options {
    double alpha;    /* guaranteed error rate of the set of each layer */
    uint32_t layers; /* number of layers that are merged, best first; a larger number than exists means all */
    enum predictor_merge merge;
    double tau;    /* share of the sets that must contain a label, for PREDICTOR_MAJORITY */
    bool marginal; /* true for one threshold for both labels, as in the paper; false for a threshold for each label */
    /* Number of nearest calibration points of each label, which are weighted by distance. 0 means all points with equal
     * weight. */
    uint32_t near;
    /* A point weighs exp(-distance / temperature). The distance is the mean square of the difference between the
     * standardised states. */
    double temperature;
};
struct predictor_options predictor_options_default(void);

/* Checks that a recording has the layers that the predictor reads for a stage. Returns ERR_MALFORMED, naming the layer,
 * if a layer is missing or has another width. Returns ERR_CONFIG if the predictor was not trained for that stage. */
enum err_code predictor_check(const struct predictor *predictor, const struct predictor_options *options,
                              enum trace_stage stage, const struct recording *recording, struct err *err);

struct predictor_verdict {
    conformal_set set; /* contains CONFORMAL_POSITIVE if the token may branch */
    double p;          /* mean of the layers' outputs */
};

/* Judges one token of a recording that passed predictor_check. Equal recordings and options give equal verdicts.
 * Returns the errors of recording_state. */
enum err_code predictor_judge(const struct predictor *predictor, const struct predictor_options *options,
                              struct recording *recording, const struct trace *trace, uint32_t token,
                              struct predictor_verdict *out, struct err *err);

#endif
