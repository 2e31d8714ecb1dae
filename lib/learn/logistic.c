/* Logistic regression by liblinear (L2-regularised, primal, deterministic).
 *
 * Features are scaled to unit deviation but not centred, so that rows of silent signals stay sparse. An unknown value
 * counts as the mean. liblinear has no row weights, so a soft label or weight is expressed by repeating the row. A row
 * of mean weight is repeated REPEATS times, and all repetitions point to the same feature nodes. */
#include "lib/learn/classifier_kind.h"
#include "lib/learn/internal.h"
#include "lib/learn/json_file.h"
#include "lib/learn/liblinear.h"

#include <glib.h>
#include <math.h>
#include <string.h>

enum { REPEATS = 10, REPEATS_MAX = 100 };

LATE_LIBRARY(liblinear, LIBLINEAR_CALLS, LIBLINEAR_FILE, LIBLINEAR_PACKAGE)

struct logistic {
    double bias;
    double *mean, *scale, *weight; /* m items each; `weight` applies to the scaled feature */
};

static struct logistic *logistic_new(unsigned m)
{
    struct logistic *state = g_new0(struct logistic, 1);
    state->mean = g_new0(double, m);
    state->scale = g_new0(double, m);
    state->weight = g_new0(double, m);
    return state;
}

static void logistic_free(void *p)
{
    struct logistic *state = p;
    g_free(state->mean);
    g_free(state->scale);
    g_free(state->weight);
    g_free(state);
}

static float value_at(const struct learn_rows *rows, size_t i, unsigned feature)
{
    return rows->data->x[(size_t)rows->rows[i] * rows->data->m + feature];
}

static void measure(const struct learn_rows *rows, unsigned feature, struct logistic *state)
{
    double n = 0, sum = 0, squares = 0;
    for (size_t i = 0; i < rows->n; i++) {
        double x = value_at(rows, i, feature), w = row_weight(rows->data, rows->rows[i]);
        if (!isfinite(x)) continue;
        n += w;
        sum += w * x;
    }
    double mean = n > 0 ? sum / n : 0;
    for (size_t i = 0; i < rows->n; i++) {
        double x = value_at(rows, i, feature);
        if (isfinite(x)) squares += row_weight(rows->data, rows->rows[i]) * (x - mean) * (x - mean);
    }
    double deviation = n > 0 ? sqrt(squares / n) : 0;
    state->mean[feature] = mean;
    state->scale[feature] = deviation > 1e-12 ? 1 / deviation : 0; /* a constant feature has no information */
}

static double scaled(const struct logistic *state, unsigned feature, float x)
{
    return (isfinite(x) ? (double)x : state->mean[feature]) * state->scale[feature];
}

static double logistic_predict(const void *p, unsigned m, const float *x)
{
    const struct logistic *state = p;
    double z = state->bias;
    for (unsigned i = 0; i < m; i++) z += state->weight[i] * scaled(state, i, x[i]);
    return learn_sigmoid(z);
}

struct sparse { /* the rows in liblinear's format */
    struct feature_node *nodes, **x;
    double *y;
    size_t n, room;
};

static bool sparse_alloc(struct sparse *sparse, const struct learn_rows *rows, const struct logistic *state)
{
    size_t nodes = 0;
    for (size_t i = 0; i < rows->n; i++) {
        for (unsigned j = 0; j < rows->data->m; j++)
            nodes += scaled(state, j, value_at(rows, i, j)) != 0; /* NOLINT: only exact zeros are omitted */
        nodes += 2;                                               /* two nodes: the bias and the end mark */
    }
    sparse->nodes = g_try_new(struct feature_node, nodes);
    return sparse->nodes != NULL;
}

static bool sparse_push(struct sparse *sparse, struct feature_node *row, double label, unsigned times)
{
    if (sparse->n + times > sparse->room) {
        size_t room = (sparse->n + times) * 2;
        struct feature_node **x = g_try_renew(struct feature_node *, sparse->x, room);
        if (x) sparse->x = x;
        double *y = g_try_renew(double, sparse->y, room);
        if (y) sparse->y = y;
        if (!x || !y || room > INT_MAX) return false;
        sparse->room = room;
    }
    for (unsigned i = 0; i < times; i++) {
        sparse->x[sparse->n] = row;
        sparse->y[sparse->n++] = label;
    }
    return true;
}

/* Returns how often a row is repeated. */
static unsigned times(double weight, double mean_weight)
{
    double n = weight / mean_weight * REPEATS;
    return n > REPEATS_MAX ? REPEATS_MAX : (unsigned)(n + 0.5);
}

