/* Log-likelihoods of values from the counts of a partition. */
#include "likelihood.h"

#include "bins.h"
#include "scores.h"

#include <math.h>

/* The rows of cluster j in each bin of a quantity, smoothed over neighbouring bins. */
static void smooth_bins(const cofi_value_counts *c, uint32_t j, double *rows)
{
    double all[COFI_SMOOTH_BINS];
    for (uint32_t v = 0; v < c->n_bins; v++) {
        uint64_t units = 0;
        for (uint32_t i = 0; i < c->k; i++) units += c->count[(size_t)v * c->stride + i];
        all[v] = (double)units / c->unit;
        rows[v] = (double)c->count[(size_t)v * c->stride + j] / c->unit;
    }
    cofi_bins_smooth(all, c->n_bins, rows);
}

void cofi_value_surprises(const cofi_value_counts *c, double scale, uint32_t stride, int64_t *value)
{
    bool smooth = c->n_bins > 0 && c->n_bins <= COFI_SMOOTH_BINS;
    double rows[COFI_SMOOTH_BINS];
    for (uint32_t j = 0; j < c->k; j++) {
        uint64_t total = 0;
        for (uint32_t v = 0; v < c->n_values; v++) total += c->count[(size_t)v * c->stride + j];
        double all = log((double)total / c->unit + 0.5 * c->n_present);
        if (smooth) smooth_bins(c, j, rows);
        for (uint32_t v = 0; v < c->n_values; v++) {
            double n =
                smooth && v < c->n_bins ? rows[v] : (double)c->count[(size_t)v * c->stride + j] / c->unit;
            value[(size_t)v * stride + j] = cofi_fixed_point(c->weight * (all - log(n + 0.5)), scale);
        }
    }
}
