/* How well single clusters of one partition are found in another. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* For every cluster j of `own`, adds to sum[j] the greatest Jaccard index of j and a cluster of `other`: the
 * number of rows in both divided by the number of rows in either. An empty cluster counts as found.
 *
 * `own` and `other` are the labels of n rows, below k; rows with a negative label are left out.
 * `work` has k * (k + 2) entries and is overwritten. */
void cofi_overlap_add(const int32_t *own, const int32_t *other, size_t n, uint32_t k, uint32_t *work,
                      double *sum);
