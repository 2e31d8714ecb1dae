/* Trains boosted trees with xgboost.
 *
 * A row with a soft label y enters twice: as positive with weight y, and as negative with weight 1 - y. Training uses
 * one thread, a seed and the method hist, so the same data give the same bytes. The default method is hundreds of times
 * slower here. */
#include "lib/learn/trees.h"
#include "lib/learn/xgboost.h"

#include <glib.h>
#include <math.h>
#include <string.h>

LATE_LIBRARY(xgboost, XGBOOST_CALLS, XGBOOST_FILE, XGBOOST_PACKAGE)

struct table { /* the rows in xgboost's format */
    float *x, *label, *weight;
    uint32_t *list; /* NULL if the data have no lists */
    size_t n;
};

static void table_free(struct table *table)
{
    g_free(table->x);
    g_free(table->label);
    g_free(table->weight);
    g_free(table->list);
}

static void table_push(struct table *table, const struct learn_rows *rows, size_t i, float label, double weight)
{
    unsigned m = rows->data->m;
    if (!(weight > 0)) return;
    memcpy(table->x + table->n * m, rows->data->x + (size_t)rows->rows[i] * m, m * sizeof(float));
    table->label[table->n] = label;
    if (table->list) table->list[table->n] = rows->data->list[rows->rows[i]];
    table->weight[table->n++] = (float)weight;
}

static bool table_init(struct table *table, const struct learn_rows *rows)
{
    size_t n = rows->n;
    for (size_t i = 0; i < rows->n; i++) {
        double y = rows->data->y[rows->rows[i]];
        n += y > 0 && y < 1;
    }
    *table = (struct table){.x = g_try_new(float, n * rows->data->m),
                            .label = g_try_new(float, n),
                            .weight = g_try_new(float, n),
                            .list = rows->data->list ? g_try_new(uint32_t, n) : NULL};
    if (!table->x || !table->label || !table->weight || (rows->data->list && !table->list)) return false;
    for (size_t i = 0; i < rows->n; i++) {
        double w = row_weight(rows->data, rows->rows[i]), y = rows->data->y[rows->rows[i]];
        table_push(table, rows, i, 1, w * y);
        table_push(table, rows, i, 0, w * (1 - y));
    }
    /* xgboost rejects infinities, so the largest float replaces them. */
    for (size_t i = 0; i < table->n * rows->data->m; i++)
        if (isinf(table->x[i])) table->x[i] = table->x[i] > 0 ? G_MAXFLOAT : -G_MAXFLOAT;
    return true;
}

static bool set_number(BoosterHandle booster, const char *name, double value)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    return XGBoosterSetParam(booster, name, g_ascii_dtostr(text, sizeof text, value)) == 0;
}

static bool set_monotone(BoosterHandle booster, const struct learn_data *data)
{
    if (!data->monotone) return true;
    GString *list = g_string_new("(");
    for (unsigned i = 0; i < data->m; i++) g_string_append_printf(list, "%s%d", i ? "," : "", data->monotone[i]);
    g_string_append_c(list, ')');
    bool ok = XGBoosterSetParam(booster, "monotone_constraints", list->str) == 0;
    g_string_free(list, TRUE);
    return ok;
}

static bool set_all(BoosterHandle booster, const struct learn_data *data, const struct learn_options *o)
{
    return XGBoosterSetParam(booster, "objective", "binary:logistic") == 0 &&
           XGBoosterSetParam(booster, "tree_method", "hist") == 0 && set_number(booster, "nthread", 1) &&
           set_number(booster, "verbosity", 0) && set_number(booster, "base_score", 0.5) &&
           set_number(booster, "seed", (double)(o->seed % INT_MAX)) && set_number(booster, "max_depth", o->depth) &&
           set_number(booster, "eta", o->eta) && set_number(booster, "subsample", o->subsample) &&
           set_number(booster, "colsample_bytree", o->column_sample) && set_number(booster, "lambda", o->lambda) &&
           set_number(booster, "min_child_weight", o->min_child_weight) && set_monotone(booster, data);
}

/* Computes the focal loss of one row at margin z: -a (1 - q)^gamma log q, where q is the probability of the row's
 * class. With s = +1 or -1 for the class, dq/dz = s q (1 - q). The first derivative is then a s (1 - q)^gamma (gamma q
 * log q - (1 - q)). The second derivative follows by the product rule. It is kept positive, because boosting requires
 * this. */
static void focal(double gamma, double a, double s, double z, float *gradient, float *hessian)
{
    double q = CLAMP(1 / (1 + exp(-s * z)), 1e-7, 1 - 1e-7), r = 1 - q, f = gamma * q * log(q) - r;
    double power = pow(r, gamma), slope = gamma * (log(q) + 1) + 1;
    *gradient = (float)(a * s * power * f);
    double bend = gamma > 0 ? gamma * pow(r, gamma - 1) * f : 0;
    *hessian = (float)fmax(a * q * r * (power * slope - bend), 1e-6);
}

struct gradients {
    float *first, *second;
};

