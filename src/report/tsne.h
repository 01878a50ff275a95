/* t-SNE: the places of the points of a map. */
#pragma once

#include "../core/env.h"

typedef struct cofi_tsne_options {
    uint64_t seed;
    double perplexity; /* neighbours that matter to a point; 0 -> 30, never above a third of the points */
    uint32_t steps;    /* 0 -> 600 */
    uint32_t threads;  /* 0 -> all cores; the map does not depend on it */
} cofi_tsne_options;

/* Places n points in the plane, so that near ones stay near. distance is n x n, symmetric, row-major; xy
 * receives x and y of every point. NULL options: the defaults. Asked to stop, it keeps what it has. Each step
 * takes time proportional to n^2. */
cof_status cofi_tsne(const cof_env *env, const double *distance, size_t n, const cofi_tsne_options *options,
                     double *xy, cof_error *err);
