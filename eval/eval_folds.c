/* Fits models on four fifths of the databases and measures them on the rest. Also measures methods that need no
 * fitting.
 *
 * All judged candidates of the other folds train; the first executable candidates of the fold are scored. The label
 * model sees no labels except the prior, the share of wrong candidates in the training folds. The best single signal is
 * the one with the best F1 on the training folds.
 */
#include "eval/eval.h"

#include <math.h>
#include <string.h>

enum { FOLDS = 5, FOLD_SEED = 7 };

struct folding {
    const struct vectors *v;
    uint8_t *fold;                    /* fold of each row */
    uint8_t *train;                   /* true for each row that trains in the current fold */
    unsigned k;                       /* the current fold */
    double *scores[EVAL_MAX_METHODS]; /* score of each row; NAN if it is not scored */
};

enum method {
    METHOD_COUNT_FIRED,
    METHOD_MAJORITY,
    METHOD_BEST_SIGNAL,
    METHOD_LABEL_MODEL,
    METHOD_LOGISTIC,
    METHOD_TREES,
    METHOD_WEAK,
    METHODS
};

static const struct {
    const char *name;
    double threshold; /* a candidate with this score or more is predicted wrong */
} methods[METHODS] = {
    [METHOD_COUNT_FIRED] = {"signals fired", 0.5},      [METHOD_MAJORITY] = {"majority vote", 0.500001},
    [METHOD_BEST_SIGNAL] = {"best single signal", 0.5}, [METHOD_LABEL_MODEL] = {"label model", 0.5},
    [METHOD_LOGISTIC] = {"logistic, labels", 0.5},      [METHOD_TREES] = {"trees, labels", 0.5},
    [METHOD_WEAK] = {"logistic, label model's", 0.5},
};

static bool scored_row(const struct folding *f, uint32_t row)
{
    return f->fold[row] == f->k && g_array_index(f->v->detection, uint8_t, row);
}

/* --- without fitting ---------------------------------------------------------------------------------------------- */

static void score_votes(struct folding *f, const struct lm_matrix *matrix)
{
    for (uint32_t row = 0; row < f->v->n; row++) {
        if (!scored_row(f, row)) continue;
        f->scores[METHOD_COUNT_FIRED][row] = lm_count_fired(matrix, row);
        f->scores[METHOD_MAJORITY][row] = lm_majority(matrix, row);
    }
}

static bool column_fired(const struct vectors *v, uint32_t row, unsigned column)
{
    uint8_t vote = vectors_votes(v, row)[column];
    return vote != LM_SILENT && vote != LM_MISSING;
}

static double column_f1(const struct folding *f, unsigned column)
{
    struct learn_confusion c = {0};
    for (uint32_t row = 0; row < f->v->n; row++) {
        if (!f->train[row]) continue;
        bool fired = column_fired(f->v, row, column), wrong = vectors_right(f->v, row) == 0;
        c.tp += fired && wrong;
        c.fp += fired && !wrong;
        c.fn += !fired && wrong;
        c.tn += !fired && !wrong;
    }
    return learn_f1(c);
}

static void score_best_signal(struct folding *f)
{
    unsigned n = 0, best = 0;
    double best_f1 = -1;
    const struct lm_column *columns = votes_columns(f->v->flags, &n);
    for (unsigned c = 0; c < n; c++) {
        double f1 = columns[c].kind == LM_SIGNAL ? column_f1(f, c) : -1;
        if (isnan(f1) || f1 <= best_f1) continue;
        best_f1 = f1;
        best = c;
    }
    for (uint32_t row = 0; row < f->v->n; row++)
        if (scored_row(f, row)) f->scores[METHOD_BEST_SIGNAL][row] = column_fired(f->v, row, best);
}

/* --- fitted ----------------------------------------------------------------------------------------------------- */

static enum err_code score_label_model(struct folding *f, double *p_all, struct err *err)
{
    struct lm_matrix *matrix = vectors_matrix(f->v, f->train, err);
    if (!matrix) return ERR_CONFIG;
    struct lm_options options = lm_options_anchored();
    double wrong = vectors_share_wrong(f->v, f->train);
    if (wrong > 0 && wrong < 1) options.prior_wrong = wrong;
    struct lm_model *model = NULL;
    enum err_code code = lm_fit(matrix, &options, &model, err);
    lm_matrix_free(matrix);
    if (code != ERR_OK) return code;
    unsigned n = 0;
    const char *const *names = votes_names(f->v->flags, &n);
    struct lm_map map;
    lm_map_init(&map, model, names, n);
    for (uint32_t row = 0; row < f->v->n; row++) {
        p_all[row] = lm_p_correct(model, &map, vectors_votes(f->v, row));
        if (scored_row(f, row)) f->scores[METHOD_LABEL_MODEL][row] = 1 - p_all[row];
    }
    lm_free(model);
    return ERR_OK;
}

