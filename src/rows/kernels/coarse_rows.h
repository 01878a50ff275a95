/* The coarse E step over some rows, for starts, which need no more than four to six digits. Surprises of cells are whole
 * numbers of 32 bits, so that their sums are exact; exponentials are floats, and memberships whole units of 32 bits. Every
 * kernel file compiles this text for its instruction set. The operations and their order are the same everywhere, and so
 * are the results, bit for bit. */
#pragma once

#include "expect_rows.h"

/* Eight classes, in as many registers as the instruction set needs for them. */
typedef int32_t cofi_ints __attribute__((vector_size(4 * COFI_COARSE_PART)));
typedef uint32_t cofi_words __attribute__((vector_size(4 * COFI_COARSE_PART)));
typedef float cofi_floats __attribute__((vector_size(4 * COFI_COARSE_PART)));

/* exp2(x) for -60 <= x <= 0 with a relative error of about 2e-7: the whole part goes through the exponent bits, the rest
 * through a polynomial. exp2(0) is 1. */
COFI_INLINE void cofi_coarse_exp2(cofi_floats *of)
{
    cofi_floats x = *of;
    const float to_whole = 0x1.8p23F; /* adding it leaves a whole number in the lowest bits */
    cofi_floats shifted = x + to_whole, rest = x - (shifted - to_whole), power;
    cofi_floats sum = 1.32647273e-3F * rest + 9.67151299e-3F;
    cofi_words bits;
    sum = sum * rest + 5.55073358e-2F;
    sum = sum * rest + 2.40222424e-1F;
    sum = sum * rest + 6.93147004e-1F;
    sum = sum * rest + 1.0F;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 127) << 23;
    memcpy(&power, &bits, sizeof power);
    *of = sum * power;
}

/* Surprises of n_rows rows, [row][lanes], under the classes of one tile. `width` is a constant where it is inlined, and the
 * sums stay in registers. */
COFI_INLINE void cofi_coarse_tile(const int32_t *table, size_t n_flat, const uint32_t *id, size_t n_attrs,
                                  size_t n_rows, uint32_t width, uint32_t lanes, uint32_t *to)
{
    enum { MOST = COFI_COARSE_HELD / COFI_COARSE_PART };
    uint32_t n_parts = width / COFI_COARSE_PART;
    for (size_t i = 0; i < n_rows; i++, id += n_attrs, to += lanes) {
        cofi_ints sum[MOST], term;
        for (uint32_t p = 0; p < n_parts; p++)
            memcpy(&sum[p], table + n_flat * width + p * COFI_COARSE_PART, sizeof term);
        for (size_t r = 0; r < n_attrs; r++) {
            const int32_t *from = table + (size_t)id[r] * width;
            for (uint32_t p = 0; p < n_parts; p++) {
                memcpy(&term, from + p * COFI_COARSE_PART, sizeof term);
                sum[p] += term;
            }
        }
        for (uint32_t p = 0; p < n_parts; p++) memcpy(to + p * COFI_COARSE_PART, &sum[p], sizeof term);
    }
}

/* Turns the surprises of one row into memberships in whole units. */
COFI_INLINE void cofi_coarse_share(const cofi_coarse_job *job, uint32_t lanes, uint32_t *entry)
{
    cofi_ints surprise, least, less;
    cofi_floats share, total = {0};
    memcpy(&least, entry, sizeof least);
    for (uint32_t j = COFI_COARSE_PART; j < lanes; j += COFI_COARSE_PART) {
        memcpy(&surprise, entry + j, sizeof surprise);
        less = surprise < least;
        least = (surprise & less) | (least & ~less);
    }
    int32_t of_row = least[0];
    for (uint32_t x = 1; x < COFI_COARSE_PART; x++) of_row = least[x] < of_row ? least[x] : of_row;
    for (uint32_t j = 0; j < lanes; j += COFI_COARSE_PART) {
        memcpy(&surprise, entry + j, sizeof surprise);
        surprise = of_row - surprise;
        less = surprise < job->lowest;
        surprise = (job->lowest & less) | (surprise & ~less);
        share = __builtin_convertvector(surprise, cofi_floats) * job->to_log2;
        cofi_coarse_exp2(&share);
        total += share;
        memcpy(entry + j, &share, sizeof share);
    }
    for (uint32_t n = COFI_COARSE_PART / 2; n > 0; n /= 2)
        for (uint32_t x = 0; x < n; x++) total[x] += total[x + n];
    float units = (float)job->e->membership / total[0];
    for (uint32_t j = 0; j < lanes; j += COFI_COARSE_PART) {
        cofi_words whole;
        memcpy(&share, entry + j, sizeof share);
        share = share * units + 0x1p23F; /* the nearest whole number, in the lowest bits */
        memcpy(&whole, &share, sizeof whole);
        whole &= 0x7FFFFF;
        memcpy(entry + j, &whole, sizeof whole);
    }
}

