/* The one-to-one matching of rows and columns of a table with the greatest sum of counts. */
#pragma once

#include "contingency.h"

#define COFI_NO_COLUMN UINT32_MAX

/* Matches the rows of a table given by its sorted cells. There are no more rows than columns, and the counts
 * sum to less than 2^62.
 *
 * `column_of` returns n_rows columns. Every row gets a column: if no count remains, the lowest free one, so
 * that the result is a one-to-one map like that of a dense Hungarian method. `total` returns the sum of the
 * matched counts.
 *
 * Time O(rows * cells * log cells) at worst, near O(cells) in practice; memory O(cells + rows + columns). */
cof_status cofi_match_cells(const cof_env *env, const cofi_cell *cell, size_t n_cells, uint32_t n_rows,
                            uint32_t n_columns, uint32_t *column_of, uint64_t *total, cof_error *err);
