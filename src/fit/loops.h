/* The loop that all methods share, and its two common forms: k-modes with value distances, and clusters
 * described by distributions. */
#pragma once

#include "fit.h"

/* D_r[a][b] for every attribute: symmetric, zero diagonal. */
typedef struct cofi_distances {
    size_t *at; /* per attribute: where its block begins */
    double *d;  /* blocks of n_values x n_values */
} cofi_distances;

/* Zero distances in the memory of `own`. Fails with COF_ERR_DATA if an attribute has too many values for a matrix. */
cof_status cofi_distances_open(const cofi_fit *fit, cofi_blocks *own, cofi_distances *distances,
                               cof_error *err);
static inline double *cofi_distances_of(const cofi_fit *fit, const cofi_distances *d, size_t r,
                                        uint32_t value)
{
    return d->d + d->at[r] + (size_t)value * fit->problem->n_values[r];
}

/* A loop of passes. It ends when no label changes, when the host asks to stop, or after max_passes passes; fit->log.stop has
 * the reason.
 *
 *     cofi_loop loop = cofi_loop_begin(fit, COF_PHASE_FIT, NULL);
 *     while (cofi_loop_goes_on(&loop)) {
 *         ... set the scores; label the rows; set loop.moved and fit->log.objective ...
 *         COFI_TRY(cofi_loop_end_pass(fit, &loop, err));
 *     }
 */
typedef struct cofi_loop {
    cof_phase phase;     /* in the start phase, passes are not recorded and need no L */
    bool unrecorded;     /* nor are they here */
    uint32_t pass, last; /* passes that have ended; the loop ends with so many */
    uint64_t moved;      /* rows that changed their label in the current pass */
    uint64_t *met;       /* hashes of the partitions so far; NULL: cycles are not detected */
    uint32_t n_met;
} cofi_loop;

/* `met` has memory for max_passes + 1 hashes, to detect cycles of partitions: in a cycle, the loop ends with the partition that
 * max_passes passes would have given. */
cofi_loop cofi_loop_begin(cofi_fit *fit, cof_phase phase, uint64_t *met);
static inline bool cofi_loop_goes_on(const cofi_loop *loop)
{
    return loop->pass < loop->last;
}
cof_status cofi_loop_end_pass(cofi_fit *fit, cofi_loop *loop, cof_error *err);

/* L2 sums squares; the square root is omitted, because it does not change the order */
typedef enum cofi_sum { COFI_L1, COFI_L2 } cofi_sum;
typedef enum cofi_centre { COFI_FREQUENT, COFI_MEDIAN } cofi_centre;

/* Distance between a row and a cluster: a sum over the attributes. */
typedef struct cofi_row_distance {
    const cofi_distances *d; /* NULL: 0 for equal values, 1 for others */
    const double *factor;    /* weight per attribute; NULL: 1 */
    cofi_sum sum;
    double beside; /* upper bound of other terms in a row's sum, such as those of quantities */
} cofi_row_distance;

/* k-modes from the current modes until no label changes. COFI_FREQUENT: the mode
 * is the most frequent value; COFI_MEDIAN: the value with the least summed distance to the cluster's
 * values. Ties go to the lowest value; an empty cluster keeps its mode. */
cof_status cofi_loop_modes(cofi_fit *fit, const cofi_row_distance *distance, cofi_centre centre,
                           cof_phase phase, cof_error *err);
/* The same with profiles instead of modes. */
cof_status cofi_loop_profiles(cofi_fit *fit, const cofi_row_distance *distance, cof_error *err);

/* Runs k-modes from the seeds' modes, which is the start of the paper, unless the start left a partition. */
cof_status cofi_settle_kmodes(cofi_fit *fit, cof_error *err);

/* whether some row in a cluster holds the value */
bool cofi_value_occurs(const cofi_fit *fit, uint32_t flat);
void cofi_modes_from_seeds(cofi_fit *fit); /* all k seeds must be set */
void cofi_modes_frequent(cofi_fit *fit);
void cofi_modes_median(cofi_fit *fit, const cofi_distances *distances);
void cofi_profile_from_modes(cofi_fit *fit); /* one-hot; every cluster is alive */
/* Sets the first profiles: those of the partition if the start left one, else one-hot at the modes. */
void cofi_profile_begin(cofi_fit *fit);

/* Sets the scores for the current modes, as cofi_loop_modes does before each pass. */
void cofi_scores_modes(cofi_fit *fit, const cofi_row_distance *distance);
/* Sets the scores for the current profiles, as cofi_loop_profiles does before each pass. */
void cofi_scores_profiles(cofi_fit *fit, const cofi_row_distance *distance);
/* Sets the scores to numbers >= 0 that the caller computed, `raw` being [g][stride]. `largest` is an upper
 * bound of a row's sum. */
void cofi_scores_from(cofi_fit *fit, const double *raw, double largest);
