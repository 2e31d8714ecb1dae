/* Fits the label model.
 *
 * Model. A candidate has a hidden class Y, wrong (1) or right (0), with P(wrong) = π, and votes X_1 .. X_m. Each vote
 * is a level.
 *
 *     P(X, Y) = P(Y) · Π_j P(X_j | Y, X_parent(j))
 *
 * The parents form a forest among the signals. The parameters are the tables P(X_j | Y, X_parent(j)) and π. EM finds
 * them by maximising the marginal likelihood Σ_candidates log Σ_Y P(X, Y). SQLens §3.2 prescribes that likelihood, but
 * no method.
 *
 * Missing votes are summed out, which is exact on a forest (posterior.c). For each table, the M step counts the
 * candidates for which neither the signal nor its parent is missing.
 *
 * Positive labelers. A labeler such as λ_all is a function of the signals: P(λ | X) is 1 for one value and 0 for the
 * others. So the joint likelihood with the labelers equals the likelihood without them, whatever their "accuracies"
 * are. They are not factors of the product, because their votes only repeat the factors P(X_j = 0 | Y) of the silent
 * signals. Their tables are filled from the posterior after the fit, for information.
 *
 * Dependence. Signals that fire together within a class would be counted twice. For example, two checks may detect the
 * same flaw, and a long query makes all signals fire more often. An edge makes the second signal count only for its
 * additional evidence, P(X_j | Y, X_parent). A perfect duplicate then adds a factor of one. structure.c finds the
 * edges.
 *
 * Identifying the class. Signals only vote "wrong". The likelihood alone can therefore drift to "any signal fired =
 * wrong" with π near 1. It can also split the data by a property other than correctness. Four rules prevent this:
 *   1. π is anchored: it moves only as far as prior_strength allows, by default not at all.
 *   2. A signal never supports the class that it does not vote for: P(level | wrong) / P(level | right) does not fall
 *      as the level rises. The M step solves the constrained problem exactly. It replaces the expected share of "wrong"
 *      by its isotonic regression over the levels. For two levels, it pools the two rates if they cross.
 *   3. Each table has a weak prior: where a signal fires, it multiplies the odds of "wrong" by lift_prior, at the
 *      coverage in the data. The prior's weight is accuracy_weight times the evidence of the data. It has the same
 *      relative weight for rare and common signals.
 *   4. EM starts from these priors, always at the same point, without random restarts.
 *
 * Views. A view is another known quantity as a level, such as the agreement with the other candidates of a request.
 * Views are evidence of another kind than signals, but they are correlated. Rank, votes and agreement change together,
 * and the likelihood mistakes this common change for the class. When views were fitted jointly on the beams of one
 * parser, the class became "near the top of the beam". The option views_follow prevents this. EM then finds the class
 * from the signals alone, with the views summed out. The tables of a view are a single M step under that posterior.
 * This is inference with a cut: the views do not influence the class. The signals are noisy, so the views appear weaker
 * than they are. This error is on the safe side, because views also repeat each other. Edges among views remove most of
 * that repetition.
 *
 * Looking back. Each signal's table is then estimated once more, from the posterior of all other columns, views
 * included. A signal may fire on candidates that all other columns consider right. It then becomes less precise than
 * its prior. This is done once, not to convergence, and the prior has `refine` times the weight of the evidence.
 * Otherwise the feedback that the cut prevents would start here. */
#include "lib/learn/internal.h"
#include "lib/learn/json_file.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double LEAST = 1e-6;       /* least probability of a level */
static const double VIEW_WEIGHT = 0.05; /* the order of a view is known in advance, but not its strength */

struct prior { /* pseudo-candidates at each level */
    double wrong[LM_MAX_LEVELS], right[LM_MAX_LEVELS];
};

