/* k-modes with value distances made once. */
#include "km.h"

cof_status cofi_km_open(cofi_engine *e, void **state, cof_error *err)
{
    cofi_km *km = cofi_alloc_zero(&e->env, 1, sizeof *km);
    if (km == NULL) return cofi_no_memory(err);
    *state = km;
    return cofi_distances_open(e, &km->d, err);
}

void cofi_km_close(cofi_engine *e, void *state)
{
    cofi_km *km = state;
    if (km != NULL) cofi_distances_close(e, &km->d);
    cofi_release(&e->env, km);
}

cof_status cofi_km_run_l1(cofi_engine *e, void *state, cof_error *err)
{
    cofi_km *km = state;
    cofi_measure m = {.d = &km->d, .sum = COFI_L1};
    return cofi_loop_modes(e, &m, COFI_FREQUENT, COF_PHASE_FIT, err);
}

cof_status cofi_km_run_l2(cofi_engine *e, void *state, cof_error *err)
{
    cofi_km *km = state;
    cofi_measure m = {.d = &km->d, .sum = COFI_L2};
    return cofi_loop_modes(e, &m, COFI_MEDIAN, COF_PHASE_FIT, err);
}

uint8_t *cofi_present_values(const cofi_engine *e)
{
    const cofi_rows *rows = &e->problem->rows;
    uint8_t *present = cofi_alloc_zero(&e->env, rows->first[rows->n_attrs], 1);
    for (size_t r = 0; present != NULL && r < rows->n_attrs; r++)
        for (size_t i = 0; i < rows->n_rows; i++)
            if (rows->weight == NULL || rows->weight[i] > 0)
                present[rows->first[r] + cofi_id(rows->ids[r], i)] = 1;
    return present;
}
