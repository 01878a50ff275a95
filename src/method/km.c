/* k-modes with value distances that are computed once. */
#include "km.h"

cof_status cofi_km_open(cofi_fit *fit, void **state, cof_error *err)
{
    cofi_km *km = cofi_alloc_zero(&fit->host.env, 1, sizeof *km);
    if (km == NULL) return cofi_no_memory(err);
    *state = km;
    return cofi_distances_open(fit, &km->d, err);
}

void cofi_km_close(cofi_fit *fit, void *state)
{
    cofi_km *km = state;
    if (km != NULL) cofi_distances_close(fit, &km->d);
    cofi_release(&fit->host.env, km);
}

cof_status cofi_km_run_l1(cofi_fit *fit, void *state, cof_error *err)
{
    cofi_km *km = state;
    cofi_row_distance m = {.d = &km->d, .sum = COFI_L1};
    return cofi_loop_modes(fit, &m, COFI_FREQUENT, COF_PHASE_FIT, err);
}

cof_status cofi_km_run_l2(cofi_fit *fit, void *state, cof_error *err)
{
    cofi_km *km = state;
    cofi_row_distance m = {.d = &km->d, .sum = COFI_L2};
    return cofi_loop_modes(fit, &m, COFI_MEDIAN, COF_PHASE_FIT, err);
}

cof_status cofi_present_values(cofi_fit *fit, uint8_t **out, cof_error *err)
{
    uint32_t n = cofi_n_flat(fit->problem);
    uint64_t *total = cofi_alloc(&fit->host.env, n, sizeof *total);
    *out = cofi_alloc(&fit->host.env, n, 1);
    cof_status status = COF_OK;
    if (total == NULL || *out == NULL)
        status = cofi_no_memory(err);
    else
        status = cofi_rows_totals(fit->partition.rows, total, err);
    for (uint32_t g = 0; status == COF_OK && g < n; g++) (*out)[g] = total[g] > 0;
    cofi_release(&fit->host.env, total);
    return status;
}