struct lm_fit_state {
    const struct lm_matrix *matrix;
    const struct lm_options *options;
    struct lm_model *model;
    struct patterns patterns;
    double *wrong; /* P(wrong) of each pattern */
    struct prior *prior;
    double *belief; /* weight of each column's prior, as a multiple of the data's evidence */
    bool all;       /* true if the posterior includes the views */
};

struct lm_options lm_options_default(void)
{
    return (struct lm_options){
        .prior_wrong = 0.25,
        .prior_strength = INFINITY,
        .lift_prior = 3,
        .accuracy_weight = 0.05,
        .smoothing = 4,
        .dependencies = true,
        .edge_bits = 0.001,
        .max_iterations = 500,
        .max_rounds = 6,
        .tolerance = 1e-8,
    };
}

struct lm_options lm_options_anchored(void)
{
    struct lm_options options = lm_options_default();
    options.lift_prior = 8;
    options.accuracy_weight = 10;
    options.views_follow = true;
    options.refine = 1;
    return options;
}

static enum err_code check_options(const struct lm_options *o, struct err *err)
{
    if (!(o->prior_wrong > 0 && o->prior_wrong < 1))
        return err_set(err, ERR_CONFIG, "the prior must be between 0 and 1");
    if (!(o->prior_strength >= 0) || !(o->accuracy_weight >= 0) || !(o->edge_bits >= 0))
        return err_set(err, ERR_CONFIG, "prior strength, accuracy weight and edge bits must not be negative");
    if (!(o->lift_prior >= 1) || !(o->smoothing > 0) || !isfinite(o->lift_prior) || !isfinite(o->smoothing))
        return err_set(err, ERR_CONFIG, "the lift prior must be at least 1 and the smoothing above 0");
    if (!(o->refine >= 0) || !isfinite(o->refine)) return err_set(err, ERR_CONFIG, "refine must not be negative");
    if (!isfinite(o->accuracy_weight) || !o->max_iterations || !o->max_rounds || !(o->tolerance >= 0))
        return err_set(err, ERR_CONFIG, "iterations, rounds and tolerance must be above 0");
    return ERR_OK;
}

static int compare_rows(const void *a, const void *b, void *data)
{
    const struct lm_matrix *matrix = data;
    return memcmp(*(const uint8_t *const *)a, *(const uint8_t *const *)b, matrix->m);
}

static double weight_of(const struct lm_matrix *matrix, const uint8_t *row)
{
    return matrix->weight[(size_t)(row - matrix->votes) / matrix->m];
}

/* Merges equal rows, in byte order, so that neither the work nor the result depends on the order of the rows. */
static bool patterns_init(struct patterns *patterns, const struct lm_matrix *matrix)
{
    size_t n = matrix->n;
    *patterns = (struct patterns){g_try_new(const uint8_t *, n), g_try_new0(double, n), 0, 0};
    if (!patterns->votes || !patterns->weight) return false;
    for (size_t i = 0; i < n; i++) patterns->votes[i] = lm_matrix_row(matrix, i);
    qsort_r(patterns->votes, n, sizeof *patterns->votes, compare_rows, (void *)matrix);
    for (size_t i = 0; i < n; i++) {
        const uint8_t *row = patterns->votes[i];
        bool same = patterns->n && memcmp(patterns->votes[patterns->n - 1], row, matrix->m) == 0;
        if (!same) patterns->votes[patterns->n++] = row;
        patterns->weight[patterns->n - 1] += weight_of(matrix, row);
        patterns->total += weight_of(matrix, row);
    }
    return true;
}

static void patterns_free(struct patterns *patterns)
{
    g_free(patterns->votes);
    g_free(patterns->weight);
}

/* Counts the candidates at each level of a signal. Returns the total weight of the candidates whose vote is not
 * missing. */
static double count_levels(const struct patterns *patterns, unsigned signal, double count[LM_MAX_LEVELS])
{
    double seen = 0;
    memset(count, 0, LM_MAX_LEVELS * sizeof *count);
    for (size_t i = 0; i < patterns->n; i++) {
        uint8_t vote = patterns->votes[i][signal];
        if (vote == LM_MISSING) continue;
        count[vote] += patterns->weight[i];
        seen += patterns->weight[i];
    }
    return seen;
}

