/* AVX2: 32 rows at a time look up the low and high bytes of their scores in tables of 16 cells, or of twice 16. */
#include "lookup.h"
#include "../../core/processor.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx2,popcnt")))

enum { ROWS = COFI_GROUP_ROWS, CELLS = 32, CHEAP = 16, TILE = 4, STEP = 32 };
#define TILE_CASES COFI_CASES_1_TO_3

TARGET static inline __m256i bytes_at(const uint16_t *table, uint32_t part, __m256i at)
{
    const __m128i *cells = (const __m128i *)table + part;
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_loadu_si128(cells)), at);
}

/* A table has the low bytes of cells 0 to 15 and 16 to 31, then the high bytes of both. A cell number with its highest bit
 * set finds 0, so that the halves of a large lookup can be joined.
 *
 * Interleaving low and high bytes leaves rows 0..7 and 16..23 in one register and the other rows in the
 * second; the stores restore the order. */
TARGET static inline __attribute__((always_inline)) void add_tile(const uint16_t *table, size_t stride,
                                                                  uint32_t n_terms, uint32_t n_cheap,
                                                                  uint32_t n_clusters, const uint8_t *cell,
                                                                  const uint16_t *start, uint16_t *sum)
{
    __m256i even[TILE], odd[TILE];
    for (uint32_t j = 0; j < n_clusters; j++) even[j] = odd[j] = _mm256_set1_epi16((short)start[j]);
    for (uint32_t t = 0; t < n_cheap; t++, table += stride, cell += ROWS) {
        __m256i at = _mm256_loadu_si256((const __m256i *)cell);
        for (uint32_t j = 0; j < n_clusters; j++) {
            const uint16_t *own = table + (size_t)j * CELLS;
            __m256i low = bytes_at(own, 0, at), high = bytes_at(own, 2, at);
            even[j] = _mm256_add_epi16(even[j], _mm256_unpacklo_epi8(low, high));
            odd[j] = _mm256_add_epi16(odd[j], _mm256_unpackhi_epi8(low, high));
        }
    }
    for (uint32_t t = n_cheap; t < n_terms; t++, table += stride, cell += ROWS) {
        __m256i at = _mm256_loadu_si256((const __m256i *)cell);
        __m256i first = _mm256_or_si256(at, _mm256_cmpgt_epi8(at, _mm256_set1_epi8(CHEAP - 1)));
        __m256i second = _mm256_or_si256(at, _mm256_cmpgt_epi8(_mm256_set1_epi8(CHEAP), at));
        for (uint32_t j = 0; j < n_clusters; j++) {
            const uint16_t *own = table + (size_t)j * CELLS;
            __m256i low = _mm256_or_si256(bytes_at(own, 0, first), bytes_at(own, 1, second));
            __m256i high = _mm256_or_si256(bytes_at(own, 2, first), bytes_at(own, 3, second));
            even[j] = _mm256_add_epi16(even[j], _mm256_unpacklo_epi8(low, high));
            odd[j] = _mm256_add_epi16(odd[j], _mm256_unpackhi_epi8(low, high));
        }
    }
    for (uint32_t j = 0; j < n_clusters; j++) {
        __m256i *to = (__m256i *)(sum + (size_t)j * ROWS);
        _mm256_storeu_si256(to, _mm256_permute2x128_si256(even[j], odd[j], 0x20));
        _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(even[j], odd[j], 0x31));
    }
}

TARGET static void least(const uint16_t *sum, uint32_t k, uint16_t bound, cofi_label *nearest, uint16_t *lead,
                         uint64_t *unsure)
{
    memset(unsure, 0, COFI_GROUP_WORDS * sizeof *unsure);
    for (size_t i = 0; i < ROWS; i += 16) {
        __m256i best = _mm256_loadu_si256((const __m256i *)(sum + i)), second = _mm256_set1_epi16(-1);
        __m256i at = _mm256_setzero_si256();
        for (uint32_t j = 1; j < k; j++) {
            __m256i x = _mm256_loadu_si256((const __m256i *)(sum + (size_t)j * ROWS + i));
            __m256i lower = _mm256_min_epu16(best, x), same = _mm256_cmpeq_epi16(lower, best);
            second = _mm256_min_epu16(second, _mm256_max_epu16(x, best));
            best = lower;
            at = _mm256_blendv_epi8(_mm256_set1_epi16((short)j), at, same);
        }
        /* gap < bound if the saturating difference bound - gap is not 0; the comparison is packed to one
         * bit per row */
        __m256i gap = _mm256_sub_epi16(second, best);
        _mm256_storeu_si256((__m256i *)(lead + i), gap);
        __m256i sure = _mm256_cmpeq_epi16(_mm256_subs_epu16(_mm256_set1_epi16((short)bound), gap),
                                          _mm256_setzero_si256());
        __m128i packed = _mm_packs_epi16(_mm256_castsi256_si128(sure), _mm256_extracti128_si256(sure, 1));
        unsure[i / 64] |= (uint64_t)(~(uint32_t)_mm_movemask_epi8(packed) & 0xFFFF) << i % 64;
        _mm256_storeu_si256((__m256i *)(nearest + i), at);
    }
}

#include "tiles.h"

TARGET static inline uint64_t bits_of(const uint8_t *code, uint8_t wanted)
{
    __m256i a = _mm256_loadu_si256((const __m256i *)code), b = _mm256_loadu_si256((const __m256i *)code + 1);
    __m256i value = _mm256_set1_epi8((char)wanted);
    uint32_t low = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, value));
    uint32_t high = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(b, value));
    return (uint64_t)high << 32 | low;
}

#include "bitmaps.h"

static bool available(void)
{
    return cofi_processor_has(COFI_AVX2);
}

const cofi_kernel cofi_kernel_avx2 = {
    "avx2",       CELLS,       CHEAP,   true,  available, cofi_lookup_scratch,
    nearest_rows, revise_rows, members, count, expect,    coarse};
#endif
