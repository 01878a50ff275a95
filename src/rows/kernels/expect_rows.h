/* The E step over some rows, for few rows at a time. Every kernel file compiles this text for its
 * instruction set. The operations and their order are the same everywhere, and so are the results, bit for
 * bit. The surprise of a row is minus its log-likelihood. */
#pragma once

#include "../../core/real.h"
#include "kernel.h"

#include <math.h>

/* The whole number nearest to each x; 0 <= x < 2^51. */
COFI_INLINE void cofi_round_all(const double *restrict x, size_t n, uint64_t *restrict whole)
{
    const double to_whole = 0x1p52;
    for (size_t i = 0; i < n; i++) {
        double shifted = x[i] + to_whole;
        uint64_t bits;
        memcpy(&bits, &shifted, sizeof bits);
        whole[i] = bits & (((uint64_t)1 << 52) - 1);
    }
}

/* Whether so many classes are whole tiles and stay in registers. */
COFI_INLINE bool cofi_expect_held(uint32_t lanes)
{
    return lanes >= COFI_EXPECT_TILE && lanes <= COFI_EXPECT_HELD;
}

/* Eight numbers, in as many registers as the instruction set needs for them: few classes are worked on in registers, since
 * in memory every addition would wait for the previous store. */
typedef double cofi_reals __attribute__((vector_size(8 * COFI_EXPECT_TILE)));
typedef uint64_t cofi_wholes __attribute__((vector_size(8 * COFI_EXPECT_TILE)));

enum { COFI_EXPECT_TILES = COFI_EXPECT_HELD / COFI_EXPECT_TILE };

/* Sums over the attributes for up to COFI_EXPECT_TILES tiles of classes. */
COFI_INLINE void cofi_expect_tiles(const cofi_expect_job *job, const uint32_t *id, uint32_t n_tiles,
                                   uint32_t stride, double *joint)
{
    cofi_reals sum[COFI_EXPECT_TILES], theta;
    for (uint32_t t = 0; t < n_tiles; t++) memcpy(&sum[t], job->log_pi + t * COFI_EXPECT_TILE, sizeof *sum);
    for (size_t r = 0; r < job->cells->n_attrs; r++) {
        const double *from = job->log_theta + (size_t)id[r] * stride;
        for (uint32_t t = 0; t < n_tiles; t++) {
            memcpy(&theta, from + t * COFI_EXPECT_TILE, sizeof theta);
            sum[t] += theta;
        }
    }
    for (uint32_t t = 0; t < n_tiles; t++) memcpy(joint + t * COFI_EXPECT_TILE, &sum[t], sizeof *sum);
}

/* The same for less than a tile. */
COFI_INLINE void cofi_expect_sums(const cofi_expect_job *job, const uint32_t *id, uint32_t lanes,
                                  uint32_t stride, double *joint)
{
    double sum[COFI_EXPECT_TILE];
    for (uint32_t j = 0; j < lanes; j++) sum[j] = job->log_pi[j];
    for (size_t r = 0; r < job->cells->n_attrs; r++) {
        const double *theta = job->log_theta + (size_t)id[r] * stride;
        for (uint32_t j = 0; j < lanes; j++) sum[j] += theta[j];
    }
    memcpy(joint, sum, lanes * sizeof *sum);
}

/* The greatest of less than a tile of numbers, or of whole tiles. Every lane of a tile has its own, since each comparison of
 * a single chain would wait for the previous one. */
COFI_INLINE double cofi_expect_greatest(const double *x, uint32_t n)
{
    double most[COFI_EXPECT_TILE];
    uint32_t width = n < COFI_EXPECT_TILE ? n : COFI_EXPECT_TILE;
    for (uint32_t i = 0; i < width; i++) most[i] = x[i];
    for (uint32_t j = width; j < n; j += width)
        for (uint32_t i = 0; i < width; i++) most[i] = x[j + i] > most[i] ? x[j + i] : most[i];
    for (uint32_t i = 1; i < width; i++) most[0] = most[i] > most[0] ? most[i] : most[0];
    return most[0];
}

/* The log of the joint probability of a row and each class, less the greatest of them, which is returned.
 * Entries past the last class become -infinity, whose exponential is too small to count. */
COFI_INLINE double cofi_expect_joint(const cofi_expect_job *job, const uint32_t *id, uint32_t lanes,
                                     uint32_t stride, double *joint)
{
    if (cofi_expect_held(lanes))
        cofi_expect_tiles(job, id, lanes / COFI_EXPECT_TILE, stride, joint);
    else
        cofi_expect_sums(job, id, lanes, stride, joint);
    for (uint32_t j = job->e->k; j < lanes; j++) joint[j] = -INFINITY;
    double most = cofi_expect_greatest(joint, lanes);
    for (uint32_t j = 0; j < lanes; j++) joint[j] -= most;
    return most;
}

