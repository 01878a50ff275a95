/* A chart over the whole width of the page: values of x along the bottom, of y up the left side. */
#pragma once

#include "svg_out.h"

/* As wide as A4 paper in pixels: on a telephone half of that is still legible. The page sets the size of letters. */
enum { COFI_CHART_WIDTH = 720, COFI_CHART_LEFT = 84, COFI_CHART_RIGHT = 16 };

typedef struct cofi_chart {
    double height, top, bottom; /* bottom: room below the plot */
    double first, last;         /* x */
    double least, most;         /* y; most is above least */
} cofi_chart;

double cofi_chart_x(const cofi_chart *c, double x);
double cofi_chart_y(const cofi_chart *c, double y);
void cofi_chart_grid(cofi_out *out, const cofi_chart *c); /* five values of y */
void cofi_chart_ticks(cofi_out *out, const cofi_chart *c, uint32_t step,
                      const char *what);                                        /* whole numbers of x */
void cofi_chart_vertex(cofi_out *out, const cofi_chart *c, double x, double y); /* "x,y " of a polyline */
