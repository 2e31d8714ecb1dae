/* Where a schema linker goes wrong, from its hidden states: branching point predictors (Reliable Text-to-SQL with Adaptive Abstention,
 * section 3.2).
 *
 * A perceptron a layer says how likely a token's choice is not the right one (sBPP). Its calibration turns that into a set of the
 * labels "goes on rightly" and "branches" which holds the true one with a promised probability; the sets of the best layers, by their
 * AUC on the calibration points, are merged into one (mBPP). A token whose set holds "branches" is uncertain.
 *
 * Learned apart for tables and for columns. Training and calibration are of recordings of questions on databases that the linker was not
 * trained on: on those that it was it hardly errs. Thread: training any; a trained or loaded predictor is read-only and may be shared.
 */
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
    double *scores[3]; /* nonconformity, ascending: of the points that do not branch, that do, of all */
};

struct predictor_stage {
    struct predictor_layer *layers; /* the highest AUC first */
    uint32_t n_layers;              /* 0: this stage was not trained */
    uint8_t *branching;             /* of the calibration points */
    size_t n, n_branching;
    size_t trained, trained_branching; /* points that the perceptrons learned from */
};

struct predictor {
    uint32_t hidden;
    struct predictor_stage stages[TRACE_STAGES];
};

/* Recordings by name, see recording_open. A stage that they do not have stays untrained; ERR_CONFIG when no stage could be trained, for too
 * few branching points; else what points_read says. `command` is for people and may be NULL. */
struct predictor_sources {
    const char *const *training, *const *calibration;
    uint32_t n_training, n_calibration;
};
enum err_code predictor_train(const struct predictor_sources *sources, const struct perceptron_options *options,
                              struct predictor **out, struct err *err);
void predictor_free(struct predictor *predictor);

/* A file in the safetensors format, of `assay-link/1`. */
enum err_code predictor_save(const struct predictor *predictor, const char *command, const char *path, struct err *err);
enum err_code predictor_load(const char *path, struct predictor **out, struct err *err);

/* --- use --- */

enum predictor_merge { PREDICTOR_MAJORITY, PREDICTOR_PERMUTED };

struct predictor_options {
    double alpha;    /* of each layer's sets */
    uint32_t layers; /* merged: so many, the best; all where there are fewer */
    enum predictor_merge merge;
    double tau;    /* of the majority */
    bool marginal; /* one threshold for both labels, as in the paper; else one for each */
    uint32_t near; /* calibration points weighed by likeness, the nearest so many (of each label); 0: all alike */
    double
        temperature; /* of the weights: exp(-distance / temperature), distance the mean square of the standardised states */
};
struct predictor_options predictor_options_default(void);

/* Does a recording have what the predictor reads of a stage? ERR_MALFORMED: which layer is missing, or of another width. ERR_CONFIG: the
 * predictor was not trained for that stage. */
enum err_code predictor_check(const struct predictor *predictor, const struct predictor_options *options,
                              enum trace_stage stage, const struct recording *recording, struct err *err);

struct predictor_verdict {
    conformal_set set; /* CONFORMAL_POSITIVE: branches */
    double p;          /* the mean of what the layers say */
};

/* One token of a recording that predictor_check passed. The same recording and options give the same. */
enum err_code predictor_judge(const struct predictor *predictor, const struct predictor_options *options,
                              struct recording *recording, const struct trace *trace, uint32_t token,
                              struct predictor_verdict *out, struct err *err);

#endif
