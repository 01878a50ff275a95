/* Farthest-first seeds: each further seed is a row whose distance to its nearest seed is greatest; ties
 * are decided at random. */
#include "seeds.h"

static cof_status run(cofi_fit *fit, void *state, cof_error *err)
{
    return cofi_seeds_apart(fit, COFI_FARTHEST, err);
}

const cofi_start cofi_start_farthest = {
    .name = "farthest", .title = "k-modes from rows that are far apart", .run = run};
