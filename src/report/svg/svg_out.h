/* The shapes of all drawings. Their style rules and their colours are in drawing.css.
 *
 * A drawing in a file of its own contains these rules; drawings in a page use the rules of the page. Class names
 * start with "cof-", and there are no ids, so that several drawings in one page do not conflict. */
#pragma once

#include "../../core/text_out.h"

/* Opens a drawing of that size; `label` is what a screen reader says. Alone: with rules and background. */
void cofi_svg_open(cofi_out *out, double width, double height, const char *label, bool alone);
void cofi_svg_close(cofi_out *out);

/* cofi_out_put with two more letters: %r a number, for which two decimals are plenty; %k the classes that give cluster j
 * its colour, such as "cof-c3 cof-pale". */
void cofi_svg(cofi_out *out, const char *template, ...);
void cofi_svg_line(cofi_out *out, const char *classes, double x1, double y1, double x2, double y2);
/* A rectangle in the colour of cluster j. */
void cofi_svg_rectangle(cofi_out *out, uint32_t j, double x, double y, double width, double height);
/* A circle in the colour of cluster j, left open for a <title>; end it with </circle>. */
void cofi_svg_circle_start(cofi_out *out, uint32_t j, double x, double y, double radius);
void cofi_svg_text_start(cofi_out *out, const char *classes, double x, double y); /* end with </text> */
void cofi_svg_text(cofi_out *out, const char *classes, double x, double y, const char *words);

/* The colours of k clusters with their numbers, so many to a line; returns the number of lines. NULL: draws nothing. */
uint32_t cofi_svg_keys(cofi_out *out, uint32_t k, uint32_t per_line, double x, double y);
enum { COFI_KEY = 36, COFI_KEY_LINE = 16 }; /* what a key takes */

enum { COFI_HUES = 8, COFI_COLOURS = 2 * COFI_HUES }; /* later clusters repeat the colours */
/* "cof-c3 cof-pale": the classes that give cluster j its colour. */
void cofi_svg_cluster(cofi_out *out, uint32_t j);