/* Returns by how much a level changes the log-odds of "wrong", according to the prior. */
static double believed(const struct lm_column *column, const struct lm_options *options, unsigned level)
{
    double full = log(options->lift_prior);
    if (column->kind == LM_SIGNAL && column->prior_precision > 0)
        full = learn_logit(column->prior_precision, LEARN_LEAST_P) - learn_logit(options->prior_wrong, LEARN_LEAST_P);
    double step = (double)level / (column->levels - 1);
    if (column->order == LM_FREE) return 0;
    if (column->order == LM_MORE_RIGHT) return full * (0.5 - step) * 2;
    return column->kind == LM_SIGNAL ? (level > 0) * full : full * (step - 0.5) * 2;
}

/* Shifts all log-odds equally, so that the levels' shares of "wrong" add up to the prior. */
static void settle(const double *count, double seen, const double *log_odds, unsigned levels, double prior,
                   double precision[LM_MAX_LEVELS])
{
    double low = -40, high = 40;
    for (unsigned step = 0; step < 80; step++) {
        double shift = (low + high) / 2, wrong = 0;
        for (unsigned l = 0; l < levels; l++) {
            precision[l] = learn_sigmoid(log_odds[l] + shift);
            wrong += count[l] * precision[l];
        }
        *(wrong > prior * seen ? &high : &low) = shift;
    }
}

static void init_prior(struct lm_fit_state *fit, unsigned signal)
{
    const struct lm_column *column = &fit->matrix->columns[signal];
    double count[LM_MAX_LEVELS], log_odds[LM_MAX_LEVELS], precision[LM_MAX_LEVELS] = {0};
    double seen = count_levels(&fit->patterns, signal, count);
    double weight = column->prior_weight > 0 ? column->prior_weight : fit->options->accuracy_weight;
    if (column->kind != LM_SIGNAL && !(column->prior_weight > 0)) weight = fmin(weight, VIEW_WEIGHT);
    fit->belief[signal] = weight;
    for (unsigned l = 0; l < column->levels; l++) log_odds[l] = believed(column, fit->options, l);
    settle(count, seen, log_odds, column->levels, fit->options->prior_wrong, precision);
    for (unsigned l = 0; l < column->levels; l++) {
        double share = seen > 0 ? count[l] / seen : 1.0 / column->levels;
        double pseudo = weight * count[l] + fit->options->smoothing * (share + 0.01);
        fit->prior[signal].wrong[l] = pseudo * precision[l];
        fit->prior[signal].right[l] = pseudo * (1 - precision[l]);
    }
    struct lm_signal *out = &fit->model->signals[signal];
    out->available = seen / fit->patterns.total;
    out->coverage = seen > 0 ? 1 - count[0] / seen : 0;
}

/* Computes P(level | wrong) and P(level | right) from expected counts, subject to the order of the likelihood ratio. */
static void solve(enum lm_order order, unsigned levels, const double *wrong, const double *right, double *p_wrong,
                  double *p_right)
{
    double share[LM_MAX_LEVELS], weight[LM_MAX_LEVELS], all[LM_MAX_LEVELS], sum_wrong = 0, sum_right = 0;
    for (unsigned l = 0; l < levels; l++) {
        unsigned at = order == LM_MORE_RIGHT ? levels - 1 - l : l;
        all[at] = weight[at] = wrong[l] + right[l];
        share[at] = wrong[l] / weight[at];
    }
    if (order != LM_FREE) learn_isotonic(share, weight, levels);
    for (unsigned l = 0; l < levels; l++) {
        unsigned at = order == LM_MORE_RIGHT ? levels - 1 - l : l;
        p_wrong[l] = fmax(share[at] * all[at], LEAST * 1e-3);
        p_right[l] = fmax((1 - share[at]) * all[at], LEAST * 1e-3);
        sum_wrong += p_wrong[l];
        sum_right += p_right[l];
    }
    for (unsigned l = 0; l < levels; l++) {
        p_wrong[l] = fmax(p_wrong[l] / sum_wrong, LEAST);
        p_right[l] = fmax(p_right[l] / sum_right, LEAST);
    }
}

