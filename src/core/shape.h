/* Views that folders pass to each other: columns of ids, labels, scores. They own nothing. */
#pragma once

#include "real.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COFI_NONE UINT32_MAX /* in place of a number: there is none */

typedef struct cofi_ids {
    const void *codes;
    uint8_t width; /* bytes of one id: 1, 2 or 4 */
    bool streamed; /* in a mapped file that is large for the memory: src/rows/stream.h */
} cofi_ids;

static inline uint32_t cofi_id(cofi_ids ids, size_t row)
{
    if (ids.width == 1) return ((const uint8_t *)ids.codes)[row];
    if (ids.width == 2) return ((const uint16_t *)ids.codes)[row];
    return ((const uint32_t *)ids.codes)[row];
}

/* For rows that lie far apart. */
static inline void cofi_prefetch_id(cofi_ids ids, size_t row)
{
    __builtin_prefetch((const char *)ids.codes + row * ids.width);
}

/* First row of stretch number `at`, when n_rows rows are cut into n stretches of about equal length. The
 * product needs 64 bits even if addresses have 32. n, n_rows < 2^32. */
static inline size_t cofi_stretch_begin(size_t at, size_t n, size_t n_rows)
{
    return (size_t)((uint64_t)at * n_rows / n);
}

/* The first rows of the stretches from number `at` on, one after the other, without a division for each. */
typedef struct cofi_stretches {
    uint64_t n, row, step, rest, carry;
} cofi_stretches;

/* at, n < 2^32; n_rows < 2^32 too, or any number if `at` is 0 */
static inline cofi_stretches cofi_stretches_at(uint64_t at, uint64_t n, uint64_t n_rows)
{
    cofi_stretches s = {.n = n};
    if (n == 0) return s;
    s.step = n_rows / n;
    s.rest = n_rows % n;
    s.row = at * s.step + at * s.rest / n;
    s.carry = at * s.rest % n;
    return s;
}

static inline uint64_t cofi_next_stretch(cofi_stretches *s)
{
    uint64_t row = s->row;
    s->row += s->step;
    s->carry += s->rest;
    if (s->carry >= s->n) {
        s->carry -= s->n;
        s->row++;
    }
    return row;
}

/* The cluster of a row. Two bytes keep the traffic small: a pass writes one label per row. */
typedef uint16_t cofi_label;
enum { COFI_NO_LABEL = UINT16_MAX };

/* Number of entries per value for k clusters. It is even, for pairs of lanes; beyond eight clusters it is
 * an odd number of cache lines, so that entries of one cluster for neighbouring values do not fall into
 * the same cache set. */
static inline uint32_t cofi_stride(uint32_t k)
{
    if (k <= 8) return (k + 1) & ~1u;
    uint32_t lines = (k + 7) / 8;
    return 8 * (lines | 1);
}

/* A row's distance to cluster j is base[j] plus the sum over its attributes of value[g * stride + j], in
 * units of 1 / scale. With integers every order of addition gives the same sum, so threads, vector units
 * and combined attributes agree bit for bit. Past k, and for clusters that take no rows, base[] is
 * COFI_NEVER, which exceeds any sum; values past k are 0. The row belongs to the lowest j within COFI_TIE
 * of the least sum: sums that are equal in mathematics but not in floating point remain ties and are
 * decided in the same way everywhere. */
#define COFI_NEVER    (INT64_C(1) << 62)
#define COFI_SUM_BITS 60                 /* sums stay below 2^60 */
#define COFI_TIE      (INT64_C(1) << 14) /* 2^-46 of the largest sum: far above rounding errors */

typedef struct cofi_scores {
    uint32_t k, stride;
    int64_t *value; /* n_flat x stride; read through cofi_score_of */
    int64_t *base;  /* stride */
    double scale;
    /* The authors' program decides ties by the rounding of its own order of operations. To reproduce that,
     * these are its terms, in the layout of `value`; NULL otherwise. */
    double *plain;
    /* Per flat id: a value with the same scores, which refers to itself; only such values have entries in `value`. Most values
     * of a large column share their scores with others. NULL: every value has entries of its own. */
    const uint32_t *same_as;
} cofi_scores;

/* The flat id whose entries are the scores of value g. */
static inline uint32_t cofi_scored_as(const cofi_scores *s, uint32_t g)
{
    return s->same_as != NULL ? s->same_as[g] : g;
}

/* The scores of value g. */
static inline const int64_t *cofi_score_of(const cofi_scores *s, uint32_t g)
{
    return s->value + (size_t)cofi_scored_as(s, g) * s->stride;
}

/* Equation (9): the nearest cluster, the lowest within COFI_TIE of the least sum. */
static inline uint32_t cofi_least_sum(const cofi_scores *s, const int64_t *sum)
{
    int64_t least = sum[0];
    uint32_t first = 0;
    for (uint32_t j = 1; j < s->k; j++) least = sum[j] < least ? sum[j] : least;
    while (sum[first] > least + COFI_TIE) first++;
    return first;
}
