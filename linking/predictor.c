/* Trains, calibrates and applies branching point predictors (predictor.h).
 *
 * Each layer of a stage has a perceptron. The layers are sorted by AUC on the calibration points. The conformal sets of
 * the best layers are merged into one. */
#include "linking/predictor.h"

#include "lib/learn/metrics.h"
#include "linking/points.h"
#include "linking/predictor_int.h"

#include <glib.h>
#include <math.h>
#include <string.h>

struct predictor_options predictor_options_default(void)
{
    return (struct predictor_options){.alpha = 0.1,
                                      .layers = 3,
                                      .merge = PREDICTOR_PERMUTED,
                                      .tau = 0.5,
                                      .marginal = false,
                                      .near = 0,
                                      .temperature = 1};
}

static void free_layer(struct predictor_layer *layer)
{
    perceptron_free(layer->perceptron);
    g_free(layer->p);
    g_free(layer->states);
    for (int i = 0; i < 3; i++) g_free(layer->scores[i]);
}

void predictor_free(struct predictor *predictor)
{
    if (!predictor) return;
    for (int s = 0; s < TRACE_STAGES; s++) {
        struct predictor_stage *stage = &predictor->stages[s];
        for (uint32_t i = 0; i < stage->n_layers; i++) free_layer(&stage->layers[i]);
        g_free(stage->layers);
        g_free(stage->branching);
    }
    g_free(predictor);
}

/* --- training --- */

struct training {
    struct points learn, calibrate;
    const struct perceptron_options *options;
    uint32_t hidden;
};

static int best_first(const void *a, const void *b)
{
    const struct predictor_layer *x = a, *y = b;
    return x->auc == y->auc ? (x->number > y->number) - (x->number < y->number) : x->auc < y->auc ? 1 : -1;
}

void predictor_sort_layers(struct predictor_stage *stage)
{
    qsort(stage->layers, stage->n_layers, sizeof *stage->layers, best_first);
}

static void standardise(const struct perceptron *p, float *states, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < p->inputs; k++)
            states[i * p->inputs + k] = (states[i * p->inputs + k] - p->mean[k]) * p->scale[k];
}

/* Sorts the nonconformity scores of the calibration points in ascending order: for each label, and for both labels
 * together. */
void predictor_rank_points(struct predictor_layer *layer, const struct predictor_stage *stage)
{
    size_t at[2] = {0, 0};
    for (int i = 0; i < 3; i++) layer->scores[i] = g_new(double, stage->n + 1);
    for (size_t i = 0; i < stage->n; i++) {
        int y = stage->branching[i];
        layer->scores[2][i] = layer->scores[y][at[y]++] = conformal_score(layer->p[i], y);
    }
    conformal_sort(layer->scores[0], at[0]);
    conformal_sort(layer->scores[1], at[1]);
    conformal_sort(layer->scores[2], stage->n);
}

static enum err_code train_layer(struct training *t, struct predictor_stage *stage, struct predictor_layer *layer,
                                 struct err *err)
{
    float *states = points_states(&t->learn, layer->number, t->hidden, err);
    if (!states) return err->code;
    enum err_code code =
        perceptron_train(states, t->learn.branching, t->learn.n, t->hidden, t->options, &layer->perceptron, err);
    g_free(states);
    if (!code) layer->states = points_states(&t->calibrate, layer->number, t->hidden, err);
    if (code || !layer->states) return err->code;
    layer->p = g_new(double, stage->n + 1);
    for (size_t i = 0; i < stage->n; i++)
        layer->p[i] = perceptron_predict(layer->perceptron, layer->states + i * t->hidden);
    standardise(layer->perceptron, layer->states, stage->n);
    layer->auc = learn_auc(layer->p, stage->branching, stage->n);
    predictor_rank_points(layer, stage);
    return ERR_OK;
}

static enum err_code train_layers(struct training *t, struct predictor_stage *stage, struct err *err)
{
    const struct recording *first = &t->learn.recordings[0];
    enum err_code code = ERR_OK;
    stage->n = t->calibrate.n;
    stage->n_branching = t->calibrate.n_branching;
    stage->trained = t->learn.n;
    stage->trained_branching = t->learn.n_branching;
    stage->branching = g_memdup2(t->calibrate.branching, stage->n);
    stage->layers = g_new0(struct predictor_layer, first->n_layers);
    t->hidden = first->hidden;
    for (uint32_t i = 0; !code && i < first->n_layers; i++) {
        stage->layers[stage->n_layers++].number = first->layer_numbers[i];
        code = train_layer(t, stage, &stage->layers[i], err);
    }
    if (!code) predictor_sort_layers(stage);
    return code;
}

static bool teaches(const struct points *p)
{
    return p->n_branching > 0 && p->n_branching < p->n;
}

/* Trains a stage. Sets *trained to false if the recordings have too few branching points, or only branching points. */
static enum err_code train_stage(const struct predictor_sources *sources, const struct perceptron_options *options,
                                 enum trace_stage stage, struct predictor *out, bool *trained, struct err *err)
{
    struct training t = {.options = options};
    enum err_code code = points_read(sources->training, sources->n_training, stage, &t.learn, err);
    if (!code) code = points_read(sources->calibration, sources->n_calibration, stage, &t.calibrate, err);
    *trained = !code && teaches(&t.learn) && teaches(&t.calibrate);
    if (*trained) code = train_layers(&t, &out->stages[stage], err);
    if (*trained && !code && out->hidden && out->hidden != t.hidden)
        code = err_set(err, ERR_MALFORMED, "tables and columns were recorded with hidden states of different sizes");
    if (*trained) out->hidden = t.hidden;
    points_free(&t.learn);
    points_free(&t.calibrate);
    return code;
}