static void solve_marginal(struct lm_fit_state *fit, unsigned signal)
{
    struct lm_signal *s = &fit->model->signals[signal];
    double wrong[LM_MAX_LEVELS], right[LM_MAX_LEVELS];
    memcpy(wrong, fit->prior[signal].wrong, sizeof wrong);
    memcpy(right, fit->prior[signal].right, sizeof right);
    for (size_t i = 0; fit->wrong && i < fit->patterns.n; i++) {
        uint8_t vote = fit->patterns.votes[i][signal];
        if (vote == LM_MISSING) continue;
        wrong[vote] += fit->patterns.weight[i] * fit->wrong[i];
        right[vote] += fit->patterns.weight[i] * (1 - fit->wrong[i]);
    }
    solve(s->order, s->levels, wrong, right, s->p[1], s->p[0]);
}

/* Adds the prior of a signal for candidates whose parent is silent. If the parent fired too, only the data can show
 * what the second signal adds. A prior there would count the same evidence twice. */
static void believe_alone(const struct lm_fit_state *fit, unsigned signal, double *wrong, double *right)
{
    const struct prior *prior = &fit->prior[signal];
    double weight = fit->belief[signal];
    for (unsigned l = 0; l < fit->model->signals[signal].levels; l++) {
        double seen = wrong[l] + right[l], precision = prior->wrong[l] / (prior->wrong[l] + prior->right[l]);
        wrong[l] += weight * seen * precision;
        right[l] += weight * seen * (1 - precision);
    }
}

/* Computes the tables for each level of the parent. The rarer a parent's level, the closer its table is to the marginal
 * table. */
static void solve_given(struct lm_fit_state *fit, unsigned signal)
{
    struct lm_signal *s = &fit->model->signals[signal];
    unsigned parent = (unsigned)s->parent, parent_levels = fit->model->signals[parent].levels;
    double count[2][LM_MAX_LEVELS][LM_MAX_LEVELS] = {0};
    for (unsigned q = 0; q < parent_levels; q++)
        for (unsigned l = 0; l < s->levels; l++)
            for (unsigned c = 0; c < 2; c++) count[c][q][l] = fit->options->smoothing * s->p[c][l];
    for (size_t i = 0; i < fit->patterns.n; i++) {
        uint8_t vote = fit->patterns.votes[i][signal], above = fit->patterns.votes[i][parent];
        if (vote == LM_MISSING || above == LM_MISSING) continue;
        count[1][above][vote] += fit->patterns.weight[i] * fit->wrong[i];
        count[0][above][vote] += fit->patterns.weight[i] * (1 - fit->wrong[i]);
    }
    if (s->kind == LM_SIGNAL) believe_alone(fit, signal, count[1][LM_SILENT], count[0][LM_SILENT]);
    for (unsigned q = 0; q < parent_levels; q++)
        solve(s->order, s->levels, count[1][q], count[0][q], s->given[1][q], s->given[0][q]);
}

static void maximise(struct lm_fit_state *fit)
{
    double wrong = 0, strength = fit->options->prior_strength;
    for (size_t i = 0; i < fit->patterns.n; i++) wrong += fit->patterns.weight[i] * fit->wrong[i];
    double share = wrong / fit->patterns.total;
    if (isfinite(strength)) fit->model->prior_wrong = (share + strength * fit->options->prior_wrong) / (1 + strength);
    for (unsigned j = 0; j < fit->model->n_signals; j++) {
        if (fit->model->signals[j].kind == LM_POSITIVE) continue;
        solve_marginal(fit, j);
        if (fit->model->signals[j].parent >= 0) solve_given(fit, j);
    }
}

