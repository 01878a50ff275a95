/* Labels groups of rows with lookups: finds the cells, the 16-bit sums and the least sum, and uses the
 * full scores for the few rows whose lead is too small to be certain. */
#include "lookup.h"
#include "revise.h"

enum { ROWS = COFI_GROUP_ROWS, TILE = 8, MOST_GROUPS = 8 };

typedef struct room { /* the areas of the scratch memory */
    uint16_t *sum;    /* [k][ROWS] */
    int32_t *total;   /* [n_groups][k][ROWS], if there are several chunks */
    uint8_t *cell;    /* [terms of a chunk][ROWS] */
    int64_t *full;    /* [n_full(k)][stride] */
} room;

static size_t chunk_lookups(const cofi_plan *p)
{
    return p->n_lookups < p->chunk_terms ? p->n_lookups : p->chunk_terms;
}

/* Number of rows that are settled together. */
static size_t n_full(uint32_t k)
{
    enum { MOST = 64, MOST_SUMS = 1024 };
    size_t n = MOST_SUMS / cofi_stride(k);
    return n < 1 ? 1 : n < MOST ? n : MOST;
}

/* Number of groups handled together. The columns of a wide table lie on many memory pages, so more than a
 * few rows should be read from each page at a time. */
static size_t n_groups(const cofi_plan *p)
{
    return p->n_chunks == 1 ? 1 : p->k <= 8 ? MOST_GROUPS : p->k <= 32 ? 2 : 1;
}

size_t cofi_lookup_scratch(const cofi_plan *p)
{
    size_t n = 64 + (size_t)p->k * ROWS * sizeof(uint16_t) + chunk_lookups(p) * ROWS +
               n_full(p->k) * cofi_stride(p->k) * sizeof(int64_t);
    size_t n_revision = p->rest != NULL ? cofi_revision_scratch(p) : 0;
    if (p->n_chunks > 1) n += n_groups(p) * p->k * ROWS * sizeof(int32_t);
    return n > n_revision ? n : n_revision;
}

static room divide(const cofi_plan *p, void *scratch)
{
    room at;
    at.sum = (uint16_t *)(((uintptr_t)scratch + 63) & ~(uintptr_t)63);
    at.cell = (uint8_t *)(at.sum + (size_t)p->k * ROWS);
    at.full = (int64_t *)(at.cell + chunk_lookups(p) * ROWS);
    at.total = (int32_t *)(at.full + n_full(p->k) * cofi_stride(p->k));
    return at;
}

/* Vectors of eight numbers, which all supported processors have: compilers transpose such loops number by number. */
typedef uint16_t eight __attribute__((vector_size(16)));

static inline eight zip_low(eight a, eight b)
{
    return (eight){a[0], b[0], a[1], b[1], a[2], b[2], a[3], b[3]};
}

static inline eight zip_high(eight a, eight b)
{
    return (eight){a[4], b[4], a[5], b[5], a[6], b[6], a[7], b[7]};
}

/* Transposes eight rows of eight numbers. Every round moves one bit of the row number to the end of the column number. */
static inline void transpose(eight row[TILE])
{
    eight next[TILE];
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < TILE / 2; i++) {
            next[2 * i] = zip_low(row[i], row[i + TILE / 2]);
            next[2 * i + 1] = zip_high(row[i], row[i + TILE / 2]);
        }
        memcpy(row, next, sizeof next);
    }
}

enum { BATCH = 16 }; /* wide attributes whose terms are added together */

/* Where the terms of a wide attribute are, per row; past n, those of some row. */
static void find_terms(const cofi_plan *p, uint32_t w, size_t row, size_t n, uint32_t *at)
{
    uint32_t r = p->attr[p->rows->n_attrs - (p->n_terms - p->n_lookups) + w], first = p->rows->first[r];
    cofi_ids ids = p->rows->ids[r];
    for (size_t i = 0; i < n; i++) at[i] = cofi_id(ids, row + i);
    for (size_t i = 0; p->scores->same_as != NULL && i < n; i++)
        at[i] = p->scores->same_as[first + at[i]] - first;
    for (size_t i = n; i % TILE != 0; i++) at[i] = at[0];
}

