/* The values of one attribute as points: p(C|v), the share of each cluster among the rows that hold v. */
#pragma once

#include "../core/env.h"
#include "../core/shape.h"

/* Values with equal profiles are twins and share one point: their distance is 0, a spanning tree joins
 * them first, and a column of very many values often has few profiles. */
typedef struct cofi_points {
    const uint32_t *order; /* values in the order in which ties are decided; NULL: by id */
    uint32_t k;
    uint32_t capacity;   /* limit of the number of values */
    uint32_t n;          /* number of points */
    double *p;           /* [j][capacity]: p(C_j | value of point i) at p[j * capacity + i] */
    uint32_t *value;     /* first value of each point, in the order of the values */
    uint32_t *next_twin; /* per value: the next value of the same point, or COFI_NONE */
    uint32_t *last_twin; /* per point, during gathering: its last value so far */
    uint32_t *slot;      /* hash table of 2 * capacity entries, rounded up to a power of two */
} cofi_points;

/* The memory is that of the blocks; their status says whether it was enough. */
void cofi_points_open(cofi_blocks *blocks, uint32_t k, uint32_t capacity, cofi_points *points);

/* count: N of the attribute's values, [v][stride]. Values that no row holds have no point. size: NULL, or
 * the cluster sizes for the authors' variant, which computes p(C|v) through p(v|C) and so rounds twice
 * more; this decides ties between weights that are equal in mathematics. */
void cofi_points_gather(cofi_points *points, const uint64_t *count, const uint64_t *size, uint32_t stride,
                        uint32_t n_values);

/* The lowest point that has twins; COFI_NONE if there is none. */
uint32_t cofi_points_first_twins(const cofi_points *points);
/* Joins the other values of a point to its lowest one, `value`. Returns the number of edges. */
uint32_t cofi_points_join_twins(const cofi_points *points, uint32_t value, double twin_length,
                                cof_edge *edge);
