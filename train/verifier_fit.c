/* Fits the verifier's component models and trees, and computes held-out scores (verifier_fit.h).
 *
 * Folds are made by database, and a held-out score comes from a model that has not seen the database. The same holds
 * for the expected components, because they are features of the trees. With the option `hard`, the trees are fitted
 * twice: the second fit gives more weight to wrong samples that the first fit scores as right. */
#include "train/verifier_fit.h"

#include "lib/learn/json_file.h"
#include "lib/learn/metrics.h"
#include "scoring/verifier_row.h"
#include "train/mutants.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_BYTES = 4 << 20 };

struct verifier_fit_options verifier_fit_options_default(void)
{
    struct verifier_fit_options o = {.seed = 1, .folds = 3, .right_share = 0.5, .hard = 0, .by_chance = 0.2};
    for (unsigned i = 0; i < ORIGIN_COUNT; i++) o.weight[i] = 1;
    o.weight[ORIGIN_BEAM] = 2; /* beams are real errors, but few */
    o.trees = learn_options_default();
    o.trees.calibration = LEARN_UNCALIBRATED;
    o.trees.rounds = 250;
    o.trees.depth = 6;
    o.trees.eta = 0.1;
    o.trees.subsample = 0.7;
    o.trees.column_sample = 0.4;
    o.trees.lambda = 2;
    o.trees.rank = 3;
    o.components = hashed_options_default();
    return o;
}

/* --- expected components --- */

/* The keys of each question, computed once. */
struct question_keys {
    uint64_t **keys;
    uint32_t *n;
    uint32_t n_questions;
};

static struct question_keys read_keys(const struct verifier_data *data)
{
    struct question_keys out = {g_new0(uint64_t *, data->n_questions + 1), g_new0(uint32_t, data->n_questions + 1),
                                data->n_questions};
    uint64_t keys[VERIFIER_MAX_KEYS];
    struct arena arena;
    arena_init(&arena, KEY_BYTES);
    for (uint32_t i = 0; i < data->n_questions; i++) {
        arena_reset(&arena);
        out.n[i] = verifier_keys(&arena, data->questions[i].text, keys);
        out.keys[i] = g_memdup2(keys, out.n[i] * sizeof *keys);
    }
    arena_free(&arena);
    return out;
}

static void keys_free(struct question_keys *keys)
{
    for (uint32_t i = 0; i < keys->n_questions; i++) g_free(keys->keys[i]);
    g_free(keys->keys);
    g_free(keys->n);
}

/* Marks the first occurrence of each question of a database. A log with beams and a log with gold alone may share
 * questions. */
static bool *find_first(const struct verifier_data *data)
{
    bool *first = g_new0(bool, data->n_questions + 1);
    GHashTable *seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (uint32_t i = 0; i < data->n_questions; i++)
        first[i] = data->questions[i].usable &&
                   g_hash_table_add(seen, g_strdup_printf("%s\n%s", data->questions[i].db, data->questions[i].text));
    g_hash_table_destroy(seen);
    return first;
}

struct fit {
    const struct verifier_data *data;
    const struct verifier_fit_options *options;
    struct verifier_fitted *out;
    struct question_keys keys;
    bool *first;      /* for each question, true if components are learned from it */
    double *expected; /* SQL_COMPONENT_COUNT for each question */
    /* The rows of the content model: their columns, values, labels and weights. */
    const char **names;
    unsigned *columns, m;
    float *x;
    double *y, *weight;
};

/* Fits the components on the questions outside of fold `without`; UINT_MAX means all questions. */
static enum err_code fit_components(const struct fit *fit, unsigned without, struct hashed_model **out, struct err *err)
{
    struct hashed_item *items = g_new0(struct hashed_item, fit->data->n_questions + 1);
    size_t n = 0;
    for (uint32_t i = 0; i < fit->data->n_questions; i++) {
        const struct verifier_question *q = &fit->data->questions[i];
        if (!fit->first[i] || fit->out->fold[q->database] == without) continue;
        items[n++] = (struct hashed_item){fit->keys.keys[i], fit->keys.n[i], q->components};
    }
    struct hashed_options options = fit->options->components;
    options.seed = fit->options->seed;
    enum err_code code = hashed_fit(items, n, SQL_COMPONENT_COUNT, &options, out, err);
    g_free(items);
    return code;
}