static bool sparse_fill(struct sparse *sparse, const struct learn_rows *rows, const struct logistic *state)
{
    double mean_weight = 0;
    for (size_t i = 0; i < rows->n; i++) mean_weight += row_weight(rows->data, rows->rows[i]) / (double)rows->n;
    struct feature_node *next = sparse->nodes;
    for (size_t i = 0; i < rows->n; i++) {
        struct feature_node *row = next;
        for (unsigned j = 0; j < rows->data->m; j++) {
            double value = scaled(state, j, value_at(rows, i, j));
            if (value != 0) *next++ = (struct feature_node){(int)j + 1, value};
        }
        *next++ = (struct feature_node){(int)rows->data->m + 1, 1};
        *next++ = (struct feature_node){-1, 0};
        double w = row_weight(rows->data, rows->rows[i]), y = rows->data->y[rows->rows[i]];
        if (!sparse_push(sparse, row, 1, times(w * y, mean_weight))) return false;
        if (!sparse_push(sparse, row, -1, times(w * (1 - y), mean_weight))) return false;
    }
    return sparse->n > 0;
}

static void sparse_free(struct sparse *sparse)
{
    g_free(sparse->nodes);
    g_free(sparse->x);
    g_free(sparse->y);
}

static void say_nothing(const char *text)
{
    (void)text; /* liblinear prints its progress to stdout, where only data may appear */
}

static enum err_code solve(const struct sparse *sparse, unsigned m, double c, struct logistic *state, struct err *err)
{
    struct problem problem = {.l = (int)sparse->n, .n = (int)m + 1, .y = sparse->y, .x = sparse->x, .bias = 1};
    struct parameter parameter = {.solver_type = L2R_LR, .C = c / REPEATS, .eps = 1e-5};
    set_print_string_function(say_nothing);
    const char *wrong = check_parameter(&problem, &parameter);
    if (wrong) return err_set(err, ERR_CONFIG, "liblinear: %s", wrong);
    struct model *model = train(&problem, &parameter);
    if (!model) return err_set(err, ERR_NOMEM, "liblinear could not train");
    double sign = model->label[0] == 1 ? 1 : -1;
    for (unsigned i = 0; i < m; i++) state->weight[i] = sign * model->w[i];
    state->bias = sign * model->w[m];
    bool one_class = model->nr_class != 2;
    free_and_destroy_model(&model);
    return one_class ? err_set(err, ERR_CONFIG, "all rows have the same class, so there is nothing to train on")
                     : ERR_OK;
}

static enum err_code logistic_fit(const struct learn_rows *rows, const struct learn_options *options, void **out,
                                  struct err *err)
{
    unsigned m = rows->data->m;
    enum err_code code = liblinear_open(err);
    if (code) return code;
    struct logistic *state = logistic_new(m);
    for (unsigned i = 0; i < m; i++) measure(rows, i, state);
    struct sparse sparse = {0};
    if (sparse_alloc(&sparse, rows, state) && sparse_fill(&sparse, rows, state))
        code = solve(&sparse, m, options->c, state, err);
    else
        code = err_set(err, ERR_NOMEM, "out of memory for %zu rows", rows->n);
    sparse_free(&sparse);
    if (code)
        logistic_free(state);
    else
        *out = state;
    return code;
}

static double logistic_importance(const void *p, unsigned m, unsigned feature)
{
    (void)m;
    const struct logistic *state = p;
    return state->scale[feature] > 0 ? fabs(state->weight[feature]) : 0;
}

static json_t *logistic_save(const void *p, unsigned m)
{
    const struct logistic *state = p;
    return json_pack("{s:f,s:o,s:o,s:o}", "bias", state->bias, "weight", model_reals(state->weight, m), "scale",
                     model_reals(state->scale, m), "mean", model_reals(state->mean, m));
}

static void *logistic_load(const json_t *parameters, unsigned m, const struct model_blocks *blocks)
{
    (void)blocks;
    const double far = 1e12;
    struct logistic *state = logistic_new(m);
    if (model_get_real(parameters, "bias", -far, far, &state->bias) &&
        model_get_reals(parameters, "weight", -far, far, m, state->weight) &&
        model_get_reals(parameters, "scale", 0, far, m, state->scale) &&
        model_get_reals(parameters, "mean", -1e30, 1e30, m, state->mean))
        return state;
    logistic_free(state);
    return NULL;
}

const struct classifier_kind classifier_logistic = {
    .name = "logistic",
    .fit = logistic_fit,
    .predict = logistic_predict,
    .importance = logistic_importance,
    .save = logistic_save,
    .load = logistic_load,
    .free = logistic_free,
};
