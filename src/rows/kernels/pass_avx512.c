/* AVX-512: 32 rows at a time look up 16-bit scores in tables of 32 cells, one register per table. */
#include "lookup.h"
#include "../../core/processor.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vpopcntdq,gfni,popcnt")))

enum { ROWS = COFI_GROUP_ROWS, CELLS = 32, LANES = 32, TILE = 8, STEP = 2 * LANES };
#define TILE_CASES COFI_CASES_1_TO_7

/* Sums 64 rows for n_clusters clusters; n_clusters is a constant in the inlined versions. */
TARGET static inline __attribute__((always_inline)) void add_tile(const uint16_t *table, size_t stride,
                                                                  uint32_t n_terms, uint32_t n_cheap,
                                                                  uint32_t n_clusters, const uint8_t *cell,
                                                                  const uint16_t *start, uint16_t *sum)
{
    __m512i low[TILE], high[TILE];
    for (uint32_t j = 0; j < n_clusters; j++) low[j] = high[j] = _mm512_set1_epi16((short)start[j]);
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

TARGET static void least(const uint16_t *sum, uint32_t k, uint16_t bound, cofi_label *nearest, uint16_t *lead,
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
        _mm512_storeu_si512(nearest + i, at);
    }
}

#include "tiles.h"

/* Transposes bits in words of eight rows: byte i of the result holds, for the eight rows, the bit that is
 * set in byte i of `which`. */
TARGET static inline __attribute__((always_inline)) __m512i turn(__m512i x, long long which)
{
    return _mm512_gf2p8affine_epi64_epi8(_mm512_set1_epi64(which), x, 0);
}

/* Sets bits[b] to bit b of eight registers of codes below 16. Two registers are combined and transposed as
 * one; the result has pairs of bytes, one byte for each of the two registers, which unpacking collects. */
TARGET static inline __attribute__((always_inline)) void turn_nibbles(const uint8_t *code, __m512i *bits)
{
    __m512i x[4];
    for (size_t i = 0; i < 4; i++) {
        __m512i low = _mm512_loadu_si512(code + 128 * i), high = _mm512_loadu_si512(code + 128 * i + 64);
        x[i] = turn(_mm512_or_si512(low, _mm512_slli_epi16(high, 4)), (long long)0x8008400420021001);
    }
    __m512i a0 = _mm512_unpacklo_epi16(x[0], x[1]), a1 = _mm512_unpacklo_epi16(x[2], x[3]);
    __m512i b0 = _mm512_unpackhi_epi16(x[0], x[1]), b1 = _mm512_unpackhi_epi16(x[2], x[3]);
    __m512i a = _mm512_unpacklo_epi32(a0, a1), b = _mm512_unpacklo_epi32(b0, b1);
    bits[0] = _mm512_unpacklo_epi64(a, b);
    bits[1] = _mm512_unpackhi_epi64(a, b);
    a = _mm512_unpackhi_epi32(a0, a1);
    b = _mm512_unpackhi_epi32(b0, b1);
    bits[2] = _mm512_unpacklo_epi64(a, b);
    bits[3] = _mm512_unpackhi_epi64(a, b);
}

/* The same for all eight bits of the codes. */
TARGET static inline __attribute__((always_inline)) void turn_bytes(const uint8_t *code, __m512i *bits)
{
    __m512i x[8], y[8];
    for (size_t i = 0; i < 8; i++)
        x[i] = turn(_mm512_loadu_si512(code + 64 * i), (long long)0x8040201008040201);
    for (size_t i = 0; i < 4; i++) {
        y[i] = _mm512_unpacklo_epi8(x[2 * i], x[2 * i + 1]);
        y[i + 4] = _mm512_unpackhi_epi8(x[2 * i], x[2 * i + 1]);
    }
    for (size_t i = 0; i < 8; i += 4) { /* x[i], x[i + 1]: bits 0 to 3 of four registers each; then 4 to 7 */
        x[i] = _mm512_unpacklo_epi16(y[i], y[i + 1]);
        x[i + 1] = _mm512_unpacklo_epi16(y[i + 2], y[i + 3]);
        x[i + 2] = _mm512_unpackhi_epi16(y[i], y[i + 1]);
        x[i + 3] = _mm512_unpackhi_epi16(y[i + 2], y[i + 3]);
    }
    for (size_t i = 0; i < 4; i += 2) {
        __m512i a = _mm512_unpacklo_epi32(x[i], x[i + 1]), b = _mm512_unpacklo_epi32(x[i + 4], x[i + 5]);
        bits[2 * i] = _mm512_unpacklo_epi64(a, b);
        bits[2 * i + 1] = _mm512_unpackhi_epi64(a, b);
        a = _mm512_unpackhi_epi32(x[i], x[i + 1]);
        b = _mm512_unpackhi_epi32(x[i + 4], x[i + 5]);
        bits[2 * i + 2] = _mm512_unpacklo_epi64(a, b);
        bits[2 * i + 3] = _mm512_unpackhi_epi64(a, b);
    }
}