/* Adds the terms of up to BATCH wide attributes, for eight rows and eight clusters at a time. */
static void add_batch(const cofi_plan *p, uint32_t begin, uint32_t n_wide, size_t row, size_t n,
                      uint16_t *sum)
{
    enum { AHEAD = 16 }; /* rows; their values lie in no order, so their terms are prefetched */
    uint32_t at[BATCH][ROWS];
    for (uint32_t w = 0; w < n_wide; w++) find_terms(p, begin + w, row, n, at[w]);
    for (size_t i = 0; i < n; i += TILE) {
        for (uint32_t w = 0; w < n_wide; w++)
            for (uint32_t x = 0; x < TILE && i + AHEAD + x < n; x++)
                __builtin_prefetch(p->wide +
                                   (p->wide_first[begin + w] + at[w][i + AHEAD + x]) * p->wide_stride);
        for (uint32_t j0 = 0; j0 < p->k; j0 += TILE) {
            eight acc[TILE] = {{0}}, term, old;
            for (uint32_t w = 0; w < n_wide; w++) {
                const uint16_t *table = p->wide + p->wide_first[begin + w] * p->wide_stride + j0;
                for (uint32_t x = 0; x < TILE; x++) {
                    memcpy(&term, table + (size_t)at[w][i + x] * p->wide_stride, sizeof term);
                    acc[x] += term;
                }
            }
            transpose(acc);
            for (uint32_t j = 0; j < TILE && j0 + j < p->k; j++) {
                memcpy(&old, sum + (size_t)(j0 + j) * ROWS + i, sizeof old);
                old += acc[j];
                memcpy(sum + (size_t)(j0 + j) * ROWS + i, &old, sizeof old);
            }
        }
    }
}

/* Sums one chunk of terms. A cluster that takes no rows starts above all others and remains there. */
static void add_chunk(const cofi_plan *p, const cofi_lanes *lanes, uint32_t chunk, size_t row, size_t n,
                      room *at)
{
    uint32_t begin = chunk * p->chunk_terms,
             end = begin + p->chunk_terms < p->n_terms ? begin + p->chunk_terms : p->n_terms;
    uint32_t narrow = end < p->n_lookups ? end : p->n_lookups;
    const uint16_t *start = chunk == 0 ? p->start : p->start_later;
    if (begin < narrow) {
        lanes->cells(p, begin, narrow, row, n, at->cell);
        lanes->add(p, begin, narrow, row, ROWS, at->cell, start, at->sum);
    } else {
        for (uint32_t j = 0; j < p->k; j++)
            for (size_t i = 0; i < ROWS; i++) at->sum[(size_t)j * ROWS + i] = start[j];
    }
    uint32_t wide = begin > p->n_lookups ? begin : p->n_lookups;
    for (; wide < end; wide += BATCH)
        add_batch(p, wide - p->n_lookups, end - wide < BATCH ? end - wide : BATCH, row, n, at->sum);
}

/* The same as cofi_lanes.least, for sums of several chunks, which stay below 2^31. */
static void least_total(const int32_t *restrict total, uint32_t k, uint32_t bound,
                        cofi_label *restrict nearest, uint16_t *restrict lead, uint64_t *unsure)
{
    int32_t best[ROWS], second[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        best[i] = total[i];
        second[i] = INT32_MAX;
        nearest[i] = 0;
    }
    for (uint32_t j = 1; j < k; j++) {
        const int32_t *x = total + (size_t)j * ROWS;
        for (size_t i = 0; i < ROWS; i++) {
            int32_t above = x[i] > best[i] ? x[i] : best[i];
            second[i] = above < second[i] ? above : second[i];
            nearest[i] = x[i] < best[i] ? (cofi_label)j : nearest[i];
            best[i] = x[i] < best[i] ? x[i] : best[i];
        }
    }
    memset(unsure, 0, COFI_GROUP_WORDS * sizeof *unsure);
    for (size_t i = 0; i < ROWS; i++) {
        uint32_t gap = (uint32_t)(second[i] - best[i]);
        lead[i] = (uint16_t)(gap < UINT16_MAX ? gap : UINT16_MAX);
        unsure[i / 64] |= (uint64_t)(gap < bound) << i % 64;
    }
}

