/* Computes P(correct) from a fitted model and a candidate's votes. */
#include "lib/learn/internal.h"

#include <math.h>
#include <string.h>

/* Number of likelihood ratios that are multiplied before a logarithm is taken. The product is finite, because file and
 * fit keep each ratio within 1e±9. */
enum { RATIOS_A_LOG = 16 };

static const double *table_of(const struct lm_model *model, const struct lm_signal *signal, const uint8_t *votes,
                              unsigned class)
{
    (void)model;
    if (signal->parent < 0 || votes[signal->parent] == LM_MISSING) return signal->p[class];
    return signal->given[class][votes[signal->parent]];
}

/* Computes the log-likelihood ratio of a candidate without missing votes, as a product of table entries. */
static double log_ratio_seen(const struct lm_model *model, const uint8_t *votes)
{
    double sum = 0, ratio = 1;
    for (unsigned i = 0, taken = 0; i < model->n_signals; i++) {
        const struct lm_signal *s = &model->signals[i];
        if (s->kind == LM_POSITIVE) continue;
        ratio *= table_of(model, s, votes, 1)[votes[i]] / table_of(model, s, votes, 0)[votes[i]];
        if (++taken % RATIOS_A_LOG) continue;
        sum += log(ratio);
        ratio = 1;
    }
    return sum + log(ratio);
}

/* Sums over the levels of a signal, weighted by its subtree, and passes the sum to the parent. Returns the logarithm of
 * the scale that was divided out. */
static double pass_up(const struct lm_model *model, unsigned at, unsigned class, uint8_t vote,
                      double below[LM_MAX_COLUMNS][LM_MAX_LEVELS])
{
    const struct lm_signal *s = &model->signals[at];
    for (unsigned l = 0; l < s->levels; l++)
        if (vote != LM_MISSING && vote != l) below[at][l] = 0;
    if (s->parent < 0) {
        double sum = 0;
        for (unsigned l = 0; l < s->levels; l++) sum += s->p[class][l] * below[at][l];
        return log(sum);
    }
    const struct lm_signal *parent = &model->signals[s->parent];
    double message[LM_MAX_LEVELS], largest = 0;
    for (unsigned q = 0; q < parent->levels; q++) {
        message[q] = 0;
        for (unsigned l = 0; l < s->levels; l++) message[q] += s->given[class][q][l] * below[at][l];
        if (message[q] > largest) largest = message[q];
    }
    for (unsigned q = 0; q < parent->levels; q++) below[s->parent][q] *= message[q] / largest;
    return log(largest);
}

/* Returns log P(votes | class), summed over missing votes. Passes messages from the leaves of the forest to its
 * roots. */
static double log_one_class(const struct lm_model *model, const uint8_t *votes, unsigned class)
{
    double below[LM_MAX_COLUMNS][LM_MAX_LEVELS], sum = 0;
    for (unsigned i = 0; i < model->n_signals; i++)
        for (unsigned l = 0; l < model->signals[i].levels; l++) below[i][l] = 1;
    for (unsigned k = model->n_signals; k-- > 0;) {
        unsigned at = model->order[k];
        if (model->signals[at].kind != LM_POSITIVE) sum += pass_up(model, at, class, votes[at], below);
    }
    return sum;
}

static bool any_missing(const struct lm_model *model, const uint8_t *votes)
{
    for (unsigned i = 0; i < model->n_signals; i++)
        if (votes[i] == LM_MISSING && model->signals[i].kind != LM_POSITIVE) return true;
    return false;
}

void lm_log_likelihood(const struct lm_model *model, const uint8_t *votes, double out[2])
{
    for (unsigned class = 0; class < 2; class ++) out[class] = log_one_class(model, votes, class);
}

void lm_map_init(struct lm_map *map, const struct lm_model *model, const char *const *names, unsigned n)
{
    for (unsigned i = 0; i < LM_MAX_COLUMNS; i++) map->from[i] = -1;
    for (unsigned i = 0; i < model->n_signals; i++)
        for (unsigned j = 0; j < n && j <= INT16_MAX; j++)
            if (strcmp(model->signals[i].name, names[j]) == 0) map->from[i] = (int16_t)j;
}

/* Converts the caller's votes to the model's order and range. */
static void gather(const struct lm_model *model, const struct lm_map *map, const uint8_t *votes, uint8_t *out)
{
    for (unsigned i = 0; i < model->n_signals; i++) {
        uint8_t vote = map->from[i] < 0 ? LM_MISSING : votes[map->from[i]];
        bool high = vote != LM_MISSING && vote >= model->signals[i].levels;
        out[i] = high ? (uint8_t)(model->signals[i].levels - 1) : vote;
    }
}

double lm_p_correct(const struct lm_model *model, const struct lm_map *map, const uint8_t *votes)
{
    uint8_t seen[LM_MAX_COLUMNS];
    gather(model, map, votes, seen);
    double ratio;
    if (any_missing(model, seen)) {
        double class[2];
        lm_log_likelihood(model, seen, class);
        ratio = class[1] - class[0];
    } else {
        ratio = log_ratio_seen(model, seen);
    }
    return learn_sigmoid(-(ratio + learn_logit(model->prior_wrong, LEARN_LEAST_P)));
}

void lm_contributions(const struct lm_model *model, const struct lm_map *map, const uint8_t *votes, double *out)
{
    uint8_t seen[LM_MAX_COLUMNS];
    gather(model, map, votes, seen);
    for (unsigned i = 0; i < model->n_signals; i++) {
        const struct lm_signal *s = &model->signals[i];
        out[i] = 0;
        if (s->kind == LM_POSITIVE || seen[i] == LM_MISSING) continue;
        out[i] = log(table_of(model, s, seen, 1)[seen[i]] / table_of(model, s, seen, 0)[seen[i]]);
    }
}

/* Returns P(level > 0 | class). */
static double fired(const struct lm_signal *signal, unsigned class)
{
    return 1 - signal->p[class][0];
}

double lm_precision(const struct lm_model *model, unsigned signal)
{
    const struct lm_signal *s = &model->signals[signal];
    double wrong = model->prior_wrong * fired(s, 1), right = (1 - model->prior_wrong) * fired(s, 0);
    return wrong + right > 0 ? wrong / (wrong + right) : model->prior_wrong;
}

double lm_odds_ratio(const struct lm_model *model, unsigned signal)
{
    const struct lm_signal *s = &model->signals[signal];
    return fired(s, 0) > 0 ? fired(s, 1) / fired(s, 0) : 1;
}

double lm_silence(const struct lm_model *model, unsigned signal)
{
    const struct lm_signal *s = &model->signals[signal];
    return fmax(0, log(s->p[0][LM_SILENT] / s->p[1][LM_SILENT]));
}

enum err_code lm_set_prior(struct lm_model *model, double prior_wrong, struct err *err)
{
    if (!(prior_wrong > 0 && prior_wrong < 1))
        return err_set(err, ERR_CONFIG, "the share of wrong candidates must be between 0 and 1");
    model->prior_wrong = prior_wrong;
    return ERR_OK;
}
