/* The seeded random number generator of one restart. The sequence is guaranteed: equal seeds give equal
 * labels. */
#pragma once

#include "shape.h"

typedef struct cofi_rng {
    uint64_t state[4];
} cofi_rng;

/* Streams of one seed do not overlap: stream s is not a later part of stream t. */
void cofi_rng_seed(cofi_rng *rng, uint64_t seed, uint64_t stream);
uint64_t cofi_rng_next(cofi_rng *rng);
uint64_t cofi_rng_below(cofi_rng *rng, uint64_t bound); /* uniform in 0..bound-1; bound > 0 */
double cofi_rng_unit(cofi_rng *rng);                    /* uniform in [0, 1) */

/* A bijection that spreads every input bit over the whole word. */
static inline uint64_t cofi_mix64(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* A row of stretch number `at`, when n_rows rows are cut into n stretches. It is drawn within its stretch, because evenly
 * spaced rows could all fall on one phase of a periodic table; repeated calls draw the same row. */
static inline uint64_t cofi_stretch_row(size_t at, size_t n, uint64_t n_rows)
{
    uint64_t begin = cofi_stretch_begin(at, n, n_rows), end = cofi_stretch_begin(at + 1, n, n_rows);
    return begin + cofi_mix64(at) % (end - begin);
}
