/* An order tree as a drawing needs it: rooted at its centre, children in a fixed order. */
#pragma once

#include "../../core/env.h"

#define COFI_NO_PARENT UINT32_MAX

typedef struct cofi_rooted_tree {
    cofi_blocks own;
    uint32_t n;       /* values */
    uint32_t *parent; /* per value; COFI_NO_PARENT for a root */
    double *length;   /* of the edge to it; 0 for a root */
    uint32_t *depth;  /* edges up to the root */
    bool *is_last;    /* of its parent's children */
    uint32_t *order;  /* all values, a parent before its children, children by length, then id; a value
                         outside the tree is a root of its own, after the others */
} cofi_rooted_tree;

/* The edges are those of one tree. The root is a value from which the farthest other one is the fewest edges away: that
 * keeps a drawing shallow. Of two such values the one with more weight, then the lower id. On failure nothing is left to
 * free. Time O(n log n). */
cof_status cofi_rooted_tree_build(cofi_rooted_tree *t, const cof_env *env, uint32_t n, const cof_edge *edges,
                                  size_t n_edges, const double *weight, cof_error *err);
void cofi_rooted_tree_free(cofi_rooted_tree *t);
