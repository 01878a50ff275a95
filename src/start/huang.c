/* Huang's frequency start (1998): for each seed, values are drawn by their frequencies, attribute by
 * attribute. The row nearest to these values is the seed, so that no cluster starts empty. */
#include "../fit/loops.h"
#include "seeds.h"

enum { MOST_TRIES = 64 };

static uint32_t draw_value(cofi_rng *rng, const uint64_t *total, uint32_t n_values)
{
    uint64_t sum = 0;
    uint32_t v = 0;
    for (uint32_t u = 0; u < n_values; u++) sum += total[u];
    uint64_t target = cofi_rng_below(rng, sum);
    while (target >= total[v]) target -= total[v++];
    return v;
}

/* Quantities have no frequencies; their cells are those of a random row. */
static cof_status draw_cells(cofi_fit *fit, const uint64_t *total, uint32_t *cell, cof_error *err)
{
    const cofi_problem *p = fit->problem;
    if (p->n_numeric > 0) {
        uint64_t row;
        COFI_TRY(cofi_seeds_draw(fit, COFI_ANY_ROW, &row, err));
        COFI_TRY(cofi_rows_fetch(fit->partition.rows, NULL, &row, 1, cell, NULL, err));
    }
    for (size_t r = 0; r < p->n_attrs; r++)
        cell[r] = draw_value(&fit->rng, total + p->first[r], p->n_values[r]);
    return COF_OK;
}

/* If the nearest row is already a seed, other values are drawn. */
static cof_status choose_seed(cofi_fit *fit, const uint64_t *total, uint32_t j, cof_error *err)
{
    uint32_t *cell = fit->seeds.cell + j * (fit->problem->n_attrs + fit->problem->n_numeric);
    for (uint32_t tries = 0; tries < MOST_TRIES; tries++) {
        uint64_t row;
        COFI_TRY(draw_cells(fit, total, cell, err));
        COFI_TRY(cofi_partition_add_seed(&fit->partition, NULL, err));
        COFI_TRY(cofi_partition_add_seed(&fit->partition, cell, err));
        COFI_TRY(cofi_seeds_draw(fit, COFI_NEAREST, &row, err));
        COFI_TRY(cofi_seeds_set(fit, j, row, false, err));
        if (!cofi_seeds_repeats(fit, j)) return COF_OK;
    }
    return cofi_seeds_draw_new(fit, j, err);
}

static cof_status run(cofi_fit *fit, void *state, cof_error *err)
{
    const uint64_t *total;
    COFI_TRY(cofi_fit_totals(fit, &total, err));
    for (uint32_t j = 0; j < fit->partition.k; j++) COFI_TRY(choose_seed(fit, total, j, err));
    cofi_modes_from_seeds(fit);
    return COF_OK;
}

const cofi_start cofi_start_huang = {
    .name = "huang", .title = "k-modes from the rows nearest to values drawn by frequency", .run = run};
