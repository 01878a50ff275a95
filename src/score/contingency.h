/* Contingency table of clusters and classes. Only cells that occur are stored, so two labelings with a
 * million labels each need a million cells, not their square. */
#pragma once

#include "../core/env.h"

typedef struct cofi_cell {
    uint64_t key; /* row << 32 | column of the table */
    uint64_t n;   /* > 0 */
} cofi_cell;

static inline uint32_t cofi_cell_row(const cofi_cell *cell)
{
    return (uint32_t)(cell->key >> 32);
}

static inline uint32_t cofi_cell_column(const cofi_cell *cell)
{
    return (uint32_t)cell->key;
}

typedef struct cofi_contingency {
    cof_env env;
    cofi_cell *cell; /* sorted by key: cluster, then class */
    size_t n_cells;
    uint64_t n;       /* sum of the cells: summed weight of the items counted */
    uint64_t n_items; /* items counted */
    /* number of labels that occur; both are numbered from 0 in ascending order */
    uint32_t n_clusters, n_classes;
    uint64_t *cluster_size, *class_size;
} cofi_contingency;

/* Counts the items with both labels >= 0. Whole weights are counts; others are scaled so that their mean is
 * 1, and each cell is rounded to whole items. NULL: 1 each. Memory O(cells), expected time O(n + cells log cells). On
 * failure nothing must be freed. */
cof_status cofi_contingency_count(cofi_contingency *t, const cof_env *env, const int32_t *clusters,
                                  const int32_t *classes, const double *weights, size_t n, cof_error *err);
/* The same from a full table, count[cluster * n_classes + class], of n_items items; `bits` as from
 * cofi_contingency_unit. */
cof_status cofi_contingency_from_counts(cofi_contingency *t, const cof_env *env, const uint64_t *count,
                                        uint32_t n_clusters, uint32_t n_classes, int bits, uint64_t n_items,
                                        cof_error *err);
/* What a weight is multiplied by before it is rounded and added up, 1 if all are whole; *bits: bits of a cell below one
 * row. times: how many items have each weight; NULL: one. */
double cofi_contingency_unit(const double *weights, const uint64_t *times, size_t n, int *bits);
/* The indices of a table of some of n items; frees it. `out` is the caller's. */
cof_status cofi_contingency_score(cofi_contingency *t, uint64_t n, cof_indices *out, cof_error *err);
void cofi_contingency_free(cofi_contingency *t);
double cofi_adjusted_rand(const cofi_contingency *t);

void cofi_cells_sort(cofi_cell *cell, size_t n); /* by key, in place */
/* Combines neighbours with equal keys; returns how many cells are left. */
size_t cofi_cells_merge(cofi_cell *cell, size_t n);
/* Transposes the table and sorts it again. */
void cofi_cells_transpose(cofi_cell *cell, size_t n);
