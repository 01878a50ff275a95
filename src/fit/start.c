/* From k different rows to what a method starts with: their cells as modes, or, for the k-means start, a
 * partition and its modes. */
#include "loops.h"

void cofi_modes_from_seeds(cofi_engine *e)
{
    const cofi_rows *rows = &e->problem->rows;
    for (uint32_t j = 0; j < e->o.k; j++)
        for (size_t r = 0; r < rows->n_attrs; r++)
            e->mode[j * rows->n_attrs + r] = cofi_id(rows->ids[r], e->seed[j]);
}

/* One-hot k-means from the seeds until no label moves. */
static cof_status run_kmeans(cofi_engine *e)
{
    cofi_profile_from_modes(e);
    cofi_scores_onehot(e);
    for (uint32_t pass = 0; pass < e->o.max_passes && !e->stopped; pass++) {
        if (pass > 0) {
            cofi_profile_update(e);
            cofi_scores_onehot(e);
        }
        if (cofi_engine_pass(e, COF_PHASE_START) == 0) break;
        e->stopped = cofi_should_stop(&e->env);
    }
    return COF_OK;
}

static bool starts_from_kmeans(const cofi_engine *e)
{
    bool kmeans = e->o.init == COF_INIT_KMEANS || (cofi_in_portfolio(e) && !cofi_by_likelihood(e));
    return kmeans && e->o.init_rows == NULL;
}

cof_status cofi_begin(cofi_engine *e, cof_error *err)
{
    if (e->scouted) {
        cofi_pass_reset(&e->pass);
        return COF_OK;
    }
    double before = cofi_now_s(), passes_before = e->start_s;
    double *plain = e->scores.plain; /* a start has no trace distances */
    e->scores.plain = NULL;
    cofi_pass_reset(&e->pass);
    cof_status status = cofi_seeds_choose(e, e->seed, err);
    if (status == COF_OK) {
        cofi_modes_from_seeds(e);
        if (starts_from_kmeans(e)) {
            status = run_kmeans(e);
            cofi_modes_frequent(e);
        }
        cofi_profile_clear(e);
    }
    e->scores.plain = plain;
    e->start_s = passes_before + (cofi_now_s() - before);
    return status;
}

cof_status cofi_settle_kmodes(cofi_engine *e, cof_error *err)
{
    if (starts_from_kmeans(e)) return COF_OK; /* there is a partition already, and a better one */
    double *plain = e->scores.plain;
    cofi_measure hamming = {.sum = COFI_L1};
    e->scores.plain = NULL;
    cof_status status = cofi_loop_modes(e, &hamming, COFI_FREQUENT, COF_PHASE_START, err);
    e->scores.plain = plain;
    cofi_profile_clear(e);
    return status;
}

cof_status cofi_start(cofi_engine *e, cof_error *err)
{
    cof_status status = cofi_begin(e, err);
    return status == COF_OK && !e->stopped ? cofi_settle_kmodes(e, err) : status;
}
