/* Lin's similarity of values (1998): D[a][b] = 1 - 2 log(p_a + p_b) / (log p_a + log p_b). Rare values are
 * far from each other. If an attribute has two values, their distance is 1, so on binary columns this is
 * k-modes. */
#include "../km.h"
#include "../../core/real.h"

#include <math.h>

static cof_status open(cofi_fit *fit, void **state, cof_error *err)
{
    const cofi_problem *p = fit->problem;
    const uint64_t *total;
    COFI_TRY(cofi_km_open(fit, state, err));
    COFI_TRY(cofi_fit_totals(fit, &total, err));
    for (size_t r = 0; r < p->n_attrs; r++) {
        uint32_t o = p->n_values[r];
        const uint64_t *n = total + p->first[r];
        double rows = 0;
        for (uint32_t a = 0; a < o; a++) rows += (double)n[a];
        for (uint32_t a = 0; a < o; a++) {
            for (uint32_t b = 0; b < o; b++) {
                if (a == b || n[a] == 0 || n[b] == 0) continue;
                double both = cofi_ln(((double)n[a] + (double)n[b]) / rows);
                double each = cofi_ln((double)n[a] / rows) + cofi_ln((double)n[b] / rows);
                cofi_distances_of(fit, *state, r, a)[b] = 1 - 2 * both / each;
            }
        }
    }
    return COF_OK;
}

const cofi_method cofi_method_lsm = {
    .name = "lsm", .title = "Lin's similarity measure (1998)", .open = open, .run = cofi_km_run_l1};
