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

/* A loop repeats: compute scores, label rows, record the pass. It ends when no label changes, when the
 * host asks to stop, or after max_passes passes. The reason is stored in fit->log. */
typedef struct cofi_loop {
    cof_phase phase; /* in the start phase, passes are not recorded and L is not computed */
    void (*score)(cofi_fit *fit, void *ctx, uint32_t pass); /* fills fit->scores; pass 0 is the first */
    /* Labels the rows by other means than a pass, and sets L. NULL: uses a pass. */
    cof_status (*assign)(cofi_fit *fit, void *ctx, uint64_t *moved, cof_error *err);
    void *ctx;
    /* Memory for max_passes + 1 hashes, for detecting cycles of partitions: in a cycle, the loop ends with
     * the partition that max_passes passes would have given. NULL: cycles are not detected. */
    uint64_t *met;
    bool unrecorded; /* passes are not added to the history */
} cofi_loop;

cof_status cofi_loop_run(cofi_fit *fit, const cofi_loop *loop, cof_error *err);

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
