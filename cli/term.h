/* Text for people: numbers, colour and line breaks that fit the terminal. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "coforest_extra.h"

/* A piece of text made fit to show: control characters and broken UTF-8 spelled out, so that nothing in
 * a table can steer the terminal, and cut to a width. By value, so that nobody has to free it. */
typedef struct shown {
    char text[256];
    int width; /* columns on the screen */
} shown;

shown show_text(const char *text, int max_width); /* ends with an ellipsis if it was cut */
shown show_name(const char *text, int max_width); /* the same; an empty text becomes (empty) */
shown show_count(uint64_t n);                     /* 1,204,113 */
shown show_amount(double n);                      /* a count if it is whole, else six digits */
shown show_share(double part, double whole);      /* 41 %; 0 % only for nothing, 100 % only for all */
shown show_seconds(double seconds);               /* 0.012 s, 3 min 20 s */
/* Adds to a text in an array of n bytes. */
void append(char *text, size_t n, const char *format, ...) __attribute__((format(__printf__, 3, 4)));
const char *plural(uint64_t n);          /* "s", or "" for one */
shown show_shell_word(const char *text); /* quoted if a shell would need it */

/* Where text goes and what it may use there. */
typedef struct page {
    FILE *out;
    int width;
    bool colour;
} page;

/* A character of ours, or what stands for it where the locale has no UTF-8. A locale that says nothing has it. */
const char *sign_of(const char *character);
/* Passes a drawing on, every such character as sign_of has it. */
int put_drawing(cof_sink to, void *ctx, const char *text, size_t n_bytes);
int file_sink(void *ctx, const char *text, size_t n_bytes); /* a cof_sink whose ctx is a FILE */
page page_for(FILE *out); /* colour only on a terminal, and not with NO_COLOR or TERM=dumb */
bool on_terminal(FILE *out);
int terminal_width(FILE *out); /* of the terminal, else COLUMNS, else 80 */

/* Escape sequences where the page has colour, otherwise "". */
const char *bold(const page *p);
const char *dim(const page *p);
const char *accent(const page *p);
const char *plain(const page *p);

void put_repeated(FILE *out, const char *text, int times);
void put_left(FILE *out, const shown *s, int width);  /* padded on the right */
void put_right(FILE *out, const shown *s, int width); /* padded on the left */

/* Words and phrases set line after line; continuation lines start at `indent`. A piece is never
 * broken. Begin at the column where the cursor stands. */
typedef struct flow {
    FILE *out;
    int indent, column, width;
    bool fresh; /* nothing on this line yet, so no blank before the next piece */
} flow;

flow flow_begin(const page *p, int indent, int column);
bool flow_fits(const flow *f, int width);
void flow_piece(flow *f, const char *before, const char *text, int width, const char *after);
void flow_words(flow *f, const char *text); /* breaks at blanks */
void flow_end(flow *f);
void put_words(const page *p, int indent, const char *text); /* all three in one, from the column `indent` */
