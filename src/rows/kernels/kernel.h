/* What a kernel is: the innermost loop over rows in one instruction set. */
#ifndef COFI_KERNEL_H
#define COFI_KERNEL_H

#include "plan.h"

/* A way to find the nearest cluster of rows begin..begin+n-1, n <= COFI_BLOCK_ROWS, and, where `key` is not
 * NULL, the row's key for skipping (skip.h). `scratch` holds what
 * scratch_bytes asked for. A kernel only reads; every kernel must give the plain one's labels. */
typedef struct cofi_kernel {
    const char *name;    /* shown in results */
    uint32_t most_cells; /* with `split`: what cofi_plan_open wants */
    bool split;
    bool (*available)(void); /* does this processor have it */
    size_t (*scratch_bytes)(const cofi_plan *plan);
    void (*nearest)(const cofi_plan *plan, size_t begin, size_t n, cofi_label *nearest, uint16_t *key,
                    void *scratch);
    /* Counting blocks, sixty-four rows a word; NULL: it has no way that beats row after row. members: bits of
     * each cluster's rows at member[j * COFI_BLOCK_WORDS], cofi_n_words(n) of them in whatever order of rows
     * `count` has, and how many they are. count: n[v * k + j], how many of cluster j's members have code v, for
     * v < n_values; codes may be as large as n_values, and are read for all the rows that n_words have. */
    void (*members)(const cofi_label *label, size_t n, uint32_t k, uint64_t *member, uint64_t *size);
    void (*count)(const uint8_t *code, size_t n_words, uint32_t n_values, const uint64_t *member, uint32_t k,
                  uint32_t *n);
} cofi_kernel;

enum { COFI_BLOCK_ROWS = 4096, COFI_BLOCK_WORDS = COFI_BLOCK_ROWS / 64 }; /* one task of the team */

/* Words for so many rows, in eights: vectors of 512 bits. */
static inline size_t cofi_n_words(size_t n)
{
    return (n + 511) / 512 * 8;
}

/* Labels as bytes, `beyond` for rows past the last that the words have. */
static inline __attribute__((always_inline)) void cofi_narrow(const cofi_label *label, size_t n,
                                                              uint8_t beyond, uint8_t *byte)
{
    for (size_t i = 0; i < n; i++) byte[i] = (uint8_t)label[i];
    memset(byte + n, beyond, 64 * cofi_n_words(n) - n);
}

/* The row's cluster given its sums: the lowest within a tie of the least, or what `plain` says of those. */
cofi_label cofi_settle(const cofi_cells *rows, const cofi_scores *scores, size_t row, const int64_t *sum);
/* The same, and by how much it leads all others. */
cofi_label cofi_settle_lead(const cofi_cells *rows, const cofi_scores *scores, size_t row, const int64_t *sum,
                            float *lead);
/* Full sums of n rows, scores->stride each; some columns of all rows at a time, since those of a wide table are far
 * apart in memory. */
void cofi_sum_rows(const cofi_cells *rows, const cofi_scores *scores, const size_t *row, size_t n,
                   int64_t *sum);

extern const cofi_kernel cofi_kernel_plain;
#if defined(__x86_64__) && defined(__GNUC__)
extern const cofi_kernel cofi_kernel_avx2, cofi_kernel_avx512;
#elif defined(__aarch64__) && defined(__GNUC__)
extern const cofi_kernel cofi_kernel_neon;
#endif
/* Number `at` of the kernels this processor has, fastest first; NULL past the last, which is the plain one. */
const cofi_kernel *cofi_kernel_at(size_t at);
/* The fastest, or the one that COFOREST_KERNEL in the environment names; COF_ERR_ARGUMENT if there is none. */
cof_status cofi_kernel_choose(const cofi_kernel **kernel, cof_error *err);

#endif
