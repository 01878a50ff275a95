/* The two loops that all methods share: k-modes with a value distance, and distribution descriptors. */
#ifndef COFI_LOOPS_H
#define COFI_LOOPS_H

#include "engine.h"

/* D_r[a][b] for every attribute: symmetric, zero diagonal. */
typedef struct cofi_distances {
    size_t *at; /* per attribute: where its block begins */
    double *d;  /* blocks of n_values x n_values */
} cofi_distances;

/* All zero. Fails, with a sentence, where the attributes have too many values for a matrix each. */
cof_status cofi_distances_open(const cofi_engine *engine, cofi_distances *distances, cof_error *err);
void cofi_distances_close(const cofi_engine *engine,
                          cofi_distances *distances); /* fine after a failed open */
static inline double *cofi_distances_of(const cofi_engine *e, const cofi_distances *d, size_t r,
                                        uint32_t value)
{
    return d->d + d->at[r] + (size_t)value * e->problem->n_values[r];
}

typedef enum cofi_sum { COFI_L1, COFI_L2 } cofi_sum; /* L2 adds squares; the root changes no order */
typedef enum cofi_centre { COFI_FREQUENT, COFI_MEDIAN } cofi_centre;

/* How a row and a cluster compare. */
typedef struct cofi_measure {
    const cofi_distances *d; /* NULL: 0 for equal values, 1 for others */
    const double *factor;    /* per attribute; NULL: 1 */
    cofi_sum sum;
    double beside; /* what else, beside the attributes, may add to a row's sum at most */
} cofi_measure;

/* KM of the specification: from engine->mode, passes and new modes until nothing moves. FREQUENT: the most
 * frequent value; MEDIAN: the value with the least summed distance to the cluster's. Lowest value on ties; an
 * empty cluster keeps its mode. */
cof_status cofi_loop_modes(cofi_engine *engine, const cofi_measure *measure, cofi_centre centre,
                           cof_phase phase, cof_error *err);
/* DD: from engine->profile, passes and new profiles until nothing moves. */
cof_status cofi_loop_profiles(cofi_engine *engine, const cofi_measure *measure, cof_error *err);

bool cofi_value_occurs(const cofi_engine *engine, uint32_t flat); /* some row in a cluster holds it */
void cofi_modes_frequent(cofi_engine *engine);
void cofi_modes_median(cofi_engine *engine, const cofi_distances *distances);
void cofi_profile_from_modes(cofi_engine *engine); /* one-hot, every cluster alive */
/* Profiles to begin with: of the partition if the start left one, else one-hot at the modes. */
void cofi_profile_begin(cofi_engine *engine);

/* Sets the scores of the modes as cofi_loop_modes does before each pass. */
void cofi_scores_modes(cofi_engine *engine, const cofi_measure *measure);
/* Sets the scores of the profiles as cofi_loop_profiles does before each pass. */
void cofi_scores_profiles(cofi_engine *engine, const cofi_measure *measure);
/* Scores of arbitrary numbers >= 0, [g][stride] in `raw`, made by the caller; `largest` bounds a row's sum. */
void cofi_scores_from(cofi_engine *engine, const double *raw, double largest);

#endif
