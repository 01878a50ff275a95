/* k-means++ seeds for k-modes: each further row is drawn with probability proportional to its distance to
 * the nearest seed. */
#include "seeds.h"

static cof_status run(cofi_fit *fit, void *state, cof_error *err)
{
    return cofi_seeds_apart(fit, COFI_BY_DISTANCE, err);
}

const cofi_start cofi_start_modespp = {
    .name = "modes++",
    .title = "k-modes from rows drawn with a probability that grows with their distance",
    .run = run};