/* Sets bits[b] to bit b of the codes, 512 rows per register; n_bits is a constant in the inlined versions.
 * The order of the rows changes, but in the same way for all attributes and for the members, so counts are
 * correct. */
TARGET static inline __attribute__((always_inline)) void
slice(const uint8_t *code, size_t n_words, uint32_t n_bits, uint64_t (*bits)[COFI_BLOCK_WORDS])
{
    for (size_t w = 0; w < n_words; w += 8) {
        __m512i x[8];
        if (n_bits <= 4)
            turn_nibbles(code + 64 * w, x);
        else
            turn_bytes(code + 64 * w, x);
        for (uint32_t b = 0; b < n_bits; b++) _mm512_storeu_si512(&bits[b][w], x[b]);
    }
}

/* The 512 rows from word w on whose code is the value: all bits must match. flip[b] has all bits set if
 * bit b of the value is 0. */
TARGET static inline __attribute__((always_inline)) __m512i
holders(uint64_t (*bits)[COFI_BLOCK_WORDS], uint32_t n_bits, const __m512i *flip, size_t w)
{
    __m512i x = _mm512_set1_epi64(-1);
    for (uint32_t b = 0; b < n_bits; b++) /* x & (bit ^ flip) */
        x = _mm512_ternarylogic_epi64(x, _mm512_loadu_si512(&bits[b][w]), flip[b], 0x60);
    return x;
}

TARGET static inline __attribute__((always_inline)) void set_flip(uint32_t value, uint32_t n_bits,
                                                                  __m512i *flip)
{
    for (uint32_t b = 0; b < n_bits; b++) flip[b] = _mm512_set1_epi64((value >> b & 1) - INT64_C(1));
}

/* Sums of the eight words of each of up to four vectors; every sum fits 16 bits. */
TARGET static inline __attribute__((always_inline)) void sum_words(const __m512i *x, uint32_t n,
                                                                   uint32_t *sum)
{
    __m512i all = x[0];
    for (uint32_t i = 1; i < n; i++) all = _mm512_add_epi64(all, _mm512_slli_epi64(x[i], 16 * i));
    uint64_t word = (uint64_t)_mm512_reduce_add_epi64(all);
    for (uint32_t i = 0; i < n; i++) sum[i] = word >> 16 * i & 0xFFFF;
}

/* Counts the members of these clusters that hold an even value and, if n_values is 2, the next value,
 * which differs only in its lowest bit. n_bits, n_values and n_clusters are constants in the inlined
 * versions. */
TARGET static inline __attribute__((always_inline)) void
count_tile(uint64_t (*bits)[COFI_BLOCK_WORDS], size_t n_words, uint32_t n_bits, const __m512i *flip,
           uint32_t n_values, const uint64_t *member, uint32_t n_clusters, uint32_t k, uint32_t *n)
{
    __m512i sum[2][TILE];
    for (uint32_t j = 0; j < n_clusters; j++) sum[0][j] = sum[1][j] = _mm512_setzero_si512();
#pragma GCC unroll 1 /* unrolled, it needs more registers than there are */
    for (size_t w = 0; w < n_words; w += 8) {
        __m512i both = holders(bits + 1, n_bits - 1, flip + 1, w), low = _mm512_loadu_si512(&bits[0][w]);
        __m512i even = _mm512_andnot_si512(low, both), odd = _mm512_and_si512(low, both);
        for (uint32_t j = 0; j < n_clusters; j++) {
            __m512i of = _mm512_loadu_si512(member + j * COFI_BLOCK_WORDS + w);
            sum[0][j] = _mm512_add_epi64(sum[0][j], _mm512_popcnt_epi64(_mm512_and_si512(even, of)));
            if (n_values > 1)
                sum[1][j] = _mm512_add_epi64(sum[1][j], _mm512_popcnt_epi64(_mm512_and_si512(odd, of)));
        }
    }
    for (uint32_t v = 0; v < n_values; v++)
        for (uint32_t j = 0; j < n_clusters; j += 4)
            sum_words(sum[v] + j, n_clusters - j < 4 ? n_clusters - j : 4, n + v * k + j);
}

