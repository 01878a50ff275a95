/* Log-likelihoods of values from the counts of a partition. */
#include "likelihood.h"

#include "../core/real.h"

#include "scores.h"

#include <math.h>

enum { LANES = 8 };

/* ---- Bins of a quantity --------------------------------------------------------------------------- */

/* Neighbouring bins of a quantity have similar probabilities, and a cluster has few rows in each bin. So its density is
 * estimated by a kernel: how much more frequent a bin is in the cluster than in the table, averaged over the bins nearby
 * with triangular weights. The width follows Silverman's rule of thumb, 1.06 deviations / n^(1/5), so it shrinks with
 * the rows of the cluster and with its spread; below one bin nothing is smoothed. Without this, columns that carry
 * nothing seem to carry something by chance, and outvote categories that do. */

/* Half the width of a triangle that has the deviation of Silverman's kernel, in bins. */
static double kernel_reach(const double *count, uint32_t n_bins, double *total)
{
    double n = 0, sum = 0, squares = 0;
    for (uint32_t b = 0; b < n_bins; b++) {
        n += count[b];
        sum += count[b] * b;
        squares += count[b] * b * b;
    }
    *total = n;
    if (n < 1) return 0;
    double variance = squares / n - sum / n * (sum / n);
    return 1.06 * sqrt(6 * fmax(variance, 0)) * cofi_exp(-0.2 * cofi_ln(n));
}

void cofi_bins_smooth(const double *all, uint32_t n_bins, double *count)
{
    double smooth[COFI_SMOOTH_BINS], total, sum = 0, reach = kernel_reach(count, n_bins, &total);
    if (reach <= 1) return;
    uint32_t far = (uint32_t)fmin(ceil(reach) - 1, n_bins - 1);
    for (uint32_t b = 0; b < n_bins; b++) {
        double here = 0, expected = 0;
        for (uint32_t c = b > far ? b - far : 0; c < n_bins && c <= b + far; c++) {
            double weight = 1 - fabs((double)c - (double)b) / reach;
            here += weight * count[c];
            expected += weight * all[c];
        }
        smooth[b] = expected > 0 ? here / expected * all[b] : 0;
        sum += smooth[b];
    }
    for (uint32_t b = 0; sum > 0 && b < n_bins; b++) count[b] = smooth[b] * (total / sum);
}

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

static int64_t surprise(const cofi_value_counts *c, double all, double ln, double scale)
{
    return cofi_fixed_point(c->weight * (all - ln), scale);
}

/* Clusters first to first + n - 1. They are handled together because the entries of a value for them share a cache line.
 * Most values of a large column do not occur in a cluster, and have one surprise in common. */
static void group_surprises(const cofi_value_counts *c, uint32_t first, uint32_t n, double scale,
                            uint32_t stride, int64_t *value)
{
    uint64_t total[LANES] = {0};
    double all[LANES];
    int64_t none[LANES];
    for (uint32_t v = 0; v < c->n_values; v++)
        for (uint32_t i = 0; i < n; i++) total[i] += c->count[(size_t)v * c->stride + first + i];
    for (uint32_t i = 0; i < n; i++) {
        all[i] = cofi_ln((double)total[i] / c->unit + 0.5 * c->n_present);
        none[i] = surprise(c, all[i], cofi_ln(0.5), scale);
    }
    for (uint32_t v = 0; v < c->n_values; v++)
        for (uint32_t i = 0; i < n; i++) {
            uint64_t units = c->count[(size_t)v * c->stride + first + i];
            value[(size_t)v * stride + first + i] =
                units == 0 ? none[i] : surprise(c, all[i], cofi_ln((double)units / c->unit + 0.5), scale);
        }
    if (c->n_bins == 0 || c->n_bins > COFI_SMOOTH_BINS) return;
    for (uint32_t i = 0; i < n; i++) {
        double rows[COFI_SMOOTH_BINS];
        smooth_bins(c, first + i, rows);
        for (uint32_t v = 0; v < c->n_bins; v++)
            value[(size_t)v * stride + first + i] = surprise(c, all[i], cofi_ln(rows[v] + 0.5), scale);
    }
}

void cofi_value_surprises(const cofi_value_counts *c, double scale, uint32_t stride, int64_t *value)
{
    for (uint32_t first = 0; first < c->k; first += LANES)
        group_surprises(c, first, c->k - first < LANES ? c->k - first : LANES, scale, stride, value);
}