/* Adds the loss of each single row. It is the focal loss. With gamma 0 and alpha 1/2 it is the logistic loss, because
 * the factor 2 alpha is then 1. */
static void add_rows(const struct table *table, const struct learn_options *o, const float *margin,
                     const struct gradients *g)
{
    for (size_t i = 0; i < table->n; i++) {
        bool positive = table->label[i] > 0.5F;
        double a = 2 * (positive ? o->focal_alpha : 1 - o->focal_alpha) * (double)table->weight[i];
        focal(o->focal_gamma, a, positive ? 1 : -1, (double)margin[i], &g->first[i], &g->second[i]);
    }
}

/* Adds the loss of a pair of a right and a wrong row of one list: log(1 + exp(margin of the wrong row - margin of the
 * right row)). */
static void add_pair(const float *margin, const struct gradients *g, size_t right, size_t wrong, double weight)
{
    double p = 1 / (1 + exp((double)(margin[right] - margin[wrong])));
    float first = (float)(weight * p), second = (float)fmax(weight * p * (1 - p), 1e-6);
    g->first[right] -= first;
    g->first[wrong] += first;
    g->second[right] += second;
    g->second[wrong] += second;
}

static void add_lists(const struct table *table, double rank, const float *margin, const struct gradients *g)
{
    for (size_t start = 0, end; start < table->n; start = end) {
        size_t right = 0;
        for (end = start; end < table->n && table->list[end] == table->list[start]; end++)
            right += table->label[end] > 0.5F;
        for (size_t r = start; r < end; r++)
            for (size_t w = start; w < end && table->label[r] > 0.5F; w++)
                if (table->label[w] < 0.5F) add_pair(margin, g, r, w, rank * (double)table->weight[w] / (double)right);
    }
}

static bool own_round(BoosterHandle booster, DMatrixHandle matrix, const struct table *table,
                      const struct learn_options *o, const struct gradients *g)
{
    bst_ulong n;
    const float *margin;
    enum { MARGIN = 1, TRAINING = 1 };
    if (XGBoosterPredict(booster, matrix, MARGIN, 0, TRAINING, &n, &margin) != 0 || n != table->n) return false;
    add_rows(table, o, margin, g);
    if (o->rank > 0 && table->list) add_lists(table, o->rank, margin, g);
    return XGBoosterBoostOneIter(booster, matrix, g->first, g->second, table->n) == 0;
}

/* Boosts with the loss functions of this file. */
static bool boost_own(BoosterHandle booster, DMatrixHandle matrix, const struct table *table,
                      const struct learn_options *options)
{
    struct gradients g = {g_try_new(float, table->n), g_try_new(float, table->n)};
    bool ok = g.first && g.second;
    for (unsigned round = 0; ok && round < options->rounds; round++)
        ok = own_round(booster, matrix, table, options, &g);
    g_free(g.first);
    g_free(g.second);
    return ok;
}

static bool boost(BoosterHandle booster, DMatrixHandle matrix, const struct table *table, const struct learn_data *data,
                  const struct learn_options *options)
{
    if (!set_all(booster, data, options)) return false;
    if (options->focal_gamma > 0 || (options->rank > 0 && table->list))
        return boost_own(booster, matrix, table, options);
    for (unsigned round = 0; round < options->rounds; round++)
        if (XGBoosterUpdateOneIter(booster, (int)round, matrix) != 0) return false;
    return true;
}

static struct trees *export(BoosterHandle booster, unsigned m)
{
    bst_ulong len;
    const char *text;
    if (XGBoosterSaveModelToBuffer(booster, "{\"format\": \"json\"}", &len, &text) != 0) return NULL;
    return trees_from_xgboost(text, (size_t)len, m);
}

enum err_code trees_fit(const struct learn_rows *rows, const struct learn_options *options, void **out, struct err *err)
{
    struct table table;
    DMatrixHandle matrix = NULL;
    BoosterHandle booster = NULL;
    enum err_code code = xgboost_open(err);
    if (code) return code;
    if (!table_init(&table, rows)) {
        table_free(&table);
        return err_set(err, ERR_NOMEM, "out of memory for %zu rows", rows->n);
    }
    bool ok = XGDMatrixCreateFromMat(table.x, table.n, rows->data->m, NAN, &matrix) == 0 &&
              XGDMatrixSetFloatInfo(matrix, "label", table.label, table.n) == 0 &&
              XGDMatrixSetFloatInfo(matrix, "weight", table.weight, table.n) == 0 &&
              XGBoosterCreate(&matrix, 1, &booster) == 0 && boost(booster, matrix, &table, rows->data, options);
    if (!ok)
        code = err_set(err, ERR_INTERNAL, "xgboost: %s", XGBGetLastError());
    else if (!(*out = export(booster, rows->data->m)))
        code = err_set(err, ERR_INTERNAL, "xgboost returned a model of unknown form");
    if (booster) XGBoosterFree(booster);
    if (matrix) XGDMatrixFree(matrix);
    table_free(&table);
    return code;
}
