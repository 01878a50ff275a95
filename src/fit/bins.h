/* Smooth distributions over the bins of a quantity. */
#pragma once

#include <stdint.h>

/* with more bins, counts stay as they are */
enum { COFI_SMOOTH_BINS = 256 };

/* Smooths a cluster's counts of neighbouring bins in place, at most COFI_SMOOTH_BINS of them. `all` has the counts or
 * shares of all rows. Rows with a value are what counts: the sum stays the same. */
void cofi_bins_smooth(const double *all, uint32_t n_bins, double *count);
