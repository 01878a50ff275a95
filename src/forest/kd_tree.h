/* A kd-tree of points, for finding near points without computing all distances. */
#pragma once

#include "weights.h"

enum { COFI_KD_LANES = 32 }; /* points per leaf; only the last leaf may have fewer */

typedef struct cofi_kd_node {
    uint32_t begin, end; /* positions of its points */
    uint32_t right;      /* its second child; the first is the next node; 0: a leaf */
} cofi_kd_node;

/* Every point has a position. The points of a node have consecutive positions.
 *
 * Coordinates are not below 0. Searches compare squared distances in single precision first, which takes a fraction of
 * the time, and compute exact ones only for points that may be near enough. */
typedef struct cofi_kd_tree {
    uint32_t k, n, n_nodes;
    uint32_t stride;    /* k, rounded up to a multiple of eight */
    float *close;       /* [leaf][j][lane]; unused lanes are infinitely far away */
    double largest;     /* coordinate */
    double *row;        /* [point number][stride]: the coordinates of one point together, then zeros */
    double *moment;     /* scratch: k sums and k sums of squares */
    float *box;         /* [node][lowest, highest][stride] */
    uint32_t *point;    /* point number at each position */
    cofi_kd_node *node; /* children come after their parents */
    const struct cofi_kd_steps *steps;
} cofi_kd_tree;

/* The point that is searched from, and how far. */
typedef struct cofi_kd_aim {
    const double *exact; /* its coordinates */
    float *close;        /* the same in single precision, stride */
    float limit;         /* no point within the reach has a larger square in single precision */
} cofi_kd_aim;

/* What depends on the processor. Squares are in single precision. */
typedef struct cofi_kd_steps {
    /* The square of the distance to a node's box. */
    float (*to_box)(const cofi_kd_tree *tree, uint32_t node, const float *own);
    /* A bit for each point of the leaf at `position` whose square is at most `limit`. */
    uint32_t (*in_leaf)(const cofi_kd_tree *tree, uint32_t position, const float *own, float limit);
} cofi_kd_steps;

/* Does not change the points. The tree lives as long as the blocks; false if memory is short. */
bool cofi_kd_grow(cofi_blocks *own, const cofi_points *points, cofi_kd_tree *tree);
/* Searches from the point at a position; then the reach must be set. */
void cofi_kd_aim_from(const cofi_kd_tree *tree, uint32_t position, cofi_kd_aim *aim);
/* Sets the reach: points at this exact square, or less, are found. */
void cofi_kd_aim_within(const cofi_kd_tree *tree, double square, cofi_kd_aim *aim);
/* The exact squared distance. Coordinates are added in order, so the result equals that of the algorithm over all pairs bit
 * for bit. */
double cofi_kd_square(const cofi_kd_tree *tree, uint32_t position, const cofi_kd_aim *aim);
