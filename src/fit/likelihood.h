/* The class model that a partition implies: how likely it is that a further row of a cluster holds a value, given the
 * cluster's counts and a Dirichlet prior of 1/2 per value. */
#pragma once

#include <stdint.h>

typedef struct cofi_value_counts { /* of one attribute */
    const uint64_t *count;         /* [v * stride + j], in units */
    uint32_t stride, k, n_values;
    uint32_t n_bins;    /* the first values are so many bins of a quantity; 0: categories */
    uint32_t n_present; /* values that occur in some cluster */
    double unit;        /* units in a weight of 1 */
    double weight;      /* of the column */
} cofi_value_counts;

/* value[v * stride + j]: minus the logarithm of that probability, times the column's weight, in units of 1 / scale. The
 * bins of a quantity are smoothed. */
void cofi_value_surprises(const cofi_value_counts *counts, double scale, uint32_t stride, int64_t *value);

/* with more bins, counts stay as they are */
enum { COFI_SMOOTH_BINS = 256 };
/* Smooths a cluster's counts of neighbouring bins in place, at most COFI_SMOOTH_BINS of them. `all` has the counts or
 * shares of all rows. The sum stays the same. */
void cofi_bins_smooth(const double *all, uint32_t n_bins, double *count);
