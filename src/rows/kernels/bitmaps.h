/* Counting of blocks with bitmaps, for instruction sets that collect one bit of every byte. It is included by the
 * kernel's source after TARGET, the attribute of functions that use the instructions, and
 *   bits_of: the bitmap of 64 codes, with a bit for each that equals `wanted` */
#pragma once

#include "kernel.h"

TARGET static uint64_t find(const uint8_t *code, size_t n_words, uint8_t value, uint64_t *bits)
{
    uint64_t n = 0;
    for (size_t w = 0; w < n_words; w++) {
        bits[w] = bits_of(code + 64 * w, value);
        n += (uint64_t)__builtin_popcountll(bits[w]);
    }
    return n;
}

/* Counts four clusters at a time, or one: n_clusters is a constant in the inlined versions. */
TARGET static inline __attribute__((always_inline)) void
count_tile(const uint64_t *holder, size_t n_words, const uint64_t *member, uint32_t n_clusters, uint32_t *n)
{
    uint64_t sum[4] = {0};
    for (size_t w = 0; w < n_words; w++)
        for (uint32_t j = 0; j < n_clusters; j++)
            sum[j] += (uint64_t)__builtin_popcountll(holder[w] & member[j * COFI_BLOCK_WORDS + w]);
    for (uint32_t j = 0; j < n_clusters; j++) n[j] = (uint32_t)sum[j];
}

TARGET static void count(const uint8_t *code, size_t n_words, uint32_t n_values, const uint64_t *member,
                         uint32_t k, uint32_t *n)
{
    uint64_t holder[COFI_BLOCK_WORDS];
    for (uint32_t v = 0; v < n_values; v++, n += k) {
        find(code, n_words, (uint8_t)v, holder);
        for (uint32_t j = 0; j < k; j += 4)
            if (k - j >= 4)
                count_tile(holder, n_words, member + (size_t)j * COFI_BLOCK_WORDS, 4, n + j);
            else
                for (uint32_t x = j; x < k; x++)
                    count_tile(holder, n_words, member + (size_t)x * COFI_BLOCK_WORDS, 1, n + x);
    }
}

TARGET static void members(const cofi_label *label, size_t n, uint32_t k, uint64_t *member, uint64_t *size)
{
    uint8_t byte[COFI_BLOCK_ROWS];
    cofi_narrow(label, n, UINT8_MAX, byte);
    for (uint32_t j = 0; j < k; j++)
        size[j] = find(byte, cofi_n_words(n), (uint8_t)j, member + j * COFI_BLOCK_WORDS);
}