/* Turns exponentials into a row's memberships, of which `full` is the sum. Returns the sum of the
 * exponentials. */
COFI_INLINE double cofi_expect_share(double full, uint32_t lanes, double *share)
{
    double part[COFI_EXPECT_TILE], sum = 0;
    uint32_t width = lanes < COFI_EXPECT_TILE ? lanes : COFI_EXPECT_TILE;
    for (uint32_t i = 0; i < width; i++) part[i] = share[i];
    for (uint32_t j = width; j < lanes; j += width)
        for (uint32_t i = 0; i < width; i++) part[i] += share[j + i];
    for (uint32_t i = 0; i < width; i++) sum += part[i];
    for (uint32_t j = 0; j < lanes; j++) share[j] = share[j] / sum * full;
    return sum;
}

COFI_INLINE void cofi_expect_add_tiles(const cofi_expect_job *job, const uint32_t *id, uint32_t n_tiles,
                                       uint32_t stride, const uint64_t *units, uint64_t *restrict count)
{
    cofi_wholes own[COFI_EXPECT_TILES], sum;
    for (uint32_t t = 0; t < n_tiles; t++) memcpy(&own[t], units + t * COFI_EXPECT_TILE, sizeof *own);
    for (size_t r = 0; r <= job->cells->n_attrs; r++) {
        uint64_t *to = count + job->n_entries; /* the sizes of the classes, last */
        if (r < job->cells->n_attrs) to = count + (size_t)id[r] * stride;
        for (uint32_t t = 0; t < n_tiles; t++, to += COFI_EXPECT_TILE) {
            memcpy(&sum, to, sizeof sum);
            sum += own[t];
            memcpy(to, &sum, sizeof sum);
        }
    }
}

/* Adds the memberships of equal rows, in whole units, to the counts of their values. */
COFI_INLINE void cofi_expect_add(const cofi_expect_job *job, const uint32_t *id, uint64_t copies,
                                 uint32_t lanes, uint32_t stride, uint64_t *restrict units,
                                 uint64_t *restrict count)
{
    if (copies != 1)
        for (uint32_t j = 0; j < lanes; j++) units[j] *= copies;
    if (cofi_expect_held(lanes)) {
        cofi_expect_add_tiles(job, id, lanes / COFI_EXPECT_TILE, stride, units, count);
        return;
    }
    for (uint32_t j = 0; j < lanes; j++) count[job->n_entries + j] += units[j];
    for (size_t r = 0; r < job->cells->n_attrs; r++) {
        uint64_t *restrict to = count + (size_t)id[r] * stride;
        for (uint32_t j = 0; j < lanes; j++) to[j] += units[j];
    }
}

/* Rows that are worked on together, and the greatest logs of joint probability. */
typedef struct cofi_expect_batch {
    size_t n, at[COFI_EXPECT_ROWS], row[COFI_EXPECT_ROWS];
    double most[COFI_EXPECT_ROWS];
} cofi_expect_batch;

COFI_INLINE uint64_t cofi_expect_copies(const cofi_expect_job *job, const cofi_expect_batch *b, size_t i)
{
    return job->copies != NULL ? job->copies[b->at[i]] : 1;
}

/* The flat ids of the batch's cells, [row][attribute]: every row needs its own twice, and one attribute of many rows is read
 * faster than many attributes of one row. */
COFI_INLINE void cofi_expect_ids(const cofi_cells *c, const cofi_expect_batch *b, uint32_t *id)
{
    for (size_t r = 0; r < c->n_attrs; r++) {
        uint32_t first = c->first[r];
        cofi_ids ids = c->ids[r];
        if (ids.width == 1)
            for (size_t i = 0; i < b->n; i++)
                id[i * c->n_attrs + r] = first + ((const uint8_t *)ids.codes)[b->row[i]];
        else
            for (size_t i = 0; i < b->n; i++) id[i * c->n_attrs + r] = first + cofi_id(ids, b->row[i]);
    }
}

/* Turns exponentials into memberships in units, and adds up weight and surprise. */
COFI_INLINE void cofi_expect_shares(const cofi_expect_job *job, const cofi_expect_batch *b, uint32_t lanes,
                                    cofi_expect_part *part)
{
    for (size_t i = 0; i < b->n; i++) {
        uint64_t weight = job->weight != NULL ? job->weight[b->at[i]] : 1;
        uint64_t copies = cofi_expect_copies(job, b, i);
        double sum = cofi_expect_share(job->e->membership * (double)weight, lanes, part->share + i * lanes);
        part->weight += copies * weight;
        if (job->surprise_scale == 0) continue;
        /* The likeliest class contributes 1 to the sum; rounding may lower it. */
        double surprise = -(b->most[i] + cofi_ln(sum > 1 ? sum : 1));
        double units = surprise > 0 ? surprise * (double)weight * job->surprise_scale : 0;
        part->surprise += copies * (uint64_t)llrint(units);
    }
}

