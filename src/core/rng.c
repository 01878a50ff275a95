/* xoshiro256** (Blackman and Vigna), seeded by splitmix64. */
#include "rng.h"

static uint64_t rotate(uint64_t x, int by)
{
    return (x << by) | (x >> (64 - by));
}

void cofi_rng_seed(cofi_rng *rng, uint64_t seed, uint64_t stream)
{
    uint64_t x = cofi_mix64(seed + 0x9e3779b97f4a7c15u) ^ (stream * 0xd1342543de82ef95u);
    for (int i = 0; i < 4; i++) {
        x += 0x9e3779b97f4a7c15u;
        rng->state[i] = cofi_mix64(x);
    }
}

uint64_t cofi_rng_next(cofi_rng *rng)
{
    uint64_t *s = rng->state;
    uint64_t result = rotate(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

uint64_t cofi_rng_below(cofi_rng *rng, uint64_t bound)
{
    /* Values below 2^64 mod bound would make small results more likely; they are drawn again. */
    uint64_t reject = -bound % bound, x;
    do x = cofi_rng_next(rng);
    while (x < reject);
    return x % bound;
}

double cofi_rng_unit(cofi_rng *rng)
{
    return (double)(cofi_rng_next(rng) >> 11) * 0x1p-53;
}
