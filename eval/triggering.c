/* Measures answer and interaction triggering (triggering.h). Both curves read all questions in the order of the score,
 * highest first. */
#include "eval/triggering.h"

#include <math.h>
#include <stdlib.h>

static const double ASKED_ACCURACY = 0.95;

/* An answer, or a question without one. */
struct given {
    double score; /* NAN if the answer has no score; -INFINITY if there is no answer */
    double right; /* 0 or 1, or the mean over equal scores */
};

static int surest_first(const void *a, const void *b)
{
    double x = ((const struct given *)a)->score, y = ((const struct given *)b)->score;
    if (isnan(x)) x = -HUGE_VAL;
    if (isnan(y)) y = -HUGE_VAL;
    return x < y ? 1 : x > y ? -1 : 0;
}

static bool are_equal(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* Orders all questions by score, highest first, those without an answer last. Returns the number of answers. */
static uint32_t order(const struct eval_data *data, enum eval_score score, struct given *out)
{
    uint32_t n = 0, all = data->questions->len;
    for (uint32_t i = 0; i < all; i++) {
        const struct eval_question *q = &g_array_index(data->questions, struct eval_question, i);
        if (q->answered) out[n++] = (struct given){q->scores[score], q->assay};
    }
    qsort(out, n, sizeof *out, surest_first);
    for (uint32_t from = 0, to; from < n; from = to) {
        double right = 0;
        for (to = from; to < n && are_equal(out[to].score, out[from].score); to++) right += out[to].right;
        for (uint32_t i = from; i < to; i++) out[i].right = right / (to - from);
    }
    for (uint32_t i = n; i < all; i++) out[i] = (struct given){-INFINITY, 0};
    return n;
}

struct eval_point *triggering_answers(const struct eval_data *data, enum eval_score score, size_t *n)
{
    uint32_t all = data->questions->len;
    struct given *given = g_new(struct given, all + 1);
    uint32_t answers = order(data, score, given);
    struct eval_point *points = answers ? g_new(struct eval_point, answers) : NULL;
    double right = 0;
    for (uint32_t i = 0; i < answers; i++) {
        right += given[i].right;
        points[i] = (struct eval_point){(i + 1.0) / all, right / (i + 1.0)};
    }
    *n = answers;
    g_free(given);
    return points;
}

struct eval_point *triggering_interactions(const struct eval_data *data, enum eval_score score, size_t *n)
{
    uint32_t all = data->questions->len;
    struct given *given = g_new(struct given, all + 1);
    struct eval_point *points = all ? g_new(struct eval_point, all + 1) : NULL;
    double right = 0;
    order(data, score, given);
    for (uint32_t i = 0; i < all; i++) right += given[i].right;
    for (uint32_t asked = 0; points && asked <= all; asked++) {
        points[asked] = (struct eval_point){(double)asked / all, (right + asked) / all};
        if (asked < all) right -= given[all - 1 - asked].right;
    }
    *n = points ? all + 1 : 0;
    g_free(given);
    return points;
}

static double mean_y(const struct eval_point *points, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += points[i].y;
    return n ? sum / (double)n : (double)NAN;
}

struct triggering triggering_measure(const struct eval_data *data, enum eval_score score)
{
    struct triggering out = {.name = eval_score_name(score), .interactions_to_95 = 1};
    size_t n_answers, n_asked;
    struct eval_point *answers = triggering_answers(data, score, &n_answers),
                      *asked = triggering_interactions(data, score, &n_asked);
    for (guint i = 0; i < data->questions->len; i++) {
        const struct eval_question *q = &g_array_index(data->questions, struct eval_question, i);
        out.n += q->answered && !isnan(q->scores[score]);
    }
    out.precision_area = mean_y(answers, n_answers);
    out.accuracy_area = mean_y(asked, n_asked);
    for (unsigned step = 0; step < TRIGGERING_STEPS; step++) {
        size_t wanted = (size_t)llround(data->questions->len * (step + 1.0) / TRIGGERING_STEPS);
        /* the last step includes all answers, even if some questions have none */
        if (step + 1 == TRIGGERING_STEPS) wanted = n_answers;
        out.precision[step] = wanted && wanted <= n_answers ? answers[wanted - 1].y : (double)NAN;
    }
    for (size_t i = n_asked; i-- > 0;)
        if (asked[i].y >= ASKED_ACCURACY) out.interactions_to_95 = asked[i].x;
    g_free(answers);
    g_free(asked);
    return out;
}