enum err_code predictor_train(const struct predictor_sources *sources, const struct perceptron_options *options,
                              struct predictor **out, struct err *err)
{
    struct predictor *predictor = g_new0(struct predictor, 1);
    bool some = false, trained = false;
    enum err_code code = ERR_OK;
    for (int s = 0; !code && s < TRACE_STAGES; s++) {
        code = train_stage(sources, options, (enum trace_stage)s, predictor, &trained, err);
        some |= trained;
    }
    if (!code && !some)
        code = err_set(err, ERR_CONFIG,
                       "the recordings contain no branching points to train on and to calibrate with" ERR_HINT
                       "use more questions, and databases that the linker was not trained on");
    *out = code ? NULL : predictor;
    if (code) predictor_free(predictor);
    return code;
}

/* --- use --- */

enum err_code predictor_check(const struct predictor *predictor, const struct predictor_options *options,
                              enum trace_stage stage, const struct recording *recording, struct err *err)
{
    const struct predictor_stage *s = &predictor->stages[stage];
    if (!s->n_layers)
        return err_set(err, ERR_CONFIG,
                       "the predictor was not trained for the stage %s" ERR_HINT
                       "train it on recordings that have this stage",
                       trace_stage_names[stage]);
    if (recording->hidden != predictor->hidden)
        return err_set(err, ERR_MALFORMED,
                       "%s: hidden states of %u numbers; the predictor expects %u" ERR_HINT
                       "use recordings of the model that it was trained for",
                       recording->states->path, recording->hidden, predictor->hidden);
    for (uint32_t i = 0; i < MIN(options->layers, s->n_layers); i++) {
        bool found = false;
        for (uint32_t k = 0; k < recording->n_layers; k++) found |= recording->layer_numbers[k] == s->layers[i].number;
        if (!found)
            return err_set(err, ERR_MALFORMED, "%s: layer %u is missing, which the predictor needs",
                           recording->states->path, s->layers[i].number);
    }
    return ERR_OK;
}

static int by_distance(const void *a, const void *b)
{
    double x = ((const struct conformal_neighbour *)a)->distance, y = ((const struct conformal_neighbour *)b)->distance;
    return (x > y) - (x < y);
}

/* Returns the threshold for a label from the calibration points near a standardised state. */
static double threshold_near(const struct predictor_stage *stage, const struct predictor_layer *layer,
                             const struct predictor_options *options, const float *state, int label)
{
    uint32_t width = layer->perceptron->inputs;
    struct conformal_neighbour *near = g_new(struct conformal_neighbour, stage->n + 1);
    size_t n = 0;
    for (size_t i = 0; i < stage->n; i++) {
        if (!options->marginal && stage->branching[i] != label) continue;
        double sum = 0;
        for (uint32_t k = 0; k < width; k++) {
            double apart = (double)(state[k] - layer->states[i * width + k]);
            sum += apart * apart;
        }
        near[n++] = (struct conformal_neighbour){conformal_score(layer->p[i], stage->branching[i]), sum / width};
    }
    qsort(near, n, sizeof *near, by_distance);
    double threshold = conformal_threshold_near(near, MIN(n, options->near), options->temperature, options->alpha);
    g_free(near);
    return threshold;
}

static double threshold_of(const struct predictor_stage *stage, const struct predictor_layer *layer,
                           const struct predictor_options *options, int label)
{
    size_t n[3] = {stage->n - stage->n_branching, stage->n_branching, stage->n};
    int of = options->marginal ? 2 : label;
    return conformal_threshold(layer->scores[of], n[of], options->alpha);
}

static conformal_set judge_layer(const struct predictor_stage *stage, const struct predictor_layer *layer,
                                 const struct predictor_options *options, float *state, double *p)
{
    double threshold[2];
    *p = perceptron_predict(layer->perceptron, state);
    if (options->near) standardise(layer->perceptron, state, 1);
    for (int label = 0; label < 2; label++)
        threshold[label] = options->near ? threshold_near(stage, layer, options, state, label)
                                         : threshold_of(stage, layer, options, label);
    return conformal_predict(*p, threshold[0], threshold[1]);
}

/* Returns the seed for the order of the layers. It must not depend on the token's label. */
static uint64_t seed_of(const struct trace *trace, uint32_t token)
{
    return ((uint64_t)g_str_hash(trace->id) << 32) ^ ((uint64_t)g_str_hash(trace->question) << 8) ^ token;
}

enum err_code predictor_judge(const struct predictor *predictor, const struct predictor_options *options,
                              struct recording *recording, const struct trace *trace, uint32_t token,
                              struct predictor_verdict *out, struct err *err)
{
    const struct predictor_stage *stage = &predictor->stages[trace->stage];
    uint32_t n = MIN(MIN(options->layers, stage->n_layers), (uint32_t)CONFORMAL_MAX_SETS);
    conformal_set sets[CONFORMAL_MAX_SETS];
    float state[PERCEPTRON_MAX_INPUTS];
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = 0;
        double p = 0;
        while (recording->layer_numbers[at] != stage->layers[i].number) at++;
        enum err_code code = recording_state(recording, at, trace, token, state, err);
        if (code) return code;
        sets[i] = judge_layer(stage, &stage->layers[i], options, state, &p);
        sum += p;
    }
    *out = (struct predictor_verdict){.set = options->merge == PREDICTOR_MAJORITY
                                                 ? conformal_majority(sets, n, options->tau)
                                                 : conformal_permuted(sets, n, seed_of(trace, token)),
                                      .p = n ? sum / n : 1};
    return ERR_OK;
}