static void predict_components(const struct fit *fit, const struct hashed_model *model, unsigned only)
{
    for (uint32_t i = 0; i < fit->data->n_questions; i++)
        if (fit->out->fold[fit->data->questions[i].database] == only)
            hashed_predict(model, fit->keys.keys[i], fit->keys.n[i], fit->expected + (size_t)i * SQL_COMPONENT_COUNT);
}

static enum err_code expect_held_out(struct fit *fit, struct err *err)
{
    fit->expected = g_new0(double, (size_t)fit->data->n_questions *SQL_COMPONENT_COUNT + 1);
    for (unsigned fold = 0; fold < fit->options->folds; fold++) {
        struct hashed_model *model = NULL;
        enum err_code code = fit_components(fit, fold, &model, err);
        if (code) return code;
        predict_components(fit, model, fold);
        hashed_free(model);
    }
    return ERR_OK;
}

/* --- rows --- */

static void choose_columns(struct fit *fit)
{
    const char *const *all = verifier_row_names();
    fit->names = g_new0(const char *, VERIFIER_ROW + 1);
    fit->columns = g_new0(unsigned, VERIFIER_ROW);
    for (unsigned i = 0; i < VERIFIER_ROW; i++) {
        if (fit->options->without >> verifier_row_group(i) & 1U) continue;
        fit->names[fit->m] = all[i];
        fit->columns[fit->m++] = i;
    }
}

static void fill_row(const unsigned *columns, unsigned m, const struct verifier_sample *sample, const double *expected,
                     float *x)
{
    float row[VERIFIER_ROW];
    verifier_row(sample->features, sample->signals, expected, row);
    for (unsigned i = 0; i < m; i++) x[i] = row[columns[i]];
}

static bool fill_rows(struct fit *fit)
{
    const struct verifier_data *data = fit->data;
    choose_columns(fit);
    fit->x = g_try_new(float, (size_t)data->n * fit->m + 1);
    fit->y = g_new0(double, data->n + 1);
    fit->weight = g_new0(double, data->n + 1);
    for (uint32_t i = 0; fit->x && i < data->n; i++) {
        const struct verifier_sample *sample = &data->samples[i];
        fill_row(fit->columns, fit->m, sample, fit->expected + (size_t)sample->question * SQL_COMPONENT_COUNT,
                 fit->x + (size_t)i * fit->m);
        fit->y[i] = sample->right;
    }
    return fit->x != NULL;
}

/* Returns the weight of a made-up sample with the gold's result. The weight is 0 if this kind of change always changes
 * the meaning. Such a sample is not right, but its result does not show that it is wrong. */
static double weight_by_chance(const struct fit *fit, const struct verifier_sample *sample)
{
    bool differs = sample->op >= 0 && !mutants_may_agree((enum sql_mutator)sample->op);
    return differs ? 0 : fit->options->by_chance;
}

/* Weighs samples by origin, then scales right and wrong samples to their shares. `score` is P(right) of each sample in
 * an earlier fit; may be NULL. */
static void weigh(struct fit *fit, const double *score)
{
    double sum[2] = {0};
    for (uint32_t i = 0; i < fit->data->n; i++) {
        const struct verifier_sample *sample = &fit->data->samples[i];
        bool given = sample->origin == ORIGIN_GOLD || sample->origin == ORIGIN_BEAM;
        double w = !sample->right ? fit->options->weight[sample->origin] : given ? 1 : weight_by_chance(fit, sample);
        if (score && !sample->right) w *= 1 + fit->options->hard * score[i];
        fit->weight[i] = w;
        sum[sample->right] += w;
    }
    double n = fit->data->n, share[2] = {1 - fit->options->right_share, fit->options->right_share};
    for (uint32_t i = 0; i < fit->data->n; i++) {
        bool right = fit->data->samples[i].right;
        if (sum[right] > 0) fit->weight[i] *= n * share[right] / sum[right];
    }
}

/* --- trees --- */

