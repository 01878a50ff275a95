/* Axes and places of a chart. */
#include "chart.h"

#include <math.h>

double cofi_chart_x(const cofi_chart *c, double x)
{
    double share = c->last > c->first ? (x - c->first) / (c->last - c->first) : 0.5;
    return COFI_CHART_LEFT + (COFI_CHART_WIDTH - COFI_CHART_LEFT - COFI_CHART_RIGHT) * share;
}

double cofi_chart_y(const cofi_chart *c, double y)
{
    /* halves, since a difference may be too large for a number */
    return c->top + (c->height - c->top - c->bottom) * ((c->most / 2 - y / 2) / (c->most / 2 - c->least / 2));
}

/* Short enough for the margin. */
static void put_axis_value(cofi_out *out, const cofi_chart *c, double value)
{
    const double million = 1e6, billion = 1e9;
    double largest = fmax(fabs(c->least), fabs(c->most));
    if (largest >= billion)
        cofi_out_put(out, "%2fe9", value / billion);
    else if (largest >= million)
        cofi_out_put(out, "%2fe6", value / million);
    else
        cofi_out_fixed(out, value, 0, c->most - c->least < 10 ? 2 : 0);
}

void cofi_chart_grid(cofi_out *out, const cofi_chart *c)
{
    for (int i = 0; i <= 4; i++) {
        double value = c->least * (1 - i / 4.0) + c->most * (i / 4.0), y = cofi_chart_y(c, value);
        cofi_svg_line(out, "cof-grid", COFI_CHART_LEFT - 4, y, COFI_CHART_WIDTH - COFI_CHART_RIGHT + 4, y);
        cofi_svg_text_start(out, "cof-note cof-end", COFI_CHART_LEFT - 7, y + 4);
        put_axis_value(out, c, value);
        cofi_out_text(out, "</text>");
    }
    cofi_out_text(out, "\n");
}

void cofi_chart_ticks(cofi_out *out, const cofi_chart *c, uint32_t step, const char *what)
{
    double y = c->height - 27;
    for (double x = c->first; x <= c->last && !out->refused; x += step)
        cofi_svg(out, "<text class=\"cof-note cof-mid\" x=\"%r\" y=\"%r\">%0f</text>", cofi_chart_x(c, x), y,
                 x);
    cofi_svg_text(out, "cof-note cof-mid", cofi_chart_x(c, (c->first + c->last) / 2), y + 21, what);
    cofi_out_text(out, "\n");
}

void cofi_chart_vertex(cofi_out *out, const cofi_chart *c, double x, double y)
{
    cofi_out_put(out, "%g,%g ", round(10 * cofi_chart_x(c, x)) / 10, round(10 * cofi_chart_y(c, y)) / 10);
}
