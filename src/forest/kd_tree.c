/* A kd-tree. Points are split at the median of the coordinate with the largest variance in a sample, down
 * to leaves of 32. Five splits, or the last few, make one node of up to 32 children, whose boxes are looked at together. */
#include "kd_tree.h"

#include "../core/processor.h"
#include "../core/rng.h"

#include <assert.h>
#include <math.h>
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

enum { LANES = COFI_KD_LANES, SAMPLE = 32 };
enum { STEP = 4 };            /* pairs of coordinates after which a leaf may turn out to be too far away */
#define LEAST_DISTANCE 1e-150 /* the squares of smaller ones would lose digits */
enum { MOST_COORDINATE = 32767, MOST_DISTANCE = 46340 }; /* when rounded; the square fits 32 bits */

static const double *point_at(const cofi_kd_tree *t, uint32_t position)
{
    return t->row + (size_t)t->point[position] * t->k;
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

static int16_t rounded(const cofi_kd_tree *t, const double *own, uint32_t j)
{
    return (int16_t)((own[j] - t->least[j]) * t->units + 0.5);
}

/* Where coordinate j of the first lane is; that of the next one is two entries further. */
static int16_t *in_close(const cofi_kd_tree *t, uint32_t position, uint32_t j)
{
    return t->close + ((size_t)position * t->n_pairs + (size_t)(j / 2) * LANES) * 2 + j % 2;
}

/* The same of the lowest ends of boxes; those of the highest are 2 * LANES entries further. */
static int16_t *in_boxes(const cofi_kd_tree *t, uint32_t boxes, uint32_t j)
{
    return t->box + ((size_t)boxes * t->n_pairs + j / 2) * 4 * LANES + j % 2;
}

/* The ends of a node's points, or of its children's boxes, in one coordinate. */
static void find_ends(const cofi_kd_tree *t, const cofi_kd_node *node, uint32_t j, int16_t *lowest,
                      int16_t *highest)
{
    bool leaf = node->n_children == 0;
    const int16_t *low = leaf ? in_close(t, node->begin, j) : in_boxes(t, node->boxes, j);
    uint32_t n = leaf ? node->end - node->begin : node->n_children, up = leaf ? 0 : 2 * LANES;
    *lowest = low[0];
    *highest = low[up];
    for (uint32_t i = 1; i < n; i++) {
        *lowest = low[2 * i] < *lowest ? low[2 * i] : *lowest;
        *highest = low[2 * i + up] > *highest ? low[2 * i + up] : *highest;
    }
}

/* Splits the points until no part has more than `most` leaves; the parts become consecutive nodes. */
static void split_into(cofi_kd_tree *t, const cofi_points *q, uint32_t begin, uint32_t end, uint32_t most)
{
    uint32_t n_leaves = (end - begin + LANES - 1) / LANES;
    if (n_leaves <= most) {
        t->node[t->n_nodes++] = (cofi_kd_node){.begin = begin, .end = end};
        return;
    }
    uint32_t middle = begin + n_leaves / 2 * LANES;
    split(t, q, widest(t, begin, end), begin, end, middle);
    split_into(t, q, begin, middle, most);
    split_into(t, q, middle, end, most);
}

/* Of n leaves, halved five times, a part has at most n / 32, rounded up: so there are no more than 32 children. */
static void grow(cofi_kd_tree *t, const cofi_points *q, uint32_t number)
{
    cofi_kd_node *node = &t->node[number];
    uint32_t n_leaves = (node->end - node->begin + LANES - 1) / LANES, most = 1;
    if (n_leaves == 1) {
        for (uint32_t j = 0; j < t->k; j++) {
            int16_t *p = in_close(t, node->begin, j);
            for (uint32_t i = node->begin; i < node->end; i++, p += 2) *p = rounded(t, point_at(t, i), j);
        }
        return;
    }
    while (n_leaves > most * LANES) most *= LANES;
    node->boxes = t->n_boxes++;
    node->child = t->n_nodes;
    split_into(t, q, node->begin, node->end, most);
    node->n_children = t->n_nodes - node->child;
    assert(node->n_children <= LANES);
    for (uint32_t c = 0; c < node->n_children; c++) grow(t, q, node->child + c);
    for (uint32_t j = 0; j < t->k; j++)
        for (uint32_t c = 0; c < LANES; c++) {
            int16_t *low = in_boxes(t, node->boxes, j) + 2 * c;
            find_ends(t, &t->node[node->child + (c < node->n_children ? c : 0)], j, low, low + 2 * LANES);
        }
}

/* As many units as fit. Two points are no further apart than the ends of all ranges, nor, because coordinates less the least
 * are not below 0, than the root of the sum of the two largest squared norms. Rounding adds at most 1 to each coordinate of a
 * difference. */
static void choose_units(cofi_kd_tree *t, const cofi_points *q)
{
    double range = 0, ranges = 0, norm = 0;
    for (uint32_t j = 0; j < t->k; j++) {
        double most = t->least[j] = coordinate(q, 0, j);
        for (uint32_t i = 1; i < q->n; i++) {
            double x = coordinate(q, i, j);
            t->least[j] = x < t->least[j] ? x : t->least[j];
            most = x > most ? x : most;
        }
        range = fmax(range, most - t->least[j]);
        ranges += (most - t->least[j]) * (most - t->least[j]);
    }
    for (uint32_t i = 0; i < q->n; i++) {
        const double *own = t->row + (size_t)i * t->k;
        double square = 0;
        for (uint32_t j = 0; j < t->k; j++) square += (own[j] - t->least[j]) * (own[j] - t->least[j]);
        norm = fmax(norm, square);
    }
    double furthest = sqrt(fmin(ranges, 2 * norm));
    t->units = furthest > LEAST_DISTANCE
                   ? fmin((MOST_COORDINATE - 1) / range, (MOST_DISTANCE - 2 - sqrt(t->k)) / furthest)
                   : 1;
}

/* ---- Distances ----------------------------------------------------------------------------------- */

enum { LANE_BITS = LANES - 1 }; /* of a square, replaced by the lane, where only the least is wanted */

static uint32_t to_boxes(const cofi_kd_tree *t, uint32_t boxes, const int16_t *own, int32_t limit,
                         int32_t *square, uint32_t *nearest)
{
    const int16_t *low = in_boxes(t, boxes, 0);
    uint32_t mask = 0;
    int32_t least = INT32_MAX;
    memset(square, 0, LANES * sizeof *square);
    for (uint32_t j = 0; j < 2 * t->n_pairs; j++) {
        for (uint32_t i = 0; i < LANES; i++) {
            int32_t below = low[2 * i] - own[j], above = own[j] - low[2 * i + 2 * LANES];
            int32_t apart = below > 0 ? below : above > 0 ? above : 0;
            square[i] += apart * apart;
        }
        low += j % 2 == 0 ? 1 : 4 * LANES - 1;
    }
    for (int32_t i = 0; i < LANES; i++) {
        int32_t key = (square[i] & ~LANE_BITS) | i;
        least = key < least ? key : least;
        mask |= (uint32_t)(square[i] <= limit) << i;
    }
    *nearest = (uint32_t)(least & LANE_BITS);
    return mask;
}

static const int16_t *leaf_at(const cofi_kd_tree *t, uint32_t position)
{
    return t->close + (size_t)position * t->n_pairs * 2;
}

static uint32_t in_leaf(const cofi_kd_tree *t, uint32_t position, const int16_t *own, int32_t limit)
{
    const int16_t *p = leaf_at(t, position);
    int32_t sum[LANES] = {0};
    uint32_t mask = 0;
    for (uint32_t pair = 0; pair < t->n_pairs;) {
        uint32_t stop = t->n_pairs - pair < STEP ? t->n_pairs : pair + STEP;
        for (; pair < stop; pair++, p += 2 * LANES)
            for (uint32_t i = 0; i < LANES; i++) {
                int32_t x = p[2 * i] - own[2 * pair], y = p[2 * i + 1] - own[2 * pair + 1];
                sum[i] += x * x + y * y;
            }
        int32_t near = 0;
        for (uint32_t i = 0; i < LANES; i++) near |= sum[i] <= limit;
        if (near == 0) return 0; /* the leaf is too far away */
    }
    for (uint32_t i = 0; i < LANES; i++) mask |= (uint32_t)(sum[i] <= limit) << i;
    return mask;
}

const cofi_kd_steps cofi_kd_plain_steps = {to_boxes, in_leaf};

#if defined(__x86_64__) && defined(__GNUC__)
#define TARGET __attribute__((target("avx2")))
enum { GROUPS = LANES / 8 };

TARGET static inline __m256i load(const int16_t *from)
{
    return _mm256_loadu_si256((const __m256i *)from);
}

/* Two coordinates of the point, in all lanes. */
TARGET static inline __m256i broadcast(const int16_t *own)
{
    int32_t both;
    memcpy(&both, own, sizeof both);
    return _mm256_set1_epi32(both);
}

/* sum + the squares of sixteen differences, two in each of eight sums */
TARGET static inline __m256i add_squares(__m256i sum, __m256i apart)
{
    return _mm256_add_epi32(sum, _mm256_madd_epi16(apart, apart));
}

TARGET static inline uint32_t mark_near(const __m256i *sum, __m256i most)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < GROUPS; i++) {
        __m256 above = _mm256_castsi256_ps(_mm256_cmpgt_epi32(sum[i], most));
        mask |= (uint32_t)(_mm256_movemask_ps(above) ^ 0xFF) << 8 * i;
    }
    return mask;
}

