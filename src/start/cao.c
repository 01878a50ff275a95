/* Cao, Liang and Bai (2009): the density of a row is the frequency of its values; each further seed is the
 * row with the greatest product of density and distance to the nearest seed. The start is deterministic;
 * ties go to the first row. */
#include "../fit/loops.h"
#include "seeds.h"

static cof_status run(cofi_fit *fit, void *state, cof_error *err)
{
    const uint64_t *total;
    uint64_t row;
    COFI_TRY(cofi_fit_totals(fit, &total, err));
    COFI_TRY(cofi_partition_add_seed(&fit->partition, NULL, err));
    for (uint32_t j = 0; j < fit->partition.k; j++) {
        COFI_TRY(cofi_partition_densest(&fit->partition, total, &row, err));
        COFI_TRY(cofi_seeds_set(fit, j, row, true, err));
    }
    cofi_modes_from_seeds(fit);
    return COF_OK;
}

const cofi_start cofi_start_cao = {.name = "cao",
                                   .title = "k-modes from dense rows that are far apart; always one restart",
                                   .once = true,
                                   .run = run};
