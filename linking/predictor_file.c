/* Reads and writes the file of a predictor. It has the safetensors format, and its `__metadata__` has
 *
 *   format   "assay-link/1"
 *   command  the command that made the file; informative
 *   about    JSON: {"hidden", "tables": {"layers": [{"number", "auc"}], "trained", "trained_branching"},
 *                   "columns": {...}}
 *
 * Each stage has the tensor `STAGE.branching` [1, points]. Each layer has tensors named `STAGE.NUMBER.` + mean, scale,
 * bias [1, ...], weight, out, p [1, points], states [points, hidden]. Loading sorts the nonconformity scores of the
 * calibration points, because the file does not contain them. */
#include "linking/predictor.h"

#include "lib/learn/metrics.h"
#include "linking/predictor_int.h"

#include <glib.h>
#include <jansson.h>
#include <string.h>

static const char FORMAT[] = "assay-link/1";

/* --- writing --- */

static void add(struct tensors_writer *w, const char *stage, uint32_t layer, const char *what, const float *numbers,
                uint64_t rows, uint64_t columns, enum tensor_type type)
{
    char *name = g_strdup_printf("%s.%u.%s", stage, layer, what);
    tensors_writer_add(w, name, type, numbers, rows, columns);
    g_free(name);
}

static void add_layer(struct tensors_writer *w, const char *name, const struct predictor_stage *stage,
                      const struct predictor_layer *layer)
{
    const struct perceptron *p = layer->perceptron;
    float *scores = g_new(float, stage->n + 1);
    for (size_t i = 0; i < stage->n; i++) scores[i] = (float)layer->p[i];
    add(w, name, layer->number, "mean", p->mean, 1, p->inputs, TENSOR_F32);
    add(w, name, layer->number, "scale", p->scale, 1, p->inputs, TENSOR_F32);
    add(w, name, layer->number, "weight", p->weight, p->hidden, p->inputs, TENSOR_F32);
    add(w, name, layer->number, "bias", p->bias, 1, p->hidden, TENSOR_F32);
    add(w, name, layer->number, "out", p->out, 1, p->hidden + 1, TENSOR_F32);
    add(w, name, layer->number, "p", scores, 1, stage->n, TENSOR_F32);
    add(w, name, layer->number, "states", layer->states, stage->n, p->inputs, TENSOR_F16);
    g_free(scores);
}

static json_t *about_stage(const struct predictor_stage *stage)
{
    json_t *layers = json_array();
    for (uint32_t i = 0; i < stage->n_layers; i++)
        json_array_append_new(
            layers, json_pack("{s:I,s:f}", "number", (json_int_t)stage->layers[i].number, "auc", stage->layers[i].auc));
    return json_pack("{s:o,s:I,s:I}", "layers", layers, "trained", (json_int_t)stage->trained, "trained_branching",
                     (json_int_t)stage->trained_branching);
}

enum err_code predictor_save(const struct predictor *predictor, const char *command, const char *path, struct err *err)
{
    struct tensors_writer *w = tensors_writer_new();
    json_t *about = json_pack("{s:I}", "hidden", (json_int_t)predictor->hidden);
    for (int s = 0; s < TRACE_STAGES; s++) {
        const struct predictor_stage *stage = &predictor->stages[s];
        if (!stage->n_layers) continue;
        float *branching = g_new(float, stage->n);
        char *name = g_strdup_printf("%s.branching", trace_stage_names[s]);
        for (size_t i = 0; i < stage->n; i++) branching[i] = stage->branching[i];
        tensors_writer_add(w, name, TENSOR_F16, branching, 1, stage->n);
        for (uint32_t i = 0; i < stage->n_layers; i++) add_layer(w, trace_stage_names[s], stage, &stage->layers[i]);
        json_object_set_new(about, trace_stage_names[s], about_stage(stage));
        g_free(branching);
        g_free(name);
    }
    char *text = json_dumps(about, JSON_COMPACT);
    tensors_writer_metadata(w, "format", FORMAT);
    tensors_writer_metadata(w, "command", command ? command : "");
    tensors_writer_metadata(w, "about", text ? text : "");
    enum err_code code = tensors_writer_save(w, path, err);
    free(text);
    json_decref(about);
    tensors_writer_free(w);
    return code;
}

/* --- reading --- */

struct loading {
    struct tensors *file;
    const char *stage;
    uint32_t layer;
    struct err *err;
};

/* Reads a tensor of a known shape into `out`. */
static bool load(const struct loading *l, const char *what, uint64_t rows, uint64_t columns, float *out)
{
    char *name = g_strdup_printf("%s.%u.%s", l->stage, l->layer, what);
    const struct tensor *tensor = tensors_find(l->file, name);
    bool good = tensor && tensor->rows == rows && tensor->columns == columns;
    if (!good) err_set(l->err, ERR_MALFORMED, "%s: tensor %s is missing or has the wrong shape", l->file->path, name);
    good = good && tensors_all(l->file, tensor, out, l->err) == ERR_OK;
    g_free(name);
    return good;
}