TARGET static inline uint32_t lane_of_least(const __m256i *sum)
{
    __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), least = _mm256_set1_epi32(INT32_MAX);
    for (uint32_t i = 0; i < GROUPS; i++) {
        __m256i rest = _mm256_andnot_si256(_mm256_set1_epi32(LANE_BITS), sum[i]);
        least = _mm256_min_epi32(least, _mm256_or_si256(rest, lane));
        lane = _mm256_add_epi32(lane, _mm256_set1_epi32(8));
    }
    __m128i four = _mm_min_epi32(_mm256_castsi256_si128(least), _mm256_extracti128_si256(least, 1));
    four = _mm_min_epi32(four, _mm_shuffle_epi32(four, 0x4E));
    four = _mm_min_epi32(four, _mm_shuffle_epi32(four, 0xB1));
    return (uint32_t)_mm_cvtsi128_si32(four) & LANE_BITS;
}

TARGET static uint32_t to_boxes_avx2(const cofi_kd_tree *t, uint32_t boxes, const int16_t *own, int32_t limit,
                                     int32_t *square, uint32_t *nearest)
{
    const int16_t *low = in_boxes(t, boxes, 0);
    __m256i sum[GROUPS];
    for (uint32_t i = 0; i < GROUPS; i++) sum[i] = _mm256_setzero_si256();
    for (uint32_t pair = 0; pair < t->n_pairs; pair++, low += 4 * LANES) {
        __m256i x = broadcast(own + 2 * pair);
        for (uint32_t i = 0; i < GROUPS; i++) { /* of two differences one is below 0, which saturates to 0 */
            __m256i below = _mm256_subs_epu16(load(low + 16 * i), x),
                    above = _mm256_subs_epu16(x, load(low + 2 * LANES + 16 * i));
            sum[i] = add_squares(sum[i], _mm256_or_si256(below, above));
        }
    }
    for (uint32_t i = 0; i < GROUPS; i++) _mm256_storeu_si256((__m256i *)(square + 8 * i), sum[i]);
    *nearest = lane_of_least(sum);
    return mark_near(sum, _mm256_set1_epi32(limit));
}