/* Returns the votes of a pattern that the current step may use. Views are missing under views_follow until the class is
 * found. The signal `without` is missing too; -1 hides none. */
static const uint8_t *seen_votes(const struct lm_fit_state *fit, size_t pattern, int without,
                                 uint8_t out[LM_MAX_COLUMNS])
{
    bool hide = fit->options->views_follow && !fit->all;
    if (!hide && without < 0) return fit->patterns.votes[pattern];
    memcpy(out, fit->patterns.votes[pattern], fit->model->n_signals);
    for (unsigned j = 0; hide && j < fit->model->n_signals; j++)
        if (fit->model->signals[j].kind == LM_VIEW) out[j] = LM_MISSING;
    if (without >= 0) out[without] = LM_MISSING;
    return out;
}

/* Computes the posterior of each pattern. Returns the mean log-likelihood of the votes that are not missing. */
static double expect(struct lm_fit_state *fit, int without)
{
    double sum = 0, prior = fit->model->prior_wrong;
    for (size_t i = 0; i < fit->patterns.n; i++) {
        double class[2];
        uint8_t seen[LM_MAX_COLUMNS];
        lm_log_likelihood(fit->model, seen_votes(fit, i, without, seen), class);
        double ratio = class[1] + log(prior) - class[0] - log(1 - prior);
        fit->wrong[i] = learn_sigmoid(ratio);
        double larger = ratio > 0 ? class[1] + log(prior) : class[0] + log(1 - prior);
        sum += fit->patterns.weight[i] * (larger + log1p(exp(-fabs(ratio))));
    }
    return sum / fit->patterns.total;
}

static bool climb(struct lm_fit_state *fit)
{
    double last = -INFINITY;
    for (unsigned step = 0; step < fit->options->max_iterations; step++) {
        double now = expect(fit, -1);
        fit->model->log_likelihood = now;
        fit->model->iterations++;
        if (fabs(now - last) <= fit->options->tolerance) return true;
        last = now;
        maximise(fit);
    }
    return false;
}

/* Computes each signal's tables from the posterior of all other columns (see "Looking back" above). All posteriors use
 * the model from before this step. */
static void look_back(struct lm_fit_state *fit)
{
    struct lm_model *model = fit->model;
    struct lm_signal *before = model->signals;
    struct lm_signal *after = g_memdup2(before, model->n_signals * sizeof *before);
    double scale = fit->options->refine / fmax(fit->options->accuracy_weight, 1e-9);
    for (unsigned j = 0; j < model->n_signals; j++) {
        if (before[j].kind != LM_SIGNAL) continue;
        expect(fit, (int)j);
        fit->belief[j] *= scale;
        for (unsigned l = 0; l < before[j].levels; l++) {
            fit->prior[j].wrong[l] *= scale;
            fit->prior[j].right[l] *= scale;
        }
        model->signals = after;
        solve_marginal(fit, j);
        if (after[j].parent >= 0) solve_given(fit, j);
        model->signals = before;
    }
    model->signals = after;
    g_free(before);
}

/* Alternates structure learning and EM until the structure no longer changes. */
static void run(struct lm_fit_state *fit)
{
    struct lm_model *model = fit->model;
    double *posterior = fit->wrong;
    fit->wrong = NULL; /* with NULL, the tables come from the priors alone */
    for (unsigned j = 0; j < model->n_signals; j++)
        if (model->signals[j].kind != LM_POSITIVE) solve_marginal(fit, j);
    fit->wrong = posterior;
    expect(fit, -1);
    if (fit->options->dependencies) lm_learn_structure(model, &fit->patterns, NULL, fit->options);
    bool settled = false;
    while (!settled && model->rounds < fit->options->max_rounds) {
        maximise(fit); /* this also fills the tables of new edges */
        model->converged = climb(fit);
        model->rounds++;
        settled = !fit->options->dependencies || !lm_learn_structure(model, &fit->patterns, fit->wrong, fit->options);
    }
    if (!settled) { /* the last change of the structure has no tables yet */
        maximise(fit);
        model->converged = climb(fit) && settled;
    }
    fit->all = true;
    if (fit->options->views_follow && fit->options->refine > 0) look_back(fit);
    expect(fit, -1);
}

