/* Minimum spanning tree over the points of one attribute. */
#ifndef COFI_MST_H
#define COFI_MST_H

#include "weights.h"

/* Memory of one run; all arrays hold `capacity` entries. */
typedef struct cofi_mst {
    cofi_blocks own;
    double *key, *key_square; /* least weight to the tree, and its square before scaling */
    double *joined;           /* k: the point that joined last */
    uint32_t *point, *parent; /* of the points still outside */
} cofi_mst;

cof_status cofi_mst_open(const cof_env *env, uint32_t k, uint32_t capacity, cofi_mst *mst);
void cofi_mst_close(cofi_mst *mst); /* fine after a failed open */

/* Edges between value ids in the order found; the vertex an edge starts from joined before. Returns how many:
 * the values present less one. `root` gets the value the tree started from, COFI_NONE if there is none.
 *
 * scale       lengths are this times the Euclidean distance of the points
 * twin_length length of an edge between values with the same profile
 *
 * Prim without a stored matrix: n points cost n * n * k time and n memory. Ties: it starts from the vertex
 * of the least edge of all, lowest value first; the next vertex is the lowest of the nearest; an edge
 * gives way only to a strictly shorter one. Two builds that broke ties differently would pick different
 * trees of equal length, and every label after that could differ. The points are used up. */
uint32_t cofi_mst_prim(cofi_mst *mst, cofi_points *points, double scale, double twin_length, cof_edge *edge,
                       uint32_t *root);

/* The same, by mst_sparse.h where that is faster. */
uint32_t cofi_mst_build(cofi_mst *mst, cofi_points *points, double scale, double twin_length, cof_edge *edge,
                        uint32_t *root);

#endif
