/* Fits a classifier on chosen rows, and calibrates it on predictions for rows that the predicting model has not seen.
 * Rows are split into folds by group. A model of the other folds predicts each fold, and the calibration is fitted on
 * these predictions. The returned model is fitted on all rows. */
#include "lib/learn/classifier_kind.h"
#include "lib/learn/json_file.h"
#include "lib/learn/metrics.h"

#include <glib.h>
#include <string.h>

struct held_out { /* arrays with one entry for each chosen row */
    uint8_t *fold;
    uint32_t *group, *train;
    double *score, *label, *weight;
};

static bool held_out_init(struct held_out *held, size_t n)
{
    *held = (struct held_out){g_try_new(uint8_t, n), g_try_new(uint32_t, n), g_try_new(uint32_t, n),
                              g_try_new0(double, n), g_try_new0(double, n),  g_try_new0(double, n)};
    return held->fold && held->group && held->train && held->score && held->label && held->weight;
}

static void held_out_free(struct held_out *held)
{
    g_free(held->fold);
    g_free(held->group);
    g_free(held->train);
    g_free(held->score);
    g_free(held->label);
    g_free(held->weight);
}

/* Numbers the groups of the chosen rows from 0 without gaps. Returns the number of groups. */
static uint32_t number_groups(const struct learn_rows *rows, uint32_t *group)
{
    GHashTable *seen = g_hash_table_new(g_direct_hash, g_direct_equal);
    uint32_t n = 0;
    for (size_t i = 0; i < rows->n; i++) {
        uint32_t raw = rows->data->group ? rows->data->group[rows->rows[i]] : rows->rows[i];
        gpointer known = g_hash_table_lookup(seen, GUINT_TO_POINTER(raw));
        if (!known) g_hash_table_insert(seen, GUINT_TO_POINTER(raw), known = GUINT_TO_POINTER(++n));
        group[i] = GPOINTER_TO_UINT(known) - 1;
    }
    g_hash_table_unref(seen);
    return n;
}

static bool both_classes(const struct learn_rows *rows)
{
    double up = 0, down = 0;
    for (size_t i = 0; i < rows->n; i++) {
        double w = row_weight(rows->data, rows->rows[i]), y = rows->data->y[rows->rows[i]];
        up += w * y;
        down += w * (1 - y);
    }
    return up > 0 && down > 0;
}

static enum err_code fit_state(const struct classifier_kind *kind, const struct learn_rows *rows,
                               const struct learn_options *options, void **state, struct err *err)
{
    *state = NULL;
    if (!both_classes(rows))
        return err_set(err, ERR_CONFIG, "all rows of a fold have the same class: too little data to train on");
    return kind->fit(rows, options, state, err);
}

static enum err_code score_fold(const struct classifier_kind *kind, const struct learn_rows *rows,
                                const struct learn_options *options, struct held_out *held, unsigned fold,
                                struct err *err)
{
    struct learn_rows others = {rows->data, held->train, 0};
    for (size_t i = 0; i < rows->n; i++)
        if (held->fold[i] != fold) held->train[others.n++] = rows->rows[i];
    void *state;
    enum err_code code = fit_state(kind, &others, options, &state, err);
    if (code) return code;
    for (size_t i = 0; i < rows->n; i++)
        if (held->fold[i] == fold)
            held->score[i] = kind->predict(state, rows->data->m, rows->data->x + (size_t)rows->rows[i] * rows->data->m);
    kind->free(state);
    return ERR_OK;
}

static enum err_code calibrate(const struct classifier_kind *kind, const struct learn_rows *rows,
                               const struct learn_options *options, struct learn_calibration *out, struct err *err)
{
    struct held_out held;
    enum err_code code = ERR_OK;
    if (!held_out_init(&held, rows->n)) {
        held_out_free(&held);
        return err_set(err, ERR_NOMEM, "out of memory for %zu rows", rows->n);
    }
    uint32_t groups = number_groups(rows, held.group);
    unsigned folds = MIN(options->folds, groups);
    if (!learn_folds(held.group, rows->n, folds, options->seed, held.fold))
        code = err_set(err, ERR_CONFIG, "calibration needs rows of at least two groups");
    for (unsigned f = 0; f < folds && !code; f++) code = score_fold(kind, rows, options, &held, f, err);
    const double *weight = rows->data->calibration_weight;
    size_t n = 0;
    for (size_t i = 0; i < rows->n && !code; i++) {
        if (weight && !(weight[rows->rows[i]] > 0)) continue;
        held.score[n] = held.score[i];
        held.label[n] = rows->data->y[rows->rows[i]];
        held.weight[n++] = weight ? weight[rows->rows[i]] : row_weight(rows->data, rows->rows[i]);
    }
    if (!code && !learn_calibrate(options->calibration, held.score, held.label, held.weight, n, out))
        code = err_set(err, ERR_CONFIG, "fewer than two rows to calibrate on, or out of memory");
    held_out_free(&held);
    return code;
}

static char **copy_names(const struct learn_data *data)
{
    char **names = g_new0(char *, data->m + 1);
    for (unsigned i = 0; i < data->m; i++) names[i] = g_strdup(data->names[i]);
    return names;
}

enum err_code classifier_fit_rows(const struct classifier_kind *kind, const struct learn_rows *rows,
                                  const struct learn_options *options, struct learn_model **out, struct err *err)
{
    *out = NULL;
    struct learn_model *model = g_new0(struct learn_model, 1);
    model->kind = kind;
    model->m = rows->data->m;
    model->names = copy_names(rows->data);
    model->command = model_plain_text(options->command);
    enum err_code code = fit_state(kind, rows, options, &model->state, err);
    if (!code && options->calibration != LEARN_UNCALIBRATED)
        code = calibrate(kind, rows, options, &model->calibration, err);
    if (code)
        learn_free(model);
    else
        *out = model;
    return code;
}
