/* ADC (Zhang and Cheung 2023): total variation over all attributes, each weighted by its mean total
 * variation between the target's values. */
#include "variation.h"

typedef struct adc_work {
    cofi_fit *fit;
    cofi_km *km;
} adc_work;

/* Mean total variation, over the pairs of t's values, between their conditional distributions in r. */
static double relevance(const cofi_problem *p, size_t t, size_t r, const double *share)
{
    double sum = 0, n_pairs = (double)p->n_present[t] * (p->n_present[t] - 1) / 2;
    for (uint32_t a = 0; a < p->n_values[t]; a++)
        for (uint32_t b = a + 1; b < p->n_values[t]; b++)
            sum += cofi_total_variation(share, p->n_values[r], a, b);
    return sum / n_pairs;
}

static void add_pair(void *ctx, uint32_t worker, size_t t, size_t r, double *count)
{
    adc_work *w = ctx;
    (void)worker;
    const cofi_problem *p = w->fit->problem;
    cofi_to_shares(count, p->n_values[t], p->n_values[r]);
    double factor = relevance(p, t, r, count) / (double)p->n_attrs;
    for (uint32_t a = 0; a < p->n_values[t]; a++) {
        for (uint32_t b = a + 1; b < p->n_values[t]; b++) {
            double *d = &cofi_distances_of(w->fit, &w->km->d, t, a)[b];
            *d += factor * cofi_total_variation(count, p->n_values[r], a, b);
            cofi_distances_of(w->fit, &w->km->d, t, b)[a] = *d;
        }
    }
}

static cof_status open(cofi_fit *fit, void **state, cof_error *err)
{
    cof_status status = cofi_km_open(fit, state, err);
    if (status != COF_OK) return status;
    adc_work w = {fit, *state};
    cofi_pair_visitor visitor = {.ctx = &w, .pair = add_pair};
    return cofi_rows_pairs(fit->partition.rows, fit->host.team, &visitor, err);
}

const cofi_method cofi_method_adc = {.name = "adc",
                                     .title = "graph-based unified dissimilarity (Zhang and Cheung 2023)",
                                     .flags = COFI_METHOD_PAIRS,
                                     .open = open,
                                     .run = cofi_km_run_l2,
                                     .close = cofi_km_close};
