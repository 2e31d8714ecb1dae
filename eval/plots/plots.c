/* Draws the diagrams of `assay eval --plots` (plots.h) with svg.h. Each function turns one part of the report into
 * lines, dots and a legend; a diagram without data is not written. */
#include "eval/plots/plots.h"
#include "eval/plots/svg.h"
#include "eval/triggering.h"

#include <errno.h>
#include <glib/gstdio.h>

static enum err_code write_as(struct svg *svg, const char *folder, const char *name, struct err *err)
{
    char *path = g_build_filename(folder, name, NULL);
    enum err_code code = svg_write(svg, path, err);
    g_free(path);
    return code;
}

static void guide(struct svg *svg, double x1, double y1, double x2, double y2)
{
    svg_line(svg, SVG_GUIDE, (const double[]){x1, x2}, (const double[]){y1, y2}, 2);
}

/* --- calibration ------------------------------------------------------------------------------------------------ */

static void draw_reliability(struct svg *svg, enum svg_style style, const struct eval_calibration *c)
{
    double x[EVAL_BINS], y[EVAL_BINS];
    size_t n = 0;
    for (unsigned i = 0; i < EVAL_BINS; i++) {
        const struct eval_bin *bin = &c->bins[i];
        if (!bin->n) continue;
        char *tip = g_strdup_printf("P %.1f %%, right %.1f %%, %u", bin->p, bin->right.value, bin->n);
        x[n] = bin->p / 100;
        y[n] = bin->right.value / 100;
        svg_bar(svg, style, x[n], bin->right.low / 100, bin->right.high / 100);
        svg_dot(svg, style, x[n], y[n], 4, tip);
        n++;
        g_free(tip);
    }
    svg_line(svg, style, x, y, n);
}

static enum err_code plot_calibration(const char *folder, const struct eval_report *r, struct err *err)
{
    if (!r->rows.n && !r->answers.n) return ERR_OK;
    char *description = g_strdup_printf(
        "Share of right SQL over the probability that Assay gives it, in ten bins with 95 %% intervals. "
        "First executable candidates: %u, calibration error %.1f points. Answers: %u, calibration error "
        "%.1f points. On the dotted diagonal every probability is right.",
        r->rows.n, r->rows.ece, r->answers.n, r->answers.ece);
    struct svg *svg = svg_new(&(struct svg_axes){
        .title = "Calibration", .description = description, .x = "P(correct)", .y = "right", .y_from = 0});
    for (unsigned i = 0; i < EVAL_BINS && r->rows.n; i++)
        svg_column(svg, (double)i / EVAL_BINS, (i + 1.0) / EVAL_BINS, (double)r->rows.bins[i].n / r->rows.n);
    guide(svg, 0, 0, 1, 1);
    draw_reliability(svg, SVG_SECOND, &r->answers);
    draw_reliability(svg, SVG_MAIN, &r->rows);
    svg_legend(svg, SVG_MAIN, "first executable candidate (grey: how many)");
    svg_legend(svg, SVG_SECOND, "answers");
    enum err_code code = write_as(svg, folder, "calibration.svg", err);
    g_free(description);
    return code;
}

/* --- curves ----------------------------------------------------------------------------------------------------- */

static void draw_curve(struct svg *svg, enum svg_style style, const struct eval_point *points, size_t n)
{
    double *x = g_new(double, n), *y = g_new(double, n);
    for (size_t i = 0; i < n; i++) {
        x[i] = points[i].x;
        y[i] = points[i].y;
    }
    svg_line(svg, style, x, y, n);
    g_free(x);
    g_free(y);
}

static enum err_code plot_coverage(const char *folder, const struct eval_report *r, const struct eval_data *data,
                                   struct err *err)
{
    size_t n = 0;
    struct eval_point *points = eval_coverage(data, &n);
    if (!points) return ERR_OK;
    double coverage = r->n ? (double)r->answered_at_95 / r->n : 0, lowest = 1;
    for (size_t i = 0; i < n; i++) lowest = MIN(lowest, points[i].y);
    char *description = g_strdup_printf(
        "Share of right answers over the share of questions answered, the most certain ones first. At "
        "95 %% precision %.1f %% of %u questions are answered; all of the answers are right in %.1f %%.",
        100 * coverage, r->n, 100 * points[n - 1].y);
    struct svg *svg = svg_new(&(struct svg_axes){.title = "Precision over coverage",
                                                 .description = description,
                                                 .x = "questions answered",
                                                 .y = "right among them",
                                                 .y_from = lowest < 0.5 ? 0 : 0.5});
    guide(svg, 0, 0.95, 1, 0.95);
    draw_curve(svg, SVG_MAIN, points, n);
    if (r->answered_at_95) svg_dot(svg, SVG_SECOND, coverage, 0.95, 5, "answered at 95 % precision");
    svg_legend(svg, SVG_MAIN, "Assay, most certain answers first");
    svg_legend(svg, SVG_GUIDE, "95 % precision");
    enum err_code code = write_as(svg, folder, "coverage.svg", err);
    g_free(description);
    g_free(points);
    return code;
}

