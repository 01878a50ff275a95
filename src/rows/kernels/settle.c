/* Decides the cluster of a row from its sums. All kernels use it, so that they decide ties in the same
 * way. */
#include "kernel.h"

/* The row's distance to cluster j in the authors' order of operations: the sum over attributes, then the
 * mean. */
static double plain_distance(const cofi_cells *rows, const cofi_scores *s, size_t row, uint32_t j)
{
    double sum = 0;
    for (size_t r = 0; r < rows->n_attrs; r++)
        sum += s->plain[(size_t)(rows->first[r] + cofi_id(rows->ids[r], row)) * s->stride + j];
    return sum / (double)rows->n_attrs;
}

static cofi_label settle_plain(const cofi_cells *rows, const cofi_scores *s, size_t row, const int64_t *sum,
                               uint32_t first)
{
    uint32_t best = first;
    int64_t limit = sum[first];
    for (uint32_t j = first + 1; j < s->k; j++) limit = sum[j] < limit ? sum[j] : limit;
    limit += COFI_TIE;
    double least = plain_distance(rows, s, row, first);
    for (uint32_t j = first + 1; j < s->k; j++) {
        if (sum[j] > limit) continue;
        double distance = plain_distance(rows, s, row, j);
        if (distance >= least) continue;
        least = distance;
        best = j;
    }
    return (cofi_label)best;
}

cofi_label cofi_settle(const cofi_cells *rows, const cofi_scores *s, size_t row, const int64_t *sum)
{
    uint32_t first = cofi_least_sum(s, sum);
    return s->plain == NULL ? (cofi_label)first : settle_plain(rows, s, row, sum, first);
}

/* Adds the scores of attributes begin..end-1 of one row. `stride` is a constant in the inlined versions,
 * which keeps the sums in registers. */
static inline __attribute__((always_inline)) void add_cells(const cofi_cells *rows, const cofi_scores *s,
                                                            uint32_t stride, size_t begin, size_t end,
                                                            size_t row, int64_t *sum)
{
    int64_t acc[8];
    memcpy(acc, sum, stride * sizeof *acc);
    for (size_t r = begin; r < end; r++) {
        uint32_t g = cofi_scored_as(s, rows->first[r] + cofi_id(rows->ids[r], row));
        const int64_t *value = s->value + (size_t)g * stride;
        for (uint32_t j = 0; j < stride; j++) acc[j] += value[j];
    }
    memcpy(sum, acc, stride * sizeof *acc);
}

static void add_some(const cofi_cells *rows, const cofi_scores *s, size_t begin, size_t end, size_t row,
                     int64_t *sum)
{
    switch (s->stride) {
    case 2:
        add_cells(rows, s, 2, begin, end, row, sum);
        return;
    case 4:
        add_cells(rows, s, 4, begin, end, row, sum);
        return;
    case 6:
        add_cells(rows, s, 6, begin, end, row, sum);
        return;
    case 8:
        add_cells(rows, s, 8, begin, end, row, sum);
        return;
    default:
        break;
    }
    for (size_t r = begin; r < end; r++) {
        const int64_t *value = cofi_score_of(s, rows->first[r] + cofi_id(rows->ids[r], row));
        for (uint32_t j = 0; j < s->stride; j++) sum[j] += value[j];
    }
}

void cofi_sum_rows(const cofi_cells *rows, const cofi_scores *s, const size_t *row, size_t n, int64_t *sum)
{
    enum { ATTRS = 32 };
    for (size_t i = 0; i < n; i++) memcpy(sum + i * s->stride, s->base, s->stride * sizeof *sum);
    for (size_t r = 0; r < rows->n_attrs; r += ATTRS) {
        size_t end = rows->n_attrs - r < ATTRS ? rows->n_attrs : r + ATTRS;
        for (size_t i = 0; i < n; i++) add_some(rows, s, r, end, row[i], sum + i * s->stride);
    }
}
