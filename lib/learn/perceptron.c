/* A perceptron with one hidden layer (perceptron.h), trained by AdamW with dropout.
 *
 * Inputs are standardised. All numbers of a perceptron are in one allocation, so that the optimiser can treat weight,
 * bias and out as one array. Initial weights, order and dropout depend on one seed, so equal data and options give
 * equal weights on the same machine. The positive class is weighted, by default to balance the classes. */
#include "lib/learn/perceptron.h"

#include "lib/learn/internal.h"
#include "lib/learn/metrics.h"

#include <glib.h>
#include <math.h>

struct perceptron_options perceptron_options_default(void)
{
    return (struct perceptron_options){
        .hidden = 32, .epochs = 20, .batch = 64, .rate = 1e-3, .decay = 0.1, .dropout = 0.5, .seed = 1};
}

struct perceptron *perceptron_new(uint32_t inputs, uint32_t hidden)
{
    if (!inputs || !hidden || inputs > PERCEPTRON_MAX_INPUTS || hidden > PERCEPTRON_MAX_HIDDEN) return NULL;
    size_t numbers = (size_t)inputs * (2 + hidden) + 2 * (size_t)hidden + 1;
    struct perceptron *p = g_try_malloc0(sizeof *p + numbers * sizeof(float));
    if (!p) return NULL;
    float *at = (float *)(p + 1);
    *p = (struct perceptron){.inputs = inputs, .hidden = hidden, .mean = at, .scale = at + inputs};
    p->weight = p->scale + inputs;
    p->bias = p->weight + (size_t)hidden * inputs;
    p->out = p->bias + hidden;
    return p;
}

void perceptron_free(struct perceptron *p)
{
    g_free(p);
}

/* --- prediction --- */

