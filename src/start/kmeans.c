/* The partition of one-hot k-means from k-means++ seeds. */
#include "../fit/loops.h"
#include "../fit/scores.h"
#include "seeds.h"

static void score(cofi_fit *fit, void *ctx, uint32_t pass)
{
    if (pass == 0)
        cofi_profile_from_modes(fit);
    else
        cofi_profile_update(fit);
    cofi_scores_onehot(fit);
}

cof_status cofi_run_kmeans(cofi_fit *fit, cof_error *err)
{
    cofi_loop loop = {.phase = COF_PHASE_START, .score = score};
    cof_status status = cofi_loop_run(fit, &loop, err);
    cofi_modes_frequent(fit);
    cofi_profile_clear(fit);
    return status;
}

static cof_status run(cofi_fit *fit, void *state, cof_error *err)
{
    COFI_TRY(cofi_seeds_apart(fit, COFI_BY_DISTANCE, err));
    return cofi_run_kmeans(fit, err);
}

const cofi_start cofi_start_kmeans = {
    .name = "kmeans", .title = "one-hot k-means from k-means++ seeds", .run = run};
