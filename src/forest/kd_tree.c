/* A kd-tree. Points are split at the median of the coordinate with the largest variance in a sample, down
 * to leaves of 32. Every node stores the bounding box of its points. */
#include "kd_tree.h"

#include "../core/processor.h"
#include "../core/rng.h"

#include <float.h>
#include <math.h>

enum { LANES = COFI_KD_LANES, GROUPS = LANES / 8, SAMPLE = 32, STEP = 8 };

/* The coordinates of the point at a position, and zeros up to stride. */
static const double *point_at(const cofi_kd_tree *t, uint32_t position)
{
    return t->row + (size_t)t->point[position] * t->stride;
}

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
        const double *own = point_at(t, i);
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

static float *box_of(const cofi_kd_tree *t, uint32_t node)
{
    return t->box + (size_t)node * 2 * t->stride;
}

/* Copies the points of a leaf and computes their bounding box. Its sides are rounded outward. */
static void fill_leaf(cofi_kd_tree *t, const cofi_kd_node *node, float *lowest)
{
    float *p = t->close + (size_t)node->begin * t->k, *highest = lowest + t->stride;
    uint32_t n = node->end - node->begin;
    float rounding = (float)t->largest * FLT_EPSILON;
    for (uint32_t j = 0; j < t->k; j++) {
        lowest[j] = INFINITY;
        highest[j] = -INFINITY;
    }
    for (uint32_t i = 0; i < LANES; i++) {
        const double *own = i < n ? point_at(t, node->begin + i) : NULL;
        for (uint32_t j = 0; j < t->k; j++) {
            float x = p[j * LANES + i] = own != NULL ? (float)own[j] : INFINITY;
            if (own == NULL) continue;
            lowest[j] = x < lowest[j] ? x : lowest[j];
            highest[j] = x > highest[j] ? x : highest[j];
        }
    }
    for (uint32_t j = 0; j < t->k; j++) {
        lowest[j] -= rounding;
        highest[j] += rounding;
    }
}

static void join_boxes(const cofi_kd_tree *t, const float *a, const float *b, float *lowest)
{
    for (uint32_t j = 0; j < t->k; j++) {
        uint32_t high = t->stride + j;
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
        double *own = t->row + (size_t)i * t->stride;
        for (uint32_t j = 0; j < t->stride; j++) {
            own[j] = j < q->k ? coordinate(q, i, j) : 0;
            t->largest = own[j] > t->largest ? own[j] : t->largest;
        }
    }
}

/* ---- Distances ----------------------------------------------------------------------------------- */

/* Eight numbers at once. Compilers do not vectorise these short loops; where registers are smaller, they split these. */
typedef float eight __attribute__((vector_size(32)));
typedef int32_t eight_masks __attribute__((vector_size(32)));
typedef int64_t four_masks __attribute__((vector_size(32)));

#define INLINE static inline __attribute__((always_inline))

INLINE float sum_to_box(const cofi_kd_tree *t, uint32_t node, const float *own)
{
    const float *lowest = box_of(t, node), *highest = lowest + t->stride;
    eight sum = {0};
    for (uint32_t j = 0; j < t->stride; j += 8) {
        eight x, low, high;
        memcpy(&x, own + j, sizeof x);
        memcpy(&low, lowest + j, sizeof low);
        memcpy(&high, highest + j, sizeof high);
        eight below = low - x, above = x - high;
        below = (eight)((eight_masks)below & (below > 0));
        above = (eight)((eight_masks)above & (above > 0));
        /* At most one of the two is positive: the point is below the box or above it. */
        eight apart = below + above;
        sum += apart * apart;
    }
    return ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
}

INLINE uint32_t mark_near(const cofi_kd_tree *t, uint32_t position, const float *own, float limit)
{
    const float *p = t->close + (size_t)position * t->k;
    float square[LANES];
    eight sum[GROUPS] = {{0}};
    for (uint32_t j = 0; j < t->k;) {
        uint32_t stop = t->k - j < STEP ? t->k : j + STEP;
        for (; j < stop; j++, p += LANES)
            for (uint32_t i = 0; i < GROUPS; i++) {
                eight apart;
                memcpy(&apart, p + 8 * i, sizeof apart);
                apart -= own[j];
                sum[i] += apart * apart;
            }
        four_masks near = {0};
        for (uint32_t i = 0; i < GROUPS; i++) near |= (four_masks)(sum[i] <= limit);
        if ((near[0] | near[1] | near[2] | near[3]) == 0) return 0; /* the leaf is too far away */
    }
    memcpy(square, sum, sizeof sum);
    uint32_t mask = 0;
    for (uint32_t i = 0; i < LANES; i++) mask |= (uint32_t)(square[i] <= limit) << i;
    return mask;
}