/* Fits one classifier on the training rows with `y` as P(correct), and scores the fold. */
static enum err_code score_classifier(struct folding *f, enum method method, const char *kind, const double *y,
                                      struct err *err)
{
    const struct vectors *v = f->v;
    uint32_t n = 0;
    float *x = g_new(float, (size_t)v->n * v->n_features + 1);
    double *target = g_new(double, v->n + 1);
    uint32_t *group = g_new(uint32_t, v->n + 1);
    for (uint32_t row = 0; row < v->n; row++) {
        if (!f->train[row]) continue;
        memcpy(x + (size_t)n * v->n_features, vectors_features(v, row), v->n_features * sizeof *x);
        target[n] = y[row];
        group[n++] = g_array_index(v->question, uint32_t, row);
    }
    unsigned m = 0;
    struct learn_data data = {
        .n = n, .m = v->n_features, .x = x, .y = target, .group = group, .names = votes_feature_names(v->flags, &m)};
    struct learn_options options = learn_options_default();
    struct learn_model *model = NULL;
    enum err_code code = learn_fit(kind, &data, &options, &model, err);
    for (uint32_t row = 0; code == ERR_OK && row < v->n; row++)
        if (scored_row(f, row)) f->scores[method][row] = 1 - learn_predict(model, vectors_features(v, row));
    if (model) learn_free(model);
    g_free(x);
    g_free(target);
    g_free(group);
    return code;
}

static enum err_code score_fold(struct folding *f, const double *labels, double *p_all, struct err *err)
{
    for (uint32_t row = 0; row < f->v->n; row++) f->train[row] = f->fold[row] != f->k;
    score_best_signal(f);
    enum err_code code = score_label_model(f, p_all, err);
    for (uint32_t row = 0; code == ERR_OK && f->v->label_model_p >= 0 && row < f->v->n; row++)
        vectors_features(f->v, row)[f->v->label_model_p] = (float)p_all[row];
    if (code == ERR_OK) code = score_classifier(f, METHOD_LOGISTIC, "logistic", labels, err);
    if (code == ERR_OK) code = score_classifier(f, METHOD_WEAK, "logistic", p_all, err);
    if (code == ERR_OK && !learn_unsupported("trees")) code = score_classifier(f, METHOD_TREES, "trees", labels, err);
    return code;
}

/* --- measuring -------------------------------------------------------------------------------------------------- */

static void measure_method(const struct folding *f, enum method method, unsigned rounds, struct eval_report *report)
{
    double *score = g_new(double, f->v->n + 1);
    uint8_t *wrong = g_new(uint8_t, f->v->n + 1);
    uint32_t n = 0;
    for (uint32_t row = 0; row < f->v->n; row++) {
        if (isnan(f->scores[method][row])) continue;
        score[n] = f->scores[method][row];
        wrong[n++] = vectors_right(f->v, row) == 0;
    }
    if (n)
        report->folds[report->n_folds++] =
            eval_detect(methods[method].name, score, wrong, n, methods[method].threshold, rounds);
    g_free(score);
    g_free(wrong);
}

/* Makes folds by database, or by question if the log has too few databases. */
static bool make_folds(const struct vectors *v, uint8_t *fold, bool *by_question)
{
    const uint32_t *database = (const uint32_t *)(const void *)v->database->data;
    *by_question = g_hash_table_size(v->databases) < FOLDS || !learn_folds(database, v->n, FOLDS, FOLD_SEED, fold);
    return !*by_question ||
           learn_folds((const uint32_t *)(const void *)v->question->data, v->n, FOLDS, FOLD_SEED, fold);
}

static enum err_code run_folds(struct folding *f, struct err *err)
{
    double *labels = g_new(double, f->v->n + 1), *p_all = g_new(double, f->v->n + 1);
    for (uint32_t row = 0; row < f->v->n; row++) labels[row] = vectors_right(f->v, row) == 1;
    struct lm_matrix *matrix = vectors_matrix(f->v, NULL, err);
    enum err_code code = matrix ? ERR_OK : ERR_CONFIG;
    for (f->k = 0; f->k < FOLDS && code == ERR_OK; f->k++) {
        score_votes(f, matrix);
        code = score_fold(f, labels, p_all, err);
    }
    if (matrix) lm_matrix_free(matrix);
    g_free(labels);
    g_free(p_all);
    return code;
}

enum err_code eval_folds(const struct eval_data *data, unsigned rounds, struct eval_report *report, struct err *err)
{
    struct folding f = {.v = data->vectors};
    uint32_t n = f.v->n;
    f.fold = g_new0(uint8_t, n + 1);
    f.train = g_new0(uint8_t, n + 1);
    for (int m = 0; m < METHODS; m++) {
        f.scores[m] = g_new(double, n + 1);
        for (uint32_t row = 0; row < n; row++) f.scores[m][row] = (double)NAN;
    }
    enum err_code code = make_folds(f.v, f.fold, &report->folds_by_question)
                             ? run_folds(&f, err)
                             : err_set(err, ERR_CONFIG, "too few questions for %d folds", FOLDS);
    for (int m = 0; m < METHODS && code == ERR_OK; m++) measure_method(&f, (enum method)m, rounds, report);
    for (int m = 0; m < METHODS; m++) g_free(f.scores[m]);
    g_free(f.fold);
    g_free(f.train);
    return code;
}