TARGET static uint32_t in_leaf_avx2(const cofi_kd_tree *t, uint32_t position, const int16_t *own,
                                    int32_t limit)
{
    const int16_t *p = leaf_at(t, position);
    __m256i sum[GROUPS], most = _mm256_set1_epi32(limit);
    uint32_t near = 0;
    for (uint32_t i = 0; i < GROUPS; i++) sum[i] = _mm256_setzero_si256();
    for (uint32_t pair = 0; pair < t->n_pairs;) {
        uint32_t stop = t->n_pairs - pair < STEP ? t->n_pairs : pair + STEP;
        for (; pair < stop; pair++, p += 2 * LANES) {
            __m256i x = broadcast(own + 2 * pair);
            for (uint32_t i = 0; i < GROUPS; i++)
                sum[i] = add_squares(sum[i], _mm256_sub_epi16(load(p + 16 * i), x));
        }
        near = mark_near(sum, most);
        if (near == 0) return 0; /* the leaf is too far away */
    }
    return near;
}

static const cofi_kd_steps avx2_steps = {to_boxes_avx2, in_leaf_avx2};

static const cofi_kd_steps *best_steps(void)
{
    return cofi_processor_has(COFI_AVX2) ? &avx2_steps : &cofi_kd_plain_steps;
}
#else
static const cofi_kd_steps *best_steps(void)
{
    return &cofi_kd_plain_steps;
}
#endif

