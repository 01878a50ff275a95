/* The paper's start: a random row, drawn again while it equals an earlier seed. */
#include "../fit/loops.h"
#include "seeds.h"

enum { MOST_TRIES = 64 };

/* Repeated draws are slow if there are few distinct rows of very different frequency. After some attempts
 * the row is drawn among the rows that differ from all seeds, which gives the same distribution. */
static cof_status choose_seed(cofi_fit *fit, uint32_t j, cof_error *err)
{
    uint64_t row;
    for (uint32_t tries = 0; tries < MOST_TRIES; tries++) {
        COFI_TRY(cofi_seeds_draw(fit, COFI_ANY_ROW, &row, err));
        COFI_TRY(cofi_seeds_set(fit, j, row, false, err));
        if (!cofi_seeds_repeats(fit, j)) return COF_OK;
    }
    return cofi_seeds_draw_new(fit, j, err);
}

static cof_status run(cofi_fit *fit, void *state, cof_error *err)
{
    for (uint32_t j = 0; j < fit->partition.k; j++) COFI_TRY(choose_seed(fit, j, err));
    cofi_modes_from_seeds(fit);
    return COF_OK;
}

const cofi_start cofi_start_random = {
    .name = "random", .title = "k-modes from random rows, as in the paper", .run = run};
