/* Points sorted into boxes, for finding near ones without looking at all. */
#ifndef COFI_KD_TREE_H
#define COFI_KD_TREE_H

#include "weights.h"

enum { COFI_KD_LANES = 16 }; /* points of a leaf; only the last leaf may have fewer */

typedef struct cofi_kd_node {
    uint32_t begin, end; /* positions of its points */
    uint32_t right;      /* its second child, the first being the next node; 0: a leaf */
} cofi_kd_node;

/* Points have positions: those of a node, and so those of a leaf, lie next to each other. */
typedef struct cofi_kd_tree {
    uint32_t k, n, n_nodes;
    uint32_t box_stride; /* k, made a multiple of four */
    double *p;           /* [leaf][j][lane]; lanes without a point are infinitely far away */
    double *box;         /* [node][lowest, highest][box_stride] */
    double shrink;       /* what rounding may have added to a box's distance is taken off by this factor */
    uint32_t *point;     /* at each position */
    cofi_kd_node *node;  /* children after their parents */
} cofi_kd_tree;

/* Reads the points and leaves them as they are. The tree lives as long as the blocks; false: no memory. */
bool cofi_kd_grow(cofi_blocks *own, const cofi_points *points, cofi_kd_tree *tree);

/* Coordinates of the point at a position; `own` has room for box_stride. */
void cofi_kd_point(const cofi_kd_tree *tree, uint32_t position, double *own);
/* No point of the node has a squared distance from `own`, as cofi_kd_squares computes it, under this. */
double cofi_kd_bound(const cofi_kd_tree *tree, uint32_t node, const double *own);
/* Squared distances from `own` of the leaf that starts at `position`, coordinates added in order: the very
 * doubles that the algorithm over all pairs computes. False, and no squares, if all are above `most`. */
bool cofi_kd_squares(const cofi_kd_tree *tree, uint32_t position, const double *own, double most,
                     double square[COFI_KD_LANES]);

#endif
