/* NEON: 16 rows at a time look up the low and high bytes of their scores in tables of 32 cells. */
#include "lookup.h"

#if defined(__aarch64__) && defined(__GNUC__)
#include <arm_neon.h>

#define TARGET /* every 64-bit ARM processor has NEON */

enum { ROWS = COFI_GROUP_ROWS, CELLS = 32, TILE = 8, STEP = 16 };
#define TILE_CASES COFI_CASES_1_TO_7

static inline __attribute__((always_inline)) void add_tile(const uint16_t *table, size_t stride,
                                                           uint32_t n_terms, uint32_t n_cheap,
                                                           uint32_t n_clusters, const uint8_t *cell,
                                                           const uint16_t *start, uint16_t *sum)
{
    uint16x8_t low[TILE], high[TILE];
    for (uint32_t j = 0; j < n_clusters; j++) low[j] = high[j] = vdupq_n_u16(start[j]);
    for (uint32_t t = 0; t < n_terms; t++, table += stride, cell += ROWS) {
        uint8x16_t at = vld1q_u8(cell);
        for (uint32_t j = 0; j < n_clusters; j++) {
            const uint8_t *score = (const uint8_t *)(table + (size_t)j * CELLS);
            uint8x16x2_t lower = {{vld1q_u8(score), vld1q_u8(score + 16)}};
            uint8x16x2_t upper = {{vld1q_u8(score + 32), vld1q_u8(score + 48)}};
            uint8x16_t a = vqtbl2q_u8(lower, at), b = vqtbl2q_u8(upper, at);
            low[j] = vaddq_u16(low[j], vreinterpretq_u16_u8(vzip1q_u8(a, b)));
            high[j] = vaddq_u16(high[j], vreinterpretq_u16_u8(vzip2q_u8(a, b)));
        }
    }
    for (uint32_t j = 0; j < n_clusters; j++) {
        vst1q_u16(sum + (size_t)j * ROWS, low[j]);
        vst1q_u16(sum + (size_t)j * ROWS + 8, high[j]);
    }
}

static void least(const uint16_t *sum, uint32_t k, uint16_t bound, cofi_label *nearest, uint16_t *lead,
                  uint64_t *unsure)
{
    static const uint16_t bit[8] = {1, 2, 4, 8, 16, 32, 64, 128};
    memset(unsure, 0, COFI_GROUP_WORDS * sizeof *unsure);
    for (size_t i = 0; i < ROWS; i += 8) {
        uint16x8_t best = vld1q_u16(sum + i), second = vdupq_n_u16(UINT16_MAX), at = vdupq_n_u16(0);
        for (uint32_t j = 1; j < k; j++) {
            uint16x8_t x = vld1q_u16(sum + (size_t)j * ROWS + i);
            at = vbslq_u16(vcltq_u16(x, best), vdupq_n_u16((uint16_t)j), at);
            second = vminq_u16(second, vmaxq_u16(x, best));
            best = vminq_u16(best, x);
        }
        uint16x8_t gap = vsubq_u16(second, best), close = vcltq_u16(gap, vdupq_n_u16(bound));
        vst1q_u16(lead + i, gap);
        unsure[i / 64] |= (uint64_t)vaddvq_u16(vandq_u16(close, vld1q_u16(bit))) << i % 64;
        vst1q_u16(nearest + i, at);
    }
}

#include "tiles.h"

static bool available(void)
{
    return true; /* every 64-bit ARM processor has NEON */
}

/* NEON has no instruction that collects one bit of every byte, so blocks are counted row by row. */
const cofi_kernel cofi_kernel_neon = {"neon",       CELLS,       CELLS, true, available, cofi_lookup_scratch,
                                      nearest_rows, revise_rows, NULL,  NULL, expect,    coarse};
#endif
