/* Rows in a mapped file that may be larger than memory.
 *
 * The system reads ahead for one stream. A walk over rows has one for each column, and where all of them have little memory
 * together, each displaces what was read ahead for the others. So reading ahead is turned off during such a walk, which
 * asks for the rows of its next blocks instead. None of these calls changes a result. */
#pragma once

#include "../table/table.h"
#include "cells.h"

/* The codes of a column of the table. They are streamed if they lie in a mapped file that is large for this machine's memory. */
cofi_ids cofi_stream_ids(const cof_table *table, const cofi_column *column);
bool cofi_is_streamed(const cofi_cells *cells);

/* Around a walk over all columns at once. */
void cofi_stream_begin(const cofi_cells *cells);
void cofi_stream_end(const cofi_cells *cells);
/* The rows begin..end-1 will be read soon; `end` may lie past the last row. */
void cofi_stream_want(const cofi_cells *cells, size_t begin, size_t end);

/* Blocks of COFI_BLOCK_ROWS rows are asked for so many at a time: single ones would be slow to read, and more take
 * memory, for each column and worker. */
enum { COFI_STREAM_BLOCKS = 8 };
/* Whether blocks are to be asked for before `block` is worked on, and which ones, in a walk that the workers of a team share. */
bool cofi_stream_ahead(size_t block, uint32_t n_workers, size_t *from, size_t *end);
