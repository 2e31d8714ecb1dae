/* Fits and applies calibrations (calibrate.h): Platt scaling by Newton's method, and isotonic regression by pooling
 * adjacent violators.
 *
 * Both methods start from points that are sorted by score, with equal scores merged. An isotonic curve is stored as at
 * most LEARN_MAX_KNOTS knots with straight lines between them. One row of each class is added at each end, so a few
 * rows cannot make the curve reach 0 or 1. Pure functions. */
#include "lib/learn/calibrate.h"

#include "lib/learn/internal.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const NAMES[LEARN_CALIBRATION_COUNT] = {"none", "platt", "isotonic"};

const char *learn_calibration_name(enum learn_calibration_kind kind)
{
    return (unsigned)kind < LEARN_CALIBRATION_COUNT ? NAMES[kind] : "none";
}

int learn_calibration_by_name(const char *name)
{
    for (int i = 0; i < LEARN_CALIBRATION_COUNT; i++)
        if (strcmp(NAMES[i], name) == 0) return i;
    return -1;
}

void learn_isotonic(double *value, double *weight, size_t n)
{
    /* The merged blocks are at the front of the arrays. `size` holds the number of values in each block. */
    size_t *size = n ? g_try_new(size_t, n) : NULL;
    if (!size) return;
    size_t blocks = 0;
    for (size_t i = 0; i < n; i++) {
        value[blocks] = value[i];
        weight[blocks] = weight[i];
        size[blocks++] = 1;
        while (blocks > 1 && value[blocks - 2] > value[blocks - 1]) {
            size_t to = blocks - 2;
            double sum = weight[to] + weight[to + 1];
            value[to] = (value[to] * weight[to] + value[to + 1] * weight[to + 1]) / sum;
            weight[to] = sum;
            size[to] += size[to + 1];
            blocks--;
        }
    }
    for (size_t i = n; blocks-- > 0;)
        for (size_t j = size[blocks]; j-- > 0;) {
            value[--i] = value[blocks];
            weight[i] = weight[blocks] / (double)size[blocks];
        }
    g_free(size);
}

struct point {
    double x, y, w;
};

static int by_x(const void *a, const void *b)
{
    const struct point *p = a, *q = b;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    if (p->y != q->y) return p->y < q->y ? -1 : 1;
    return p->w < q->w ? -1 : p->w > q->w;
}

/* Sorts the points by score and merges equal scores. Skips points without weight. Returns the number of points. */
static size_t gather(const double *score, const double *label, const double *weight, size_t n, struct point *points)
{
    for (size_t i = 0; i < n; i++) points[i] = (struct point){score[i], label[i], weight ? weight[i] : 1};
    qsort(points, n, sizeof *points, by_x);
    size_t out = 0;
    for (size_t i = 0; i < n; i++) {
        if (points[i].w <= 0) continue;
        if (out && points[out - 1].x == points[i].x) {
            struct point *to = &points[out - 1];
            to->y = (to->y * to->w + points[i].y * points[i].w) / (to->w + points[i].w);
            to->w += points[i].w;
        } else {
            points[out++] = points[i];
        }
    }
    return out;
}

/* Keeps only the first and last point of each flat section, which gives the same curve. */
static void keep_knots(struct learn_calibration *out, const struct point *points, const double *y, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool inside = i > 0 && i + 1 < n && y[i - 1] == y[i] && y[i] == y[i + 1];
        if (inside) continue;
        out->x[out->n] = points[i].x;
        out->y[out->n++] = y[i];
    }
}

/* Thins the knots evenly to LEARN_MAX_KNOTS. Keeps the first and the last. */
static void thin_knots(struct learn_calibration *out)
{
    if (out->n <= LEARN_MAX_KNOTS) return;
    for (unsigned i = 0; i < LEARN_MAX_KNOTS; i++) {
        unsigned from = (unsigned)((uint64_t)i * (out->n - 1) / (LEARN_MAX_KNOTS - 1));
        out->x[i] = out->x[from];
        out->y[i] = out->y[from];
    }
    out->n = LEARN_MAX_KNOTS;
}

/* Fits the isotonic curve. Adds one row of each class before the first point and after the last. An end block of n
 * rows, k of them positive, then has the value (k + 1) / (n + 2). It merges with its neighbour if the curve would
 * otherwise fall. Without these rows, a single row at an end could make the curve 0 or 1 there. `row` is the weight of
 * an added row. */
static bool fit_isotonic(const struct point *points, size_t n, double row, struct learn_calibration *out)
{
    double *y = g_try_new(double, n + 2), *w = g_try_new(double, n + 2);
    out->x = g_try_new(double, n);
    out->y = g_try_new(double, n);
    bool ok = y && w && out->x && out->y;
    if (ok) {
        y[0] = y[n + 1] = 0.5;
        w[0] = w[n + 1] = 2 * row;
        for (size_t i = 0; i < n; i++) {
            y[i + 1] = points[i].y;
            w[i + 1] = points[i].w;
        }
        learn_isotonic(y, w, n + 2);
        keep_knots(out, points, y + 1, n);
        thin_knots(out);
    }
    g_free(y);
    g_free(w);
    return ok;
}

double learn_sigmoid(double z)
{
    return z >= 0 ? 1 / (1 + exp(-z)) : exp(z) / (1 + exp(z));
}

struct platt { /* points, and the targets of Platt's method, which add one row to each class */
    const struct point *points;
    size_t n;
    double high, low;
};

