/* Rows that shards have: what the public calls of coforest_shard.h need beyond rows.h. */
#pragma once

#include "../table/schema.h"
#include "rows.h"

/* Who has the rows of a table; cof_table.remote points to it. */
typedef struct cofi_remote {
    cof_shards shards;
} cofi_remote;

/* The whole table, with the caller's memory and callbacks. It owns nothing; schema and `to` must outlive it. */
cof_status cofi_remote_table(const cof_env *env, const cof_schema *schema, const cof_shards *shards,
                             cofi_remote *to, cof_table *whole, cof_error *err);
/* The labels of the rows first, first + 1, ... by a fit of this table with k clusters. */
cof_status cofi_remote_labels(const cof_table *table, const cofi_remembered *of, uint32_t k, uint64_t first,
                              int32_t *labels, size_t n, cof_error *err);
/* The rows of each cluster and class of a column: count[j * classes + class], then the number of rows. With a column of
 * weights, each row counts its weight times `unit`, rounded. */
cof_status cofi_remote_classes(const cof_table *table, const cofi_remembered *of, size_t column, uint32_t k,
                               double unit, uint64_t **count, cof_error *err);
/* How many bytes a shard of n_rows rows may use for labels; those of one partition are always kept. Call it before the
 * first request. */
void cofi_shard_set_memory(cof_shard *shard, size_t n_rows, uint64_t memory);
