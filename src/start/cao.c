/* Cao, Liang and Bai (2009): the density of a row is the frequency of its values; each further seed is the
 * row with the greatest product of density and distance to the nearest seed. The start is deterministic;
 * ties go to the first row. */
#include "../fit/loops.h"
#include "seeds.h"

static cof_status choose_all(cofi_fit *fit, const uint64_t *total, cof_error *err)
{
    const cofi_rows_ops *ops = fit->partition.rows->ops;
    uint64_t row;
    cof_status status = ops->add_seed(&fit->partition, NULL, err);
    for (uint32_t j = 0; j < fit->partition.k && status == COF_OK; j++) {
        status = ops->densest(&fit->partition, total, &row, err);
        if (status == COF_OK) status = cofi_seeds_set(fit, j, row, true, err);
    }
    if (status == COF_OK) cofi_modes_from_seeds(fit);
    return status;
}

static cof_status run(cofi_fit *fit, void *state, uint32_t *same_as, cof_error *err)
{
    uint64_t *total = cofi_alloc(&fit->host.env, cofi_n_flat(fit->problem), sizeof *total);
    (void)state;
    (void)same_as;
    if (total == NULL) return cofi_no_memory(err);
    cof_status status = cofi_rows_totals(fit->partition.rows, total, err);
    if (status == COF_OK) status = choose_all(fit, total, err);
    cofi_release(&fit->host.env, total);
    return status;
}

const cofi_start cofi_start_cao = {.name = "cao",
                                   .title = "k-modes from dense rows that are far apart; always one restart",
                                   .once = true,
                                   .run = run};
