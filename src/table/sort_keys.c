/* Radix sort by the highest 33 bits in which keys differ, from the last of three digits of 11 bits: in nearly all columns
 * few keys share these bits. Those that do are then sorted by comparing. */
#include "sort_keys.h"

#include <stdlib.h>
#include <string.h>

enum { DIGIT_BITS = 11, N_DIGITS = 3, N_BUCKETS = 1 << DIGIT_BITS, SHORT_RUN = 24, LONG_RUN = 2048 };
_Static_assert(N_DIGITS *N_BUCKETS == COFI_KEY_COUNTS, "every bucket is counted");

static size_t digit_of(uint64_t key, int shift, int digit)
{
    return (size_t)(key >> shift >> (DIGIT_BITS * digit)) & (N_BUCKETS - 1);
}

/* Where the highest digits begin: at 0 if keys differ in the lowest 33 bits only. *sorted: keys ascend. */
static int lowest_bit(const cofi_keyed *items, size_t n, int *sorted)
{
    uint64_t differ = 0;
    *sorted = 1;
    for (size_t i = 1; i < n; i++) {
        differ |= items[i].key ^ items[0].key;
        *sorted &= items[i - 1].key <= items[i].key;
    }
    int n_bits = differ == 0 ? 0 : 64 - __builtin_clzll(differ);
    return n_bits > DIGIT_BITS * N_DIGITS ? n_bits - DIGIT_BITS * N_DIGITS : 0;
}

static int compare(const void *a, const void *b)
{
    const cofi_keyed *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static void sort_run(cofi_keyed *items, cofi_keyed *spare, size_t n, uint32_t *count)
{
    if (n > LONG_RUN) {
        if (cofi_sort_keys(items, spare, n, count) != items) memcpy(items, spare, n * sizeof *items);
        return;
    }
    if (n > SHORT_RUN) {
        qsort(items, n, sizeof *items, compare);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        cofi_keyed item = items[i];
        size_t at = i;
        for (; at > 0 && items[at - 1].key > item.key; at--) items[at] = items[at - 1];
        items[at] = item;
    }
}

static void sort_runs(cofi_keyed *items, cofi_keyed *spare, size_t n, uint32_t *count, int shift)
{
    for (size_t begin = 0, end; begin < n; begin = end) {
        for (end = begin + 1; end < n && items[end].key >> shift == items[begin].key >> shift;) end++;
        if (end - begin > 1) sort_run(items + begin, spare + begin, end - begin, count);
    }
}

cofi_keyed *cofi_sort_keys(cofi_keyed *items, cofi_keyed *spare, size_t n, uint32_t *count)
{
    int sorted, shift = lowest_bit(items, n, &sorted);
    if (sorted) return items;
    memset(count, 0, COFI_KEY_COUNTS * sizeof *count);
    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < N_DIGITS; d++) count[d * N_BUCKETS + digit_of(items[i].key, shift, d)]++;
    for (int d = 0; d < N_DIGITS; d++) {
        uint32_t *at = count + (size_t)d * N_BUCKETS, sum = 0;
        if (at[digit_of(items[0].key, shift, d)] == n) continue;
        for (size_t b = 0; b < N_BUCKETS; b++) {
            uint32_t here = at[b];
            at[b] = sum;
            sum += here;
        }
        for (size_t i = 0; i < n; i++) spare[at[digit_of(items[i].key, shift, d)]++] = items[i];
        cofi_keyed *other = items;
        items = spare;
        spare = other;
    }
    if (shift > 0) sort_runs(items, spare, n, count, shift);
    return items;
}