/* ---- Many classes ---------------------------------------------------------------------------------- */

/* The rows of a batch are worked on tile by tile of COFI_EXPECT_WIDE classes: the tables of a tile stay in a fast cache, while
 * those of all classes would come from a slow one for every row. */

/* Sums over the attributes of n_rows rows, one after the other in `id` and `joint`, for the classes of a tile. n_rows is a
 * constant where it is inlined: an addition need not wait for that of another row. */
COFI_INLINE void cofi_expect_wide_sums(const double *theta, size_t n_flat, const uint32_t *id, size_t n_attrs,
                                       uint32_t n_rows, uint32_t lanes, double *joint)
{
    enum { MOST = 4, PARTS = COFI_EXPECT_WIDE / COFI_EXPECT_TILE };
    cofi_reals sum[MOST][PARTS], term;
    for (uint32_t i = 0; i < n_rows; i++)
        for (uint32_t t = 0; t < PARTS; t++)
            memcpy(&sum[i][t], theta + n_flat * COFI_EXPECT_WIDE + t * COFI_EXPECT_TILE, sizeof term);
    for (size_t r = 0; r < n_attrs; r++)
        for (uint32_t i = 0; i < n_rows; i++) {
            const double *from = theta + (size_t)id[i * n_attrs + r] * COFI_EXPECT_WIDE;
            for (uint32_t t = 0; t < PARTS; t++) {
                memcpy(&term, from + t * COFI_EXPECT_TILE, sizeof term);
                sum[i][t] += term;
            }
        }
    for (uint32_t i = 0; i < n_rows; i++)
        for (uint32_t t = 0; t < PARTS; t++)
            memcpy(joint + i * lanes + t * COFI_EXPECT_TILE, &sum[i][t], sizeof term);
}

COFI_INLINE void cofi_expect_wide_tile(const double *theta, size_t n_flat, const uint32_t *id, size_t n_attrs,
                                       size_t n, uint32_t lanes, double *joint)
{
    enum { TOGETHER = 4 };
    size_t i = 0;
    for (; i + TOGETHER <= n; i += TOGETHER)
        cofi_expect_wide_sums(theta, n_flat, id + i * n_attrs, n_attrs, TOGETHER, lanes, joint + i * lanes);
    for (; i < n; i++)
        cofi_expect_wide_sums(theta, n_flat, id + i * n_attrs, n_attrs, 1, lanes, joint + i * lanes);
}

/* Subtracts the greatest log of joint probability, which is returned; lanes past the last class become -infinity. */
COFI_INLINE double cofi_expect_wide_most(uint32_t k, uint32_t lanes, double *joint)
{
    for (uint32_t j = k; j < lanes; j++) joint[j] = -INFINITY;
    double most = cofi_expect_greatest(joint, lanes);
    for (uint32_t j = 0; j < lanes; j++) joint[j] -= most;
    return most;
}

COFI_INLINE void cofi_expect_wide_joint(const cofi_expect_job *job, cofi_expect_batch *b, uint32_t lanes,
                                        const cofi_expect_part *part)
{
    for (uint32_t j = 0; j < lanes; j += COFI_EXPECT_WIDE)
        cofi_expect_wide_tile(job->log_theta + cofi_expect_index(job, 0, j), job->n_flat, part->id,
                              job->cells->n_attrs, b->n, lanes, part->share + j);
    for (size_t i = 0; i < b->n; i++)
        b->most[i] = cofi_expect_wide_most(job->e->k, lanes, part->share + i * lanes);
}

/* Adds the memberships of one row in a tile, in whole units. Most are less than half a unit and add nothing. */
COFI_INLINE void cofi_expect_wide_add_row(const uint64_t *units, uint64_t copies, const uint32_t *id,
                                          size_t n_attrs, size_t n_flat, uint64_t *count)
{
    enum { PARTS = COFI_EXPECT_WIDE / COFI_EXPECT_TILE };
    cofi_wholes own[PARTS], sum;
    uint64_t any = 0;
    for (uint32_t x = 0; x < COFI_EXPECT_WIDE; x++) any |= units[x];
    if (any == 0) return;
    for (uint32_t t = 0; t < PARTS; t++) {
        memcpy(&own[t], units + t * COFI_EXPECT_TILE, sizeof sum);
        own[t] *= copies;
    }
    for (size_t r = 0; r <= n_attrs; r++) {
        uint64_t *to = count + (r < n_attrs ? id[r] : n_flat) * COFI_EXPECT_WIDE;
        for (uint32_t t = 0; t < PARTS; t++, to += COFI_EXPECT_TILE) {
            memcpy(&sum, to, sizeof sum);
            sum += own[t];
            memcpy(to, &sum, sizeof sum);
        }
    }
}

