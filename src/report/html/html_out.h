/* Pieces of HTML that the report is made of. Everything that comes from data goes through these or
 * cofi_out_xml, so that no name can become markup. */
#pragma once

#include "../svg/svg_out.h"

/* cofi_out_put with more letters, which stand for the functions below: %30n a name of at most 30 columns, %c a count
 * (uint64_t), %a an amount, %p a share (part and whole), %w a swatch, %k a cluster, %b a bar cell and %B a wide one, %2d a
 * number cell with two decimals, %m a count cell. */
void cofi_html(cofi_out *out, const char *template, ...);

/* A name from the data, cut to so many columns, kept from turning the direction of its surroundings; a cut
 * one is told in full, or nearly, on hover. */
void cofi_html_name(cofi_out *out, const char *text, unsigned columns);
void cofi_html_attribute(cofi_out *out, const char *name, const char *text); /*  name="text" */
void cofi_html_count(cofi_out *out, uint64_t n);                             /* 1,204,113 */
void cofi_html_amount(cofi_out *out, double n);                              /* a count if it is whole */
void cofi_html_share(cofi_out *out, double part, double whole);              /* 41 %; 0 % only for nothing */
void cofi_html_swatch(cofi_out *out, uint32_t cluster);                      /* a square in its colour */
void cofi_html_cluster(cofi_out *out, uint32_t cluster);                     /* swatch and "cluster 3" */

/* A cell with a bar behind its percentage; classes may be "". */
void cofi_html_bar(cofi_out *out, const char *classes, double part, double whole);
/* A number cell; sorts by the number itself. */
void cofi_html_number(cofi_out *out, double number, int decimals);
void cofi_html_count_cell(cofi_out *out, double amount);

/* A table in a box that scrolls sideways if it must; `label` names the box to a screen reader. */
void cofi_html_table(cofi_out *out, const char *classes, bool sortable, const char *caption);
void cofi_html_table_end(cofi_out *out);
/* The same up to the first line, and from the last line on, of a table that sorts. Heads: "column|values#", where # marks
 * a column of numbers. */
void cofi_html_body(cofi_out *out, const char *classes, const char *caption, const char *heads);
void cofi_html_body_end(cofi_out *out);

void cofi_html_section(cofi_out *out, const char *id, const char *heading); /* end with </section> */
