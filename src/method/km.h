/* A method that is k-modes with its own value distances; its state is a cofi_distances. */
#pragma once

#include "../fit/loops.h"
#include "../fit/method.h"
#include "../fit/criterion.h"
#include "../fit/scores.h"

cof_status cofi_km_open(cofi_fit *fit, void **state, cof_error *err); /* all distances are zero */
/* k-modes: with added distances and most frequent values, or with squared distances and medians. */
cof_status cofi_km_run_l1(cofi_fit *fit, void *state, cof_error *err);
cof_status cofi_km_run_l2(cofi_fit *fit, void *state, cof_error *err);

/* Profiles with distances that are learned: runs the loop over profiles and calls `learn`, which
 * sets new distances, until the partition does not change. `learn` NULL: the loop runs once. */
cof_status cofi_km_learn(cofi_fit *fit, const cofi_row_distance *distance,
                         void (*learn)(cofi_fit *fit, void *ctx), void *ctx, cof_error *err);

/* Per flat id: whether the value occurs in a row of positive weight; in scratch memory. */
cof_status cofi_present_values(cofi_fit *fit, uint8_t **out, cof_error *err);
