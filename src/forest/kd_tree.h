/* A kd-tree of points, for finding near points without computing all distances. */
#pragma once

#include "weights.h"

/* The points of a leaf, and the most children of a node. Only the last leaf may have fewer points. */
enum { COFI_KD_LANES = 32 };

typedef struct cofi_kd_node {
    uint32_t begin, end;        /* positions of its points */
    uint32_t child, n_children; /* its children are consecutive nodes; 0: a leaf */
    uint32_t boxes;             /* number of the boxes of its children */
} cofi_kd_node;

/* Every point has a position. The points of a node have consecutive positions.
 *
 * Searches compare squared distances of rounded points first, which takes a fraction of the time, and compute exact ones only
 * for points that may be near enough. A rounded coordinate is a whole number of 16 bits, and the squared distance of two
 * rounded points fits 32 bits. */
typedef struct cofi_kd_tree {
    uint32_t k, n, n_nodes;
    uint32_t n_pairs;   /* of coordinates; an odd last one is paired with 0 */
    uint32_t n_boxes;   /* nodes with children */
    int16_t *close;     /* [leaf][pair][lane][2] */
    int16_t *box;       /* [n_boxes][pair][lowest, highest][lane][2]: of the rounded points of each child */
    double *least;      /* per coordinate; it is rounded to 0 */
    double units;       /* in a length of 1 */
    double *row;        /* [point number][k]: the coordinates of one point together */
    double *moment;     /* scratch: k sums and k sums of squares */
    uint32_t *point;    /* point number at each position */
    cofi_kd_node *node; /* children come after their parents */
    const struct cofi_kd_steps *steps;
} cofi_kd_tree;

/* The point that is searched from, and how far. */
typedef struct cofi_kd_aim {
    const double *exact; /* its coordinates */
    int16_t *close;      /* the same, rounded: n_pairs of them, 0 after an odd last one */
    int32_t limit;       /* no point within the reach has a larger square when rounded */
} cofi_kd_aim;

/* What depends on the processor. Squares are those of rounded points. */
typedef struct cofi_kd_steps {
    /* Fills in the squares of the distances to the boxes of a node's children, and the nearest child; where squares differ by
     * less than 32 it may be another. Returns a bit for each child whose square is at most `limit`. Lanes past the children
     * have the box of the first child. */
    uint32_t (*to_boxes)(const cofi_kd_tree *tree, uint32_t boxes, const int16_t *own, int32_t limit,
                         int32_t *square, uint32_t *nearest);
    /* Returns a bit for each point of the leaf at `position` whose square is at most `limit`. Lanes past the points may have
     * bits too. */
    uint32_t (*in_leaf)(const cofi_kd_tree *tree, uint32_t position, const int16_t *own, int32_t limit);
} cofi_kd_steps;

extern const cofi_kd_steps cofi_kd_plain_steps; /* of any processor; others give the same */

/* Does not change the points. The tree lives as long as the blocks; false if memory is short. */
bool cofi_kd_grow(cofi_blocks *own, const cofi_points *points, cofi_kd_tree *tree);
/* The children of a node that are not further away than the limit, as bits, with the squares of their distances, and about
 * the nearest child. */
uint32_t cofi_kd_children(const cofi_kd_tree *tree, const cofi_kd_node *node, const cofi_kd_aim *aim,
                          int32_t *square, uint32_t *nearest);
/* Searches from the point at a position; then the reach must be set. */
void cofi_kd_aim_from(const cofi_kd_tree *tree, uint32_t position, cofi_kd_aim *aim);
/* Sets the reach: points at this exact square, or less, are found. */
void cofi_kd_aim_within(const cofi_kd_tree *tree, double square, cofi_kd_aim *aim);
/* The exact squared distance. Coordinates are added in order, so the result equals that of the algorithm over all pairs bit
 * for bit. */
double cofi_kd_square(const cofi_kd_tree *tree, uint32_t position, const cofi_kd_aim *aim);
