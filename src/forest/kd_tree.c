/* A kd-tree. Points are split at the median of the coordinate with the largest variance in a sample, down
 * to leaves of sixteen. Every node stores the bounding box of its points. */
#include "kd_tree.h"

#include "../core/rng.h"

#include <float.h>
#include <math.h>

enum { LANES = COFI_KD_LANES, SAMPLE = 32, STEP = 8 };

static double coordinate(const cofi_points *q, uint32_t point, uint32_t j)
{
    return q->p[(size_t)j * q->capacity + point];
}

/* The coordinate with the largest variance over a sample of positions begin..end-1. */
static uint32_t widest(const cofi_kd_tree *t, uint32_t begin, uint32_t end)
{
    uint32_t best = 0, n = end - begin, step = n > SAMPLE ? n / SAMPLE : 1;
    double most = -1, taken = 0, *sum = t->moment, *sum_square = t->moment + t->k;
    for (uint32_t j = 0; j < t->k; j++) sum[j] = sum_square[j] = 0;
    for (uint32_t i = begin; i < end; i += step, taken++) {
        const double *own = cofi_kd_point(t, i);
        for (uint32_t j = 0; j < t->k; j++) {
            sum[j] += own[j];
            sum_square[j] += own[j] * own[j];
        }
    }
    for (uint32_t j = 0; j < t->k; j++) {
        double variance = sum_square[j] - sum[j] * sum[j] / taken;
        if (variance > most) {
            most = variance;
            best = j;
        }
    }
    return best;
}

/* Reorders positions begin..end-1 so that no point before `middle` has a larger coordinate j than a point
 * after it. */
static void split(cofi_kd_tree *t, const cofi_points *q, uint32_t j, uint32_t begin, uint32_t end,
                  uint32_t middle)
{
    uint32_t *at = t->point;
    int64_t low = begin, high = (int64_t)end - 1, nth = middle;
    while (low < high) {
        uint64_t pick = cofi_mix64((uint64_t)low ^ (uint64_t)high << 32) % (uint64_t)(high - low + 1);
        double pivot = coordinate(q, at[low + (int64_t)pick], j);
        int64_t a = low, b = high;
        while (a <= b) { /* also swaps equal points, so that the range is halved even if many are equal */
            while (coordinate(q, at[a], j) < pivot) a++;
            while (coordinate(q, at[b], j) > pivot) b--;
            if (a > b) break;
            uint32_t kept = at[a];
            at[a++] = at[b];
            at[b--] = kept;
        }
        if (nth <= b)
            high = b;
        else if (nth >= a)
            low = a;
        else
            break;
    }
}

static double *box_of(const cofi_kd_tree *t, uint32_t node)
{
    return t->box + (size_t)node * 2 * t->box_stride;
}

/* Copies the points of a leaf and computes their bounding box. */
static void fill_leaf(cofi_kd_tree *t, const cofi_kd_node *node, double *lowest)
{
    double *p = t->p + (size_t)node->begin * t->k, *highest = lowest + t->box_stride;
    uint32_t n = node->end - node->begin;
    for (uint32_t j = 0; j < t->k; j++) {
        lowest[j] = INFINITY;
        highest[j] = -INFINITY;
    }
    for (uint32_t i = 0; i < LANES; i++) {
        const double *own = i < n ? cofi_kd_point(t, node->begin + i) : NULL;
        for (uint32_t j = 0; j < t->k; j++) {
            p[j * LANES + i] = own != NULL ? own[j] : INFINITY;
            if (own == NULL) continue;
            lowest[j] = own[j] < lowest[j] ? own[j] : lowest[j];
            highest[j] = own[j] > highest[j] ? own[j] : highest[j];
        }
    }
}

static void join_boxes(const cofi_kd_tree *t, const double *a, const double *b, double *lowest)
{
    for (uint32_t j = 0; j < t->k; j++) {
        uint32_t high = t->box_stride + j;
        lowest[j] = a[j] < b[j] ? a[j] : b[j];
        lowest[high] = a[high] > b[high] ? a[high] : b[high];
    }
}

