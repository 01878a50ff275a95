#include "variation.h"

double cofi_to_shares(const cofi_pair_sum *sum, size_t t, size_t r, double *count)
{
    const cofi_problem *p = sum->fit->problem;
    uint32_t o_r = p->n_values[r];
    for (uint32_t a = 0; a < p->n_values[t]; a++) {
        double n = cofi_pair_total(count, o_r, a);
        for (uint32_t g = 0; g < o_r; g++)
            count[(size_t)a * o_r + g] = n > 0 ? count[(size_t)a * o_r + g] / n : -1;
    }
    return (double)p->n_attrs;
}

static void add_pair(void *ctx, uint32_t worker, size_t t, size_t r, double *count)
{
    const cofi_pair_sum *s = ctx;
    uint32_t o_t = s->fit->problem->n_values[t], o_r = s->fit->problem->n_values[r];
    double factor = s->factor(s, t, r, count);
    for (uint32_t a = 0; a < o_t; a++) {
        for (uint32_t b = a + 1; b < o_t; b++) {
            double *d = &cofi_distances_of(s->fit, s->d, t, a)[b];
            *d += s->term(s, factor, count, o_r, a, b);
            cofi_distances_of(s->fit, s->d, t, b)[a] = *d;
        }
    }
}

cof_status cofi_pair_sum_make(cofi_pair_sum *sum, cof_error *err)
{
    cofi_pair_visitor visitor = {.ctx = sum, .pair = add_pair};
    COFI_TRY(cofi_logs_open(sum->fit, &sum->logs, err));
    return cofi_rows_pairs(sum->fit->partition.rows, sum->fit->host.team, &visitor, err);
}

cof_status cofi_pair_sum_open(cofi_fit *fit, cofi_pair_sum sum, void **state, cof_error *err)
{
    COFI_TRY(cofi_km_open(fit, state, err));
    sum.fit = fit;
    sum.d = *state;
    return cofi_pair_sum_make(&sum, err);
}