/* Sums all chunks for n rows, which may span several groups. */
static void sum_chunks(const cofi_plan *p, const cofi_lanes *lanes, size_t row, size_t n, room *at)
{
    size_t n_sums = (size_t)p->k * ROWS;
    memset(at->total, 0, (n + ROWS - 1) / ROWS * n_sums * sizeof *at->total);
    for (uint32_t chunk = 0; chunk < p->n_chunks; chunk++) {
        for (size_t done = 0; done < n; done += ROWS) {
            add_chunk(p, lanes, chunk, row + done, n - done < ROWS ? n - done : ROWS, at);
            lanes->join(at->sum, n_sums, at->total + done / ROWS * n_sums);
        }
    }
}

/* Labels the rows whose bits are set in `unsure` by their full scores. */
static void settle_rows(const cofi_plan *p, const uint64_t *unsure, size_t row, size_t n, room *at,
                        cofi_label *label)
{
    size_t list[MOST_GROUPS * ROWS], n_list = 0, most = n_full(p->k);
    for (size_t w = 0; w * 64 < n; w++)
        for (uint64_t bits = unsure[w]; bits != 0; bits &= bits - 1)
            list[n_list++] = row + w * 64 + (size_t)__builtin_ctzll(bits);
    while (n_list > 0 && list[n_list - 1] >= row + n) n_list--;
    for (size_t done = 0; done < n_list; done += most) {
        size_t n_here = n_list - done < most ? n_list - done : most;
        cofi_sum_rows(p->rows, p->scores, list + done, n_here, at->full);
        for (size_t x = 0; x < n_here; x++) {
            size_t i = list[done + x] - row;
            cofi_label nearest = label[i];
            label[i] = cofi_settle(p->rows, p->scores, row + i, at->full + x * p->scores->stride);
            if (p->key != NULL) p->key[row + i] = p->key_begin;
            if (p->rest != NULL &&
                label[i] != nearest) { /* revisions need the sums of this label; i < ROWS */
                p->rest[row + i] = p->own_sum[row + i];
                p->own_sum[row + i] = at->sum[(size_t)label[i] * ROWS + i];
            }
        }
    }
}

/* The sum of a term in steps is less than the true one by less than one step. */
static void put_keys(const cofi_plan *p, const uint16_t *lead, size_t n, uint16_t *key)
{
    const uint16_t hidden = (uint16_t)(p->n_terms + 1);
    for (size_t i = 0; i < n; i++)
        key[i] = (uint16_t)(p->key_begin + (lead[i] > hidden ? lead[i] - hidden : 0) / 2);
}

/* Labels one group and marks the rows that must be settled. `total` has the sums if there are several
 * chunks. */
static void nearest_of_group(const cofi_plan *p, const cofi_lanes *lanes, size_t row, size_t n, room *at,
                             const int32_t *total, cofi_label *label, uint64_t *unsure)
{
    uint16_t lead[ROWS];
    cofi_label whole[ROWS], *to = n == ROWS ? label : whole; /* kernels write whole groups */
    if (p->n_chunks > 1) {
        least_total(total, p->k, p->bound, to, lead, unsure);
    } else {
        add_chunk(p, lanes, 0, row, n, at);
        lanes->least(at->sum, p->k, (uint16_t)p->bound, to, lead, unsure);
        for (size_t i = 0; p->rest != NULL && i < n; i++)
            cofi_plan_note(p, at->sum + i, row + i, to[i], lead[i], to[i]);
        if (p->key != NULL) put_keys(p, lead, n, p->key + row);
    }
    if (to == whole) memcpy(label, to, n * sizeof *to);
}

void cofi_lookup_nearest(const cofi_plan *p, const cofi_lanes *lanes, size_t begin, size_t n_rows,
                         cofi_label *nearest, void *scratch)
{
    room at = divide(p, scratch);
    size_t together = n_groups(p) * ROWS;
    uint64_t unsure[MOST_GROUPS * COFI_GROUP_WORDS];
    for (size_t done = 0; done < n_rows; done += together) {
        size_t row = begin + done, n = n_rows - done < together ? n_rows - done : together;
        cofi_label *label = nearest + done;
        if (p->n_chunks > 1) sum_chunks(p, lanes, row, n, &at);
        for (size_t i = 0; i < n; i += ROWS)
            nearest_of_group(p, lanes, row + i, n - i < ROWS ? n - i : ROWS, &at, at.total + i * p->k,
                             label + i, unsure + i / 64);
        settle_rows(p, unsure, row, n, &at, label);
    }
}
