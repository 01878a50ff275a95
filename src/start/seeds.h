/* The common parts of starts: seeds, drawn one after the other, and their modes. */
#pragma once

#include "../fit/method.h"

/* Draws a row of the table with probability proportional to its mass. The total mass is positive, because
 * there are at least k distinct rows. */
cof_status cofi_seeds_draw(cofi_fit *fit, cofi_chance by, uint64_t *row, cof_error *err);
/* Makes this row seed number j. `track`: also updates the distances of all rows to their nearest seed. */
cof_status cofi_seeds_set(cofi_fit *fit, uint32_t j, uint64_t row, bool track, cof_error *err);
bool cofi_seeds_repeats(const cofi_fit *fit, uint32_t j); /* whether seed j equals an earlier one */
/* Draws seed j at random among the rows that differ from all earlier seeds. */
cof_status cofi_seeds_draw_new(cofi_fit *fit, uint32_t j, cof_error *err);

/* Draws k seeds, the first at random, the others as `by` says, and sets the modes. */
cof_status cofi_seeds_apart(cofi_fit *fit, cofi_chance by, cof_error *err);
/* Runs one-hot k-means from the modes until no label changes. Leaves a partition and its modes. */
cof_status cofi_run_kmeans(cofi_fit *fit, cof_error *err);