static float dot(const float *a, const float *b, uint32_t n)
{
    float sum[8] = {0}; /* separate sums, so that the compiler can add eight products at once */
    uint32_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (uint32_t k = 0; k < 8; k++) sum[k] += a[i + k] * b[i + k];
    for (; i < n; i++) sum[0] += a[i] * b[i];
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

static void standardise(const struct perceptron *p, const float *x, float *z)
{
    for (uint32_t i = 0; i < p->inputs; i++) z[i] = (x[i] - p->mean[i]) * p->scale[i];
}

/* Computes the outputs of the hidden units. */
static void activate(const struct perceptron *p, const float *z, float *active)
{
    for (uint32_t h = 0; h < p->hidden; h++)
        active[h] = fmaxf(p->bias[h] + dot(p->weight + (size_t)h * p->inputs, z, p->inputs), 0);
}

static double logit_of(const struct perceptron *p, const float *active)
{
    return (double)(p->out[p->hidden] + dot(p->out, active, p->hidden));
}

double perceptron_predict(const struct perceptron *p, const float *x)
{
    float z[PERCEPTRON_MAX_INPUTS], active[PERCEPTRON_MAX_HIDDEN];
    standardise(p, x, z);
    activate(p, z, active);
    return learn_sigmoid(logit_of(p, active));
}

/* --- training --- */

/* State of the optimiser. Its arrays cover all parameters in the order weight, bias, out. */
struct adam {
    size_t n;
    float *gradient, *first, *second;
    uint64_t steps;
};

struct training {
    const float *x;
    const uint8_t *positive;
    size_t n;
    const struct perceptron_options *options;
    struct perceptron *p;
    struct adam adam;
    float *z, *active;
    uint32_t *order;
    double positive_weight;
    uint64_t random;
};

static void measure(struct perceptron *p, const float *x, size_t n)
{
    for (uint32_t i = 0; i < p->inputs; i++) {
        double sum = 0, squares = 0;
        for (size_t r = 0; r < n; r++) sum += (double)x[r * p->inputs + i];
        double mean = sum / (double)n;
        for (size_t r = 0; r < n; r++) squares += pow((double)x[r * p->inputs + i] - mean, 2);
        double deviation = sqrt(squares / (double)n);
        p->mean[i] = (float)mean;
        p->scale[i] = deviation > 1e-6 ? (float)(1 / deviation) : 0; /* a constant input has no information */
    }
}

static void begin_weights(struct training *t)
{
    struct perceptron *p = t->p;
    double reach = sqrt(6.0 / (p->inputs + p->hidden)), out_reach = sqrt(6.0 / (p->hidden + 1));
    for (size_t i = 0; i < (size_t)p->hidden * p->inputs; i++)
        p->weight[i] = (float)((2 * learn_random_unit(&t->random) - 1) * reach);
    for (uint32_t h = 0; h < p->hidden; h++) p->out[h] = (float)((2 * learn_random_unit(&t->random) - 1) * out_reach);
}

/* Applies dropout: sets a random share of the values to 0 and scales the others to compensate. */
static void drop(struct training *t, float *values, uint32_t n)
{
    double share = t->options->dropout;
    float kept = (float)(1 / (1 - share));
    if (share <= 0) return;
    for (uint32_t i = 0; i < n; i++) values[i] *= learn_random_unit(&t->random) < share ? 0 : kept;
}

static void add_gradient(struct training *t, size_t row, double share)
{
    const struct perceptron *p = t->p;
    float *weight = t->adam.gradient, *bias = weight + (size_t)p->hidden * p->inputs, *out = bias + p->hidden;
    standardise(p, t->x + row * p->inputs, t->z);
    drop(t, t->z, p->inputs);
    activate(p, t->z, t->active);
    drop(t, t->active, p->hidden);
    double wrong = learn_sigmoid(logit_of(p, t->active)) - (t->positive[row] ? 1 : 0);
    float slope = (float)(wrong * share * (t->positive[row] ? t->positive_weight : 1));
    float scale = (float)(1 / (1 - t->options->dropout)); /* factor by which dropout scaled the remaining values */
    out[p->hidden] += slope;
    for (uint32_t h = 0; h < p->hidden; h++) {
        out[h] += slope * t->active[h];
        if (t->active[h] <= 0) continue;
        float below = slope * p->out[h] * scale, *to = weight + (size_t)h * p->inputs;
        bias[h] += below;
        for (uint32_t i = 0; i < p->inputs; i++) to[i] += below * t->z[i];
    }
}

static void step(struct training *t)
{
    struct adam *adam = &t->adam;
    float *parameters = t->p->weight;
    double decay = t->options->rate * t->options->decay;
    double first = 1 - pow(0.9, (double)++adam->steps), second = 1 - pow(0.999, (double)adam->steps);
    float rate = (float)(t->options->rate / first), scale = (float)(1 / second);
    for (size_t i = 0; i < adam->n; i++) {
        float g = adam->gradient[i];
        adam->first[i] = 0.9F * adam->first[i] + 0.1F * g;
        adam->second[i] = 0.999F * adam->second[i] + 0.001F * g * g;
        parameters[i] -=
            rate * adam->first[i] / (sqrtf(adam->second[i] * scale) + 1e-8F) + (float)decay * parameters[i];
        adam->gradient[i] = 0;
    }
}

static void shuffle(struct training *t)
{
    for (size_t i = t->n; i > 1; i--) {
        size_t j = (size_t)(learn_random(&t->random) % i);
        uint32_t swap = t->order[i - 1];
        t->order[i - 1] = t->order[j];
        t->order[j] = swap;
    }
}

static void run(struct training *t)
{
    size_t batch = t->options->batch ? t->options->batch : 1;
    for (size_t i = 0; i < t->n; i++) t->order[i] = (uint32_t)i;
    for (uint32_t epoch = 0; epoch < t->options->epochs; epoch++) {
        shuffle(t);
        for (size_t at = 0; at < t->n; at += batch) {
            size_t end = MIN(at + batch, t->n);
            for (size_t i = at; i < end; i++) add_gradient(t, t->order[i], 1.0 / (double)(end - at));
            step(t);
        }
    }
}

static bool make_room(struct training *t)
{
    const struct perceptron *p = t->p;
    t->adam.n = (size_t)p->hidden * p->inputs + 2 * (size_t)p->hidden + 1;
    t->adam.gradient = g_try_malloc0(3 * t->adam.n * sizeof(float));
    t->z = g_try_malloc_n(p->inputs + p->hidden, sizeof(float));
    t->order = g_try_malloc_n(t->n, sizeof *t->order);
    if (!t->adam.gradient || !t->z || !t->order) return false;
    t->adam.first = t->adam.gradient + t->adam.n;
    t->adam.second = t->adam.first + t->adam.n;
    t->active = t->z + p->inputs;
    return true;
}

enum err_code perceptron_train(const float *x, const uint8_t *positive, size_t n, uint32_t inputs,
                               const struct perceptron_options *options, struct perceptron **out, struct err *err)
{
    size_t positives = 0;
    for (size_t i = 0; i < n; i++) positives += positive[i] != 0;
    *out = NULL;
    if (!positives || positives == n)
        return err_set(err, ERR_CONFIG, "%zu of %zu examples are positive: training needs both classes", positives, n);
    struct training t = {.x = x, .positive = positive, .n = n, .options = options, .random = options->seed};
    t.p = perceptron_new(inputs, options->hidden);
    t.positive_weight =
        options->positive_weight > 0 ? options->positive_weight : (double)(n - positives) / (double)positives;
    bool room = t.p && n <= UINT32_MAX && make_room(&t);
    if (room) {
        measure(t.p, x, n);
        begin_weights(&t);
        run(&t);
        *out = t.p;
    } else {
        perceptron_free(t.p);
    }
    g_free(t.adam.gradient);
    g_free(t.z);
    g_free(t.order);
    return room ? ERR_OK : err_set(err, ERR_NOMEM, "out of memory for a perceptron of %u inputs", inputs);
}
