/* Prim's algorithm on points in k dimensions. Points outside the tree are stored contiguously, coordinate
 * by coordinate, so that the distances of one step are simple loops. */
#include "mst.h"

#include "mst_sparse.h"

#include <math.h>

enum { STRIP = 256 }; /* points per inner loop */
enum { MANY = 1000 }; /* from so many points on, the sparse algorithm may be faster */

void cofi_mst_open(cofi_blocks *blocks, uint32_t k, uint32_t capacity, cofi_mst *mst)
{
    mst->env = &blocks->env;
    mst->key = cofi_blocks_add(blocks, capacity, sizeof *mst->key);
    mst->key_square = cofi_blocks_add(blocks, capacity, sizeof *mst->key_square);
    mst->joined = cofi_blocks_add(blocks, k, sizeof *mst->joined);
    mst->point = cofi_blocks_add(blocks, capacity, sizeof *mst->point);
    mst->parent = cofi_blocks_add(blocks, capacity, sizeof *mst->parent);
}

/* Equation (4), squared: square[i] is the squared distance between point begin + i and `own`, which are
 * p(C|u) and p(C|v); coordinates are added in order. */
static void squares(const cofi_points *q, const double *own, uint32_t begin, uint32_t n, double *square)
{
    for (uint32_t i = 0; i < n; i++) square[i] = 0;
    for (uint32_t j = 0; j < q->k; j++) {
        const double *p = q->p + (size_t)j * q->capacity + begin;
        double x = own[j];
        for (uint32_t i = 0; i < n; i++) square[i] += (p[i] - x) * (p[i] - x);
    }
}

static void copy_point(const cofi_points *q, uint32_t i, double *own)
{
    for (uint32_t j = 0; j < q->k; j++) own[j] = q->p[(size_t)j * q->capacity + i];
}

/* The point from which the shortest edge starts; the lowest one on ties. */
static uint32_t closest_pair(const cofi_mst *m, const cofi_points *q, double scale)
{
    double least = INFINITY, least_square = INFINITY, square[STRIP];
    uint32_t best = 0;
    for (uint32_t u = 0; u + 1 < q->n; u++) {
        copy_point(q, u, m->joined);
        for (uint32_t begin = u + 1; begin < q->n; begin += STRIP) {
            uint32_t n = q->n - begin < STRIP ? q->n - begin : STRIP;
            squares(q, m->joined, begin, n, square);
            for (uint32_t i = 0; i < n; i++) {
                if (square[i] >= least_square) continue;
                double weight = scale * sqrt(square[i]);
                if (weight >= least) continue;
                least = weight;
                least_square = square[i];
                best = u;
            }
        }
    }
    return best;
}

/* Removes point i from the outside points and makes it the newest of the tree; the last one fills its place. */
static void join_point(cofi_mst *m, cofi_points *q, uint32_t i, uint32_t *n_outside)
{
    uint32_t last = --*n_outside;
    copy_point(q, i, m->joined);
    for (uint32_t j = 0; j < q->k; j++)
        q->p[(size_t)j * q->capacity + i] = q->p[(size_t)j * q->capacity + last];
    m->key[i] = m->key[last];
    m->key_square[i] = m->key_square[last];
    m->point[i] = m->point[last];
    m->parent[i] = m->parent[last];
}

/* Updates the distances of all outside points with the newest point, and finds the next point to join. */
static uint32_t relax(cofi_mst *m, const cofi_points *q, uint32_t newest, uint32_t n_outside, double scale)
{
    double square[STRIP];
    uint32_t best = 0;
    for (uint32_t begin = 0; begin < n_outside; begin += STRIP) {
        uint32_t n = n_outside - begin < STRIP ? n_outside - begin : STRIP;
        squares(q, m->joined, begin, n, square);
        for (uint32_t s = 0; s < n; s++) {
            uint32_t i = begin + s;
            if (square[s] < m->key_square[i]) {
                double weight = scale * sqrt(square[s]);
                if (weight < m->key[i]) {
                    m->key[i] = weight;
                    m->key_square[i] = square[s];
                    m->parent[i] = newest;
                }
            }
            bool nearer = m->key[i] < m->key[best];
            if (nearer || (m->key[i] == m->key[best] && m->point[i] < m->point[best])) best = i;
        }
    }
    return best;
}

uint32_t cofi_mst_prim(cofi_mst *m, cofi_points *q, double scale, double twin_length, cof_edge *edge,
                       uint32_t *root)
{
    *root = COFI_NONE;
    if (q->n == 0) return 0;
    for (uint32_t i = 0; i < q->n; i++) {
        m->key[i] = m->key_square[i] = INFINITY;
        m->point[i] = i;
    }
    uint32_t n_outside = q->n, n_edges = 0, next = cofi_points_first_twins(q);
    if (next == COFI_NONE) next = closest_pair(m, q, scale);
    *root = q->value[next];
    for (bool first = true; n_outside > 0; first = false) {
        uint32_t newest = m->point[next], value = q->value[newest];
        if (!first) edge[n_edges++] = (cof_edge){q->value[m->parent[next]], value, m->key[next]};
        n_edges += cofi_points_join_twins(q, value, twin_length, edge + n_edges);
        join_point(m, q, next, &n_outside);
        next = relax(m, q, newest, n_outside, scale);
    }
    return n_edges;
}

uint32_t cofi_mst_build(cofi_mst *m, cofi_points *q, double scale, double twin_length, cof_edge *edge,
                        uint32_t *root)
{
    uint32_t n_edges;
    uint64_t n_pairs = q->n > 0 ? (uint64_t)q->n * (q->n - 1) / 2 : 0;
    /* A visit takes a fifth of the time that Prim's algorithm takes for a pair, and searching all points from each of
     * them takes two visits a pair. Without twins, Prim's algorithm looks at all pairs twice. */
    uint64_t allowance = cofi_points_first_twins(q) != COFI_NONE ? 6 * n_pairs : 8 * n_pairs;
    if (q->n >= MANY && cofi_mst_sparse(m->env, q, scale, twin_length, allowance, edge, &n_edges, root))
        return n_edges;
    return cofi_mst_prim(m, q, scale, twin_length, edge, root);
}