static uint32_t grow(cofi_kd_tree *t, const cofi_points *q, uint32_t begin, uint32_t end)
{
    uint32_t me = t->n_nodes++, n_leaves = (end - begin + LANES - 1) / LANES;
    t->node[me] = (cofi_kd_node){begin, end, 0};
    if (n_leaves == 1) {
        fill_leaf(t, &t->node[me], box_of(t, me));
        return me;
    }
    uint32_t middle = begin + n_leaves / 2 * LANES;
    split(t, q, widest(t, begin, end), begin, end, middle);
    uint32_t left = grow(t, q, begin, middle), right = grow(t, q, middle, end);
    t->node[me].right = right;
    join_boxes(t, box_of(t, left), box_of(t, right), box_of(t, me));
    return me;
}

static void fill_rows(cofi_kd_tree *t, const cofi_points *q)
{
    for (uint32_t i = 0; i < q->n; i++) {
        double *own = t->row + (size_t)i * t->box_stride;
        for (uint32_t j = 0; j < t->box_stride; j++) own[j] = j < q->k ? coordinate(q, i, j) : 0;
    }
}

bool cofi_kd_grow(cofi_blocks *own, const cofi_points *q, cofi_kd_tree *t)
{
    uint32_t n_leaves = (q->n + LANES - 1) / LANES;
    *t = (cofi_kd_tree){.k = q->k, .n = q->n, .box_stride = (q->k + 3) & ~UINT32_C(3)};
    /* A sum of k squares has at most k + 2 rounding errors, whatever its order; two such sums are compared
     * here. */
    t->shrink = 1 - (4.0 * q->k + 64) * DBL_EPSILON;
    t->p = cofi_blocks_add(own, (size_t)n_leaves * LANES * q->k, sizeof *t->p);
    t->row = cofi_blocks_add(own, (size_t)q->n * t->box_stride, sizeof *t->row);
    t->moment = cofi_blocks_add(own, 2 * (size_t)q->k, sizeof *t->moment);
    t->box = cofi_blocks_add_zero(own, (size_t)n_leaves * 4 * t->box_stride, sizeof *t->box);
    t->point = cofi_blocks_add(own, q->n, sizeof *t->point);
    t->node = cofi_blocks_add(own, (size_t)n_leaves * 2, sizeof *t->node);
    if (own->short_of_memory) return false;
    for (uint32_t i = 0; i < q->n; i++) t->point[i] = i;
    fill_rows(t, q);
    if (q->n > 0) grow(t, q, 0, q->n);
    return true;
}

/* ---- Distances ----------------------------------------------------------------------------------- */

/* Vectors of two doubles, which all supported processors have: compilers do not vectorise these short
 * loops. */
typedef double two __attribute__((vector_size(16)));
typedef int64_t two_masks __attribute__((vector_size(16)));

enum { PAIRS = LANES / 2 };

static inline two load(const double *x)
{
    two y;
    memcpy(&y, x, sizeof y);
    return y;
}

static inline two positive(two x)
{
    return (two)((two_masks)x & (x > 0));
}

double cofi_kd_bound(const cofi_kd_tree *t, uint32_t node, const double *own)
{
    const double *lowest = box_of(t, node), *highest = lowest + t->box_stride;
    two even = {0, 0}, odd = {0, 0};
    for (uint32_t j = 0; j < t->box_stride; j += 4) {
        two x = load(own + j), y = load(own + j + 2);
        /* At most one of the two terms is positive: the point is below the box or above it. */
        two a = positive(load(lowest + j) - x) + positive(x - load(highest + j));
        two b = positive(load(lowest + j + 2) - y) + positive(y - load(highest + j + 2));
        even += a * a;
        odd += b * b;
    }
    return (even[0] + even[1] + odd[0] + odd[1]) * t->shrink;
}

bool cofi_kd_squares(const cofi_kd_tree *t, uint32_t position, const double *own, double most,
                     double square[LANES])
{
    const double *p = t->p + (size_t)position * t->k;
    two sum[PAIRS] = {{0, 0}};
    for (uint32_t j = 0; j < t->k;) {
        uint32_t stop = t->k - j < STEP ? t->k : j + STEP;
        for (; j < stop; j++, p += LANES) {
            two x = {own[j], own[j]};
            for (uint32_t i = 0; i < PAIRS; i++) sum[i] += (load(p + 2 * i) - x) * (load(p + 2 * i) - x);
        }
        two_masks near = {0, 0}; /* stops early if the leaf is too far away */
        for (uint32_t i = 0; i < PAIRS; i++) near |= sum[i] <= most;
        if ((near[0] | near[1]) == 0) return false;
    }
    memcpy(square, sum, sizeof sum);
    return true;
}
