/* The seeded random number generator of one restart. The sequence is guaranteed: equal seeds give equal
 * labels. */
#ifndef COFI_RNG_H
#define COFI_RNG_H

#include <stdint.h>

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

#endif
