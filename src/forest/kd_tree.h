/* A kd-tree of points, for finding near points without computing all distances. */
#pragma once

#include "weights.h"

enum { COFI_KD_LANES = 16 }; /* points per leaf; only the last leaf may have fewer */

typedef struct cofi_kd_node {
    uint32_t begin, end; /* positions of its points */
    uint32_t right;      /* its second child; the first is the next node; 0: a leaf */
} cofi_kd_node;

/* Every point has a position. The points of a node have consecutive positions. */
typedef struct cofi_kd_tree {
    uint32_t k, n, n_nodes;
    uint32_t box_stride; /* k, rounded up to a multiple of four */
    double *p;           /* [leaf][j][lane]; unused lanes are infinitely far away */
    double *row;         /* [point number][box_stride]: the coordinates of one point together, then zeros */
    double *moment;      /* scratch: k sums and k sums of squares */
    double *box;         /* [node][lowest, highest][box_stride] */
    /* factor slightly below 1 that makes distances to boxes safe lower bounds despite rounding */
    double shrink;
    uint32_t *point;    /* point number at each position */
    cofi_kd_node *node; /* children come after their parents */
} cofi_kd_tree;

/* Does not change the points. The tree lives as long as the blocks; false if memory is short. */
bool cofi_kd_grow(cofi_blocks *own, const cofi_points *points, cofi_kd_tree *tree);

/* The coordinates of the point at a position, and zeros up to box_stride. */
static inline const double *cofi_kd_point(const cofi_kd_tree *tree, uint32_t position)
{
    return tree->row + (size_t)tree->point[position] * tree->box_stride;
}
/* Lower bound of the squared distances, as cofi_kd_squares computes them, between `own` and the node's
 * points. */
double cofi_kd_bound(const cofi_kd_tree *tree, uint32_t node, const double *own);
/* Squared distances between `own` and the points of the leaf that starts at `position`. Coordinates are
 * added in order, so the results equal those of the algorithm over all pairs bit for bit. Returns false,
 * without squares, if all of them exceed `most`. */
bool cofi_kd_squares(const cofi_kd_tree *tree, uint32_t position, const double *own, double most,
                     double square[COFI_KD_LANES]);
