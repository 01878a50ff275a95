/* All rows of a table, for methods whose distance is not a sum over attributes. Equal rows are not folded. */
#pragma once

#include "../fit/fit.h"

enum { COFI_WHOLE_BLOCK = 4096 }; /* rows per task */

typedef struct cofi_whole {
    size_t n_rows, n_columns; /* columns: attributes, then quantities */
    uint32_t *cell;           /* [row][column] */
    uint64_t *weight;         /* in the problem's unit */
    int32_t *label;           /* set by the method */
} cofi_whole;

/* The rows live as long as `own`. */
cof_status cofi_whole_open(cofi_fit *fit, cofi_blocks *own, cofi_whole *whole, cof_error *err);
/* Sets the labels of the partition as a pass would. */
cof_status cofi_whole_set_labels(cofi_fit *fit, const cofi_whole *whole, uint64_t *moved, cof_error *err);

static inline const uint32_t *cofi_whole_row(const cofi_whole *w, size_t row)
{
    return w->cell + row * w->n_columns;
}

static inline size_t cofi_whole_blocks(const cofi_whole *w, size_t block)
{
    return (w->n_rows + block - 1) / block;
}