/* How many times a row counts. */
COFI_INLINE uint32_t cofi_coarse_times(const cofi_visited *rows, size_t at)
{
    if (rows->weight != NULL) return (uint32_t)rows->weight[at];
    return rows->copies != NULL ? rows->copies[at] : 1;
}

/* Adds the memberships of a row to the counts of their values. Most are less than half a unit and add nothing. */
COFI_INLINE void cofi_coarse_add(const cofi_coarse_job *job, const uint32_t *entry, uint32_t times,
                                 const uint32_t *id, uint32_t width, uint32_t lanes, uint32_t *count)
{
    size_t n_attrs = job->cells->n_attrs;
    for (uint32_t j = 0; j < lanes; j += COFI_COARSE_PART) {
        uint64_t any[COFI_COARSE_PART / 2];
        cofi_words own, sum;
        memcpy(any, entry + j, sizeof any);
        if ((any[0] | any[1] | any[2] | any[3]) == 0) continue;
        memcpy(&own, entry + j, sizeof own);
        own *= times;
        uint32_t *to = count + cofi_coarse_index(job->n_flat, width, 0, j);
        for (size_t r = 0; r <= n_attrs; r++) {
            uint32_t *of_value = to + (r < n_attrs ? id[r] : job->n_flat) * width;
            memcpy(&sum, of_value, sizeof sum);
            sum += own;
            memcpy(of_value, &sum, sizeof sum);
        }
    }
}

COFI_INLINE void cofi_coarse_batch(const cofi_coarse_job *job, const cofi_expect_batch *b, uint32_t width,
                                   uint32_t lanes, cofi_coarse_part *part)
{
    size_t n_attrs = job->cells->n_attrs;
    uint32_t *id = part->id + (part->keeps ? part->n_visited * n_attrs : 0);
    if (!part->kept) cofi_expect_ids(job->cells, b, id);
    part->n_visited += b->n;
    for (uint32_t j = 0; j < lanes; j += width)
        cofi_coarse_tile(job->surprise + cofi_coarse_index(job->n_flat, width, 0, j), job->n_flat, id,
                         n_attrs, b->n, width, lanes, part->entry + j);
    /* one step for all rows, then the next: the operations of one row wait for each other, those of several do not */
    for (size_t i = 0; i < b->n; i++) cofi_coarse_share(job, lanes, part->entry + i * lanes);
    for (size_t i = 0; i < b->n; i++) {
        uint32_t times = cofi_coarse_times(&job->rows, b->at[i]);
        cofi_coarse_add(job, part->entry + i * lanes, times, id + i * n_attrs, width, lanes, part->count);
        part->weight += times;
    }
}

COFI_INLINE void cofi_coarse_some(const cofi_coarse_job *job, size_t begin, size_t end, uint32_t width,
                                  uint32_t lanes, cofi_coarse_part *part)
{
    cofi_expect_batch b = {.n = 0};
    size_t most = cofi_coarse_most(lanes, job->cells->n_attrs);
    while (cofi_expect_fill(&job->rows, &begin, end, most, &b))
        cofi_coarse_batch(job, &b, width, lanes, part);
}

/* With few classes, their number is a constant in the inlined version. */
COFI_INLINE void cofi_coarse_rows(const cofi_coarse_job *job, size_t begin, size_t end,
                                  cofi_coarse_part *part)
{
    uint32_t lanes = cofi_coarse_lanes(job->e->k);
    switch (lanes) {
    case 8:
        cofi_coarse_some(job, begin, end, 8, 8, part);
        break;
    case 16:
        cofi_coarse_some(job, begin, end, 16, 16, part);
        break;
    case 24:
        cofi_coarse_some(job, begin, end, 24, 24, part);
        break;
    case 32:
        cofi_coarse_some(job, begin, end, 32, 32, part);
        break;
    default:
        cofi_coarse_some(job, begin, end, COFI_COARSE_WIDE, lanes, part);
    }
}
