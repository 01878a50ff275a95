/* Counts to trees, for every attribute. Never sees a row. */
#ifndef COFI_FOREST_H
#define COFI_FOREST_H

#include "../core/team.h"
#include "../core/shape.h"
#include "mst.h"

typedef struct cofi_forest {
    size_t n_attrs;
    const uint32_t *first;    /* lent: flat id of each attribute's first value */
    const uint32_t *n_values; /* lent */
    cof_edge *edge;           /* edges of attribute r from edge[first[r]] on, in the order found */
    uint32_t *n_edges;
    uint32_t *root; /* value the tree started from; COFI_NONE: no row holds any value */
    double *reach;  /* no trace of the tree is longer */
    double *depth;  /* scratch: distance from the root, per flat id */
    uint32_t k, stride;
    double scale, twin_length;
    bool authors;
    double *trace; /* authors: d(u,v) of attributes with few values, to add up in their order; NULL: others */
    size_t *trace_at; /* per attribute: where its o x o block begins, SIZE_MAX: none */
    cofi_blocks own;
    cofi_team *team;
    struct cofi_forest_worker *worker;
    uint32_t n_workers, small; /* attributes of up to `small` values are shared out over the team */
} cofi_forest;

/* `authors`: their lengths, the Euclidean ones divided by k, and 1e-8 between equal profiles. */
cof_status cofi_forest_open(const cof_env *env, cofi_team *team, size_t n_attrs, const uint32_t *first,
                            const uint32_t *n_values, uint32_t k, bool authors, cofi_forest *forest,
                            cof_error *err);
/* count: N, [g][stride]; size: summed row weights of each cluster. */
void cofi_forest_build(cofi_forest *forest, const uint64_t *count, const uint64_t *size);
void cofi_forest_close(cofi_forest *forest); /* fine after a failed open */

/* trace.c: d(u, v) for every v of attribute r; 0 outside the tree. */
void cofi_trace_from(const cofi_forest *forest, size_t r, uint32_t u, double *d);
cof_status cofi_forest_open_traces(cofi_forest *forest);
void cofi_forest_trace(cofi_forest *forest); /* fills `trace`, after the edges changed */

#endif
