/* Which cluster a row belongs to once its sums are known. Shared by all kernels, so that ties fall alike. */
#include "pass.h"

/* The row's distance to cluster j as the authors' program adds it up: attribute by attribute, then the mean. */
static double plain_distance(const cofi_rows *rows, const cofi_scores *s, size_t row, uint32_t j)
{
    double sum = 0;
    for (size_t r = 0; r < rows->n_attrs; r++)
        sum += s->plain[(size_t)(rows->first[r] + cofi_id(rows->ids[r], row)) * s->stride + j];
    return sum / (double)rows->n_attrs;
}

static cofi_label settle_plain(const cofi_rows *rows, const cofi_scores *s, size_t row, const int64_t *sum,
                               uint32_t first, int64_t limit)
{
    uint32_t best = first;
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

cofi_label cofi_settle(const cofi_rows *rows, const cofi_scores *s, size_t row, const int64_t *sum)
{
    int64_t least = sum[0];
    for (uint32_t j = 1; j < s->k; j++) least = sum[j] < least ? sum[j] : least;
    uint32_t first = 0;
    while (sum[first] > least + COFI_TIE) first++;
    if (s->plain == NULL) return (cofi_label)first;
    return settle_plain(rows, s, row, sum, first, least + COFI_TIE);
}

/* By how much the cluster leads all others. */
static float lead_of(const cofi_scores *s, const int64_t *sum, cofi_label best)
{
    int64_t second = COFI_NEVER;
    for (uint32_t j = 0; j < s->k; j++)
        if (j != best && sum[j] < second) second = sum[j];
    return (float)((double)(second - sum[best]) / s->scale);
}

/* The sums of one row; `stride` is a constant where this is inlined, which keeps them in registers. */
static inline __attribute__((always_inline)) void add_row(const cofi_rows *rows, const cofi_scores *s,
                                                          uint32_t stride, size_t row, int64_t *sum)
{
    int64_t acc[8];
    memcpy(acc, s->base, stride * sizeof *acc);
    for (size_t r = 0; r < rows->n_attrs; r++) {
        const int64_t *value = s->value + (size_t)(rows->first[r] + cofi_id(rows->ids[r], row)) * stride;
        for (uint32_t j = 0; j < stride; j++) acc[j] += value[j];
    }
    memcpy(sum, acc, stride * sizeof *acc);
}

static void add_long_row(const cofi_rows *rows, const cofi_scores *s, size_t row, int64_t *sum)
{
    memcpy(sum, s->base, s->stride * sizeof *sum);
    for (size_t r = 0; r < rows->n_attrs; r++) {
        const int64_t *value = s->value + (size_t)(rows->first[r] + cofi_id(rows->ids[r], row)) * s->stride;
        for (uint32_t j = 0; j < s->stride; j++) sum[j] += value[j];
    }
}

cofi_label cofi_settle_row(const cofi_rows *rows, const cofi_scores *s, size_t row, int64_t *sum, float *lead)
{
    if (s->stride == 2)
        add_row(rows, s, 2, row, sum);
    else if (s->stride == 4)
        add_row(rows, s, 4, row, sum);
    else if (s->stride == 6)
        add_row(rows, s, 6, row, sum);
    else if (s->stride == 8)
        add_row(rows, s, 8, row, sum);
    else
        add_long_row(rows, s, row, sum);
    cofi_label best = cofi_settle(rows, s, row, sum);
    if (lead != NULL) *lead = lead_of(s, sum, best);
    return best;
}