static enum err_code plot_roc(const char *folder, const struct eval_report *r, const struct eval_data *data,
                              struct err *err)
{
    size_t n = 0;
    struct eval_point *points = eval_roc(data, &n);
    if (!points) return ERR_OK;
    char *description =
        g_strdup_printf("Detection of wrong SQL among the first executable candidates of %u questions, %u of "
                        "them wrong: share of wrong ones found over share of right ones marked as wrong. Area "
                        "under the curve: %.1f %%.",
                        r->detection.n, r->detection.positives, r->detection.auc.value);
    char *legend = g_strdup_printf("Assay, AUC %.1f %%", r->detection.auc.value);
    struct svg *svg = svg_new(&(struct svg_axes){.title = "Detection of wrong SQL (ROC)",
                                                 .description = description,
                                                 .x = "right SQL marked as wrong",
                                                 .y = "wrong SQL found",
                                                 .y_from = 0});
    guide(svg, 0, 0, 1, 1);
    draw_curve(svg, SVG_MAIN, points, n);
    svg_legend(svg, SVG_MAIN, legend);
    svg_legend(svg, SVG_GUIDE, "chance");
    enum err_code code = write_as(svg, folder, "roc.svg", err);
    g_free(description);
    g_free(legend);
    g_free(points);
    return code;
}

enum err_code plots_write(const char *folder, const struct eval_report *report, const struct eval_data *data,
                          struct err *err)
{
    if (g_mkdir_with_parents(folder, 0777) != 0) return err_set(err, ERR_IO, "%s: %s", folder, g_strerror(errno));
    enum err_code code = plot_calibration(folder, report, err);
    if (code == ERR_OK) code = plot_coverage(folder, report, data, err);
    return code == ERR_OK ? plot_roc(folder, report, data, err) : code;
}

/* --- answer and interaction triggering -------------------------------------------------------------------------- */

typedef struct eval_point *curve_of(const struct eval_data *data, enum eval_score score, size_t *n);

/* Draws a curve for each score that at least one answer has, each in a different style. */
static void draw_scores(struct svg *svg, const struct eval_data *data, curve_of *curve)
{
    for (int i = 0; i <= SCORE_GENERATOR; i++) {
        size_t n;
        if (!triggering_measure(data, (enum eval_score)i).n) continue;
        struct eval_point *points = curve(data, (enum eval_score)i, &n);
        if (points) draw_curve(svg, (enum svg_style)i, points, n);
        svg_legend(svg, (enum svg_style)i, eval_score_text((enum eval_score)i));
        g_free(points);
    }
}
_Static_assert((int)SCORE_GENERATOR < (int)SVG_GUIDE, "a style for each score");

enum err_code plots_write_triggering(const char *folder, const struct eval_data *data, struct err *err)
{
    if (g_mkdir_with_parents(folder, 0777) != 0) return err_set(err, ERR_IO, "%s: %s", folder, g_strerror(errno));
    struct svg *answers = svg_new(&(struct svg_axes){
        .title = "Answer triggering",
        .description =
            "Share of right answers over the share of questions answered, highest score first, by different scores.",
        .x = "questions answered",
        .y = "right among them",
        .y_from = 0.5});
    draw_scores(answers, data, triggering_answers);
    enum err_code code = write_as(answers, folder, "answer_triggering.svg", err);
    if (code) return code;
    struct svg *asked =
        svg_new(&(struct svg_axes){.title = "Interaction triggering",
                                   .description = "Share of right answers over the share of questions that a person "
                                                  "corrects, lowest score first, by different scores.",
                                   .x = "questions put to a person",
                                   .y = "right",
                                   .y_from = 0.5});
    guide(asked, 0, 0.95, 1, 0.95);
    draw_scores(asked, data, triggering_interactions);
    return write_as(asked, folder, "interaction_triggering.svg", err);
}