TARGET static inline __attribute__((always_inline)) void
count_pair(uint64_t (*bits)[COFI_BLOCK_WORDS], size_t n_words, uint32_t n_bits, uint32_t value,
           uint32_t n_values, const uint64_t *member, uint32_t k, uint32_t *n)
{
    __m512i flip[8];
    set_flip(value, n_bits, flip);
    for (uint32_t j = 0; j < k; j += TILE, member += TILE * COFI_BLOCK_WORDS) {
#define COUNT(n_clusters) count_tile(bits, n_words, n_bits, flip, n_values, member, n_clusters, k, n + j)
        switch (k - j) {
            TILE_CASES(COUNT)
        default:
            COUNT(TILE);
        }
    }
}

/* n_bits is a constant in the inlined versions. */
TARGET static inline __attribute__((always_inline)) void count_values(const uint8_t *code, size_t n_words,
                                                                      uint32_t n_bits, uint32_t n_values,
                                                                      const uint64_t *member, uint32_t k,
                                                                      uint32_t *n)
{
    uint64_t bits[8][COFI_BLOCK_WORDS];
    slice(code, n_words, n_bits, bits);
    uint32_t v = 0;
    for (; v + 2 <= n_values; v += 2) count_pair(bits, n_words, n_bits, v, 2, member, k, n + v * k);
    if (v < n_values) count_pair(bits, n_words, n_bits, v, 1, member, k, n + v * k);
}

TARGET static void count(const uint8_t *code, size_t n_words, uint32_t n_values, const uint64_t *member,
                         uint32_t k, uint32_t *n)
{
    if (n_values < 2)
        count_values(code, n_words, 1, n_values, member, k, n);
    else if (n_values < 4)
        count_values(code, n_words, 2, n_values, member, k, n);
    else if (n_values < 8)
        count_values(code, n_words, 3, n_values, member, k, n);
    else if (n_values < 16)
        count_values(code, n_words, 4, n_values, member, k, n);
    else
        count_values(code, n_words, 8, n_values, member, k, n);
}

/* n_bits is a constant in the inlined versions; k < 2^n_bits. */
TARGET static inline __attribute__((always_inline)) void
find_members(const cofi_label *label, size_t n, uint32_t n_bits, uint32_t k, uint64_t *member, uint64_t *size)
{
    uint8_t byte[COFI_BLOCK_ROWS];
    size_t n_words = cofi_n_words(n);
    cofi_narrow(label, n, (uint8_t)((1u << n_bits) - 1), byte);
    uint64_t bits[8][COFI_BLOCK_WORDS];
    slice(byte, n_words, n_bits, bits);
    for (uint32_t j = 0; j < k; j++, member += COFI_BLOCK_WORDS) {
        __m512i flip[8], sum = _mm512_setzero_si512();
        set_flip(j, n_bits, flip);
        for (size_t w = 0; w < n_words; w += 8) {
            __m512i x = holders(bits, n_bits, flip, w);
            _mm512_storeu_si512(member + w, x);
            sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(x));
        }
        size[j] = (uint64_t)_mm512_reduce_add_epi64(sum);
    }
}

TARGET static void members(const cofi_label *label, size_t n, uint32_t k, uint64_t *member, uint64_t *size)
{
    if (k < 16)
        find_members(label, n, 4, k, member, size);
    else
        find_members(label, n, 8, k, member, size);
}

static bool available(void)
{
    return cofi_processor_has(COFI_AVX512);
}

const cofi_kernel cofi_kernel_avx512 = {
    "avx512",     CELLS,       CELLS,   false, available, cofi_lookup_scratch,
    nearest_rows, revise_rows, members, count, expect,    coarse};
#endif
