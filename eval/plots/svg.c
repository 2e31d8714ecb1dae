/* Builds one square diagram as SVG text (svg.h). Columns, marks and the legend are collected in separate strings and
 * painted in this order. Texts are escaped; coordinates have a fixed number of decimals, so equal data give equal
 * bytes. */
#include "eval/plots/svg.h"

#include "lib/base/outfile.h"

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { SIDE = 360, LEFT = 64, TOP = 48, BOTTOM = 56, RIGHT = 24, LEGEND_STEP = 18, TICKS = 5 };

struct svg {
    GString *columns, *marks, *legend; /* parts in the order of painting */
    struct svg_axes axes;
    unsigned n_legend;
};

/* Colours for the colour-blind (Okabe and Ito), each with a distinct dash. */
static const struct {
    const char *colour, *dash;
} styles[SVG_STYLE_COUNT] = {[SVG_MAIN] = {"#0072b2", ""},
                             [SVG_SECOND] = {"#d55e00", " stroke-dasharray=\"6 3\""},
                             [SVG_THIRD] = {"#009e73", " stroke-dasharray=\"2 2\""},
                             [SVG_FOURTH] = {"#cc79a7", " stroke-dasharray=\"9 3 2 3\""},
                             [SVG_FIFTH] = {"#e69f00", " stroke-dasharray=\"12 4\""},
                             [SVG_SIXTH] = {"#56b4e9", " stroke-dasharray=\"4 2 1 2\""},
                             [SVG_GUIDE] = {"#767676", " stroke-dasharray=\"2 4\""}};

struct svg *svg_new(const struct svg_axes *axes)
{
    struct svg *svg = g_new0(struct svg, 1);
    svg->axes = *axes;
    svg->columns = g_string_new(NULL);
    svg->marks = g_string_new(NULL);
    svg->legend = g_string_new(NULL);
    return svg;
}

static double x_at(double x)
{
    return LEFT + SIDE * CLAMP(x, 0, 1);
}

static double y_at(const struct svg *svg, double y)
{
    double share = (CLAMP(y, svg->axes.y_from, 1) - svg->axes.y_from) / (1 - svg->axes.y_from);
    return TOP + SIDE * (1 - share);
}

/* Escapes the five special characters of XML. */
static char *escaped(const char *text)
{
    return g_markup_escape_text(text, -1);
}

void svg_line(struct svg *svg, enum svg_style style, const double *x, const double *y, size_t n)
{
    g_string_append_printf(svg->marks, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s points=\"",
                           styles[style].colour, styles[style].dash);
    for (size_t i = 0; i < n; i++)
        g_string_append_printf(svg->marks, "%s%.2f,%.2f", i ? " " : "", x_at(x[i]), y_at(svg, y[i]));
    g_string_append(svg->marks, "\"/>\n");
}

void svg_dot(struct svg *svg, enum svg_style style, double x, double y, double radius, const char *tip)
{
    char *text = escaped(tip);
    g_string_append_printf(svg->marks,
                           "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\" fill=\"%s\"><title>%s</title></circle>\n",
                           x_at(x), y_at(svg, y), radius, styles[style].colour, text);
    g_free(text);
}

void svg_bar(struct svg *svg, enum svg_style style, double x, double low, double high)
{
    g_string_append_printf(svg->marks, "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"%s\"/>\n",
                           x_at(x), y_at(svg, low), x_at(x), y_at(svg, high), styles[style].colour);
}

void svg_column(struct svg *svg, double from, double to, double height)
{
    double top = y_at(svg, svg->axes.y_from + height * (1 - svg->axes.y_from));
    g_string_append_printf(svg->columns,
                           "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"#e3e3e3\"/>\n",
                           x_at(from) + 1, top, x_at(to) - x_at(from) - 2, TOP + SIDE - top);
}

