/* The spanning tree without looking at all pairs of points. */
#ifndef COFI_MST_SPARSE_H
#define COFI_MST_SPARSE_H

#include "weights.h"

/* The same edges in the same order as Prim's algorithm over all pairs finds (mst.h), for points so many and in
 * so few dimensions that looking only near each pays. The points are left as they are. False if it gives up,
 * for lack of memory or because it would look at more than `allowance` points, which mostly shows early: at
 * the latest when it has looked at twice as many. Then nothing has been written. */
bool cofi_mst_sparse(const cof_env *env, const cofi_points *points, double scale, double twin_length,
                     uint64_t allowance, cof_edge *edge, uint32_t *n_edges, uint32_t *root);

#endif
