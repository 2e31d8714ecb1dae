/* Logistic models over hashed features (hashed.h), with several outputs that share the keys.
 *
 * A key's high bits select a bucket, which has one weight for each output. Training uses AdaGrad and visits the items
 * in a random order from the seed, so equal items and options give the same model. Keys that occur fewer than min_count
 * times are ignored. The trained weights are quantised to signed bytes, with one scale for each output. A prediction
 * therefore only adds integers. */
#include "lib/learn/hashed.h"

#include "lib/learn/blocks.h"
#include "lib/learn/internal.h"
#include "lib/learn/json_file.h"
#include "lib/learn/metrics.h"

#include <glib.h>
#include <math.h>
#include <string.h>

enum { MAX_EPOCHS = 1000, STEPS = 127 };

struct hashed_model {
    unsigned bits, n_outputs;
    double bias[HASHED_MAX_OUTPUTS], scale[HASHED_MAX_OUTPUTS];
    int8_t *weights; /* n_outputs for each bucket */
    GBytes *mapped;  /* owns the read-only bytes of `weights`; NULL if the model owns them */
};

struct hashed_options hashed_options_default(void)
{
    return (struct hashed_options){.bits = 15, .epochs = 12, .min_count = 3, .eta = 0.1, .l2 = 1e-5, .seed = 1};
}

static uint32_t bucket_of(const struct hashed_model *model, uint64_t key)
{
    return (uint32_t)(key >> (64 - model->bits)); /* keys are hashes, so any bits would do */
}

static size_t count_weights(const struct hashed_model *model)
{
    return ((size_t)1 << model->bits) * model->n_outputs;
}

static struct hashed_model *model_new(unsigned bits, unsigned n_outputs)
{
    struct hashed_model *model = g_new0(struct hashed_model, 1);
    model->bits = bits;
    model->n_outputs = n_outputs;
    model->weights = g_try_new0(int8_t, count_weights(model));
    if (model->weights) return model;
    hashed_free(model);
    return NULL;
}

void hashed_free(struct hashed_model *model)
{
    if (!model) return;
    if (model->mapped)
        g_bytes_unref(model->mapped);
    else
        g_free(model->weights);
    g_free(model);
}

unsigned hashed_outputs(const struct hashed_model *model)
{
    return model->n_outputs;
}

void hashed_predict(const struct hashed_model *model, const uint64_t *keys, uint32_t n, double *p)
{
    int32_t sum[HASHED_MAX_OUTPUTS] = {0};
    for (uint32_t i = 0; i < n; i++) {
        const int8_t *weights = model->weights + (size_t)bucket_of(model, keys[i]) * model->n_outputs;
        for (unsigned k = 0; k < model->n_outputs; k++) sum[k] += weights[k];
    }
    for (unsigned k = 0; k < model->n_outputs; k++) p[k] = learn_sigmoid(model->bias[k] + model->scale[k] * sum[k]);
}

/* --- fitting --- */

/* The state of training: the weights, and for each weight the sum of squared gradients. */
struct hashed_fit {
    struct hashed_model *model;
    const struct hashed_options *options;
    const struct hashed_item *items;
    size_t n;
    float *weight, *squares;
    double bias[HASHED_MAX_OUTPUTS], bias_squares[HASHED_MAX_OUTPUTS];
    uint32_t **buckets; /* for each item: the buckets of its keys, without rare keys */
    uint32_t *n_buckets;
    uint32_t *order;
};

static bool fit_init(struct hashed_fit *fit)
{
    size_t size = ((size_t)1 << fit->options->bits) * fit->model->n_outputs;
    fit->weight = g_try_new0(float, size);
    fit->squares = g_try_new0(float, size);
    fit->buckets = g_try_new0(uint32_t *, fit->n);
    fit->n_buckets = g_try_new0(uint32_t, fit->n);
    fit->order = g_try_new0(uint32_t, fit->n);
    return fit->weight && fit->squares && fit->buckets && fit->n_buckets && fit->order;
}

static void fit_free(struct hashed_fit *fit)
{
    for (size_t i = 0; fit->buckets && i < fit->n; i++) g_free(fit->buckets[i]);
    g_free(fit->weight);
    g_free(fit->squares);
    g_free(fit->buckets);
    g_free(fit->n_buckets);
    g_free(fit->order);
}

