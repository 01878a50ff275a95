/* WebAssembly: 16 rows at a time look up the low and high bytes of their scores in tables of 16 cells. */
#include "lookup.h"

#if defined(__wasm_simd128__)
#include <wasm_simd128.h>

#define TARGET /* a module either has these instructions everywhere or does not load */

enum { ROWS = COFI_GROUP_ROWS, CELLS = 16, TILE = 4, STEP = 16 };
#define TILE_CASES COFI_CASES_1_TO_3

static inline __attribute__((always_inline)) void add_tile(const uint16_t *table, size_t stride,
                                                           uint32_t n_terms, uint32_t n_cheap,
                                                           uint32_t n_clusters, const uint8_t *cell,
                                                           const uint16_t *start, uint16_t *sum)
{
    v128_t first[TILE], last[TILE];
    for (uint32_t j = 0; j < n_clusters; j++) first[j] = last[j] = wasm_u16x8_splat(start[j]);
    for (uint32_t t = 0; t < n_terms; t++, table += stride, cell += ROWS) {
        v128_t at = wasm_v128_load(cell);
        for (uint32_t j = 0; j < n_clusters; j++) {
            const uint16_t *score = table + (size_t)j * CELLS;
            v128_t low = wasm_i8x16_swizzle(wasm_v128_load(score), at);
            v128_t high = wasm_i8x16_swizzle(wasm_v128_load(score + 8), at);
            first[j] = wasm_i16x8_add(first[j], wasm_i8x16_shuffle(low, high, 0, 16, 1, 17, 2, 18, 3, 19, 4,
                                                                   20, 5, 21, 6, 22, 7, 23));
            last[j] = wasm_i16x8_add(last[j], wasm_i8x16_shuffle(low, high, 8, 24, 9, 25, 10, 26, 11, 27, 12,
                                                                 28, 13, 29, 14, 30, 15, 31));
        }
    }
    for (uint32_t j = 0; j < n_clusters; j++) {
        wasm_v128_store(sum + (size_t)j * ROWS, first[j]);
        wasm_v128_store(sum + (size_t)j * ROWS + 8, last[j]);
    }
}

static void least(const uint16_t *sum, uint32_t k, uint16_t bound, cofi_label *nearest, uint16_t *lead,
                  uint64_t *unsure)
{
    memset(unsure, 0, COFI_GROUP_WORDS * sizeof *unsure);
    for (size_t i = 0; i < ROWS; i += 8) {
        v128_t best = wasm_v128_load(sum + i), second = wasm_u16x8_splat(UINT16_MAX),
               at = wasm_u16x8_splat(0);
        for (uint32_t j = 1; j < k; j++) {
            v128_t x = wasm_v128_load(sum + (size_t)j * ROWS + i), lower = wasm_u16x8_min(best, x);
            v128_t same = wasm_i16x8_eq(lower, best);
            second = wasm_u16x8_min(second, wasm_u16x8_max(x, best));
            best = lower;
            at = wasm_v128_bitselect(at, wasm_u16x8_splat((uint16_t)j), same);
        }
        v128_t gap = wasm_i16x8_sub(second, best);
        wasm_v128_store(lead + i, gap);
        unsure[i / 64] |= (uint64_t)wasm_i16x8_bitmask(wasm_u16x8_lt(gap, wasm_u16x8_splat(bound))) << i % 64;
        wasm_v128_store(nearest + i, at);
    }
}

#include "tiles.h"

static inline uint64_t bits_of(const uint8_t *code, uint8_t wanted)
{
    uint64_t bits = 0;
    for (unsigned int i = 0; i < 64; i += 16) {
        v128_t same = wasm_i8x16_eq(wasm_v128_load(code + i), wasm_u8x16_splat(wanted));
        bits |= (uint64_t)wasm_i8x16_bitmask(same) << i;
    }
    return bits;
}

#include "bitmaps.h"

static bool available(void)
{
    return true;
}

const cofi_kernel cofi_kernel_simd128 = {
    "simd128",    CELLS,       CELLS,   true,  available, cofi_lookup_scratch,
    nearest_rows, revise_rows, members, count, expect,    coarse};
#endif
