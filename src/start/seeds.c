/* Seeds: k distinct rows. */
#include "seeds.h"

#include "../fit/loops.h"

static size_t n_columns(const cofi_fit *fit)
{
    return fit->problem->n_attrs + fit->problem->n_numeric; /* columns in which rows can differ */
}

cof_status cofi_seeds_draw(cofi_fit *fit, cofi_chance by, uint64_t *row, cof_error *err)
{
    return cofi_partition_draw(&fit->partition, by, &fit->rng, row, err);
}

cof_status cofi_seeds_set(cofi_fit *fit, uint32_t j, uint64_t row, bool track, cof_error *err)
{
    cofi_rows *rows = fit->partition.rows;
    uint32_t *cell = fit->seeds.cell + j * n_columns(fit);
    fit->seeds.row[j] = row;
    COFI_TRY(cofi_rows_fetch(rows, NULL, &row, 1, cell, NULL, err));
    return track ? cofi_partition_add_seed(&fit->partition, cell, err) : COF_OK;
}

bool cofi_seeds_repeats(const cofi_fit *fit, uint32_t j)
{
    size_t n = n_columns(fit);
    const uint32_t *cell = fit->seeds.cell;
    for (uint32_t t = 0; t < j; t++)
        if (memcmp(cell + t * n, cell + j * n, n * sizeof *cell) == 0) return true;
    return false;
}

cof_status cofi_seeds_draw_new(cofi_fit *fit, uint32_t j, cof_error *err)
{
    uint64_t row;
    COFI_TRY(cofi_partition_add_seed(&fit->partition, NULL, err));
    for (uint32_t t = 0; t < j; t++) COFI_TRY(cofi_seeds_set(fit, t, fit->seeds.row[t], true, err));
    COFI_TRY(cofi_seeds_draw(fit, COFI_ANY_NEW_ROW, &row, err));
    return cofi_seeds_set(fit, j, row, false, err);
}

cof_status cofi_seeds_apart(cofi_fit *fit, cofi_chance by, cof_error *err)
{
    uint32_t k = fit->partition.k;
    uint64_t row;
    COFI_TRY(cofi_partition_add_seed(&fit->partition, NULL, err));
    for (uint32_t j = 0; j < k; j++) {
        bool track = j + 1 < k; /* nothing uses the distances after the last seed */
        COFI_TRY(cofi_seeds_draw(fit, j == 0 ? COFI_ANY_ROW : by, &row, err));
        COFI_TRY(cofi_seeds_set(fit, j, row, track, err));
    }
    cofi_modes_from_seeds(fit);
    return COF_OK;
}
