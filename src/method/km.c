/* k-modes with value distances that are computed once, and profiles with distances that are learned. */
#include "km.h"

cof_status cofi_km_open(cofi_fit *fit, void **state, cof_error *err)
{
    cofi_distances *d = *state = cofi_blocks_add_zero(&fit->own, 1, sizeof *d);
    return d != NULL ? cofi_distances_open(fit, &fit->own, d, err) : cofi_no_memory(err);
}

cof_status cofi_km_run_l1(cofi_fit *fit, void *state, cof_error *err)
{
    cofi_row_distance m = {.d = state, .sum = COFI_L1};
    return cofi_loop_modes(fit, &m, COFI_FREQUENT, COF_PHASE_FIT, err);
}

cof_status cofi_km_run_l2(cofi_fit *fit, void *state, cof_error *err)
{
    cofi_row_distance m = {.d = state, .sum = COFI_L2};
    return cofi_loop_modes(fit, &m, COFI_MEDIAN, COF_PHASE_FIT, err);
}

cof_status cofi_km_learn(cofi_fit *fit, const cofi_row_distance *distance,
                         void (*learn)(cofi_fit *fit, void *ctx), void *ctx, cof_error *err)
{
    cofi_log *log = &fit->log;
    uint64_t before = 0;
    cofi_profile_begin(fit);
    for (log->rebuild = 0;; log->rebuild++) {
        COFI_TRY(cofi_loop_profiles(fit, distance, err));
        bool same = log->rebuild > 0 && fit->partition.hash == before;
        if (log->stopped || learn == NULL || same) return COF_OK;
        log->stop = COF_STOP_CAP;
        if (log->rebuild + 1 == fit->host.o.max_rebuilds) return COF_OK;
        before = fit->partition.hash;
        cofi_profile_update(fit);
        learn(fit, ctx);
    }
}

cof_status cofi_present_values(cofi_fit *fit, uint8_t **out, cof_error *err)
{
    uint32_t n = cofi_n_flat(fit->problem);
    const uint64_t *total;
    COFI_TRY(cofi_fit_totals(fit, &total, err));
    *out = cofi_blocks_add(&fit->scratch, n, 1);
    if (*out == NULL) return cofi_no_memory(err);
    for (uint32_t g = 0; g < n; g++) (*out)[g] = total[g] > 0;
    return COF_OK;
}
