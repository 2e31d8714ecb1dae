/* Computes the selection accuracy of Assay, the simple choices, the oracle, and the loop with a perfect verifier, for
 * all questions and by difficulty. */
#include "eval/eval.h"

#include <math.h>

static const struct eval_question *question_at(const struct eval_data *data, guint i)
{
    return &g_array_index(data->questions, struct eval_question, i);
}

static bool choice_right(const struct eval_question *q, enum eval_choice choice)
{
    const bool right[] = {q->first, q->first_executable, q->majority, q->assay, q->oracle};
    return right[choice];
}

/* Columns of 0 and 1, with one entry for each selected question. */
struct columns {
    size_t n;
    double *right[CHOICE_COUNT], *exact[CHOICE_COUNT];
    size_t n_exact; /* questions with a comparable gold query; length of the exact columns */
    double *ceiling;
};

static void columns_take(struct columns *c, const struct eval_question *q)
{
    for (int k = 0; k < CHOICE_COUNT; k++) {
        c->right[k][c->n] = choice_right(q, (enum eval_choice)k);
        if (q->comparable) c->exact[k][c->n_exact] = q->matches[k];
    }
    c->ceiling[c->n++] = q->ceiling;
    c->n_exact += q->comparable;
}

/* Returns the columns for questions of one level, or of all for DIFFICULTY_COUNT. */
static struct columns columns_of(const struct eval_data *data, enum difficulty level)
{
    struct columns c = {0};
    guint n = data->questions->len;
    for (int k = 0; k < CHOICE_COUNT; k++) {
        c.right[k] = g_new0(double, n + 1);
        c.exact[k] = g_new0(double, n + 1);
    }
    c.ceiling = g_new0(double, n + 1);
    for (guint i = 0; i < n; i++)
        if (level == DIFFICULTY_COUNT || question_at(data, i)->difficulty == level)
            columns_take(&c, question_at(data, i));
    return c;
}

static void columns_free(struct columns *c)
{
    for (int k = 0; k < CHOICE_COUNT; k++) {
        g_free(c->right[k]);
        g_free(c->exact[k]);
    }
    g_free(c->ceiling);
}

static struct eval_share mean(const double *column, size_t n, unsigned rounds)
{
    struct learn_pair pair = {.a = column};
    return eval_interval(learn_stat_mean, &pair, n, rounds, 100);
}

static struct eval_share gain_over(const struct columns *c, enum eval_choice other, unsigned rounds)
{
    struct learn_pair pair = {.a = c->right[CHOICE_ASSAY], .b = c->right[other]};
    return eval_interval(learn_stat_difference, &pair, c->n, rounds, 100);
}

static struct eval_contrast contrast(const struct columns *c, enum eval_choice against, unsigned rounds)
{
    struct eval_contrast out = {.against = against, .gain = gain_over(c, against, rounds)};
    const double *ours = c->right[CHOICE_ASSAY], *theirs = c->right[against];
    for (size_t i = 0; i < c->n; i++) {
        out.fixed += ours[i] > theirs[i];
        out.broken += ours[i] < theirs[i];
    }
    return out;
}

/* Returns the share of the gain from the first executable candidate to the oracle that Assay reaches. It is undefined
 * if both are equal. */
static double gap_statistic(const void *context, const uint32_t *rows, size_t n)
{
    const struct columns *c = context;
    double won = 0, gap = 0;
    for (size_t i = 0; i < n; i++) {
        won += c->right[CHOICE_ASSAY][rows[i]] - c->right[CHOICE_FIRST_EXECUTABLE][rows[i]];
        gap += c->right[CHOICE_ORACLE][rows[i]] - c->right[CHOICE_FIRST_EXECUTABLE][rows[i]];
    }
    return gap > 0 ? won / gap : (double)NAN;
}

static void measure_all(const struct columns *c, unsigned rounds, struct eval_report *out)
{
    static const enum eval_choice others[EVAL_CONTRASTS] = {CHOICE_FIRST, CHOICE_FIRST_EXECUTABLE, CHOICE_MAJORITY};
    for (int k = 0; k < CHOICE_COUNT; k++) {
        for (size_t i = 0; i < c->n; i++) out->right[k] += c->right[k][i] > 0;
        out->selection[k] = mean(c->right[k], c->n, rounds);
        out->exact[k] = mean(c->exact[k], c->n_exact, rounds);
    }
    for (size_t i = 0; i < c->n; i++) out->ceiling += c->ceiling[i] > 0;
    out->ceiling_ex = mean(c->ceiling, c->n, rounds);
    for (int i = 0; i < EVAL_CONTRASTS; i++) out->contrasts[i] = contrast(c, others[i], rounds);
    out->gap_closed = eval_interval(gap_statistic, c, c->n, rounds, 100);
    out->gain = out->contrasts[1].gain;
    out->fixed = out->contrasts[1].fixed;
    out->broken = out->contrasts[1].broken;
}

static void measure_level(const struct eval_data *data, enum difficulty level, unsigned rounds, struct eval_level *out)
{
    struct columns c = columns_of(data, level);
    out->n = (uint32_t)c.n;
    for (int k = 0; k < CHOICE_COUNT; k++) out->selection[k] = mean(c.right[k], c.n, rounds);
    out->gain = gain_over(&c, CHOICE_FIRST_EXECUTABLE, rounds);
    out->exact = mean(c.exact[CHOICE_ASSAY], c.n_exact, 0).value;
    columns_free(&c);
}

static void count_repair(const struct eval_question *q, struct eval_report *out)
{
    struct eval_repairs *repairs = q->repair.applied ? &out->repaired : &out->proposed;
    repairs->n += q->repair.shown;
    repairs->fixed += q->repair.fixes;
    repairs->broken += q->repair.breaks;
    for (unsigned id = 0; id < 64; id++) {
        bool fired = id ? q->repair.fired >> id & 1 : !q->repair.fired;
        if (!fired) continue;
        repairs->of[id].n += q->repair.shown;
        repairs->of[id].fixed += q->repair.fixes;
        repairs->of[id].broken += q->repair.breaks;
    }
}

void eval_selection(const struct eval_data *data, unsigned rounds, struct eval_report *out)
{
    guint n = data->questions->len;
    struct columns all = columns_of(data, DIFFICULTY_COUNT);
    measure_all(&all, rounds, out);
    columns_free(&all);
    for (guint i = 0; i < n; i++) {
        const struct eval_question *q = question_at(data, i);
        out->unanswered += !q->answered;
        count_repair(q, out);
        out->tried += (double)q->iterations / n;
        out->ceiling_tried += (double)q->ceiling_tried / n;
    }
    for (int level = 0; level < DIFFICULTY_COUNT; level++)
        measure_level(data, (enum difficulty)level, rounds, &out->levels[level]);
}
