/* Sorting by 64-bit keys, for dictionaries of many values. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct cofi_keyed {
    uint64_t key;
    uint32_t id;
} cofi_keyed;

enum { COFI_KEY_COUNTS = 3 << 11 }; /* numbers that sorting needs to count digits */

/* Stable for ids that ascend. Returns the array with the result: `items` or `spare`, each with room for n. */
cofi_keyed *cofi_sort_keys(cofi_keyed *items, cofi_keyed *spare, size_t n, uint32_t *count);
