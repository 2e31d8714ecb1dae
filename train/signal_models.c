/* Fits the label model and prepares the rows of the classifier from vectors of signals (signal_models.h).
 *
 * Mutants are wrong more often than real candidates. So rows are weighted to have the share of right candidates that is
 * expected in use. All rows train the ranking, but only real candidates calibrate it if there are at least MIN_REAL.
 * Rows are grouped by database for calibration, or by question if there are fewer than MIN_DATABASES. */
#include "train/signal_models.h"

#include "lib/learn/metrics.h"

#include <math.h>
#include <string.h>

/* --- the label model --- */

/* Returns the share of wrong candidates: among real ones if any is labelled, else among mutants. */
static double share_wrong(const struct vectors *v)
{
    uint8_t *real = g_new0(uint8_t, v->n + 1);
    for (uint32_t row = 0; row < v->n; row++) real[row] = !g_array_index(v->made, uint8_t, row);
    double wrong = vectors_share_wrong(v, real);
    g_free(real);
    return isnan(wrong) ? vectors_share_wrong(v, NULL) : wrong;
}

struct lm_model *label_model_fit(const struct vectors *vectors, const struct label_model_fit *how, struct err *err)
{
    struct lm_options options = lm_options_anchored();
    double wrong = how->prior >= 0 ? 1 - how->prior : share_wrong(vectors);
    if (wrong > 0 && wrong < 1) options.prior_wrong = wrong;
    options.accuracy_weight = how->trust;
    options.command = how->command;
    struct lm_model *model = NULL;
    struct lm_matrix *matrix = vectors_matrix(vectors, NULL, err);
    if (matrix) lm_fit(matrix, &options, &model, err);
    lm_matrix_free(matrix);
    if (model && how->target_prior > 0 && how->target_prior < 1) lm_set_prior(model, 1 - how->target_prior, err);
    return model;
}

static int column_of(const struct vectors *v, const char *name)
{
    unsigned n = 0;
    const char *const *names = votes_names(v->flags, &n);
    for (unsigned i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0) return (int)i;
    return -1;
}

double label_model_labelled_precision(const struct vectors *v, const char *signal)
{
    int at = column_of(v, signal);
    uint32_t fired = 0, wrong = 0;
    for (uint32_t row = 0; at >= 0 && row < v->n; row++) {
        uint8_t vote = vectors_votes(v, row)[at];
        if (vote == LM_SILENT || vote == LM_MISSING || vectors_right(v, row) == VECTORS_UNLABELLED) continue;
        fired++;
        wrong += vectors_right(v, row) == 0;
    }
    return fired ? (double)wrong / fired : (double)NAN;
}

/* --- the classifier --- */

enum { MIN_DATABASES = 5 };

/* Returns weights under which the rows in `use` (NULL for all) have the share `target` of right ones; other rows weigh
 * 0. Made-up candidates are wrong more often than real ones, so without weights the learned probability would be too
 * low. Returns NULL if no weights give that share. */
static double *weights_for(const double *y, const uint8_t *use, size_t n, double target)
{
    double right = 0, all = 0;
    for (size_t i = 0; i < n; i++) {
        if (use && !use[i]) continue;
        right += y[i];
        all++;
    }
    double share = all > 0 ? right / all : 0;
    if (target <= 0 || target >= 1 || share <= 0 || share >= 1) return NULL;
    double *weight = g_new0(double, n);
    for (size_t i = 0; i < n; i++)
        if (!use || use[i]) weight[i] = y[i] * target / share + (1 - y[i]) * (1 - target) / (1 - share);
    return weight;
}

enum { MIN_REAL = 500 }; /* with at least so many real candidates, only these calibrate */

/* Weighs the rows. All rows train the order of candidates. If there are enough real candidates, they alone calibrate
 * the probability, because scores of mutants and of real candidates have different meanings. */
static void weigh(struct classifier_rows *rows, double target)
{
    struct learn_data *data = &rows->data;
    uint8_t *real = g_new0(uint8_t, data->n + 1);
    size_t n_real = 0;
    for (size_t i = 0; i < data->n; i++) n_real += real[i] = !rows->made[i];
    data->weight = rows->weight = weights_for(rows->y, NULL, data->n, target);
    if (n_real >= MIN_REAL && n_real < data->n)
        data->calibration_weight = rows->calibration_weight = weights_for(rows->y, real, data->n, target);
    g_free(real);
}

void classifier_rows(const struct vectors *v, const struct lm_model *teacher, double target_prior,
                     struct classifier_rows *rows)
{
    *rows = (struct classifier_rows){0};
    unsigned n = 0, m = 0;
    struct lm_map map;
    const char *const *names = votes_names(v->flags, &n);
    if (teacher) lm_map_init(&map, teacher, names, n);
    rows->x = g_new(float, (size_t)v->n * v->n_features + 1);
    rows->y = g_new(double, v->n + 1);
    rows->group = g_new(uint32_t, v->n + 1);
    rows->made = g_new(uint8_t, v->n + 1);
    struct learn_data data = {.m = v->n_features, .x = rows->x, .y = rows->y, .group = rows->group};
    data.names = votes_feature_names(v->flags, &m);
    /* Calibration folds are made by database, or by question if there are too few databases. */
    const GArray *group = g_hash_table_size(v->databases) < MIN_DATABASES ? v->question : v->database;
    for (uint32_t row = 0; row < v->n; row++) {
        if (!teacher && vectors_right(v, row) == VECTORS_UNLABELLED) continue;
        memcpy(rows->x + data.n * v->n_features, vectors_features(v, row), v->n_features * sizeof(float));
        rows->made[data.n] = g_array_index(v->made, uint8_t, row);
        rows->y[data.n] = teacher ? lm_p_correct(teacher, &map, vectors_votes(v, row)) : vectors_right(v, row);
        rows->group[data.n++] = g_array_index(group, uint32_t, row);
    }
    rows->data = data;
    weigh(rows, target_prior);
}

void classifier_rows_free(struct classifier_rows *rows)
{
    g_free(rows->x);
    g_free(rows->y);
    g_free(rows->weight);
    g_free(rows->calibration_weight);
    g_free(rows->made);
    g_free(rows->group);
}

double classifier_served_error(const struct classifier_rows *rows, const double *p)
{
    const struct learn_data *data = &rows->data;
    const double *weight = data->calibration_weight ? data->calibration_weight : data->weight;
    double *kept = g_new(double, data->n + 1), most = 0;
    uint8_t *right = g_new(uint8_t, data->n + 1);
    uint64_t state = 1;
    size_t n = 0;
    for (size_t i = 0; weight && i < data->n; i++) most = fmax(most, weight[i]);
    for (size_t i = 0; i < data->n; i++) {
        if (weight && learn_random_unit(&state) * most >= weight[i]) continue;
        right[n] = data->y[i] >= 0.5;
        kept[n++] = p[i];
    }
    double error = learn_ece(kept, right, n, 10);
    g_free(kept);
    g_free(right);
    return error;
}
