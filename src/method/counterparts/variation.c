/* Total variation between conditional distributions, and its mean. */
#include "variation.h"

#include "entropy.h"

void cofi_to_shares(double *count, uint32_t o_t, uint32_t o_r)
{
    for (uint32_t a = 0; a < o_t; a++) {
        double n = cofi_pair_total(count, o_r, a);
        for (uint32_t g = 0; g < o_r; g++)
            count[(size_t)a * o_r + g] = n > 0 ? count[(size_t)a * o_r + g] / n : -1;
    }
}

typedef struct base_work {
    cofi_fit *fit;
    cofi_distances *d;
} base_work;

static void add_pair(void *ctx, uint32_t worker, size_t t, size_t r, double *count)
{
    base_work *w = ctx;
    (void)worker;
    const cofi_problem *p = w->fit->problem;
    cofi_to_shares(count, p->n_values[t], p->n_values[r]);
    for (uint32_t a = 0; a < p->n_values[t]; a++) {
        for (uint32_t b = a + 1; b < p->n_values[t]; b++) {
            double *d = &cofi_distances_of(w->fit, w->d, t, a)[b];
            *d += cofi_total_variation(count, p->n_values[r], a, b) / (double)p->n_attrs;
            cofi_distances_of(w->fit, w->d, t, b)[a] = *d;
        }
    }
}

cof_status cofi_base_distances(cofi_fit *fit, cofi_distances *distances, cof_error *err)
{
    base_work w = {fit, distances};
    cofi_pair_visitor visitor = {.ctx = &w, .pair = add_pair};
    return cofi_rows_pairs(fit->partition.rows, fit->host.team, &visitor, err);
}
