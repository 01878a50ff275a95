/* Rows in memory, as kernels read them. Private to this folder: other folders use rows.h. */
#pragma once

#include "../core/env.h"
#include "../core/shape.h"

/* Value v of attribute r has the flat id g = first[r] + v, so that counts, profiles and scores of all
 * attributes are one array each, laid out [g][j] with cofi_stride(k) entries a value. */
typedef struct cofi_cells {
    size_t n_rows, n_attrs;
    const cofi_ids *ids;    /* n_attrs columns; columns of quantities may follow */
    const uint32_t *first;  /* n_attrs + 1; first[n_attrs] is the number of flat ids */
    const uint64_t *weight; /* row weights in the problem's unit; NULL: 1 each */
    const uint32_t *copies; /* number of table rows that are folded into each row; NULL: 1 each */
} cofi_cells;

static inline uint64_t cofi_cells_weight(const cofi_cells *cells, size_t row)
{
    return cells->weight != NULL ? cells->weight[row] : 1;
}
