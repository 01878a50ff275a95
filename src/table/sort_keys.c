/* Radix sort from the last digit of 11 bits; a digit that is the same in all keys is skipped. */
#include "sort_keys.h"

#include <stdbool.h>
#include <string.h>

enum { DIGIT_BITS = 11, N_DIGITS = 6, N_BUCKETS = 1 << DIGIT_BITS };
_Static_assert(N_DIGITS *N_BUCKETS == COFI_KEY_COUNTS && N_DIGITS * DIGIT_BITS >= 64, "digits cover a key");

static size_t digit_of(uint64_t key, int digit)
{
    return (size_t)(key >> (DIGIT_BITS * digit)) & (N_BUCKETS - 1);
}

static bool is_sorted(const cofi_keyed *items, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (items[i].key < items[i - 1].key) return false;
    return true;
}

cofi_keyed *cofi_sort_keys(cofi_keyed *items, cofi_keyed *spare, size_t n, uint32_t *count)
{
    if (is_sorted(items, n)) return items;
    memset(count, 0, COFI_KEY_COUNTS * sizeof *count);
    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < N_DIGITS; d++) count[d * N_BUCKETS + digit_of(items[i].key, d)]++;
    for (int d = 0; d < N_DIGITS; d++) {
        uint32_t *at = count + (size_t)d * N_BUCKETS, sum = 0;
        if (at[digit_of(items[0].key, d)] == n) continue;
        for (size_t b = 0; b < N_BUCKETS; b++) {
            uint32_t here = at[b];
            at[b] = sum;
            sum += here;
        }
        for (size_t i = 0; i < n; i++) spare[at[digit_of(items[i].key, d)]++] = items[i];
        cofi_keyed *other = items;
        items = spare;
        spare = other;
    }
    return items;
}