static float to_box(const cofi_kd_tree *t, uint32_t node, const float *own)
{
    return sum_to_box(t, node, own);
}

static uint32_t in_leaf(const cofi_kd_tree *t, uint32_t position, const float *own, float limit)
{
    return mark_near(t, position, own, limit);
}

static const cofi_kd_steps plain_steps = {to_box, in_leaf};

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) static float to_box_avx2(const cofi_kd_tree *t, uint32_t node,
                                                         const float *own)
{
    return sum_to_box(t, node, own);
}

__attribute__((target("avx2"))) static uint32_t in_leaf_avx2(const cofi_kd_tree *t, uint32_t position,
                                                             const float *own, float limit)
{
    return mark_near(t, position, own, limit);
}

static const cofi_kd_steps avx2_steps = {to_box_avx2, in_leaf_avx2};

static const cofi_kd_steps *best_steps(void)
{
    return cofi_processor_has(COFI_AVX2) ? &avx2_steps : &plain_steps;
}
#else
static const cofi_kd_steps *best_steps(void)
{
    return &plain_steps;
}
#endif

void cofi_kd_aim_from(const cofi_kd_tree *t, uint32_t position, cofi_kd_aim *aim)
{
    aim->exact = point_at(t, position);
    for (uint32_t j = 0; j < t->stride; j++) aim->close[j] = (float)aim->exact[j];
}

/* Single precision rounds a number by at most its e-th part. The distance of two rounded points exceeds the exact one by at
 * most 2 e sqrt(k) times the largest coordinate, and that to a box, whose sides are rounded outward, by less. A sum of k
 * squares has at most k + 2 rounding errors. The allowance here is twice as large. */
void cofi_kd_aim_within(const cofi_kd_tree *t, double square, cofi_kd_aim *aim)
{
    const double e = FLT_EPSILON / 2;
    double reach = sqrt(square) + 4 * e * sqrt(t->k) * t->largest;
    aim->limit = (float)(reach * reach * (1 + e * (2 * t->k + 16)));
}

double cofi_kd_square(const cofi_kd_tree *t, uint32_t position, const cofi_kd_aim *aim)
{
    const double *own = point_at(t, position);
    double square = 0;
    for (uint32_t j = 0; j < t->k; j++) square += (own[j] - aim->exact[j]) * (own[j] - aim->exact[j]);
    return square;
}

/* ---- The tree ------------------------------------------------------------------------------------- */

bool cofi_kd_grow(cofi_blocks *own, const cofi_points *q, cofi_kd_tree *t)
{
    uint32_t n_leaves = (q->n + LANES - 1) / LANES;
    *t = (cofi_kd_tree){.k = q->k, .n = q->n, .stride = (q->k + 7) & ~UINT32_C(7), .steps = best_steps()};
    t->close = cofi_blocks_add(own, (size_t)n_leaves * LANES * q->k, sizeof *t->close);
    t->row = cofi_blocks_add(own, (size_t)q->n * t->stride, sizeof *t->row);
    t->moment = cofi_blocks_add(own, 2 * (size_t)q->k, sizeof *t->moment);
    t->box = cofi_blocks_add_zero(own, (size_t)n_leaves * 4 * t->stride, sizeof *t->box);
    t->point = cofi_blocks_add(own, q->n, sizeof *t->point);
    t->node = cofi_blocks_add(own, (size_t)n_leaves * 2, sizeof *t->node);
    if (own->short_of_memory) return false;
    for (uint32_t i = 0; i < q->n; i++) t->point[i] = i;
    fill_rows(t, q);
    if (q->n > 0) grow(t, q, 0, q->n);
    return true;
}