/* Fills the table of a positive labeler from the posterior of the fitted model. */
static void describe_positive(struct lm_fit_state *fit, unsigned signal)
{
    struct lm_signal *s = &fit->model->signals[signal];
    double wrong[LM_MAX_LEVELS] = {1e-3, 1e-3}, right[LM_MAX_LEVELS] = {1e-3, 1e-3};
    for (size_t i = 0; i < fit->patterns.n; i++) {
        uint8_t vote = fit->patterns.votes[i][signal];
        if (vote == LM_MISSING) continue;
        wrong[vote] += fit->patterns.weight[i] * fit->wrong[i];
        right[vote] += fit->patterns.weight[i] * (1 - fit->wrong[i]);
    }
    solve(LM_FREE, 2, wrong, right, s->p[1], s->p[0]);
}

static struct lm_model *model_new(const struct lm_matrix *matrix, const struct lm_options *options)
{
    struct lm_model *model = g_new0(struct lm_model, 1);
    model->n_signals = matrix->m;
    model->signals = g_new0(struct lm_signal, matrix->m);
    model->order = g_new0(unsigned, matrix->m);
    model->prior_wrong = options->prior_wrong;
    char *command = model_plain_text(options->command);
    g_utf8_strncpy(model->command, command, (LM_COMMAND_MAX - 1) / 4);
    if (strlen(command) < LM_COMMAND_MAX) memcpy(model->command, command, strlen(command) + 1);
    g_free(command);
    for (unsigned i = 0; i < matrix->m; i++) {
        struct lm_signal *s = &model->signals[i];
        g_strlcpy(s->name, matrix->columns[i].name, sizeof s->name);
        s->kind = matrix->columns[i].kind;
        s->order = matrix->columns[i].order;
        s->levels = matrix->columns[i].levels;
        s->parent = -1;
        model->order[i] = i;
    }
    return model;
}

enum err_code lm_fit(const struct lm_matrix *matrix, const struct lm_options *options, struct lm_model **out,
                     struct err *err)
{
    *out = NULL;
    enum err_code code = check_options(options, err);
    if (code) return code;
    if (!matrix->n) return err_set(err, ERR_LIMIT_COUNT, "no candidates to fit the label model on");
    struct lm_fit_state fit = {.matrix = matrix, .options = options, .model = model_new(matrix, options)};
    bool ok = patterns_init(&fit.patterns, matrix);
    fit.wrong = g_try_new0(double, matrix->n);
    fit.prior = g_new0(struct prior, matrix->m);
    fit.belief = g_new0(double, matrix->m);
    if (ok && fit.wrong) {
        fit.model->n = fit.patterns.total;
        for (unsigned i = 0; i < matrix->m; i++) init_prior(&fit, i);
        run(&fit);
        for (unsigned i = 0; i < matrix->m; i++)
            if (matrix->columns[i].kind == LM_POSITIVE) describe_positive(&fit, i);
        *out = fit.model;
    } else {
        lm_free(fit.model);
        code = err_set(err, ERR_NOMEM, "out of memory for %zu rows of votes", matrix->n);
    }
    g_free(fit.wrong);
    g_free(fit.prior);
    g_free(fit.belief);
    patterns_free(&fit.patterns);
    return code;
}

void lm_free(struct lm_model *model)
{
    if (!model) return;
    g_free(model->signals);
    g_free(model->order);
    g_free(model);
}
