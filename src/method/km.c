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

void cofi_column_totals(const double *count, uint32_t o_t, uint32_t o_r, double *total)
{
    memset(total, 0, o_r * sizeof *total);
    for (uint32_t a = 0; a < o_t; a++)
        for (uint32_t b = 0; b < o_r; b++) total[b] += count[(size_t)a * o_r + b];
}