/* Fits the trees on the rows whose fold is not `without`. */
static enum err_code fit_trees(const struct fit *fit, unsigned without, struct learn_model **out, struct err *err)
{
    uint32_t n = 0, kept = 0;
    const struct verifier_data *data = fit->data;
    for (uint32_t i = 0; i < data->n; i++)
        n += fit->weight[i] > 0 && fit->out->fold[data->questions[data->samples[i].question].database] != without;
    float *x = g_try_new(float, (size_t)n * fit->m + 1);
    double *y = g_new(double, n + 1), *weight = g_new(double, n + 1);
    uint32_t *list = g_new(uint32_t, n + 1);
    for (uint32_t i = 0; x && i < data->n; i++) {
        if (!(fit->weight[i] > 0) || fit->out->fold[data->questions[data->samples[i].question].database] == without)
            continue;
        memcpy(x + (size_t)kept * fit->m, fit->x + (size_t)i * fit->m, fit->m * sizeof *x);
        y[kept] = fit->y[i];
        list[kept] = data->samples[i].question;
        weight[kept++] = fit->weight[i];
    }
    struct learn_data rows = {.n = n, .m = fit->m, .x = x, .y = y, .weight = weight, .list = list, .names = fit->names};
    struct learn_options options = fit->options->trees;
    options.seed = fit->options->seed;
    options.command = fit->options->command;
    enum err_code code =
        x ? learn_fit("trees", &rows, &options, out, err) : err_set(err, ERR_NOMEM, "out of memory for %u rows", n);
    g_free(x);
    g_free(y);
    g_free(weight);
    g_free(list);
    return code;
}

static enum err_code score_held_out(struct fit *fit, struct err *err)
{
    const struct verifier_data *data = fit->data;
    for (unsigned fold = 0; fold < fit->options->folds; fold++) {
        struct learn_model *model = NULL;
        enum err_code code = fit_trees(fit, fold, &model, err);
        if (code) return code;
        for (uint32_t i = 0; i < data->n; i++)
            if (fit->out->fold[data->questions[data->samples[i].question].database] == fold)
                fit->out->held_out[i] = learn_predict_raw(model, fit->x + (size_t)i * fit->m);
        learn_free(fit->out->without[fold]);
        fit->out->without[fold] = model;
    }
    return ERR_OK;
}

static enum err_code calibrate(struct fit *fit, struct learn_calibration *calibration, struct err *err)
{
    const struct verifier_data *data = fit->data;
    if (!learn_calibrate(LEARN_PLATT, fit->out->held_out, fit->y, fit->weight, data->n, calibration))
        return err_set(err, ERR_CONFIG, "too little data to calibrate on");
    for (uint32_t i = 0; i < data->n; i++) fit->out->held_out[i] = learn_calibrated(calibration, fit->out->held_out[i]);
    return ERR_OK;
}

/* --- the whole fit --- */

static void fit_free(struct fit *fit)
{
    keys_free(&fit->keys);
    g_free(fit->first);
    g_free(fit->names);
    fit->out->expected = fit->expected;
    fit->out->columns = fit->columns;
    fit->out->n_columns = fit->m;
    g_free(fit->x);
    g_free(fit->y);
    g_free(fit->weight);
}

static enum err_code fit_init(struct fit *fit, struct err *err)
{
    const struct verifier_data *data = fit->data;
    uint32_t *group = g_new0(uint32_t, data->n_databases + 1);
    for (uint32_t i = 0; i < data->n_databases; i++) group[i] = i;
    fit->out->fold = g_new0(uint8_t, data->n_databases + 1);
    fit->out->held_out = g_new0(double, data->n + 1);
    fit->out->folds = fit->options->folds;
    fit->out->without = g_new0(struct learn_model *, fit->options->folds);
    fit->keys = read_keys(data);
    fit->first = find_first(data);
    bool dealt = learn_folds(group, data->n_databases, fit->options->folds, fit->options->seed, fit->out->fold);
    g_free(group);
    return dealt ? ERR_OK : err_set(err, ERR_CONFIG, "%u folds need at least as many databases", fit->options->folds);
}