static void keep_common(struct hashed_fit *fit)
{
    GHashTable *counts = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, NULL);
    for (size_t i = 0; i < fit->n; i++)
        for (uint32_t k = 0; k < fit->items[i].n; k++) {
            const uint64_t *key = &fit->items[i].keys[k];
            gpointer seen = g_hash_table_lookup(counts, key);
            g_hash_table_insert(counts, (gpointer)(uintptr_t)key, GUINT_TO_POINTER(GPOINTER_TO_UINT(seen) + 1));
        }
    for (size_t i = 0; i < fit->n; i++) {
        fit->buckets[i] = g_new(uint32_t, fit->items[i].n + 1);
        fit->order[i] = (uint32_t)i;
        for (uint32_t k = 0; k < fit->items[i].n; k++)
            if (GPOINTER_TO_UINT(g_hash_table_lookup(counts, &fit->items[i].keys[k])) >= fit->options->min_count)
                fit->buckets[i][fit->n_buckets[i]++] = bucket_of(fit->model, fit->items[i].keys[k]);
    }
    g_hash_table_destroy(counts);
}

static void shuffle(struct hashed_fit *fit, uint64_t *seed)
{
    for (size_t i = fit->n; i > 1; i--) {
        size_t k = (size_t)(learn_random(seed) % i);
        uint32_t swap = fit->order[i - 1];
        fit->order[i - 1] = fit->order[k];
        fit->order[k] = swap;
    }
}

/* Updates all outputs for one item. */
static void step(struct hashed_fit *fit, uint32_t item)
{
    unsigned m = fit->model->n_outputs;
    const uint32_t *buckets = fit->buckets[item];
    float z[HASHED_MAX_OUTPUTS], eta = (float)fit->options->eta, l2 = (float)fit->options->l2;
    for (unsigned k = 0; k < m; k++) z[k] = (float)fit->bias[k];
    for (uint32_t b = 0; b < fit->n_buckets[item]; b++)
        for (unsigned k = 0; k < m; k++) z[k] += fit->weight[(size_t)buckets[b] * m + k];
    for (unsigned k = 0; k < m; k++) {
        float g = 1 / (1 + expf(-z[k])) - (float)(fit->items[item].labels >> k & 1);
        z[k] = g; /* from here on, z holds the gradient */
        fit->bias_squares[k] += (double)(g * g);
        fit->bias[k] -= fit->options->eta * (double)g / sqrt(fit->bias_squares[k] + 1e-8);
    }
    for (uint32_t b = 0; b < fit->n_buckets[item]; b++) {
        float *weight = fit->weight + (size_t)buckets[b] * m, *squares = fit->squares + (size_t)buckets[b] * m;
        for (unsigned k = 0; k < m; k++) {
            float g = z[k] + l2 * weight[k];
            squares[k] += g * g;
            weight[k] -= eta * g / sqrtf(squares[k] + 1e-8F);
        }
    }
}

/* Quantises the weights to signed bytes, with one scale for each output. */
static void quantise(struct hashed_fit *fit)
{
    unsigned m = fit->model->n_outputs;
    size_t buckets = (size_t)1 << fit->model->bits;
    for (unsigned k = 0; k < m; k++) {
        float largest = 0;
        for (size_t b = 0; b < buckets; b++) largest = fmaxf(largest, fabsf(fit->weight[b * m + k]));
        double scale = largest > 0 ? (double)largest / STEPS : 1;
        fit->model->scale[k] = scale;
        fit->model->bias[k] = fit->bias[k];
        for (size_t b = 0; b < buckets; b++)
            fit->model->weights[b * m + k] = (int8_t)lround((double)fit->weight[b * m + k] / scale);
    }
}

static bool in_range(size_t n, unsigned n_outputs, const struct hashed_options *o)
{
    return n && n < UINT32_MAX && n_outputs && n_outputs <= HASHED_MAX_OUTPUTS && o->bits &&
           o->bits <= HASHED_MAX_BITS && o->epochs && o->epochs <= MAX_EPOCHS && o->eta > 0 && o->l2 >= 0;
}

enum err_code hashed_fit(const struct hashed_item *items, size_t n, unsigned n_outputs,
                         const struct hashed_options *options, struct hashed_model **out, struct err *err)
{
    *out = NULL;
    if (!in_range(n, n_outputs, options)) return err_set(err, ERR_CONFIG, "no items to train on, or an invalid size");
    struct hashed_fit fit = {.model = model_new(options->bits, n_outputs), .options = options, .items = items, .n = n};
    if (!fit.model || !fit_init(&fit)) {
        fit_free(&fit);
        hashed_free(fit.model);
        return err_set(err, ERR_NOMEM, "out of memory for %zu items", n);
    }
    uint64_t seed = options->seed;
    keep_common(&fit);
    for (unsigned epoch = 0; epoch < options->epochs; epoch++) {
        shuffle(&fit, &seed);
        for (size_t i = 0; i < n; i++) step(&fit, fit.order[i]);
    }
    quantise(&fit);
    fit_free(&fit);
    *out = fit.model;
    return ERR_OK;
}

/* --- files --- */

/* Most buckets have only zero weights. The file has one bit for each bucket ("used"), and the weights of the used
 * buckets only. This halves the file, which matters because reading the file takes most of the start-up time. */

static bool is_used(const int8_t *weights, unsigned n)
{
    for (unsigned k = 0; k < n; k++)
        if (weights[k]) return true;
    return false;
}

