/* ADC (Zhang and Cheung 2023): total variation over all attributes, each weighted by its mean total
 * variation between the target's values. */
#include "variation.h"

/* Mean total variation, over the pairs of t's values, between their conditional distributions in r. */
static double relevance(const cofi_pair_sum *s, size_t t, size_t r, double *share)
{
    const cofi_problem *p = s->fit->problem;
    double sum = 0, n_pairs = (double)p->n_present[t] * (p->n_present[t] - 1) / 2;
    double n_attrs = cofi_to_shares(s, t, r, share);
    for (uint32_t a = 0; a < p->n_values[t]; a++)
        for (uint32_t b = a + 1; b < p->n_values[t]; b++)
            sum += cofi_total_variation(share, p->n_values[r], a, b);
    return sum / n_pairs / n_attrs;
}

static double term(const cofi_pair_sum *s, double relevant, const double *share, uint32_t o_r, uint32_t a,
                   uint32_t b)
{
    return relevant * cofi_total_variation(share, o_r, a, b);
}

static cof_status open(cofi_fit *fit, void **state, cof_error *err)
{
    return cofi_pair_sum_open(fit, (cofi_pair_sum){.factor = relevance, .term = term}, state, err);
}

const cofi_method cofi_method_adc = {.name = "adc",
                                     .title = "graph-based unified dissimilarity (Zhang and Cheung 2023)",
                                     .flags = COFI_METHOD_PAIRS,
                                     .open = open,
                                     .run = cofi_km_run_l2};
