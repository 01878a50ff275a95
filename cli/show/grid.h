/* A small table of results, formatted for a terminal, as Markdown or as LaTeX. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "../term.h"

typedef enum mark {
    MARK_NONE,
    MARK_BEST,
    MARK_SECOND,
    MARK_STRONG, /* bold on a terminal, and nothing elsewhere */
    MARK_FAINT   /* dim there */
} mark;

typedef struct cell {
    char text[72];
    mark mark;
    bool tight; /* in the head: this column stands close to the one before */
} cell;

typedef struct grid { /* row 0 is the head; the first column is set to the left, the others to the right */
    size_t n_rows, n_columns;
    cell *cell;
} grid;

grid grid_make(size_t n_rows, size_t n_columns);
cell *grid_at(const grid *g, size_t row, size_t column);
void grid_put(const grid *g, size_t row, size_t column, const char *format, ...)
    __attribute__((format(__printf__, 4, 5)));

int grid_width(const grid *g);
void grid_text(const grid *g,
               const page *p); /* * the best, + the second; on a terminal bold and underlined */
void grid_markdown(const grid *g, FILE *out); /* the best bold, the second in italics */
void grid_latex(const grid *g, FILE *out);    /* a tabular with booktabs rules; bold and underlined */
void put_latex(FILE *out, const char *text);  /* escaped */
void put_markdown(FILE *out, const char *text);
