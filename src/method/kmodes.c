/* k-modes (Huang 1998) in batch form: two values are equal or not, and the mode of a cluster holds its
 * most frequent values. */
#include "km.h"

static cof_status run(cofi_fit *fit, void *state, cof_error *err)
{
    cofi_row_distance hamming = {.sum = COFI_L1};
    return cofi_loop_modes(fit, &hamming, COFI_FREQUENT, COF_PHASE_FIT, err);
}

const cofi_method cofi_method_kmodes = {
    .name = "kmodes", .title = "k-modes (Huang 1998)", .flags = COFI_METHOD_COST, .run = run};
