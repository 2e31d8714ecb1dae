/* The public functions of classifiers (classifier.h). They check options and data, and call the functions of the
 * classifier's kind (classifier_kind.h).
 *
 * All checks come before a kind receives the data. So a kind may rely on at least one feature, valid names, finite
 * weights and both classes. Cross-prediction fits one model for each fold, and predicts only rows that this model has
 * not seen. */
#include "lib/learn/classifier.h"

#include "lib/learn/classifier_kind.h"
#include "lib/learn/json_file.h"
#include "lib/learn/metrics.h"

#include <glib.h>
#include <math.h>
#include <string.h>

static const struct classifier_kind *const KINDS[] = {&classifier_logistic, &classifier_trees};

struct learn_options learn_options_default(void)
{
    return (struct learn_options){
        .seed = 1,
        .calibration = LEARN_ISOTONIC,
        .folds = 5,
        .c = 1,
        .rounds = 150,
        .depth = 4,
        .eta = 0.08,
        .subsample = 0.8,
        .column_sample = 0.8,
        .min_child_weight = 5,
        .lambda = 1,
        .focal_alpha = 0.5,
    };
}

const struct classifier_kind *classifier_kind_find(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(KINDS); i++)
        if (strcmp(KINDS[i]->name, name) == 0) return KINDS[i];
    return NULL;
}

const char *learn_unsupported(const char *kind)
{
    const struct classifier_kind *found = classifier_kind_find(kind);
    return found ? found->unsupported : "unknown kind of classifier (known: logistic, trees)";
}

static enum err_code check_options(const struct learn_options *o, struct err *err)
{
    bool rates = o->eta > 0 && o->eta <= 1 && o->subsample > 0 && o->subsample <= 1 && o->column_sample > 0 &&
                 o->column_sample <= 1 && o->min_child_weight >= 0 && o->lambda >= 0;
    if (!rates || !(o->c > 0) || !isfinite(o->c) || !isfinite(o->min_child_weight) || !isfinite(o->lambda))
        return err_set(err, ERR_CONFIG, "a classifier option is out of range");
    if (!o->rounds || o->rounds > 10000 || !o->depth || o->depth > 16)
        return err_set(err, ERR_CONFIG, "trees need 1 to 10000 rounds and a depth of 1 to 16");
    if (!(o->focal_gamma >= 0 && o->focal_gamma <= 10) || !(o->focal_alpha >= 0 && o->focal_alpha <= 1))
        return err_set(err, ERR_CONFIG, "focal loss needs gamma from 0 to 10 and alpha from 0 to 1");
    if (!(o->rank >= 0 && o->rank <= 1000))
        return err_set(err, ERR_CONFIG, "the weight of ranks must be from 0 to 1000");
    if (o->folds < 2 || o->folds > 20) return err_set(err, ERR_CONFIG, "calibration needs 2 to 20 folds");
    return ERR_OK;
}

static enum err_code check_names(const struct learn_data *data, struct err *err)
{
    enum err_code code = ERR_OK;
    GHashTable *seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (unsigned i = 0; i < data->m && !code; i++) {
        const char *name = data->names[i];
        if (!name || !*name || !g_utf8_validate(name, -1, NULL))
            code = err_set(err, ERR_CONFIG, "feature %u has no valid name", i);
        else if (!g_hash_table_add(seen, (gpointer)name))
            code = err_set(err, ERR_CONFIG, "duplicate feature '%s'", name);
    }
    g_hash_table_unref(seen);
    return code;
}

static enum err_code check_data(const struct learn_data *data, struct err *err)
{
    if (!data->n || data->n > UINT32_MAX - 1) return err_set(err, ERR_CONFIG, "no rows to train on");
    if (!data->m || data->m > LEARN_MAX_FEATURES)
        return err_set(err, ERR_CONFIG, "expected 1 to %d features, got %u", LEARN_MAX_FEATURES, data->m);
    double up = 0, down = 0;
    for (uint32_t i = 0; i < data->n; i++) {
        double w = row_weight(data, i);
        if (!(data->y[i] >= 0 && data->y[i] <= 1) || !(w >= 0) || !isfinite(w))
            return err_set(err, ERR_CONFIG, "row %u: label is not from 0 to 1, or weight is negative or not finite", i);
        up += w * data->y[i];
        down += w * (1 - data->y[i]);
    }
    if (!(up > 0 && down > 0))
        return err_set(err, ERR_CONFIG, "all rows have the same class, so there is nothing to train on");
    return check_names(data, err);
}

static enum err_code check_all(const char *kind, const struct learn_data *data, const struct learn_options *options,
                               struct err *err)
{
    const char *why = learn_unsupported(kind);
    if (why) return err_set(err, ERR_CONFIG, "cannot train '%s': %s", kind, why);
    enum err_code code = check_options(options, err);
    return code ? code : check_data(data, err);
}

