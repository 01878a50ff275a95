/* Minimum spanning tree over the points of one attribute. */
#pragma once

#include "weights.h"

/* Memory for one tree; all arrays have `capacity` entries. */
typedef struct cofi_mst {
    const cof_env *env;       /* for the further memory of the sparse algorithm */
    double *key, *key_square; /* least weight of an edge to the tree, and its square before scaling */
    double *joined;           /* k: coordinates of the point that joined last */
    uint32_t *point, *parent; /* per point outside the tree */
} cofi_mst;

/* The memory is that of the blocks; their status says whether it was enough. */
void cofi_mst_open(cofi_blocks *blocks, uint32_t k, uint32_t capacity, cofi_mst *mst);

/* Finds the edges between value ids, in the order in which Prim's algorithm finds them; edge.u joined the
 * tree before edge.v. Returns their number: the number of values that occur, minus one. `root` is set to the
 * value from which the tree was grown, or COFI_NONE if no value occurs.
 *
 * The length of an edge is `scale` times the Euclidean distance of its points; between values with equal
 * profiles it is `twin_length`.
 *
 * No distance matrix is stored: n points take n * n * k time and n memory. Ties: the tree starts from a
 * vertex of the shortest edge, the lowest value first; the next vertex is the lowest of the nearest; an
 * edge is replaced only by a strictly shorter one. With another rule for ties, a different tree of equal
 * length could result, and all later labels could differ. The points are overwritten. */
uint32_t cofi_mst_prim(cofi_mst *mst, cofi_points *points, double scale, double twin_length, cof_edge *edge,
                       uint32_t *root);

/* The same result; uses mst_sparse.h if that is faster. */
uint32_t cofi_mst_build(cofi_mst *mst, cofi_points *points, double scale, double twin_length, cof_edge *edge,
                        uint32_t *root);
