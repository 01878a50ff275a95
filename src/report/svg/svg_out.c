/* Shapes, text and colours of every drawing. */
#include "svg_out.h"

#include <math.h>

extern const char cofi_drawing_css[];
extern const size_t cofi_drawing_css_size;

void cofi_svg_attribute(cofi_out *out, const char *name, double number)
{
    cofi_out_format(out, " %s=\"", name);
    cofi_out_number(out, isfinite(number) ? round(number * 100) / 100 : 0); /* SVG has no other numbers */
    cofi_out_text(out, "\"");
}

void cofi_svg_line(cofi_out *out, const char *classes, double x1, double y1, double x2, double y2)
{
    cofi_out_text(out, "<line");
    if (classes != NULL) cofi_out_format(out, " class=\"%s\"", classes);
    cofi_svg_attribute(out, "x1", x1);
    cofi_svg_attribute(out, "y1", y1);
    cofi_svg_attribute(out, "x2", x2);
    cofi_svg_attribute(out, "y2", y2);
    cofi_out_text(out, "/>");
}

void cofi_svg_text_start(cofi_out *out, const char *classes, double x, double y)
{
    cofi_out_format(out, "<text class=\"%s\"", classes);
    cofi_svg_attribute(out, "x", x);
    cofi_svg_attribute(out, "y", y);
    cofi_out_text(out, ">");
}

void cofi_svg_text(cofi_out *out, const char *classes, double x, double y, const char *words)
{
    cofi_svg_text_start(out, classes, x, y);
    cofi_out_xml(out, words);
    cofi_out_text(out, "</text>");
}

/* Eight hues that stay apart for colour-blind eyes (Okabe and Ito 2008, black left out because it is lost on
 * a dark page), then the same paler. Later clusters repeat them; the hover text names every cluster. */
void cofi_svg_cluster(cofi_out *out, uint32_t j)
{
    cofi_out_format(out, "cof-c%u%s", j % COFI_HUES, j / COFI_HUES % 2 == 1 ? " cof-pale" : "");
}

void cofi_svg_rectangle(cofi_out *out, uint32_t j, double x, double y, double width, double height)
{
    cofi_out_text(out, "<rect class=\"");
    cofi_svg_cluster(out, j);
    cofi_out_text(out, "\"");
    cofi_svg_attribute(out, "x", x);
    cofi_svg_attribute(out, "y", y);
    cofi_svg_attribute(out, "width", width);
    cofi_svg_attribute(out, "height", height);
    cofi_out_text(out, "/>");
}

void cofi_svg_circle_start(cofi_out *out, uint32_t j, double x, double y, double radius)
{
    cofi_out_text(out, "<circle class=\"");
    cofi_svg_cluster(out, j);
    cofi_out_text(out, "\"");
    cofi_svg_attribute(out, "cx", x);
    cofi_svg_attribute(out, "cy", y);
    cofi_svg_attribute(out, "r", radius);
    cofi_out_text(out, ">");
}

void cofi_svg_open(cofi_out *out, double width, double height, const char *label, bool alone)
{
    cofi_out_text(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"cof-svg\" role=\"img\"");
    cofi_svg_attribute(out, "width", ceil(width));
    cofi_svg_attribute(out, "height", ceil(height));
    cofi_out_format(out, " viewBox=\"0 0 %.0f %.0f\" aria-label=\"", ceil(width), ceil(height));
    cofi_out_xml(out, label);
    cofi_out_text(out, "\">\n");
    if (!alone) return;
    cofi_out_text(out, "<style>\n");
    cofi_out_bytes(out, cofi_drawing_css, cofi_drawing_css_size);
    cofi_out_text(out, "</style>\n<rect class=\"cof-page\" width=\"100%\" height=\"100%\"/>\n");
}

void cofi_svg_close(cofi_out *out)
{
    cofi_out_text(out, "</svg>\n");
}
