/* The minimum spanning tree without computing all distances. */
#pragma once

#include "weights.h"

/* Finds the same edges in the same order as Prim's algorithm over all pairs (mst.h). It is faster if there
 * are many points in few dimensions. The points are not changed. Returns false if memory is short or if it
 * would visit more than `allowance` points; usually this is known early, and at the latest after twice as
 * many. In that case nothing has been written. */
bool cofi_mst_sparse(const cof_env *env, const cofi_points *points, double scale, double twin_length,
                     uint64_t allowance, cof_edge *edge, uint32_t *n_edges, uint32_t *root);
