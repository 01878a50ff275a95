/* The one-to-one matching of rows and columns of a table that collects the most counts. */
#ifndef COFI_MATCH_H
#define COFI_MATCH_H

#include "contingency.h"

#define COFI_NO_COLUMN UINT32_MAX

/* Matches the rows of a table given by its sorted cells, no more rows than columns, counts summing to less
 * than 2^62.
 *
 * column_of  out, length n_rows. Every row gets a column: where no count is left to win, the lowest free one,
 *            so that the result is a one-to-one map like that of a dense Hungarian method.
 * total      out, counts collected.
 *
 * Time O(rows * cells * log cells) at worst, near cells in practice; memory O(cells + rows + columns). */
cof_status cofi_match_cells(const cof_env *env, const cofi_cell *cell, size_t n_cells, uint32_t n_rows,
                            uint32_t n_columns, uint32_t *column_of, uint64_t *total, cof_error *err);

#endif