void svg_legend(struct svg *svg, enum svg_style style, const char *text)
{
    char *safe = escaped(text);
    int y = TOP + SIDE + BOTTOM + LEGEND_STEP * (int)svg->n_legend++;
    g_string_append_printf(svg->legend,
                           "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"%s\" stroke-width=\"2\"%s/>"
                           "<text x=\"%d\" y=\"%d\">%s</text>\n",
                           LEFT, y - 4, LEFT + 28, y - 4, styles[style].colour, styles[style].dash, LEFT + 36, y, safe);
    g_free(safe);
}

/* --- writing ---------------------------------------------------------------------------------------------------- */

static void append_axes(const struct svg *svg, GString *out)
{
    for (int i = 0; i <= TICKS; i++) {
        double share = (double)i / TICKS, y = svg->axes.y_from + share * (1 - svg->axes.y_from);
        g_string_append_printf(out, "<line x1=\"%.2f\" y1=\"%d\" x2=\"%.2f\" y2=\"%d\" stroke=\"#d0d0d0\"/>",
                               x_at(share), TOP, x_at(share), TOP + SIDE);
        g_string_append_printf(out, "<line x1=\"%d\" y1=\"%.2f\" x2=\"%d\" y2=\"%.2f\" stroke=\"#d0d0d0\"/>", LEFT,
                               y_at(svg, y), LEFT + SIDE, y_at(svg, y));
        g_string_append_printf(out, "<text x=\"%.2f\" y=\"%d\" text-anchor=\"middle\">%.0f %%</text>", x_at(share),
                               TOP + SIDE + 16, 100 * share);
        g_string_append_printf(out, "<text x=\"%d\" y=\"%.2f\" text-anchor=\"end\">%.0f %%</text>\n", LEFT - 6,
                               y_at(svg, y) + 4, 100 * y);
    }
}

static void append_titles(const struct svg *svg, GString *out)
{
    char *title = escaped(svg->axes.title), *x = escaped(svg->axes.x), *y = escaped(svg->axes.y);
    int middle_x = LEFT + SIDE / 2, middle_y = TOP + SIDE / 2;
    g_string_append_printf(
        out, "<text x=\"%d\" y=\"28\" text-anchor=\"middle\" font-size=\"15\" font-weight=\"bold\">%s</text>\n",
        middle_x, title);
    g_string_append_printf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", middle_x, TOP + SIDE + 34,
                           x);
    g_string_append_printf(out,
                           "<text x=\"16\" y=\"%d\" text-anchor=\"middle\" transform=\"rotate(-90 16 %d)\">%s</text>\n",
                           middle_y, middle_y, y);
    g_free(title);
    g_free(x);
    g_free(y);
}

static GString *document(const struct svg *svg)
{
    GString *out = g_string_new(NULL);
    char *title = escaped(svg->axes.title), *description = escaped(svg->axes.description);
    int width = LEFT + SIDE + RIGHT, height = TOP + SIDE + BOTTOM + LEGEND_STEP * (int)svg->n_legend;
    g_string_append_printf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\" "
        "aria-labelledby=\"title description\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n"
        "<title id=\"title\">%s</title>\n<desc id=\"description\">%s</desc>\n"
        "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
        width, height, width, height, title, description, width, height);
    g_string_append(out, svg->columns->str);
    append_axes(svg, out);
    append_titles(svg, out);
    g_string_append(out, svg->marks->str);
    g_string_append(out, svg->legend->str);
    g_string_append(out, "</svg>\n");
    g_free(title);
    g_free(description);
    return out;
}

enum err_code svg_write(struct svg *svg, const char *path, struct err *err)
{
    GString *text = document(svg);
    enum err_code code = outfile_write(path, text->str, text->len, err);
    g_string_free(text, TRUE);
    g_string_free(svg->columns, TRUE);
    g_string_free(svg->marks, TRUE);
    g_string_free(svg->legend, TRUE);
    g_free(svg);
    return code;
}