static uint32_t *all_rows(size_t n)
{
    uint32_t *rows = g_try_new(uint32_t, n);
    for (size_t i = 0; rows && i < n; i++) rows[i] = (uint32_t)i;
    return rows;
}

enum err_code learn_fit(const char *kind, const struct learn_data *data, const struct learn_options *options,
                        struct learn_model **out, struct err *err)
{
    *out = NULL;
    enum err_code code = check_all(kind, data, options, err);
    if (code) return code;
    uint32_t *rows = all_rows(data->n);
    if (!rows) return err_set(err, ERR_NOMEM, "out of memory for %zu rows", data->n);
    struct learn_rows chosen = {data, rows, data->n};
    code = classifier_fit_rows(classifier_kind_find(kind), &chosen, options, out, err);
    g_free(rows);
    return code;
}

/* Fits a model without the rows of fold `f` and predicts those rows. */
static enum err_code predict_fold(const struct classifier_kind *kind, const struct learn_data *data,
                                  const struct learn_options *options, const uint8_t *fold, unsigned f, uint32_t *rows,
                                  double *out, struct err *err)
{
    struct learn_rows chosen = {data, rows, 0};
    for (size_t i = 0; i < data->n; i++)
        if (fold[i] != f) rows[chosen.n++] = (uint32_t)i;
    struct learn_model *model;
    enum err_code code = classifier_fit_rows(kind, &chosen, options, &model, err);
    if (code) return code;
    for (size_t i = 0; i < data->n; i++)
        if (fold[i] == f) out[i] = learn_predict(model, data->x + i * data->m);
    learn_free(model);
    return ERR_OK;
}

enum err_code learn_cross_predict(const char *kind, const struct learn_data *data, const struct learn_options *options,
                                  unsigned folds, double *out, struct err *err)
{
    enum err_code code = check_all(kind, data, options, err);
    if (code) return code;
    uint8_t *fold = g_try_new(uint8_t, data->n);
    uint32_t *rows = g_try_new(uint32_t, data->n);
    if (!fold || !rows)
        code = err_set(err, ERR_NOMEM, "out of memory for %zu rows", data->n);
    else if (!learn_folds(data->group, data->n, folds, options->seed, fold))
        code = err_set(err, ERR_CONFIG, "the rows have too few groups for %u folds", folds);
    for (unsigned f = 0; f < folds && !code; f++)
        code = predict_fold(classifier_kind_find(kind), data, options, fold, f, rows, out, err);
    g_free(fold);
    g_free(rows);
    return code;
}

void learn_free(struct learn_model *model)
{
    if (!model) return;
    if (model->state) model->kind->free(model->state);
    learn_calibration_free(&model->calibration);
    g_strfreev(model->names);
    g_free(model->command);
    g_free(model);
}

double learn_predict_raw(const struct learn_model *model, const float *x)
{
    return model->kind->predict(model->state, model->m, x);
}

double learn_predict(const struct learn_model *model, const float *x)
{
    return learn_calibrated(&model->calibration, learn_predict_raw(model, x));
}

static double *copy_reals(const double *from, unsigned n)
{
    double *out = g_new(double, n + 1);
    if (n) memcpy(out, from, n * sizeof *out);
    return out;
}

void learn_set_calibration(struct learn_model *model, const struct learn_calibration *calibration)
{
    learn_calibration_free(&model->calibration);
    model->calibration = *calibration;
    model->calibration.x = copy_reals(calibration->x, calibration->n);
    model->calibration.y = copy_reals(calibration->y, calibration->n);
}

const char *learn_kind(const struct learn_model *model)
{
    return model->kind->name;
}

unsigned learn_n_features(const struct learn_model *model)
{
    return model->m;
}

const char *learn_feature(const struct learn_model *model, unsigned index)
{
    return model->names[index];
}

const char *learn_command(const struct learn_model *model)
{
    return model->command;
}

double learn_importance(const struct learn_model *model, unsigned index)
{
    double sum = 0;
    for (unsigned i = 0; i < model->m; i++) sum += model->kind->importance(model->state, model->m, i);
    return sum > 0 ? model->kind->importance(model->state, model->m, index) / sum : 0;
}

void learn_map(const struct learn_model *model, const char *const *names, unsigned n, int *from)
{
    GHashTable *places = g_hash_table_new(g_str_hash, g_str_equal); /* index plus one, because 0 would be NULL */
    for (unsigned j = 0; j < n; j++)
        g_hash_table_insert(places, (gpointer)(uintptr_t)names[j], GUINT_TO_POINTER(j + 1));
    for (unsigned i = 0; i < model->m; i++)
        from[i] = (int)GPOINTER_TO_UINT(g_hash_table_lookup(places, model->names[i])) - 1;
    g_hash_table_destroy(places);
}
