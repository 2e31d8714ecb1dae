/* Training boosted trees with xgboost, and turning its model into our flat arrays.
 *
 * Soft labels: each row enters twice, as positive with weight y and as negative with weight 1 - y. One thread, seeded,
 * method hist (the default method is some hundred times slower here), so that the same data give the same bytes.
 */
#include "lib/learn/trees.h"

#include "lib/learn/internal.h"

#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <xgboost/c_api.h>

struct table { /* rows as xgboost takes them */
    float *x, *label, *weight;
    size_t n;
};

static void table_free(struct table *table)
{
    g_free(table->x);
    g_free(table->label);
    g_free(table->weight);
}

static void table_push(struct table *table, const struct learn_rows *rows, size_t i, float label, double weight)
{
    unsigned m = rows->data->m;
    if (!(weight > 0)) return;
    memcpy(table->x + table->n * m, rows->data->x + (size_t)rows->rows[i] * m, m * sizeof(float));
    table->label[table->n] = label;
    table->weight[table->n++] = (float)weight;
}

static bool table_init(struct table *table, const struct learn_rows *rows)
{
    size_t n = rows->n * 2;
    *table = (struct table){g_try_new(float, n *rows->data->m), g_try_new(float, n), g_try_new(float, n), 0};
    if (!table->x || !table->label || !table->weight) return false;
    for (size_t i = 0; i < rows->n; i++) {
        double w = row_weight(rows->data, rows->rows[i]), y = rows->data->y[rows->rows[i]];
        table_push(table, rows, i, 1, w * y);
        table_push(table, rows, i, 0, w * (1 - y));
    }
    /* xgboost refuses infinities; they stand for "as far as it goes" */
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

static bool boost(BoosterHandle booster, DMatrixHandle matrix, const struct learn_data *data,
                  const struct learn_options *options)
{
    if (!set_all(booster, data, options)) return false;
    for (unsigned round = 0; round < options->rounds; round++)
        if (XGBoosterUpdateOneIter(booster, (int)round, matrix) != 0) return false;
    return true;
}

struct source { /* one tree in xgboost's JSON */
    const json_t *left, *right, *feature, *value, *missing, *gain;
    size_t n;
};

static struct source source_of(const json_t *tree)
{
    const json_t *left = json_object_get(tree, "left_children");
    return (struct source){left,
                           json_object_get(tree, "right_children"),
                           json_object_get(tree, "split_indices"),
                           json_object_get(tree, "split_conditions"),
                           json_object_get(tree, "default_left"),
                           json_object_get(tree, "loss_changes"),
                           json_array_size(left)};
}

/* true/false in some versions, 0/1 in others. */
static bool flag_at(const json_t *array, size_t i)
{
    const json_t *item = json_array_get(array, i);
    return json_is_true(item) || (json_is_integer(item) && json_integer_value(item) != 0);
}

/* Copy the subtree at `at` to the end of `out`, in preorder. Returns its nodes, 0 when the model is not as expected. */
static uint32_t copy_nodes(const struct source *source, long long at, struct trees *trees, struct tree_node *out,
                           uint32_t index, unsigned m, unsigned depth)
{
    if (at < 0 || (size_t)at >= source->n || depth > 64) return 0;
    long long left = json_integer_value(json_array_get(source->left, (size_t)at));
    struct tree_node *node = &out[index];
    *node = (struct tree_node){(float)json_number_value(json_array_get(source->value, (size_t)at)), -1, 0, false};
    if (left < 0) return 1;
    long long feature = json_integer_value(json_array_get(source->feature, (size_t)at));
    if (feature < 0 || feature >= m) return 0;
    node->feature = (int32_t)feature;
    node->missing_left = flag_at(source->missing, (size_t)at);
    trees->gain[feature] += fmax(0, json_number_value(json_array_get(source->gain, (size_t)at)));
    uint32_t n_left = copy_nodes(source, left, trees, out, index + 1, m, depth + 1);
    if (!n_left) return 0;
    node->right = index + 1 + n_left;
    long long right = json_integer_value(json_array_get(source->right, (size_t)at));
    uint32_t n_right = copy_nodes(source, right, trees, out, node->right, m, depth + 1);
    return n_right ? 1 + n_left + n_right : 0;
}

static double base_margin(const json_t *learner)
{
    const json_t *parameters = json_object_get(learner, "learner_model_param");
    const char *text = json_string_value(json_object_get(parameters, "base_score"));
    if (text && *text == '[') text++;
    return learn_logit(text ? g_ascii_strtod(text, NULL) : 0.5);
}

static struct trees *convert(const json_t *root, unsigned m)
{
    const json_t *learner = json_object_get(root, "learner");
    const json_t *booster = json_object_get(learner, "gradient_booster");
    const json_t *list = json_object_get(json_object_get(booster, "model"), "trees");
    size_t n = json_array_size(list), nodes = 0;
    for (size_t i = 0; i < n; i++) nodes += source_of(json_array_get(list, i)).n;
    struct trees *trees = n && n <= TREES_MAX ? trees_new((uint32_t)n, (uint32_t)nodes, m) : NULL;
    if (!trees) return NULL;
    trees->base = (float)base_margin(learner);
    for (size_t i = 0; i < n; i++) {
        struct source source = source_of(json_array_get(list, i));
        uint32_t taken = copy_nodes(&source, 0, trees, trees->nodes + trees->first[i], 0, m, 0);
        trees->first[i + 1] = trees->first[i] + taken;
        if (taken) continue;
        trees_free(trees);
        return NULL;
    }
    return trees;
}

static struct trees *export(BoosterHandle booster, unsigned m)
{
    bst_ulong len;
    const char *text;
    if (XGBoosterSaveModelToBuffer(booster, "{\"format\": \"json\"}", &len, &text) != 0) return NULL;
    json_t *root = json_loadb(text, (size_t)len, 0, NULL);
    struct trees *trees = root ? convert(root, m) : NULL;
    json_decref(root);
    return trees;
}

enum err_code trees_fit(const struct learn_rows *rows, const struct learn_options *options, void **out,
                        struct err *err)
{
    struct table table;
    DMatrixHandle matrix = NULL;
    BoosterHandle booster = NULL;
    enum err_code code = ERR_OK;
    if (!table_init(&table, rows)) {
        table_free(&table);
        return err_set(err, ERR_NOMEM, "out of memory for %zu rows", rows->n);
    }
    bool ok = XGDMatrixCreateFromMat(table.x, table.n, rows->data->m, NAN, &matrix) == 0 &&
              XGDMatrixSetFloatInfo(matrix, "label", table.label, table.n) == 0 &&
              XGDMatrixSetFloatInfo(matrix, "weight", table.weight, table.n) == 0 &&
              XGBoosterCreate(&matrix, 1, &booster) == 0 && boost(booster, matrix, rows->data, options);
    if (!ok) code = err_set(err, ERR_INTERNAL, "xgboost: %s", XGBGetLastError());
    else if (!(*out = export(booster, rows->data->m)))
        code = err_set(err, ERR_INTERNAL, "xgboost's model is not of a known form");
    if (booster) XGBoosterFree(booster);
    if (matrix) XGDMatrixFree(matrix);
    table_free(&table);
    return code;
}
