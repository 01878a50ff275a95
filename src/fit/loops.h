/* The loop that all methods share, and its two common forms: k-modes with a value distance, and distribution
 * descriptors. */
#ifndef COFI_LOOPS_H
#define COFI_LOOPS_H

#include "fit.h"

/* D_r[a][b] for every attribute: symmetric, zero diagonal. */
typedef struct cofi_distances {
    size_t *at; /* per attribute: where its block begins */
    double *d;  /* blocks of n_values x n_values */
} cofi_distances;

/* All zero. Fails, with a sentence, where the attributes have too many values for a matrix each. */
cof_status cofi_distances_open(const cofi_fit *fit, cofi_distances *distances, cof_error *err);
void cofi_distances_close(const cofi_fit *fit, cofi_distances *distances); /* fine after a failed open */
static inline double *cofi_distances_of(const cofi_fit *fit, const cofi_distances *d, size_t r,
                                        uint32_t value)
{
    return d->d + d->at[r] + (size_t)value * fit->problem->n_values[r];
}

/* Scores, rows to clusters, a record, again until nothing moves, the host says stop, or the cap is reached. How it
 * ended is left in fit->log. */
typedef struct cofi_loop {
    cof_phase phase; /* passes of a start are not recorded, and L is not worked out */
    void (*score)(cofi_fit *fit, void *ctx, uint32_t pass); /* fills fit->scores; pass 0 is the first */
    /* Labels rows in another way than by a pass, and sets L; NULL: by a pass. */
    cof_status (*assign)(cofi_fit *fit, void *ctx, uint64_t *moved, cof_error *err);
    void *ctx;
    /* Room for max_passes + 1 hashes: where partitions come back in turn, the loop ends with the one that running
     * up to the cap would have ended with. NULL: it does not look. */
    uint64_t *met;
    bool unrecorded; /* leaves the history alone */
} cofi_loop;

cof_status cofi_loop_run(cofi_fit *fit, const cofi_loop *loop, cof_error *err);

typedef enum cofi_sum { COFI_L1, COFI_L2 } cofi_sum; /* L2 adds squares; the root changes no order */
typedef enum cofi_centre { COFI_FREQUENT, COFI_MEDIAN } cofi_centre;

/* How a row and a cluster compare. */
typedef struct cofi_measure {
    const cofi_distances *d; /* NULL: 0 for equal values, 1 for others */
    const double *factor;    /* per attribute; NULL: 1 */
    cofi_sum sum;
    double beside; /* what else, beside the attributes, may add to a row's sum at most */
} cofi_measure;

/* KM of the specification: from the modes, passes and new modes until nothing moves. FREQUENT: the most
 * frequent value; MEDIAN: the value with the least summed distance to the cluster's. Lowest value on ties; an
 * empty cluster keeps its mode. */
cof_status cofi_loop_modes(cofi_fit *fit, const cofi_measure *measure, cofi_centre centre, cof_phase phase,
                           cof_error *err);
/* DD: from the profiles, passes and new profiles until nothing moves. */
cof_status cofi_loop_profiles(cofi_fit *fit, const cofi_measure *measure, cof_error *err);

/* k-modes from the seeds' modes, the start of the paper, unless there is a partition already. */
cof_status cofi_settle_kmodes(cofi_fit *fit, cof_error *err);

bool cofi_value_occurs(const cofi_fit *fit, uint32_t flat); /* some row in a cluster holds it */
void cofi_modes_from_seeds(cofi_fit *fit);                  /* all k seeds are set */
void cofi_modes_frequent(cofi_fit *fit);
void cofi_modes_median(cofi_fit *fit, const cofi_distances *distances);
void cofi_profile_from_modes(cofi_fit *fit); /* one-hot, every cluster alive */
/* Profiles to begin with: of the partition if the start left one, else one-hot at the modes. */
void cofi_profile_begin(cofi_fit *fit);

/* Sets the scores of the modes as cofi_loop_modes does before each pass. */
void cofi_scores_modes(cofi_fit *fit, const cofi_measure *measure);
/* Sets the scores of the profiles as cofi_loop_profiles does before each pass. */
void cofi_scores_profiles(cofi_fit *fit, const cofi_measure *measure);
/* Scores of arbitrary numbers >= 0, [g][stride] in `raw`, made by the caller; `largest` bounds a row's sum. */
void cofi_scores_from(cofi_fit *fit, const double *raw, double largest);

#endif
