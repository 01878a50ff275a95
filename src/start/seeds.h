/* What starts are made of: seeds, drawn one after the other, and the modes they give. */
#ifndef COFI_SEEDS_H
#define COFI_SEEDS_H

#include "../fit/method.h"

/* Draws a row of the table by mass; there is some, because at least k rows differ. */
cof_status cofi_seeds_draw(cofi_fit *fit, cofi_chance by, uint64_t *row, cof_error *err);
/* Seed number j is this row. `track`: distances to the nearest seed follow. */
cof_status cofi_seeds_set(cofi_fit *fit, uint32_t j, uint64_t row, bool track, cof_error *err);
bool cofi_seeds_repeats(const cofi_fit *fit, uint32_t j); /* seed j equals an earlier one */
/* Seed j by chance from the rows that differ from all earlier ones. */
cof_status cofi_seeds_draw_new(cofi_fit *fit, uint32_t j, cof_error *err);

/* k seeds: the first any row, each next one drawn as `by` says; and their modes. */
cof_status cofi_seeds_apart(cofi_fit *fit, cofi_chance by, cof_error *err);
/* One-hot k-means from the modes until no label moves. Leaves its partition, and its modes. */
cof_status cofi_run_kmeans(cofi_fit *fit, cof_error *err);

#endif
