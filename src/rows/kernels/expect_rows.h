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

/* Eight numbers, in as many registers as the instruction set needs for them: few classes are worked on in registers, since
 * in memory every addition would wait for the previous store. */
typedef double cofi_reals __attribute__((vector_size(8 * COFI_EXPECT_TILE)));
typedef uint64_t cofi_wholes __attribute__((vector_size(8 * COFI_EXPECT_TILE)));

enum { COFI_EXPECT_TILES = COFI_EXPECT_HELD / COFI_EXPECT_TILE };

/* Sums over the attributes for the classes from `first` on, whole tiles of them. */
COFI_INLINE void cofi_expect_tiles(const cofi_expect_job *job, const uint32_t *id, uint32_t first,
                                   uint32_t n_tiles, uint32_t stride, double *joint)
{
    cofi_reals sum[COFI_EXPECT_TILES], theta;
    for (uint32_t t = 0; t < n_tiles; t++)
        memcpy(&sum[t], job->log_pi + first + t * COFI_EXPECT_TILE, sizeof *sum);
    for (size_t r = 0; r < job->cells->n_attrs; r++) {
        const double *from = job->log_theta + (size_t)id[r] * stride + first;
        for (uint32_t t = 0; t < n_tiles; t++) {
            memcpy(&theta, from + t * COFI_EXPECT_TILE, sizeof theta);
            sum[t] += theta;
        }
    }
    for (uint32_t t = 0; t < n_tiles; t++) memcpy(joint + first + t * COFI_EXPECT_TILE, &sum[t], sizeof *sum);
}

/* How many tiles from `first` on are worked on together. */
COFI_INLINE uint32_t cofi_expect_n_tiles(uint32_t lanes, uint32_t first)
{
    return lanes - first < COFI_EXPECT_HELD ? (lanes - first) / COFI_EXPECT_TILE : COFI_EXPECT_TILES;
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
    double most[COFI_EXPECT_TILE] = {x[0]};
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
    if (lanes < COFI_EXPECT_TILE) cofi_expect_sums(job, id, lanes, stride, joint);
    for (uint32_t j = 0; j + COFI_EXPECT_TILE <= lanes; j += COFI_EXPECT_HELD)
        cofi_expect_tiles(job, id, j, cofi_expect_n_tiles(lanes, j), stride, joint);
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

COFI_INLINE void cofi_expect_add_tiles(const cofi_expect_job *job, const uint32_t *id, uint32_t first,
                                       uint32_t n_tiles, uint32_t stride, const uint64_t *units,
                                       uint64_t *restrict count)
{
    cofi_wholes own[COFI_EXPECT_TILES], sum;
    for (uint32_t t = 0; t < n_tiles; t++) memcpy(&own[t], units + first + t * COFI_EXPECT_TILE, sizeof *own);
    for (size_t r = 0; r <= job->cells->n_attrs; r++) {
        uint64_t *to = count + job->n_entries + first; /* the sizes of the classes, last */
        if (r < job->cells->n_attrs) to = count + (size_t)id[r] * stride + first;
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
    for (uint32_t j = 0; j + COFI_EXPECT_TILE <= lanes; j += COFI_EXPECT_HELD)
        cofi_expect_add_tiles(job, id, j, cofi_expect_n_tiles(lanes, j), stride, units, count);
    if (lanes >= COFI_EXPECT_TILE) return;
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

/* The next rows from *next on that have weight, at most `most`. False: there are none before `end`. */
COFI_INLINE bool cofi_expect_fill(const cofi_visited *rows, size_t *next, size_t end, size_t most,
                                  cofi_expect_batch *b)
{
    size_t i = *next;
    for (b->n = 0; i < end && b->n < most; i += rows->step) {
        if (rows->weight != NULL && rows->weight[i] == 0) continue;
        if (rows->copies != NULL && rows->copies[i] == 0) continue;
        b->at[b->n] = i;
        b->row[b->n++] = rows->group != NULL ? rows->group[i] : i;
    }
    *next = i;
    return b->n > 0;
}

COFI_INLINE uint64_t cofi_expect_copies(const cofi_expect_job *job, const cofi_expect_batch *b, size_t i)
{
    return job->rows.copies != NULL ? job->rows.copies[b->at[i]] : 1;
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
        uint64_t weight = job->rows.weight != NULL ? job->rows.weight[b->at[i]] : 1;
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

COFI_INLINE void cofi_expect_some_rows(const cofi_expect_job *job, cofi_expect_batch *b, uint32_t lanes,
                                       uint32_t stride, cofi_expect_part *part)
{
    size_t n = b->n * lanes;
    cofi_expect_ids(job->cells, b, part->id);
    for (size_t i = 0; i < b->n; i++)
        b->most[i] = cofi_expect_joint(job, part->id + i * job->cells->n_attrs, lanes, stride,
                                       part->share + i * lanes);
    cofi_exp_all(part->share, n);
    cofi_expect_shares(job, b, lanes, part);
    if (job->rows.weight == NULL)
        cofi_round_all(part->share, n, part->units);
    else /* too large for it */
        for (size_t i = 0; i < n; i++) part->units[i] = (uint64_t)llrint(part->share[i]);
    for (size_t i = 0; i < b->n; i++)
        cofi_expect_add(job, part->id + i * job->cells->n_attrs, cofi_expect_copies(job, b, i), lanes, stride,
                        part->units + i * lanes, part->count);
}

COFI_INLINE void cofi_expect_some(const cofi_expect_job *job, size_t begin, size_t end, uint32_t lanes,
                                  uint32_t stride, cofi_expect_part *part)
{
    cofi_expect_batch b = {.n = 0};
    size_t most = cofi_expect_most(COFI_EXPECT_ENTRIES, lanes, job->cells->n_attrs);
    while (cofi_expect_fill(&job->rows, &begin, end, most, &b))
        cofi_expect_some_rows(job, &b, lanes, stride, part);
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
