/* AVX-512: thirty-two rows look up sixteen-bit scores in tables of thirty-two cells, one register each. */
#include "lookup.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vpopcntdq,popcnt")))

enum { ROWS = COFI_GROUP_ROWS, CELLS = 32, LANES = 32, TILE = 8 };

TARGET static void cells(const cofi_plan *p, uint32_t begin, uint32_t end, size_t row, size_t n,
                         uint8_t *cell)
{
    for (uint32_t t = begin; t < end; t++, cell += ROWS) {
        if (n == ROWS) { /* a constant count makes straight code */
            cofi_plan_cells(p, t, row, ROWS, cell);
        } else {
            cofi_plan_cells(p, t, row, n, cell);
            memset(cell + n, 0, ROWS - n);
        }
    }
}

/* Sixty-four rows and `n_clusters` of them, a constant where this is inlined. */
TARGET static inline __attribute__((always_inline)) void add_tile(const uint16_t *table, size_t stride,
                                                                  uint32_t n_terms, uint32_t n_clusters,
                                                                  const uint8_t *cell, uint16_t *sum)
{
    __m512i low[TILE], high[TILE];
    for (uint32_t j = 0; j < n_clusters; j++) {
        low[j] = _mm512_loadu_si512(sum + (size_t)j * ROWS);
        high[j] = _mm512_loadu_si512(sum + (size_t)j * ROWS + LANES);
    }
    for (uint32_t t = 0; t < n_terms; t++, table += stride, cell += ROWS) {
        __m512i a = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)cell));
        __m512i b = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)(cell + LANES)));
        for (uint32_t j = 0; j < n_clusters; j++) {
            __m512i score = _mm512_loadu_si512(table + (size_t)j * CELLS);
            low[j] = _mm512_add_epi16(low[j], _mm512_permutexvar_epi16(a, score));
            high[j] = _mm512_add_epi16(high[j], _mm512_permutexvar_epi16(b, score));
        }
    }
    for (uint32_t j = 0; j < n_clusters; j++) {
        _mm512_storeu_si512(sum + (size_t)j * ROWS, low[j]);
        _mm512_storeu_si512(sum + (size_t)j * ROWS + LANES, high[j]);
    }
}

TARGET static void add(const cofi_plan *p, uint32_t begin, uint32_t end, const uint8_t *cell, uint16_t *sum)
{
    size_t stride = (size_t)p->k * CELLS;
    for (uint32_t j = 0; j < p->k; j += TILE) {
        const uint16_t *table = p->table + begin * stride + (size_t)j * CELLS;
        for (size_t i = 0; i < ROWS; i += 2 * LANES) {
            const uint8_t *c = cell + i;
            uint16_t *to = sum + (size_t)j * ROWS + i;
            switch (p->k - j) {
            case 1:
                add_tile(table, stride, end - begin, 1, c, to);
                break;
            case 2:
                add_tile(table, stride, end - begin, 2, c, to);
                break;
            case 3:
                add_tile(table, stride, end - begin, 3, c, to);
                break;
            case 4:
                add_tile(table, stride, end - begin, 4, c, to);
                break;
            case 5:
                add_tile(table, stride, end - begin, 5, c, to);
                break;
            case 6:
                add_tile(table, stride, end - begin, 6, c, to);
                break;
            case 7:
                add_tile(table, stride, end - begin, 7, c, to);
                break;
            default:
                add_tile(table, stride, end - begin, TILE, c, to);
                break;
            }
        }
    }
}

TARGET static void least(const uint16_t *sum, uint32_t k, uint16_t bound, int32_t *nearest, uint16_t *lead,
                         uint64_t *unsure)
{
    memset(unsure, 0, COFI_GROUP_WORDS * sizeof *unsure);
    for (size_t i = 0; i < ROWS; i += LANES) {
        __m512i best = _mm512_loadu_si512(sum + i), second = _mm512_set1_epi16(-1);
        __m512i at = _mm512_setzero_si512();
        for (uint32_t j = 1; j < k; j++) {
            __m512i x = _mm512_loadu_si512(sum + (size_t)j * ROWS + i);
            __mmask32 less = _mm512_cmplt_epu16_mask(x, best);
            second = _mm512_min_epu16(second, _mm512_max_epu16(x, best));
            best = _mm512_min_epu16(best, x);
            at = _mm512_mask_mov_epi16(at, less, _mm512_set1_epi16((short)j));
        }
        __m512i gap = _mm512_sub_epi16(second, best);
        __mmask32 close = _mm512_cmplt_epu16_mask(gap, _mm512_set1_epi16((short)bound));
        _mm512_storeu_si512(lead + i, gap);
        unsure[i / 64] |= (uint64_t)close << i % 64;
        _mm512_storeu_si512(nearest + i, _mm512_cvtepu16_epi32(_mm512_castsi512_si256(at)));
        _mm512_storeu_si512(nearest + i + 16, _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(at, 1)));
    }
}

TARGET static uint64_t find(const uint8_t *code, size_t n_words, uint8_t value, uint64_t *bits)
{
    uint64_t n = 0;
    for (size_t w = 0; w < n_words; w++) {
        bits[w] = _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(code + 64 * w), _mm512_set1_epi8((char)value));
        n += (uint64_t)_mm_popcnt_u64(bits[w]);
    }
    return n;
}

TARGET static void count(const uint8_t *code, size_t n_words, uint8_t value, const uint64_t *member,
                         uint32_t k, uint32_t *n)
{
    uint64_t bits[COFI_BLOCK_WORDS];
    find(code, n_words, value, bits);
    for (uint32_t j = 0; j < k; j++, member += COFI_BLOCK_WORDS) {
        __m512i sum = _mm512_setzero_si512();
        size_t w = 0;
        for (; w + 8 <= n_words; w += 8) {
            __m512i both = _mm512_and_si512(_mm512_loadu_si512(bits + w), _mm512_loadu_si512(member + w));
            sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(both));
        }
        n[j] = (uint32_t)_mm512_reduce_add_epi64(sum);
        for (; w < n_words; w++) n[j] += (uint32_t)_mm_popcnt_u64(bits[w] & member[w]);
    }
}

TARGET static void keys(const uint16_t *lead, size_t n, float hidden, float step, float offset, float *key)
{
    cofi_lookup_keys(lead, n, hidden, step, offset, key);
}

static void nearest_rows(const cofi_plan *plan, size_t begin, size_t n, int32_t *nearest, float *key,
                         void *scratch)
{
    static const cofi_lanes lanes = {cells, add, least, keys};
    cofi_lookup_nearest(plan, &lanes, begin, n, nearest, key, scratch);
}

static bool available(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vpopcntdq");
}

const cofi_kernel cofi_kernel_avx512 = {"avx512",     CELLS, false, available, cofi_lookup_scratch,
                                        nearest_rows, find,  count};
#endif
