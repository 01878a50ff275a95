/* Charts as SVG. */
#include "chart.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

static const double GAP_LEFT = 46, GAP_RIGHT = 12, GAP_TOP = 24, GAP_BOTTOM = 30;

/* Okabe and Ito's hues without black, lost on a dark page, and yellow, lost on a light one. */
static const char *const hue[CHART_HUES] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                            "#e69f00", "#56b4e9", "#7f7f7f"};

static void put_rules(FILE *out)
{
    fputs("<style>\n"
          ".chart{color:#1a1a1a;font:12px system-ui,-apple-system,\"Segoe UI\",\"DejaVu Sans\",sans-serif}\n"
          ".chart text{fill:currentColor}\n"
          ".chart .page{fill:#fff}\n"
          ".chart line,.chart polyline{stroke:currentColor;stroke-width:1.2;fill:none}\n"
          ".chart polyline{stroke-width:1.7;stroke-linejoin:round}\n"
          ".chart .grid{stroke-opacity:.13;stroke-width:1}\n"
          ".chart .axis{stroke-opacity:.5;stroke-width:1}\n"
          ".chart .thin{stroke-opacity:.6}\n"
          ".chart .wide{stroke-width:5;stroke-opacity:.55}\n"
          ".chart .under{stroke-width:4;stroke-opacity:.6}\n"
          ".chart .dash{stroke-dasharray:5 3}\n"
          ".chart .dots{stroke-dasharray:1.5 2.5}\n"
          ".chart .e{text-anchor:end}\n.chart .m{text-anchor:middle}\n"
          ".chart .n{font-size:10.5px;opacity:.8}\n.chart .h{font-weight:600}\n"
          ".chart .b{font-weight:700}\n"
          ".chart .ink{fill:currentColor}\n"
          ".chart .open{fill:#fff;stroke:currentColor;stroke-width:1.4}\n"
          ".chart .pale{fill-opacity:.45}\n.chart .point{fill-opacity:.65}\n",
          out);
    for (int i = 0; i < CHART_HUES; i++)
        fprintf(out, ".chart .l%d{stroke:%s}\n.chart .f%d{fill:%s}\n", i, hue[i], i, hue[i]);
    fputs("@media screen and (prefers-color-scheme: dark){\n"
          ".chart{color:#e6e6e6}\n.chart .page{fill:#16181c}\n.chart .open{fill:#16181c}\n"
          ".chart .l0{stroke:#3d9bd8}\n.chart .f0{fill:#3d9bd8}\n"
          "}\n</style>\n",
          out);
}

void chart_escape(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '&')
            fputs("&amp;", out);
        else if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '>')
            fputs("&gt;", out);
        else if (*text == '"')
            fputs("&quot;", out);
        else
            fputc(*text, out);
    }
}

void chart_open(FILE *out, double width, double height, const char *label)
{
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" role=\"img\" width=\"%.0f\" "
            "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" aria-label=\"",
            width, height, width, height);
    chart_escape(out, label);
    fputs("\">\n", out);
    put_rules(out);
    fputs("<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n", out);
}

void chart_close(FILE *out)
{
    fputs("</svg>\n", out);
}

void chart_line(FILE *out, const char *classes, double x1, double y1, double x2, double y2)
{
    fprintf(out, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", classes, x1, y1,
            x2, y2);
}

void chart_rect(FILE *out, const char *classes, double x, double y, double width, double height)
{
    fprintf(out, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", classes, x, y,
            fmax(width, 0), fmax(height, 0));
}

void chart_text(FILE *out, const char *classes, double x, double y, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", classes, x, y);
    chart_escape(out, text);
    fputs("</text>\n", out);
}