static bool bit_of(const guchar *bits, size_t i)
{
    return bits[i / 8] >> (i % 8) & 1;
}

static json_t *base64_json(const guchar *bytes, size_t n)
{
    char *text = g_base64_encode(bytes, n);
    json_t *out = json_string(text);
    g_free(text);
    return out;
}

json_t *hashed_save(const struct hashed_model *model)
{
    size_t buckets = (size_t)1 << model->bits, width = model->n_outputs, n = 0;
    guchar *used = g_new0(guchar, (buckets + 7) / 8), *weights = g_new(guchar, buckets * width);
    for (size_t b = 0; b < buckets; b++) {
        const int8_t *from = model->weights + b * width;
        if (!is_used(from, model->n_outputs)) continue;
        used[b / 8] |= (guchar)(1U << (b % 8));
        memcpy(weights + n++ * width, from, width);
    }
    json_t *out =
        json_pack("{s:i,s:i,s:o,s:o,s:o,s:o}", "bits", (int)model->bits, "outputs", (int)model->n_outputs, "bias",
                  model_reals(model->bias, model->n_outputs), "scale", model_reals(model->scale, model->n_outputs),
                  "used", base64_json(used, (buckets + 7) / 8), "weights", base64_json(weights, n * width));
    g_free(used);
    g_free(weights);
    return out;
}

/* Decodes a base64 member of exactly `n` bytes. Free with g_free. Returns NULL if the member is not such a text. */
static guchar *base64_bytes(const json_t *object, const char *key, size_t n)
{
    const json_t *text = json_object_get(object, key);
    size_t len = 0;
    if (!json_is_string(text) || json_string_length(text) != (n + 2) / 3 * 4) return NULL;
    guchar *bytes = g_base64_decode(json_string_value(text), &len);
    if (bytes && len == n) return bytes;
    g_free(bytes);
    return NULL;
}

/* Returns one bit for each bucket: whether the file has its weights. A file of verifier version 1 has no such bits, and
 * has the weights of all buckets. */
static guchar *load_used(const json_t *object, size_t buckets)
{
    size_t n = (buckets + 7) / 8;
    if (json_object_get(object, "used")) return base64_bytes(object, "used", n);
    guchar *all = g_malloc(n);
    memset(all, 0xff, n);
    return all;
}

/* Maps the block of all weights, whose layout is that of memory. */
static bool map_weights(const json_t *block, const struct model_blocks *blocks, struct hashed_model *model)
{
    model->mapped = model_block_of(blocks, block, 1, count_weights(model));
    if (model->mapped) model->weights = (int8_t *)(uintptr_t)g_bytes_get_data(model->mapped, NULL);
    return model->mapped != NULL;
}

static bool load_weights(const json_t *object, struct hashed_model *model)
{
    model->weights = g_try_new0(int8_t, count_weights(model));
    if (!model->weights) return false;
    size_t buckets = (size_t)1 << model->bits, width = model->n_outputs, n = 0;
    guchar *used = load_used(object, buckets);
    for (size_t b = 0; used && b < buckets; b++) n += bit_of(used, b);
    guchar *weights = used ? base64_bytes(object, "weights", n * width) : NULL;
    n = 0;
    for (size_t b = 0; weights && b < buckets; b++)
        if (bit_of(used, b)) memcpy(model->weights + b * width, weights + n++ * width, width);
    bool ok = weights != NULL;
    g_free(used);
    g_free(weights);
    return ok;
}

struct hashed_model *hashed_load(const json_t *object, const struct model_blocks *blocks)
{
    size_t bits, n_outputs;
    if (!model_get_count(object, "bits", HASHED_MAX_BITS, &bits) || bits == 0) return NULL;
    if (!model_get_count(object, "outputs", HASHED_MAX_OUTPUTS, &n_outputs) || n_outputs == 0) return NULL;
    struct hashed_model *model = g_new0(struct hashed_model, 1);
    const json_t *weights = json_object_get(object, "weights");
    model->bits = (unsigned)bits;
    model->n_outputs = (unsigned)n_outputs;
    bool ok = (json_is_object(weights) ? map_weights(weights, blocks, model) : load_weights(object, model)) &&
              model_get_reals(object, "bias", -1e3, 1e3, n_outputs, model->bias) &&
              model_get_reals(object, "scale", 0, 1e3, n_outputs, model->scale);
    if (ok) return model;
    hashed_free(model);
    return NULL;
}

bool hashed_move(json_t *object, struct model_blocks *blocks)
{
    struct hashed_model *model = hashed_load(object, NULL);
    if (!model) return false;
    json_t *block = blocks_add(blocks, g_bytes_new(model->weights, count_weights(model)));
    hashed_free(model);
    json_object_del(object, "used");
    return json_object_set_new(object, "weights", block) == 0;
}
