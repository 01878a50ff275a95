/* Scores of one labelling against another, for people and as JSON. */
#pragma once

#include "coforest_extra.h"
#include "../term.h"

/* One side of a comparison. Labels run from 0 to n_labels - 1; negative ones are left out. */
typedef struct labelling {
    const int32_t *label;
    uint32_t n_labels;
    const char *title;      /* what the labels are: "cluster", a column */
    const cof_table *table; /* where their texts stand, column `column`; NULL: they are 1, 2, ... */
    size_t column;
} labelling;

/* The cells of a column as labels, -1 for a missing one; n_rows of them, the caller's to free. NULL: no
 * memory. */
int32_t *column_labels(const cof_table *table, size_t column);

size_t count_both(const int32_t *a, const int32_t *b, size_t n); /* items with a label on both sides */

/* *weights: one a row, or NULL where no column of the table (SIZE_MAX) has them; the caller frees it. Exit codes. */
int row_weights(const cof_table *table, size_t column, double **weights);

void show_scores(const page *p, const cof_indices *scores);
void json_scores(cof_json *j, const cof_indices *scores); /* the members, inside an open object */
/* How the labels meet, matched ones along the diagonal; nothing if it would not fit the page. Exit codes. */
int show_confusion(const page *p, const labelling *rows, const labelling *across, size_t n);
