/* Rows that shards have, as an implementation of rows.h: declarations for this folder and those who open rows. */
#pragma once

#include "../shards.h"

cof_status cofi_remote_open(const cof_table *table, const cof_fit_options *options, cofi_opening how,
                            cofi_problem *problem, cofi_rows **rows, cof_error *err);
/* A further handle to the same rows, which asks as `to` says; `to` outlives it, and so do the rows. */
cof_status cofi_remote_share(cofi_rows *rows, const cofi_remote *to, cofi_rows **out, cof_error *err);
const cofi_frame *cofi_remote_frame(const cofi_rows *rows);
/* cofi_rows_agree where the rows are elsewhere. */
cof_status cofi_remote_agree(const cof_table *table, const cofi_remembered *a, uint32_t k_a,
                             const cofi_remembered *b, uint32_t k_b, uint64_t **count, cof_error *err);