uint32_t cofi_kd_children(const cofi_kd_tree *t, const cofi_kd_node *node, const cofi_kd_aim *aim,
                          int32_t *square, uint32_t *nearest)
{
    uint32_t near = t->steps->to_boxes(t, node->boxes, aim->close, aim->limit, square, nearest);
    return near & (UINT32_MAX >> (LANES - node->n_children));
}

void cofi_kd_aim_from(const cofi_kd_tree *t, uint32_t position, cofi_kd_aim *aim)
{
    aim->exact = point_at(t, position);
    for (uint32_t j = 0; j < t->k; j++) aim->close[j] = rounded(t, aim->exact, j);
}

/* Rounding adds at most 1 to each coordinate of a difference, so at most sqrt(k) to a distance. */
void cofi_kd_aim_within(const cofi_kd_tree *t, double square, cofi_kd_aim *aim)
{
    double reach = sqrt(square) * t->units + sqrt(t->k) * (1 + 1e-9), most = reach * reach + 1;
    aim->limit = most < INT32_MAX ? (int32_t)most : INT32_MAX;
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
    /* Every node with children has at least 16, except the first node: at most n_leaves / 15 + 1 inner nodes. */
    size_t n_boxes = n_leaves / (LANES / 2 - 1) + 8;
    *t = (cofi_kd_tree){.k = q->k, .n = q->n, .n_pairs = (q->k + 1) / 2, .steps = best_steps()};
    t->close = cofi_blocks_add_zero(own, (size_t)n_leaves * LANES * t->n_pairs * 2, sizeof *t->close);
    t->box = cofi_blocks_add_zero(own, n_boxes * t->n_pairs * 4 * LANES, sizeof *t->box);
    t->least = cofi_blocks_add(own, q->k, sizeof *t->least);
    t->row = cofi_blocks_add(own, (size_t)q->n * q->k, sizeof *t->row);
    t->moment = cofi_blocks_add(own, 2 * (size_t)q->k, sizeof *t->moment);
    t->point = cofi_blocks_add(own, q->n, sizeof *t->point);
    t->node = cofi_blocks_add(own, n_leaves + n_boxes, sizeof *t->node);
    if (own->short_of_memory) return false;
    for (uint32_t i = 0; i < q->n; i++) t->point[i] = i;
    if (q->n == 0) return true;
    for (uint32_t i = 0; i < q->n; i++)
        for (uint32_t j = 0; j < t->k; j++) t->row[(size_t)i * t->k + j] = coordinate(q, i, j);
    choose_units(t, q);
    t->node[t->n_nodes++] = (cofi_kd_node){.begin = 0, .end = q->n};
    grow(t, q, 0);
    assert(t->n_boxes <= n_boxes && t->n_nodes <= n_leaves + n_boxes);
    return true;
}
