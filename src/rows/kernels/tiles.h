/* The part of a vector kernel that is the same for every instruction set. It is included by the kernel's source after
 * TARGET, the attribute of functions that use the instructions; ROWS, CELLS, TILE and STEP; and
 *   add_tile: sums STEP rows for n_clusters clusters, at most TILE, which is a constant where it is inlined; of n_terms
 *             lookups the first n_cheap are cheap
 *   least:    see cofi_lanes
 * TILE_CASES(CALL) has a case for every number of clusters below TILE. */
#pragma once

#include "coarse_rows.h"
#include "lookup.h"
#include "revise.h"

/* One case of a switch over the number of clusters, which is a constant in the call. */
#define COFI_CASE(n, CALL)                                                                                   \
    case n:                                                                                                  \
        CALL(n);                                                                                             \
        break;
#define COFI_CASES_1_TO_3(CALL) COFI_CASE(1, CALL) COFI_CASE(2, CALL) COFI_CASE(3, CALL)
#define COFI_CASES_1_TO_7(CALL)                                                                              \
    COFI_CASES_1_TO_3(CALL) COFI_CASE(4, CALL) COFI_CASE(5, CALL) COFI_CASE(6, CALL) COFI_CASE(7, CALL)

TARGET static void cells(const cofi_plan *p, uint32_t begin, uint32_t end, size_t row, size_t n,
                         uint8_t *cell)
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

TARGET static void add(const cofi_plan *p, uint32_t begin, uint32_t end, size_t row, size_t n,
                       const uint8_t *cell, const uint16_t *start, uint16_t *sum)
{
    size_t stride = (size_t)p->k * CELLS;
    uint32_t n_cheap = p->n_cheap < begin ? 0 : p->n_cheap < end ? p->n_cheap - begin : end - begin;
    for (uint32_t j = 0; j < p->k; j += TILE) {
        const uint16_t *table = p->table + begin * stride + (size_t)j * CELLS;
        for (size_t i = 0; i < n; i += STEP) {
            if (j == 0 && i % 64 == 0) cofi_prefetch_lookups(p, begin, end, row + i);
            uint16_t *to = sum + (size_t)j * ROWS + i;
#define ADD(n_clusters) add_tile(table, stride, end - begin, n_cheap, n_clusters, cell + i, start + j, to)
            switch (p->k - j) {
                TILE_CASES(ADD)
            default:
                ADD(TILE);
            }
#undef ADD
        }
    }
}

TARGET static void join(const uint16_t *sum, size_t n, int32_t *total)
{
    cofi_lookup_join(sum, n, total);
}

static const cofi_lanes lanes = {cells, add, least, join};

static void nearest_rows(const cofi_plan *plan, size_t begin, size_t n, cofi_label *nearest, void *scratch)
{
    cofi_lookup_nearest(plan, &lanes, begin, n, nearest, scratch);
}

static void revise_rows(const cofi_plan *plan, const struct cofi_revision *revision, size_t begin, size_t n,
                        cofi_label *label, void *scratch)
{
    cofi_lookup_revise(plan, revision, &lanes, begin, n, label, scratch);
}

TARGET static void expect(const cofi_expect_job *job, size_t begin, size_t end, cofi_expect_part *part)
{
    cofi_expect_rows(job, begin, end, part);
}

TARGET static void coarse(const cofi_coarse_job *job, size_t begin, size_t end, cofi_coarse_part *part)
{
    cofi_coarse_rows(job, begin, end, part);
}
