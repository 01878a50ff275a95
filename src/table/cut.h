/* A quantity cut into bins, which are used as ordered categories. */
#pragma once

#include "../core/env.h"
#include "reading.h"

typedef struct cofi_cut {
    cofi_reading reading;
    uint32_t n_edges; /* number of bins minus one */
    double *edge;     /* ascending: bin b holds edge[b - 1] <= point < edge[b] */
} cofi_cut;

/* The bin of a point, from 0. */
static inline uint32_t cofi_cut_bin(const cofi_cut *cut, double point)
{
    uint32_t low = 0, high = cut->n_edges;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (cut->edge[middle] <= point)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool cofi_cut_equal(const cofi_cut *a, const cofi_cut *b);
void cofi_cut_free(const cof_env *env, cofi_cut *cut); /* NULL is allowed */
