/* Shapes, text and colours of every drawing. */
#include "svg_out.h"

#include <math.h>

extern const char cofi_drawing_css[];
extern const size_t cofi_drawing_css_size;

/* Eight hues that stay apart for colour-blind eyes (Okabe and Ito 2008, black left out because it is lost on
 * a dark page), then the same paler. Later clusters repeat them; the hover text names every cluster. */
void cofi_svg_cluster(cofi_out *out, uint32_t j)
{
    cofi_out_format(out, "cof-c%u%s", j % COFI_HUES, j / COFI_HUES % 2 == 1 ? " cof-pale" : "");
}

static void put_letter(cofi_out *out, char letter, int number, va_list *args)
{
    if (letter == 'k') {
        cofi_svg_cluster(out, va_arg(*args, uint32_t));
        return;
    }
    double x = va_arg(*args, double);
    cofi_out_number(out, isfinite(x) ? round(x * 100) / 100 : 0); /* SVG has no other numbers */
}

void cofi_svg(cofi_out *out, const char *template, ...)
{
    va_list args;
    va_start(args, template);
    cofi_out_fill(out, template, &args, put_letter);
    va_end(args);
}

void cofi_svg_line(cofi_out *out, const char *classes, double x1, double y1, double x2, double y2)
{
    cofi_out_text(out, "<line");
    if (classes != NULL) cofi_out_put(out, " class=\"%s\"", classes);
    cofi_svg(out, " x1=\"%r\" y1=\"%r\" x2=\"%r\" y2=\"%r\"/>", x1, y1, x2, y2);
}

void cofi_svg_text_start(cofi_out *out, const char *classes, double x, double y)
{
    cofi_svg(out, "<text class=\"%s\" x=\"%r\" y=\"%r\">", classes, x, y);
}

void cofi_svg_text(cofi_out *out, const char *classes, double x, double y, const char *words)
{
    cofi_svg(out, "<text class=\"%s\" x=\"%r\" y=\"%r\">%x</text>", classes, x, y, words);
}

void cofi_svg_rectangle(cofi_out *out, uint32_t j, double x, double y, double width, double height)
{
    cofi_svg(out, "<rect class=\"%k\" x=\"%r\" y=\"%r\" width=\"%r\" height=\"%r\"/>", j, x, y, width,
             height);
}

void cofi_svg_circle_start(cofi_out *out, uint32_t j, double x, double y, double radius)
{
    cofi_svg(out, "<circle class=\"%k\" cx=\"%r\" cy=\"%r\" r=\"%r\">", j, x, y, radius);
}

uint32_t cofi_svg_keys(cofi_out *out, uint32_t k, uint32_t per_line, double x, double y)
{
    enum { WORD = 56, KEY_SIZE = 10 };
    uint32_t shown = k < COFI_COLOURS ? k : COFI_COLOURS;
    if (out != NULL) cofi_svg_text(out, "cof-note", x, y + 9, "clusters");
    for (uint32_t j = 0; out != NULL && j < shown; j++) {
        double left = x + WORD + COFI_KEY * (double)(j % per_line),
               top = y + COFI_KEY_LINE * (double)(j / per_line);
        cofi_svg_rectangle(out, j, left, top, KEY_SIZE, KEY_SIZE);
        cofi_svg(out, "<text class=\"cof-note\" x=\"%r\" y=\"%r\">%u</text>", left + 13, top + 9, j + 1);
    }
    if (out != NULL) cofi_out_text(out, "\n");
    return (shown + per_line - 1) / per_line;
}

void cofi_svg_open(cofi_out *out, double width, double height, const char *label, bool alone)
{
    double w = ceil(width), h = ceil(height);
    cofi_svg(out,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"cof-svg\" role=\"img\" width=\"%r\" "
             "height=\"%r\" viewBox=\"0 0 %0f %0f\" aria-label=\"%x\">\n",
             w, h, w, h, label);
    if (!alone) return;
    cofi_out_text(out, "<style>\n");
    cofi_out_bytes(out, cofi_drawing_css, cofi_drawing_css_size);
    cofi_out_text(out, "</style>\n<rect class=\"cof-page\" width=\"100%\" height=\"100%\"/>\n");
}

void cofi_svg_close(cofi_out *out)
{
    cofi_out_text(out, "</svg>\n");
}
