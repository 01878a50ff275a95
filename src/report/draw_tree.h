/* What every drawing of an order tree needs, gathered from the model's accessors. */
#pragma once

#include "svg/rooted_tree.h"
#include "../core/text_out.h"

enum {
    COFI_TREE_ROWS = 200, /* values in a picture of its own; more would be a page nobody reads */
    COFI_NAME_COLUMNS = 40
}; /* longer names of values are shortened where they are drawn */

typedef struct cofi_tree_drawing {
    const cof_model *model;
    cof_env env;
    size_t attribute;
    cof_attribute view;
    const cof_edge *edges;
    size_t n_edges;
    double total;  /* weight of all rows; 0 if nothing is known about them */
    double *count; /* per value: weight of the rows that hold it */
    cofi_rooted_tree tree;
    bool embedded;      /* in a page that has its own heading, legend and style */
    uint32_t most_rows; /* values an SVG shows, the most frequent ones */
    double longest;     /* path that fills the width, where several trees share a scale; 0: this tree's own */
    cofi_out out;
} cofi_tree_drawing;

/* A value's name as it is drawn. */
const char *cofi_tree_name(const cofi_tree_drawing *d, char to[COFI_SHOWN_BYTES], uint32_t value);
enum { COFI_PERCENT_BYTES = 16 };
/* The part of `whole` in percent, seven columns, "<0.1 %" where rounding would hide that there is some.
 * Returns `to`. */
const char *cofi_percent(char to[COFI_PERCENT_BYTES], double part, double whole);

cof_status cofi_draw_tree_svg(cofi_tree_drawing *d, cof_error *err);
/* The SVG of an attribute's tree for a page; at least 1 row. `longest` as above. */
cof_status cofi_embed_tree(const cof_model *model, size_t attribute, uint32_t most_rows, double longest,
                           cof_sink sink, void *ctx, cof_error *err);
/* The longest path from the root in the drawing of an attribute's tree. */
cof_status cofi_tree_longest(const cof_model *model, size_t attribute, double *longest, cof_error *err);
