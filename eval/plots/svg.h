/* Draws diagrams as SVG. A diagram is one square plot with both axes from 0 to 1, a title, and a description for screen
 * readers. Equal data give equal bytes. Lines differ in dashes and marks as well as in colour. Thread: one at a time
 * for each diagram. */
#ifndef ASSAY_EVAL_PLOTS_SVG_H
#define ASSAY_EVAL_PLOTS_SVG_H

#include "lib/base/error.h"

#include <stddef.h>

struct svg;

struct svg_axes {
    const char *title;
    const char *description; /* description of the plot in words */
    const char *x, *y;       /* labels of the axes */
    double y_from;           /* lowest y value shown, below 1; 0 shows the whole axis */
};

enum svg_style { SVG_MAIN, SVG_SECOND, SVG_THIRD, SVG_FOURTH, SVG_FIFTH, SVG_SIXTH, SVG_GUIDE, SVG_STYLE_COUNT };

/* Begins a diagram. Never returns NULL. */
struct svg *svg_new(const struct svg_axes *axes);

/* Add a shape. Coordinates are in the units of the axes; points outside are moved to the edge. */
void svg_line(struct svg *svg, enum svg_style style, const double *x, const double *y, size_t n);
void svg_dot(struct svg *svg, enum svg_style style, double x, double y, double radius, const char *tip);
void svg_bar(struct svg *svg, enum svg_style style, double x, double low, double high); /* a vertical interval */
/* a bar on the x axis, painted below all other shapes */
void svg_column(struct svg *svg, double from, double to, double height);
void svg_legend(struct svg *svg, enum svg_style style, const char *text);

/* Writes the file, and frees the diagram in any case. Returns ERR_OK or ERR_IO. */
enum err_code svg_write(struct svg *svg, const char *path, struct err *err);

#endif