static bool load_layer(const struct loading *l, uint32_t hidden, const struct predictor_stage *stage,
                       struct predictor_layer *layer)
{
    char *name = g_strdup_printf("%s.%u.bias", l->stage, l->layer);
    const struct tensor *bias = tensors_find(l->file, name);
    g_free(name);
    struct perceptron *p = layer->perceptron =
        bias && bias->columns <= PERCEPTRON_MAX_HIDDEN ? perceptron_new(hidden, (uint32_t)bias->columns) : NULL;
    if (!p)
        return err_set(l->err, ERR_MALFORMED, "%s: the perceptron of layer %u is missing or invalid", l->file->path,
                       l->layer),
               false;
    layer->states = g_try_malloc_n(stage->n, hidden * sizeof(float));
    layer->p = g_new(double, stage->n + 1);
    float *scores = g_new(float, stage->n + 1);
    bool good = layer->states && load(l, "mean", 1, hidden, p->mean) && load(l, "scale", 1, hidden, p->scale) &&
                load(l, "weight", p->hidden, hidden, p->weight) && load(l, "bias", 1, p->hidden, p->bias) &&
                load(l, "out", 1, p->hidden + 1, p->out) && load(l, "p", 1, stage->n, scores) &&
                load(l, "states", stage->n, hidden, layer->states);
    for (size_t i = 0; good && i < stage->n; i++) {
        layer->p[i] = (double)scores[i];
        if (!(layer->p[i] >= 0 && layer->p[i] <= 1))
            good = err_set(l->err, ERR_MALFORMED, "%s: a probability is not from 0 to 1", l->file->path) == ERR_OK;
    }
    g_free(scores);
    if (!good) return false;
    layer->auc = learn_auc(layer->p, stage->branching, stage->n);
    predictor_rank_points(layer, stage);
    return true;
}

static bool load_points(struct loading *l, struct predictor_stage *stage)
{
    char *name = g_strdup_printf("%s.branching", l->stage);
    const struct tensor *tensor = tensors_find(l->file, name);
    g_free(name);
    float *branching = tensor && tensor->rows == 1 ? g_new(float, tensor->columns) : NULL;
    if (!branching || tensors_all(l->file, tensor, branching, l->err) != ERR_OK) {
        err_set(l->err, ERR_MALFORMED, "%s: no calibration points for %s", l->file->path, l->stage);
        g_free(branching);
        return false;
    }
    stage->n = tensor->columns;
    stage->branching = g_new(uint8_t, stage->n);
    for (size_t i = 0; i < stage->n; i++) stage->n_branching += stage->branching[i] = branching[i] > 0.5F;
    g_free(branching);
    if (stage->n_branching && stage->n_branching < stage->n) return true;
    err_set(l->err, ERR_MALFORMED, "%s: all calibration points have the same class", l->file->path);
    return false;
}

static bool load_stage(struct loading *l, const json_t *about, uint32_t hidden, struct predictor_stage *stage)
{
    const json_t *layers = json_object_get(about, "layers");
    size_t n = json_array_size(layers);
    if (n < 1 || n > TRACE_MAX_LAYERS)
        return err_set(l->err, ERR_MALFORMED, "%s: no layers for %s", l->file->path, l->stage), false;
    if (!load_points(l, stage)) return false;
    stage->trained = (size_t)json_integer_value(json_object_get(about, "trained"));
    stage->trained_branching = (size_t)json_integer_value(json_object_get(about, "trained_branching"));
    stage->layers = g_new0(struct predictor_layer, n);
    for (size_t i = 0; i < n; i++) {
        l->layer = (uint32_t)json_integer_value(json_object_get(json_array_get(layers, i), "number"));
        stage->layers[stage->n_layers++].number = l->layer;
        if (!load_layer(l, hidden, stage, &stage->layers[i])) return false;
    }
    predictor_sort_layers(stage);
    return true;
}

static enum err_code load_all(struct tensors *file, struct predictor *out, struct err *err)
{
    const char *format = tensors_metadata(file, "format"), *text = tensors_metadata(file, "about");
    if (!format || strcmp(format, FORMAT) != 0)
        return err_set(err, format && strncmp(format, FORMAT, sizeof FORMAT - 2) == 0 ? ERR_VERSION : ERR_MALFORMED,
                       "%s: not a file of format %s" ERR_HINT "create one with `assay link train`", file->path, FORMAT);
    json_t *about = text ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;
    json_int_t hidden = json_integer_value(json_object_get(about, "hidden"));
    bool good = hidden >= 1 && hidden <= PERCEPTRON_MAX_INPUTS, some = false;
    if (!good) err_set(err, ERR_MALFORMED, "%s: `hidden` in `about` is missing or invalid", file->path);
    out->hidden = (uint32_t)hidden;
    for (int s = 0; good && s < TRACE_STAGES; s++) {
        struct loading l = {.file = file, .stage = trace_stage_names[s], .err = err};
        const json_t *stage = json_object_get(about, trace_stage_names[s]);
        if (stage) good = some = load_stage(&l, stage, out->hidden, &out->stages[s]);
    }
    if (good && !some)
        good = err_set(err, ERR_MALFORMED, "%s: both stages, tables and columns, are missing", file->path) == ERR_OK;
    json_decref(about);
    return good ? ERR_OK : err->code;
}

enum err_code predictor_load(const char *path, struct predictor **out, struct err *err)
{
    struct tensors *file = NULL;
    struct err own = {0};
    struct predictor *predictor = g_new0(struct predictor, 1);
    enum err_code code = tensors_open(path, &file, &own);
    if (!code) code = load_all(file, predictor, &own);
    tensors_close(file);
    *out = code ? NULL : predictor;
    if (!code) return ERR_OK;
    predictor_free(predictor);
    if (err) *err = own;
    return code;
}
