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

static int32_t settle_plain(const cofi_rows *rows, const cofi_scores *s, size_t row, const int64_t *sum,
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
    return (int32_t)best;
}

int32_t cofi_settle(const cofi_rows *rows, const cofi_scores *s, size_t row, const int64_t *sum)
{
    int64_t least = sum[0];
    for (uint32_t j = 1; j < s->k; j++) least = sum[j] < least ? sum[j] : least;
    uint32_t first = 0;
    while (sum[first] > least + COFI_TIE) first++;
    if (s->plain == NULL) return (int32_t)first;
    return settle_plain(rows, s, row, sum, first, least + COFI_TIE);
}

/* By how much the cluster leads all others. */
static float lead_of(const cofi_scores *s, const int64_t *sum, int32_t best)
{
    int64_t second = COFI_NEVER;
    for (uint32_t j = 0; j < s->k; j++)
        if (j != (uint32_t)best && sum[j] < second) second = sum[j];
    return (float)((double)(second - sum[best]) / s->scale);
}

int32_t cofi_settle_row(const cofi_rows *rows, const cofi_scores *s, size_t row, int64_t *sum, float *lead)
{
    memcpy(sum, s->base, s->stride * sizeof *sum);
    for (size_t r = 0; r < rows->n_attrs; r++) {
        const int64_t *value = s->value + (size_t)(rows->first[r] + cofi_id(rows->ids[r], row)) * s->stride;
        for (uint32_t j = 0; j < s->stride; j++) sum[j] += value[j];
    }
    int32_t best = cofi_settle(rows, s, row, sum);
    if (lead != NULL) *lead = lead_of(s, sum, best);
    return best;
}
