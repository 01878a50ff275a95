/* Builds trees from counts, for every attribute. This folder never reads rows. */
#pragma once

#include "../core/team.h"
#include "../core/shape.h"
#include "mst.h"

typedef struct cofi_forest {
    size_t n_attrs;
    const uint32_t *first;    /* flat id of each attribute's first value; not owned */
    const uint32_t *n_values; /* not owned */
    const uint32_t *order;    /* as in cofi_problem; set after the opening; not owned */
    /* edges of attribute r start at edge[first[r]], in the order in which they were found */
    cof_edge *edge;
    uint32_t *n_edges;
    bool *line;     /* the values have an order, so their tree is a line; set after the opening */
    uint32_t *root; /* the value from which the tree was grown; COFI_NONE: no row holds any value */
    double *reach;  /* upper bound of the distances in the tree: twice the depth of its deepest value */
    double *depth;  /* scratch: distance from the root, per flat id */
    /* per flat id: for a leaf at length 0 the flat id at the other end of its edge, which has the same distances to
     * all values; for any other value its own id. Most values of a column of few rows a value are such leaves. */
    uint32_t *same_as;
    /* the other edges of attribute r, as places among its edges, start at inner[first[r]], in the same order */
    uint32_t *inner, *n_inner;
    uint64_t n_built; /* how often the trees were changed */
    uint32_t k, stride;
    double scale, twin_length;
    bool authors;
    /* authors' variant: d(u,v) of attributes with few values, summed in the authors' order; otherwise NULL */
    double *trace;
    size_t *trace_at; /* per attribute: start of its o x o block; SIZE_MAX: no block */
    cofi_blocks own;
    cofi_team *team;
    struct cofi_forest_worker *worker;
    uint32_t n_workers, small; /* the team's workers share the attributes of up to `small` values */
} cofi_forest;

/* `authors`: use the authors' edge lengths, which are Euclidean distances divided by k, and 1e-8 between
 * equal profiles. */
cof_status cofi_forest_open(const cof_env *env, cofi_team *team, size_t n_attrs, const uint32_t *first,
                            const uint32_t *n_values, uint32_t k, bool authors, cofi_forest *forest,
                            cof_error *err);
/* count: N, [g][stride]; size: summed row weights of each cluster. */
void cofi_forest_build(cofi_forest *forest, const uint64_t *count, const uint64_t *size);
/* Makes the tree of attribute r a line over the values that occur, in the order of their ids. */
void cofi_forest_line(cofi_forest *forest, const uint64_t *count, size_t r);
/* ||p(C|a) - p(C|b)|| of two flat ids, scaled as the variant requires. 0 if a value does not occur. */
double cofi_forest_weight(const cofi_forest *forest, const uint64_t *count, uint32_t a, uint32_t b);
void cofi_forest_close(cofi_forest *forest); /* allowed after a failed open */

/* Sets d[v] to d(u, v) for every value v of attribute r; 0 outside the tree. In trace.c. */
void cofi_trace_from(const cofi_forest *forest, size_t r, uint32_t u, double *d);
void cofi_forest_open_traces(cofi_forest *forest); /* in the memory of the forest */
void cofi_forest_trace(cofi_forest *forest);       /* computes `trace`; call it after the edges changed */
