/* One small SVG writer for charts: shapes, text, axes, panels side by side. Light and dark by the reader's
 * wish, light on paper; colours that stay apart for colour-blind eyes. */
#ifndef COF_CLI_CHART_H
#define COF_CLI_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { CHART_HUES = 7 }; /* classes l0..l6 draw lines, f0..f6 fill */

/* `label` is what a screen reader says. */
void chart_open(FILE *out, double width, double height, const char *label);
void chart_close(FILE *out);

void chart_line(FILE *out, const char *classes, double x1, double y1, double x2, double y2);
void chart_rect(FILE *out, const char *classes, double x, double y, double width, double height);
/* Text, XML-escaped. Classes: e ends there, m is centred there, n is a small note, h a heading. */
void chart_text(FILE *out, const char *classes, double x, double y, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void chart_escape(FILE *out, const char *text); /* for markup around it */

typedef enum chart_shape { MARK_DOT, MARK_DIAMOND, MARK_TRIANGLE, MARK_SQUARE } chart_shape;
void chart_mark(FILE *out, const char *classes, chart_shape shape, double x, double y, double radius);

/* A plotting area: where it lies, and which numbers its edges stand for. */
typedef struct plot {
    FILE *out;
    double left, top, width, height;
    double x0, x1, y0, y1;
    bool log_x, log_y; /* decades; the edges must be above 0 */
} plot;

double plot_x(const plot *p, double x);
double plot_y(const plot *p, double y);
void plot_title(const plot *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Lines across the area at round numbers with the numbers beside it; about `n` of them. */
void plot_y_axis(const plot *p, int n);
void plot_x_axis(const plot *p, int n);
/* A curve through the points with finite coordinates. */
void plot_curve(const plot *p, const char *classes, const double *x, const double *y, size_t n);

/* Panels in rows of `columns`: the i-th one's area, room for title and axes around it. */
plot panel_at(FILE *out, size_t i, size_t columns, double width, double height, double top);
double panels_height(size_t n, size_t columns, double height, double top);

/* "l3", a dash pattern added from the eighth on. */
const char *hue_line(size_t series);
const char *hue_fill(size_t series);

/* One entry of a key at x; returns where the next may begin. */
double chart_key(FILE *out, double x, double y, size_t series, bool line, const char *words);

#endif
