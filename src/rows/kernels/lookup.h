/* The code that the vector kernels share: everything except the inner loops that need an instruction set. */
#pragma once

#include "kernel.h"

/* The inner loops in one instruction set. They process whole groups: sum[j][COFI_GROUP_ROWS]. Rows past
 * the end have cell 0 everywhere. */
typedef struct cofi_lanes {
    /* cell[(t - begin) * COFI_GROUP_ROWS + i]: the cell of row i in lookup t, for begin <= t < end. */
    void (*cells)(const cofi_plan *plan, uint32_t begin, uint32_t end, size_t row, size_t n, uint8_t *cell);
    /* sum[j][i] = start[j] plus the terms of lookups begin..end-1, for all k clusters and at least the first n rows. Also
     * prefetches later rows. */
    void (*add)(const cofi_plan *plan, uint32_t begin, uint32_t end, size_t row, size_t n,
                const uint8_t *cell, const uint16_t *start, uint16_t *sum);
    /* Finds the cluster with the least sum (the lowest one on ties) and its lead, and sets a bit for every
     * row whose lead is less than `bound`. */
    void (*least)(const uint16_t *sum, uint32_t k, uint16_t bound, cofi_label *nearest, uint16_t *lead,
                  uint64_t *unsure);
    /* total[i] += sum[i]: adds a chunk of terms to the earlier ones. */
    void (*join)(const uint16_t *sum, size_t n, int32_t *total);
} cofi_lanes;

/* cofi_lanes.join. Inlined, so that it is compiled with the instructions of each kernel. */
static inline __attribute__((always_inline)) void cofi_lookup_join(const uint16_t *restrict sum, size_t n,
                                                                   int32_t *restrict total)
{
    for (size_t i = 0; i < n; i++) total[i] += sum[i];
}

enum { COFI_GROUP_WORDS = COFI_GROUP_ROWS / 64 };

size_t cofi_lookup_scratch(const cofi_plan *plan);
void cofi_lookup_nearest(const cofi_plan *plan, const cofi_lanes *lanes, size_t begin, size_t n,
                         cofi_label *nearest, void *scratch);