COFI_INLINE void cofi_expect_wide_add(const cofi_expect_job *job, const cofi_expect_batch *b, uint32_t lanes,
                                      const cofi_expect_part *part)
{
    size_t n_attrs = job->cells->n_attrs;
    for (uint32_t j = 0; j < lanes; j += COFI_EXPECT_WIDE)
        for (size_t i = 0; i < b->n; i++)
            cofi_expect_wide_add_row(part->units + i * lanes + j, cofi_expect_copies(job, b, i),
                                     part->id + i * n_attrs, n_attrs, job->n_flat,
                                     part->count + cofi_expect_index(job, 0, j));
}

/* ---- Batches --------------------------------------------------------------------------------------- */

/* The logs of joint probability of all rows of the batch. */
COFI_INLINE void cofi_expect_joints(const cofi_expect_job *job, cofi_expect_batch *b, uint32_t lanes,
                                    uint32_t stride, const cofi_expect_part *part)
{
    if (cofi_expect_is_wide(lanes)) {
        cofi_expect_wide_joint(job, b, lanes, part);
        return;
    }
    for (size_t i = 0; i < b->n; i++)
        b->most[i] = cofi_expect_joint(job, part->id + i * job->cells->n_attrs, lanes, stride,
                                       part->share + i * lanes);
}

COFI_INLINE void cofi_expect_adds(const cofi_expect_job *job, const cofi_expect_batch *b, uint32_t lanes,
                                  uint32_t stride, const cofi_expect_part *part)
{
    if (cofi_expect_is_wide(lanes)) {
        cofi_expect_wide_add(job, b, lanes, part);
        return;
    }
    for (size_t i = 0; i < b->n; i++)
        cofi_expect_add(job, part->id + i * job->cells->n_attrs, cofi_expect_copies(job, b, i), lanes, stride,
                        part->units + i * lanes, part->count);
}

COFI_INLINE void cofi_expect_some_rows(const cofi_expect_job *job, cofi_expect_batch *b, uint32_t lanes,
                                       uint32_t stride, cofi_expect_part *part)
{
    size_t n = b->n * lanes;
    cofi_expect_ids(job->cells, b, part->id);
    cofi_expect_joints(job, b, lanes, stride, part);
    cofi_exp_all(part->share, n);
    cofi_expect_shares(job, b, lanes, part);
    if (job->weight == NULL)
        cofi_round_all(part->share, n, part->units);
    else /* too large for it */
        for (size_t i = 0; i < n; i++) part->units[i] = (uint64_t)llrint(part->share[i]);
    cofi_expect_adds(job, b, lanes, stride, part);
}

COFI_INLINE void cofi_expect_some(const cofi_expect_job *job, size_t begin, size_t end, uint32_t lanes,
                                  uint32_t stride, cofi_expect_part *part)
{
    cofi_expect_batch b = {.n = 0};
    size_t most = cofi_expect_most(lanes, job->cells->n_attrs);
    for (size_t i = begin; i < end; i += job->e->step) {
        if (job->weight != NULL && job->weight[i] == 0) continue;
        b.at[b.n] = i;
        b.row[b.n] = job->group != NULL ? job->group[i] : i;
        if (++b.n < most) continue;
        cofi_expect_some_rows(job, &b, lanes, stride, part);
        b.n = 0;
    }
    if (b.n > 0) cofi_expect_some_rows(job, &b, lanes, stride, part);
}

/* With few classes, their number is a constant in the inlined version. */
COFI_INLINE void cofi_expect_rows(const cofi_expect_job *job, size_t begin, size_t end,
                                  cofi_expect_part *part)
{
    uint32_t lanes = cofi_expect_lanes(job->e), stride = job->stride;
    switch (lanes) {
    case 2:
        cofi_expect_some(job, begin, end, 2, 2, part);
        break;
    case 4:
        cofi_expect_some(job, begin, end, 4, 4, part);
        break;
    case 8:
        cofi_expect_some(job, begin, end, 8, 8, part);
        break;
    case 16:
        cofi_expect_some(job, begin, end, 16, stride, part);
        break;
    case 24:
        cofi_expect_some(job, begin, end, 24, stride, part);
        break;
    case 32:
        cofi_expect_some(job, begin, end, 32, stride, part);
        break;
    default:
        cofi_expect_some(job, begin, end, lanes, stride, part);
    }
}
