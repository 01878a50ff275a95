/* The partition of one-hot k-means from k-means++ seeds. */
#include "../fit/loops.h"
#include "../fit/scores.h"
#include "seeds.h"

cof_status cofi_run_kmeans(cofi_fit *fit, cof_error *err)
{
    cofi_loop loop = cofi_loop_begin(fit, COF_PHASE_START, NULL);
    cofi_profile_from_modes(fit);
    while (cofi_loop_goes_on(&loop)) {
        if (loop.pass > 0) cofi_profile_update(fit);
        cofi_scores_onehot(fit);
        COFI_TRY(cofi_fit_pass(fit, COF_PHASE_START, &loop.moved, err));
        COFI_TRY(cofi_loop_end_pass(fit, &loop, err));
    }
    cofi_modes_frequent(fit);
    cofi_profile_clear(fit);
    return COF_OK;
}

static cof_status run(cofi_fit *fit, void *state, cof_error *err)
{
    COFI_TRY(cofi_seeds_apart(fit, COFI_BY_DISTANCE, err));
    return cofi_run_kmeans(fit, err);
}

const cofi_start cofi_start_kmeans = {
    .name = "kmeans", .title = "one-hot k-means from k-means++ seeds", .run = run};
