/* What a probability is worth, beyond one threshold: reliability, the ROC of detection, precision over coverage. */
#include "eval/eval.h"

#include <math.h>
#include <stdlib.h>

/* A prediction and what came of it. */
struct predicted {
    double p;
    bool right;
};

struct predictions {
    struct predicted *of;
    size_t n;
};

/* P of each detection row that has one. */
static struct predictions of_rows(const struct eval_data *data)
{
    struct predictions out = {.of = g_new(struct predicted, data->rows->len + 1)};
    for (guint i = 0; i < data->rows->len; i++) {
        const struct eval_row *row = &g_array_index(data->rows, struct eval_row, i);
        if (row->detection && !isnan(row->p)) out.of[out.n++] = (struct predicted){row->p, row->right};
    }
    return out;
}

/* P of each answer that has one. */
static struct predictions of_answers(const struct eval_data *data)
{
    struct predictions out = {.of = g_new(struct predicted, data->questions->len + 1)};
    for (guint i = 0; i < data->questions->len; i++) {
        const struct eval_question *q = &g_array_index(data->questions, struct eval_question, i);
        if (q->answered && !isnan(q->p)) out.of[out.n++] = (struct predicted){q->p, q->assay};
    }
    return out;
}

/* --- reliability ------------------------------------------------------------------------------------------------ */

static struct eval_calibration reliability(struct predictions predictions)
{
    struct eval_calibration out = {.n = (uint32_t)predictions.n, .ece = predictions.n ? 0 : (double)NAN};
    uint32_t right[EVAL_BINS] = {0};
    for (size_t i = 0; i < predictions.n; i++) {
        double p = CLAMP(predictions.of[i].p, 0, 1);
        unsigned bin = MIN((unsigned)(p * EVAL_BINS), EVAL_BINS - 1);
        out.bins[bin].n++;
        out.bins[bin].p += p;
        right[bin] += predictions.of[i].right;
    }
    for (unsigned i = 0; i < EVAL_BINS; i++) {
        struct eval_bin *bin = &out.bins[i];
        struct learn_interval range = learn_wilson(right[i], bin->n, 1.96);
        bin->right =
            (struct eval_share){bin->n ? 100.0 * right[i] / bin->n : (double)NAN, 100 * range.low, 100 * range.high};
        bin->p = bin->n ? 100 * bin->p / bin->n : (double)NAN;
        if (bin->n) out.ece += fabs(bin->p - bin->right.value) * bin->n / (double)predictions.n;
    }
    g_free(predictions.of);
    return out;
}

void eval_calibration(const struct eval_data *data, struct eval_report *out)
{
    out->rows = reliability(of_rows(data));
    out->answers = reliability(of_answers(data));
}

/* --- curves ----------------------------------------------------------------------------------------------------- */

static int least_certain_first(const void *a, const void *b)
{
    const struct predicted *x = a, *y = b;
    return x->p < y->p ? -1 : x->p > y->p;
}

static int most_certain_first(const void *a, const void *b)
{
    return least_certain_first(b, a);
}

/* Does a group of equal predictions end at i? Only there is there a threshold. */
static bool ends_tie(const struct predictions *predictions, size_t i)
{
    return i + 1 == predictions->n || predictions->of[i + 1].p != predictions->of[i].p;
}

struct eval_point *eval_roc(const struct eval_data *data, size_t *n)
{
    struct predictions predictions = of_rows(data);
    double wrong = 0, right = 0, found = 0, alarms = 0;
    for (size_t i = 0; i < predictions.n; i++) right += predictions.of[i].right;
    wrong = (double)predictions.n - right;
    struct eval_point *points = wrong > 0 && right > 0 ? g_new(struct eval_point, predictions.n + 1) : NULL;
    *n = 0;
    if (points) points[(*n)++] = (struct eval_point){0, 0};
    if (points) qsort(predictions.of, predictions.n, sizeof *predictions.of, least_certain_first);
    for (size_t i = 0; points && i < predictions.n; i++) {
        found += !predictions.of[i].right;
        alarms += predictions.of[i].right;
        if (ends_tie(&predictions, i)) points[(*n)++] = (struct eval_point){alarms / right, found / wrong};
    }
    g_free(predictions.of);
    return points;
}

struct eval_point *eval_coverage(const struct eval_data *data, size_t *n)
{
    struct predictions predictions = of_answers(data);
    struct eval_point *points = predictions.n ? g_new(struct eval_point, predictions.n) : NULL;
    double right = 0, all = data->questions->len;
    *n = 0;
    if (points) qsort(predictions.of, predictions.n, sizeof *predictions.of, most_certain_first);
    for (size_t i = 0; points && i < predictions.n; i++) {
        double given = (double)i + 1;
        right += predictions.of[i].right;
        if (ends_tie(&predictions, i)) points[(*n)++] = (struct eval_point){given / all, right / given};
    }
    g_free(predictions.of);
    return points;
}