static double platt_target(const struct platt *platt, size_t i)
{
    return platt->points[i].y * platt->high + (1 - platt->points[i].y) * platt->low;
}

static double platt_loss(const struct platt *platt, double a, double b)
{
    double loss = 0;
    for (size_t i = 0; i < platt->n; i++) {
        double z = a * learn_logit(platt->points[i].x, LEARN_LEAST_P) + b, t = platt_target(platt, i);
        loss += platt->points[i].w * (t * z + fmax(-z, 0) + log1p(exp(-fabs(z)))); /* p = sigmoid(-z) */
    }
    return loss;
}

/* Computes Newton's step at (a, b). */
static void platt_step(const struct platt *platt, double a, double b, double *da, double *db)
{
    double ga = 0, gb = 0, aa = 1e-9, bb = 1e-9, ab = 0;
    for (size_t i = 0; i < platt->n; i++) {
        double z = learn_logit(platt->points[i].x, LEARN_LEAST_P), p = learn_sigmoid(-(a * z + b));
        double slope = platt->points[i].w * (platt_target(platt, i) - p), bend = platt->points[i].w * p * (1 - p);
        ga += slope * z;
        gb += slope;
        aa += bend * z * z;
        bb += bend;
        ab += bend * z;
    }
    double det = fmax(aa * bb - ab * ab, 1e-12);
    *da = -(bb * ga - ab * gb) / det;
    *db = -(aa * gb - ab * ga) / det;
}

/* Applies Newton's method with step halving. Far from the optimum, full steps can overshoot without end. */
static void fit_platt(const struct point *points, size_t n, struct learn_calibration *out)
{
    double up = 0, down = 0, a = -1, b = 0;
    for (size_t i = 0; i < n; i++) {
        up += points[i].w * points[i].y;
        down += points[i].w * (1 - points[i].y);
    }
    struct platt platt = {points, n, (up + 1) / (up + 2), 1 / (down + 2)};
    double loss = platt_loss(&platt, a, b);
    for (unsigned step = 0; step < 100; step++) {
        double da, db, scale = 1, next = INFINITY;
        platt_step(&platt, a, b, &da, &db);
        for (unsigned halving = 0; halving < 30; halving++, scale /= 2)
            if ((next = platt_loss(&platt, a + scale * da, b + scale * db)) <= loss) break;
        if (next > loss) break;
        a += scale * da;
        b += scale * db;
        loss = next;
        if (fmax(fabs(da), fabs(db)) < 1e-10) break;
    }
    out->a = a;
    out->b = b;
}

/* Returns the mean weight of the rows whose weight is above 0. */
static double row_weight_of(const double *weight, size_t n)
{
    double sum = 0, rows = 0;
    for (size_t i = 0; i < n; i++) {
        if (weight && !(weight[i] > 0)) continue;
        sum += weight ? weight[i] : 1;
        rows++;
    }
    return rows > 0 ? sum / rows : 1;
}

bool learn_calibrate(enum learn_calibration_kind kind, const double *score, const double *label, const double *weight,
                     size_t n, struct learn_calibration *out)
{
    *out = (struct learn_calibration){0};
    if (kind == LEARN_UNCALIBRATED) return true;
    struct point *points = n >= 2 ? g_try_new(struct point, n) : NULL;
    if (!points) return false;
    size_t kept = gather(score, label, weight, n, points);
    bool ok = kept >= 1;
    if (ok && kind == LEARN_PLATT) fit_platt(points, kept, out);
    if (ok && kind == LEARN_ISOTONIC) ok = fit_isotonic(points, kept, row_weight_of(weight, n), out);
    g_free(points);
    if (ok)
        out->kind = kind;
    else
        learn_calibration_free(out);
    return ok;
}

void learn_calibration_bound(struct learn_calibration *c)
{
    static const double one_row = 2.0 / 3; /* (k + 1) / (n + 2) for a single row */
    double low = 1 - one_row, high = one_row;
    for (unsigned i = 0; i < c->n; i++) {
        if (c->y[i] <= 0 || c->y[i] >= 1) continue;
        low = fmin(low, c->y[i]);
        high = fmax(high, c->y[i]);
    }
    for (unsigned i = 0; i < c->n; i++) c->y[i] = c->y[i] <= 0 ? low : c->y[i] >= 1 ? high : c->y[i];
}

static double interpolate(const struct learn_calibration *c, double score)
{
    if (!(score > c->x[0])) return c->y[0];
    if (score >= c->x[c->n - 1]) return c->y[c->n - 1];
    unsigned low = 0, high = c->n - 1; /* x[low] <= score < x[high] */
    while (high - low > 1) {
        unsigned middle = (low + high) / 2;
        *(c->x[middle] <= score ? &low : &high) = middle;
    }
    double width = c->x[high] - c->x[low];
    return width > 0 ? c->y[low] + (c->y[high] - c->y[low]) * (score - c->x[low]) / width : c->y[high];
}

double learn_calibrated(const struct learn_calibration *calibration, double score)
{
    switch (calibration->kind) {
    case LEARN_PLATT: return learn_sigmoid(-(calibration->a * learn_logit(score, LEARN_LEAST_P) + calibration->b));
    case LEARN_ISOTONIC: return interpolate(calibration, score);
    default: return score;
    }
}

void learn_calibration_free(struct learn_calibration *calibration)
{
    g_free(calibration->x);
    g_free(calibration->y);
    *calibration = (struct learn_calibration){0};
}