static enum err_code run(struct fit *fit, struct learn_calibration *calibration, struct err *err)
{
    enum err_code code = fit_init(fit, err);
    if (!code) code = expect_held_out(fit, err);
    if (!code && !fill_rows(fit)) code = err_set(err, ERR_NOMEM, "out of memory for %u rows", fit->data->n);
    if (code) return code;
    weigh(fit, NULL);
    code = score_held_out(fit, err);
    if (!code && fit->options->hard > 0) {
        weigh(fit, fit->out->held_out);
        code = score_held_out(fit, err);
    }
    return code ? code : calibrate(fit, calibration, err);
}

enum err_code verifier_cross(const struct verifier_data *data, const struct verifier_fit_options *options,
                             struct verifier_fitted *out, struct err *err)
{
    struct fit fit = {.data = data, .options = options, .out = out};
    struct learn_calibration calibration = {0};
    *out = (struct verifier_fitted){0};
    enum err_code code = run(&fit, &calibration, err);
    learn_calibration_free(&calibration);
    fit_free(&fit);
    if (code) verifier_fitted_free(out);
    return code;
}

enum err_code verifier_fit(const struct verifier_data *data, const struct verifier_fit_options *options,
                           struct verifier_fitted *out, struct err *err)
{
    struct fit fit = {.data = data, .options = options, .out = out};
    struct learn_calibration calibration = {0};
    *out = (struct verifier_fitted){0};
    enum err_code code = run(&fit, &calibration, err);
    if (!code) code = fit_components(&fit, UINT_MAX, &out->components, err);
    if (!code) code = fit_trees(&fit, UINT_MAX, &out->content, err);
    if (!code) learn_set_calibration(out->content, &calibration);
    learn_calibration_free(&calibration);
    fit_free(&fit);
    if (code) verifier_fitted_free(out);
    return code;
}

void verifier_fitted_free(struct verifier_fitted *fitted)
{
    hashed_free(fitted->components);
    learn_free(fitted->content);
    g_free(fitted->held_out);
    g_free(fitted->fold);
    for (unsigned i = 0; i < fitted->folds; i++) learn_free(fitted->without[i]);
    g_free(fitted->without);
    g_free(fitted->expected);
    g_free(fitted->columns);
    *fitted = (struct verifier_fitted){0};
}

void verifier_fitted_score(const struct verifier_fitted *fitted, const struct verifier_data *data, double *out)
{
    struct question_keys keys = read_keys(data);
    int from[LEARN_MAX_FEATURES];
    float row[VERIFIER_ROW], x[LEARN_MAX_FEATURES];
    double expected[SQL_COMPONENT_COUNT];
    learn_map(fitted->content, verifier_row_names(), VERIFIER_ROW, from);
    for (uint32_t i = 0; i < data->n; i++) {
        const struct verifier_sample *s = &data->samples[i];
        hashed_predict(fitted->components, keys.keys[s->question], keys.n[s->question], expected);
        verifier_row(s->features, s->signals, expected, row);
        for (unsigned k = 0; k < learn_n_features(fitted->content); k++)
            x[k] = from[k] >= 0 ? row[from[k]] : (float)NAN;
        out[i] = learn_predict(fitted->content, x);
    }
    keys_free(&keys);
}

double verifier_fitted_blind(const struct verifier_fitted *fitted, const struct verifier_data *data,
                             const struct verifier_sample *sample)
{
    float x[VERIFIER_ROW];
    fill_row(fitted->columns, fitted->n_columns, sample,
             fitted->expected + (size_t)sample->question * SQL_COMPONENT_COUNT, x);
    return learn_predict_raw(fitted->without[fitted->fold[data->questions[sample->question].database]], x);
}

char *verifier_fitted_text(const struct verifier_fitted *fitted, const struct verifier_fit_options *options)
{
    char *text = learn_save_text(fitted->content);
    json_t *content = text ? json_loads(text, 0, NULL) : NULL;
    free(text);
    char *plain = model_plain_text(options->command);
    json_t *root =
        json_pack("{s:s,s:i,s:s,s:f,s:o,s:o}", "format", "assay-verifier", "version", 2, "command", plain, "wording",
                  options->wording, "components", hashed_save(fitted->components), "content", content);
    g_free(plain);
    return model_json_text(root, true);
}
