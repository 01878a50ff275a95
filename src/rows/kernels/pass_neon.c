/* NEON: 16 rows at a time look up the low and high bytes of their scores in tables of 32 cells. */
#include "expect_rows.h"
#include "lookup.h"

#if defined(__aarch64__) && defined(__GNUC__)
#include <arm_neon.h>

enum { ROWS = COFI_GROUP_ROWS, CELLS = 32, LANES = 16, TILE = 8 };

static void cells(const cofi_plan *p, uint32_t begin, uint32_t end, size_t row, size_t n, uint8_t *cell)
{
    for (uint32_t t = begin; t < end; t++, cell += ROWS) {
        if (n == ROWS) { /* a constant count lets the compiler unroll */
            cofi_plan_cells(p, t, row, ROWS, cell);
        } else {
            cofi_plan_cells(p, t, row, n, cell);
            memset(cell + n, 0, ROWS - n);
        }
    }
}

static inline __attribute__((always_inline)) void add_tile(const uint8_t *table, size_t stride,
                                                           uint32_t n_terms, uint32_t n_clusters,
                                                           const uint8_t *cell, const uint16_t *start,
                                                           uint16_t *sum)
{
    uint16x8_t low[TILE], high[TILE];
    for (uint32_t j = 0; j < n_clusters; j++) low[j] = high[j] = vdupq_n_u16(start[j]);
    for (uint32_t t = 0; t < n_terms; t++, table += stride, cell += ROWS) {
        uint8x16_t at = vld1q_u8(cell);
        for (uint32_t j = 0; j < n_clusters; j++) {
            const uint8_t *score = table + (size_t)j * 2 * CELLS;
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

static void add(const cofi_plan *p, uint32_t begin, uint32_t end, size_t row, const uint8_t *cell,
                const uint16_t *start, uint16_t *sum)
{
    size_t stride = (size_t)p->k * 2 * CELLS;
    for (uint32_t j = 0; j < p->k; j += TILE) {
        const uint8_t *table = (const uint8_t *)p->table + begin * stride + (size_t)j * 2 * CELLS;
        for (size_t i = 0; i < ROWS; i += LANES) {
            if (j == 0 && i % 64 == 0) cofi_prefetch_lookups(p, begin, end, row + i);
            uint16_t *to = sum + (size_t)j * ROWS + i;
            switch (p->k - j) {
            case 1:
                add_tile(table, stride, end - begin, 1, cell + i, start + j, to);
                break;
            case 2:
                add_tile(table, stride, end - begin, 2, cell + i, start + j, to);
                break;
            case 3:
                add_tile(table, stride, end - begin, 3, cell + i, start + j, to);
                break;
            case 4:
                add_tile(table, stride, end - begin, 4, cell + i, start + j, to);
                break;
            case 5:
                add_tile(table, stride, end - begin, 5, cell + i, start + j, to);
                break;
            case 6:
                add_tile(table, stride, end - begin, 6, cell + i, start + j, to);
                break;
            case 7:
                add_tile(table, stride, end - begin, 7, cell + i, start + j, to);
                break;
            default:
                add_tile(table, stride, end - begin, TILE, cell + i, start + j, to);
                break;
            }
        }
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

static void keys(const uint16_t *lead, size_t n, float hidden, float step, float offset, uint16_t *key)
{
    cofi_lookup_keys(lead, n, hidden, step, offset, key);
}

static void join(const uint16_t *sum, size_t n, int32_t *total)
{
    cofi_lookup_join(sum, n, total);
}

static void nearest_rows(const cofi_plan *plan, size_t begin, size_t n, cofi_label *nearest, uint16_t *key,
                         void *scratch)
{
    static const cofi_lanes lanes = {cells, add, least, keys, join};
    cofi_lookup_nearest(plan, &lanes, begin, n, nearest, key, scratch);
}

static void expect(const cofi_expect_job *job, size_t begin, size_t end, cofi_expect_part *part)
{
    cofi_expect_rows(job, begin, end, part);
}

static bool available(void)
{
    return true; /* every 64-bit ARM processor has NEON */
}

/* NEON has no instruction that collects one bit of every byte, so blocks are counted row by row. */
const cofi_kernel cofi_kernel_neon = {"neon",       CELLS, true, available, cofi_lookup_scratch,
                                      nearest_rows, NULL,  NULL, expect};
#endif
