/* Computes the points p(C|v) from counts. Values with equal profiles become one point. The distances of the
 * points are the weights of the edges (mst.c). */
#include "weights.h"

#include "../core/rng.h"

#include <assert.h>

static uint32_t slots_for(uint32_t capacity)
{
    uint32_t n = 16;
    while (n < 2 * (uint64_t)capacity && n < (UINT32_C(1) << 31)) n *= 2;
    return n;
}

void cofi_points_open(cofi_blocks *blocks, uint32_t k, uint32_t capacity, cofi_points *points)
{
    *points = (cofi_points){.k = k, .capacity = capacity};
    points->p = cofi_blocks_add(blocks, (size_t)k * capacity, sizeof *points->p);
    points->value = cofi_blocks_add(blocks, capacity, sizeof *points->value);
    points->next_twin = cofi_blocks_add(blocks, capacity, sizeof *points->next_twin);
    points->last_twin = cofi_blocks_add(blocks, capacity, sizeof *points->last_twin);
    points->slot = cofi_blocks_add(blocks, slots_for(capacity), sizeof *points->slot);
}

/* Writes p(C|v) as point i; returns false if no row holds the value. */
static bool set_point(cofi_points *q, uint32_t i, const uint64_t *count)
{
    uint64_t total = 0;
    for (uint32_t j = 0; j < q->k; j++) total += count[j];
    if (total == 0) return false;
    /* Division rounds correctly, so equal fractions become equal doubles: 1/2 equals 2/4. */
    for (uint32_t j = 0; j < q->k; j++)
        q->p[(size_t)j * q->capacity + i] = count[j] > 0 ? (double)count[j] / (double)total : 0;
    return true;
}

/* Computes the point again, with the rounding of the authors' program: N / |C| * |C| / total. Runs after
 * equal profiles are combined. */
static void round_point(cofi_points *q, uint32_t i, const uint64_t *count, const uint64_t *size)
{
    uint64_t total = 0;
    for (uint32_t j = 0; j < q->k; j++) total += count[j];
    for (uint32_t j = 0; j < q->k; j++) {
        double n = (double)count[j];
        if (count[j] > 0) n = n / (double)size[j] * (double)size[j];
        q->p[(size_t)j * q->capacity + i] = n / (double)total;
    }
}

static uint64_t hash_point(const cofi_points *q, uint32_t i)
{
    uint64_t hash = 0;
    for (uint32_t j = 0; j < q->k; j++) {
        uint64_t bits;
        memcpy(&bits, &q->p[(size_t)j * q->capacity + i], sizeof bits);
        if (bits != 0) hash = cofi_mix64(hash ^ bits ^ j); /* most are 0 in a large column */
    }
    return hash;
}

/* Whether points a and b are equal, which have these counts. The counts of a value lie together, and are mostly
 * equal if the points are, so they are compared first; the coordinates of a point lie apart. */
static bool same_point(const cofi_points *q, uint32_t a, uint32_t b, const uint64_t *count_a,
                       const uint64_t *count_b)
{
    if (memcmp(count_a, count_b, q->k * sizeof *count_a) == 0) return true;
    for (uint32_t j = 0; j < q->k; j++)
        if (q->p[(size_t)j * q->capacity + a] != q->p[(size_t)j * q->capacity + b]) return false;
    return true;
}

void cofi_points_gather(cofi_points *q, const uint64_t *count, const uint64_t *size, uint32_t stride,
                        uint32_t n_values)
{
    uint32_t n_slots = slots_for(n_values), mask = n_slots - 1;
    assert(n_values <= q->capacity);
    memset(q->slot, 0xFF, n_slots * sizeof *q->slot);
    q->n = 0;
    for (uint32_t i = 0; i < n_values; i++) {
        uint32_t v = q->order != NULL ? q->order[i] : i;
        q->next_twin[v] = COFI_NONE;
        if (!set_point(q, q->n, count + (size_t)v * stride)) continue;
        uint32_t at = (uint32_t)hash_point(q, q->n) & mask, known = q->slot[at];
        while (known != COFI_NONE && !same_point(q, known, q->n, count + (size_t)q->value[known] * stride,
                                                 count + (size_t)v * stride))
            known = q->slot[at = (at + 1) & mask];
        if (known == COFI_NONE) {
            q->slot[at] = q->n;
            q->value[q->n] = q->last_twin[q->n] = v;
            q->n++;
        } else {
            q->next_twin[q->last_twin[known]] = v;
            q->last_twin[known] = v;
        }
    }
    for (uint32_t i = 0; size != NULL && i < q->n; i++)
        round_point(q, i, count + (size_t)q->value[i] * stride, size);
}

uint32_t cofi_points_first_twins(const cofi_points *q)
{
    for (uint32_t i = 0; i < q->n; i++)
        if (q->next_twin[q->value[i]] != COFI_NONE) return i;
    return COFI_NONE;
}

uint32_t cofi_points_join_twins(const cofi_points *q, uint32_t value, double twin_length, cof_edge *edge)
{
    uint32_t n = 0;
    for (uint32_t twin = q->next_twin[value]; twin != COFI_NONE; twin = q->next_twin[twin])
        edge[n++] = (cof_edge){value, twin, twin_length};
    return n;
}
