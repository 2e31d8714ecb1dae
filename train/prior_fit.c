/* Fits the prior of a generator (prior_fit.h) by coordinate search. */
#include "train/prior_fit.h"

#include <glib.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

enum { SWEEPS = 6 };

/* The questions of one generator, with candidates in the coordinator's form. */
struct lines_of {
    const struct verifier_data *data;
    const char *generator;
    const double *content;                  /* log-odds of each sample, by content */
    struct msg_judged **judged;             /* candidates of each question; NULL if another generator made them */
    const struct msg_execution *executions; /* execution of each sample */
};

static const struct {
    size_t offset;
    double step, low, high;
} numbers[] = {{offsetof(struct verifier_prior, vote), 0.1, -2, 4},
               {offsetof(struct verifier_prior, first), 0.2, -4, 8},
               {offsetof(struct verifier_prior, none), 0.1, 0.05, 10},
               {offsetof(struct verifier_prior, temperature), 0.05, 0.1, 2}};

static double *number(struct verifier_prior *prior, size_t i)
{
    return (double *)(void *)((char *)prior + numbers[i].offset);
}

/* Returns the candidates of a question, with their executions. A candidate without a sample did not run. */
static struct msg_judged *judged_of(const struct verifier_data *data, const struct verifier_question *q,
                                    struct msg_execution *executions)
{
    struct msg_judged *judged = g_new0(struct msg_judged, q->given + 1);
    for (uint32_t i = 0; i < q->given; i++)
        judged[i] = (struct msg_judged){.judged = true, .invalid = true, .count = 1};
    for (uint32_t i = q->first; i < q->first + q->n; i++) {
        const struct verifier_sample *s = &data->samples[i];
        executions[i] = (struct msg_execution){.code = "ok", .rows = s->rows, .digest = {s->digest[0], s->digest[1]}};
        judged[s->rank].invalid = false;
        judged[s->rank].count = s->count;
        judged[s->rank].execution = &executions[i];
    }
    return judged;
}

static double loss(const struct lines_of *lines, const struct verifier_prior *prior)
{
    double sum = 0;
    for (uint32_t k = 0; k < lines->data->n_questions; k++) {
        const struct verifier_question *q = &lines->data->questions[k];
        for (uint32_t i = q->first; lines->judged[k] && i < q->first + q->n; i++) {
            const struct verifier_sample *s = &lines->data->samples[i];
            if (s->unknown) continue;
            struct verifier_subject subject = {
                .candidates = lines->judged[k], .n_candidates = q->given, .n_seen = q->given, .index = s->rank};
            double z = prior->temperature * lines->content[i] + verifier_context(prior, &subject);
            sum += log1p(exp(s->right ? -z : z)) / q->n;
        }
    }
    return sum;
}

static double pulled(const struct lines_of *lines, struct verifier_prior prior, struct verifier_prior neutral)
{
    double away = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
        double d = (*number(&prior, i) - *number(&neutral, i)) / (numbers[i].high - numbers[i].low);
        away += d * d;
    }
    return loss(lines, &prior) + PRIOR_FIT_PULL * away;
}

static struct verifier_prior fit(const struct lines_of *lines, struct verifier_prior neutral)
{
    struct verifier_prior best = neutral;
    double least = pulled(lines, best, neutral);
    for (unsigned sweep = 0, moved = 1; sweep < SWEEPS && moved; sweep++) {
        moved = 0;
        for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
            struct verifier_prior from = best;
            for (int step = -10; step <= 10; step++) {
                struct verifier_prior tried = from;
                *number(&tried, i) = CLAMP(*number(&from, i) + step * numbers[i].step, numbers[i].low, numbers[i].high);
                double l = pulled(lines, tried, neutral);
                if (l >= least - 1e-9) continue;
                least = l;
                best = tried;
                moved = 1;
            }
        }
    }
    return best;
}

double *prior_fit_content(const struct verifier_model *model, const struct verifier_data *data)
{
    double *content = g_new0(double, data->n + 1);
    for (uint32_t i = 0; i < data->n; i++) {
        const struct verifier_sample *s = &data->samples[i];
        const struct verifier_question *q = &data->questions[s->question];
        content[i] = verifier_content(model, q->text, s->features, s->signals);
    }
    return content;
}

struct prior_fit prior_fit(const struct verifier_data *data, const double *content, const char *generator)
{
    struct lines_of lines = {.data = data, .generator = generator, .content = content};
    struct msg_execution *executions = g_new0(struct msg_execution, data->n + 1);
    struct prior_fit out = {0};
    lines.judged = g_new0(struct msg_judged *, data->n_questions + 1);
    for (uint32_t k = 0; k < data->n_questions; k++) {
        const struct verifier_question *q = &data->questions[k];
        if (!q->usable || !q->n || strcmp(q->generator, generator) != 0) continue;
        lines.judged[k] = judged_of(data, q, executions);
        out.n++;
    }
    struct verifier_prior neutral = strcmp(generator, "*") == 0 ? verifier_prior_several : verifier_prior_ranked;
    out.fitted = out.n >= PRIOR_FIT_QUESTIONS;
    out.prior = out.fitted ? fit(&lines, neutral) : neutral;
    out.loss_neutral = loss(&lines, &neutral) / MAX(out.n, 1);
    out.loss = loss(&lines, &out.prior) / MAX(out.n, 1);
    for (uint32_t k = 0; k < data->n_questions; k++) g_free(lines.judged[k]);
    g_free(lines.judged);
    g_free(executions);
    return out;
}
