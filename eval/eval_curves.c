/* Measures a probability over all thresholds: reliability, the ROC of detection, and precision over coverage. */
#include "eval/eval.h"

#include <math.h>
#include <stdlib.h>

/* A prediction, and whether it is true. */
struct predicted {
    double p;
    bool right;
};

struct predictions {
    struct predicted *of;
    size_t n;
};

/* Returns the P of each detection row that has one. */
static struct predictions of_rows(const struct eval_data *data)
{
    struct predictions out = {.of = g_new(struct predicted, data->rows->len + 1)};
    for (guint i = 0; i < data->rows->len; i++) {
        const struct eval_row *row = &g_array_index(data->rows, struct eval_row, i);
        if (row->detection && !isnan(row->p)) out.of[out.n++] = (struct predicted){row->p, row->right};
    }
    return out;
}

/* Returns the P of each answer that has one. */
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

void eval_reliability_add(struct eval_reliability *reliability, double p, bool right)
{
    unsigned bin = MIN((unsigned)(CLAMP(p, 0, 1) * EVAL_BINS), EVAL_BINS - 1);
    reliability->n[bin]++;
    reliability->right[bin] += right;
    reliability->p[bin] += CLAMP(p, 0, 1);
}

struct eval_calibration eval_reliability_end(const struct eval_reliability *reliability)
{
    struct eval_calibration out = {0};
    for (unsigned i = 0; i < EVAL_BINS; i++) out.n += reliability->n[i];
    out.ece = out.n ? 0 : (double)NAN;
    for (unsigned i = 0; i < EVAL_BINS; i++) {
        struct eval_bin *bin = &out.bins[i];
        uint32_t n = reliability->n[i], right = reliability->right[i];
        struct learn_interval range = learn_wilson(right, n, 1.96);
        bin->n = n;
        bin->right = (struct eval_share){n ? 100.0 * right / n : (double)NAN, 100 * range.low, 100 * range.high};
        bin->p = n ? 100 * reliability->p[i] / n : (double)NAN;
        if (n) out.ece += fabs(bin->p - bin->right.value) * n / out.n;
    }
    return out;
}

static struct eval_calibration reliability_of(struct predictions predictions)
{
    struct eval_reliability reliability = {0};
    for (size_t i = 0; i < predictions.n; i++)
        eval_reliability_add(&reliability, predictions.of[i].p, predictions.of[i].right);
    g_free(predictions.of);
    return eval_reliability_end(&reliability);
}

void eval_calibration(const struct eval_data *data, struct eval_report *out)
{
    out->rows = reliability_of(of_rows(data));
    out->answers = reliability_of(of_answers(data));
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

/* True if a group of equal predictions ends at i. A threshold cannot separate equal predictions. */
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
