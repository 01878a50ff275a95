/* Rows that shards have: what the driver of a fit needs beyond rows.h. */
#pragma once

#include "../../table/schema.h"
#include "../rows.h"

/* Who has the rows of a table; cof_table.remote points to it. */
typedef struct cofi_remote {
    cof_shards shards;
    uint32_t half;   /* the rows that count: cofi_in_half */
    uint32_t most_k; /* the most clusters that fits of these rows will have; 0: those of the fit */
} cofi_remote;

/* A further handle to the same rows, which asks as `to` says; `to` outlives it, and so do the rows. */
cof_status cofi_remote_share(cofi_rows *rows, const cofi_remote *to, cofi_rows **out, cof_error *err);
const cofi_frame *cofi_remote_frame(const cofi_rows *rows);
/* The request that makes the labels of the partition, without any row listed. The caller releases *bytes. */
cof_status cofi_remote_label_request(const cofi_partition *partition, unsigned char **bytes, size_t *n_bytes,
                                     cof_error *err);
/* The rows that each pair of clusters of two partitions shares: count[j * k_b + j of b], then their number. Both are label requests, of fits of
 * the same table. */
cof_status cofi_remote_agree(const cof_env *env, const cofi_remote *remote, size_t n_columns,
                             const void *label_request, size_t n_bytes, uint32_t k, const void *other,
                             size_t n_other, uint32_t k_b, uint64_t **count, cof_error *err);
/* How many bytes a shard of n_rows rows may use for labels; those of one partition are always kept. Call it before the
 * first request. */
void cofi_shard_set_memory(cof_shard *shard, size_t n_rows, uint64_t memory);
/* The labels of the rows first, first + 1, ... by a label request of a fit with k clusters. */
cof_status cofi_remote_labels(const cof_env *env, const cofi_remote *remote, size_t n_columns,
                              const void *label_request, size_t n_bytes, uint32_t k, uint64_t first,
                              int32_t *labels, size_t n, cof_error *err);
/* Turns a request for labels into one for the rows of each cluster and class of a column, and asks it: count[j * classes
 * + class], then the number of rows. With a column of weights, each row counts its weight times `unit`, rounded. */
cof_status cofi_remote_classes(const cof_env *env, const cofi_remote *remote, const cof_schema *schema,
                               const void *label_request, size_t n_bytes, size_t column, uint32_t k,
                               double unit, uint64_t **count, cof_error *err);
