/* How far single clusters of one partition are found again in another. */
#ifndef COFI_OVERLAP_H
#define COFI_OVERLAP_H

#include <stddef.h>
#include <stdint.h>

/* Adds to sum[j], for every cluster j of `own`, the Jaccard index of j and the cluster of `other` most like it:
 * rows in both over rows in either. An empty cluster counts as found.
 *
 * own, other  labels of n rows, below k; a row negative in `own` is left out.
 * work        k * (k + 2) numbers, overwritten. */
void cofi_overlap_add(const int32_t *own, const int32_t *other, size_t n, uint32_t k, uint32_t *work,
                      double *sum);

#endif