void chart_mark(FILE *out, const char *classes, chart_shape shape, double x, double y, double r)
{
    if (shape == MARK_DOT)
        fprintf(out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n", classes, x, y, r);
    else if (shape == MARK_DIAMOND)
        fprintf(out, "<path class=\"%s\" d=\"M%.1f %.1fl%.1f %.1f %.1f %.1f %.1f %.1fz\"/>\n", classes, x,
                y - r, r, r, -r, r, -r, -r);
    else if (shape == MARK_TRIANGLE)
        fprintf(out, "<path class=\"%s\" d=\"M%.1f %.1fl%.1f %.1f %.1f 0z\"/>\n", classes, x, y - r, r,
                1.8 * r, -2 * r);
    else
        chart_rect(out, classes, x - r, y - r, 2 * r, 2 * r);
}

static double place(double x, double from, double to, bool decades)
{
    if (decades) return (log10(x) - log10(from)) / (log10(to) - log10(from));
    return to > from ? (x - from) / (to - from) : 0.5;
}

double plot_x(const plot *p, double x)
{
    return p->left + p->width * place(x, p->x0, p->x1, p->log_x);
}

double plot_y(const plot *p, double y)
{
    return p->top + p->height * (1 - place(y, p->y0, p->y1, p->log_y));
}

void plot_title(const plot *p, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    chart_text(p->out, "h", p->left, p->top - 8, "%s", text);
}

/* 1, 2 or 5 times a power of ten, so that about n steps fill the range. */
static double round_step(double range, int n)
{
    double raw = range / n, unit = pow(10, floor(log10(raw)));
    return unit * (raw <= unit ? 1 : raw <= 2 * unit ? 2 : raw <= 5 * unit ? 5 : 10);
}

/* 20000 as 20k: the small panels have room for four characters. */
static void write_number(char *text, size_t n, double x)
{
    if (fabs(x) >= 1e6)
        snprintf(text, n, "%gM", x / 1e6);
    else if (fabs(x) >= 1e4 || (fabs(x) >= 1e3 && fmod(x, 1000) == 0))
        snprintf(text, n, "%gk", x / 1e3);
    else
        snprintf(text, n, "%.6g", fabs(x) < 1e-12 ? 0 : x);
}

typedef void (*tick_writer)(const plot *p, double at);

static void tick_y(const plot *p, double y)
{
    char text[32];
    double at = plot_y(p, y);
    write_number(text, sizeof text, y);
    chart_line(p->out, "grid", p->left, at, p->left + p->width, at);
    chart_text(p->out, "n e", p->left - 5, at + 3.5, "%s", text);
}

static void tick_x(const plot *p, double x)
{
    char text[32];
    double at = plot_x(p, x);
    write_number(text, sizeof text, x);
    chart_line(p->out, "axis", at, p->top + p->height, at, p->top + p->height + 4);
    chart_text(p->out, "n m", at, p->top + p->height + 15, "%s", text);
}

static void put_ticks(const plot *p, double from, double to, bool decades, int n, tick_writer put)
{
    if (decades) {
        for (double d = floor(log10(from) + 1e-9); d <= log10(to) + 1e-9; d++)
            if (pow(10, d) >= from * 0.999) put(p, pow(10, d));
        return;
    }
    if (!(to > from)) {
        put(p, from);
        return;
    }
    double step = round_step(to - from, n);
    while (floor(to / step + 1e-9) - ceil(from / step - 1e-9) < 1) step = round_step(to - from, ++n);
    for (double at = ceil(from / step - 1e-9) * step; at <= to + 1e-9 * step; at += step) put(p, at);
}

void plot_y_axis(const plot *p, int n)
{
    put_ticks(p, p->y0, p->y1, p->log_y, n, tick_y);
}

void plot_x_axis(const plot *p, int n)
{
    double bottom = p->top + p->height;
    chart_line(p->out, "axis", p->left, bottom, p->left + p->width, bottom);
    put_ticks(p, p->x0, p->x1, p->log_x, n, tick_x);
}

void plot_curve(const plot *p, const char *classes, const double *x, const double *y, size_t n)
{
    fprintf(p->out, "<polyline class=\"%s\" points=\"", classes);
    for (size_t i = 0; i < n; i++)
        if (isfinite(x[i]) && isfinite(y[i])) fprintf(p->out, "%.1f,%.1f ", plot_x(p, x[i]), plot_y(p, y[i]));
    fputs("\"/>\n", p->out);
}

plot panel_at(FILE *out, size_t i, size_t columns, double width, double height, double top)
{
    double x = (double)(i % columns) * width, y = top + (double)(i / columns) * height;
    return (plot){.out = out,
                  .left = x + GAP_LEFT,
                  .top = y + GAP_TOP,
                  .width = width - GAP_LEFT - GAP_RIGHT,
                  .height = height - GAP_TOP - GAP_BOTTOM,
                  .x1 = 1,
                  .y1 = 1};
}

double panels_height(size_t n, size_t columns, double height, double top)
{
    return top + height * (double)((n + columns - 1) / columns);
}

const char *hue_line(size_t series)
{
    static const char *const classes[] = {"l0",      "l1",      "l2",      "l3",      "l4",
                                          "l5",      "l6",      "l0 dash", "l1 dash", "l2 dash",
                                          "l3 dash", "l4 dash", "l5 dash", "l6 dash"};
    return classes[series % (2 * CHART_HUES)];
}

const char *hue_fill(size_t series)
{
    static const char *const classes[] = {"f0", "f1", "f2", "f3", "f4", "f5", "f6"};
    return classes[series % CHART_HUES];
}

double chart_key(FILE *out, double x, double y, size_t series, bool line, const char *words)
{
    if (line)
        chart_line(out, hue_line(series), x, y - 4, x + 18, y - 4);
    else
        chart_rect(out, hue_fill(series), x + 4, y - 9, 10, 10);
    chart_text(out, "n", x + 23, y, "%s", words);
    return x + 23 + 6.6 * (double)strlen(words) + 18;
}
