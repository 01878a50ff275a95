/* HD metric (Zhang and Cheung 2022): D_t[a][b] is the mean over attributes r of sum_g |p(g|a) - p(g|b)| /
 * G, where G is the number of values of r that occur together with a or b. */
#include "variation.h"

/* G: the number of values of r that occur together with a or b. */
static uint32_t n_together(const double *share, uint32_t o_r, uint32_t a, uint32_t b)
{
    uint32_t n = 0;
    for (uint32_t g = 0; g < o_r; g++) n += share[(size_t)a * o_r + g] > 0 || share[(size_t)b * o_r + g] > 0;
    return n > 0 ? n : 1;
}

static double term(const cofi_pair_sum *s, double n_attrs, const double *share, uint32_t o_r, uint32_t a,
                   uint32_t b)
{
    return 2 * cofi_total_variation(share, o_r, a, b) / n_together(share, o_r, a, b) / n_attrs;
}

static cof_status open(cofi_fit *fit, void **state, cof_error *err)
{
    return cofi_pair_sum_open(fit, (cofi_pair_sum){.factor = cofi_to_shares, .term = term}, state, err);
}

const cofi_method cofi_method_hdc = {.name = "hdc",
                                     .title = "HD-based clustering (Zhang and Cheung 2022)",
                                     .flags = COFI_METHOD_PAIRS,
                                     .open = open,
                                     .run = cofi_km_run_l2};

/* ---- HD-NDW: weights of value pairs are learned during clustering -------------------------------- */

static double share_of(const cofi_fit *fit, uint32_t flat, uint32_t j)
{
    const uint64_t *count = fit->partition.count + (size_t)flat * fit->scores.stride;
    uint64_t total = 0;
    for (uint32_t c = 0; c < fit->partition.k; c++) total += count[c];
    return total > 0 ? (double)count[j] / (double)total : 0;
}

/* W[a][b] is proportional to D[a][b] (1 - probability that a row with a and a row with b are in one
 * cluster). */
static double pair_weight(const cofi_fit *fit, const cofi_distances *d, size_t r, uint32_t a, uint32_t b)
{
    double together = 0;
    for (uint32_t j = 0; j < fit->partition.k; j++)
        together +=
            share_of(fit, fit->problem->first[r] + a, j) * share_of(fit, fit->problem->first[r] + b, j);
    return cofi_distances_of(fit, d, r, a)[b] * (1 - together);
}

typedef struct ndw {
    const cofi_distances *d;
    cofi_distances product; /* W * D */
} ndw;

/* New weights W from the partition. */
static void reweight(cofi_fit *fit, void *ctx)
{
    const cofi_problem *p = fit->problem;
    ndw *s = ctx;
    double total = 0;
    for (size_t r = 0; r < p->n_attrs; r++)
        for (uint32_t a = 0; a < p->n_values[r]; a++)
            for (uint32_t b = a + 1; b < p->n_values[r]; b++) total += pair_weight(fit, s->d, r, a, b);
    for (size_t r = 0; total > 0 && r < p->n_attrs; r++)
        for (uint32_t a = 0; a < p->n_values[r]; a++)
            for (uint32_t b = 0; b < p->n_values[r]; b++)
                cofi_distances_of(fit, &s->product, r, a)[b] =
                    a == b ? 0
                           : pair_weight(fit, s->d, r, a, b) / total * cofi_distances_of(fit, s->d, r, a)[b];
}

static cof_status run_ndw(cofi_fit *fit, void *state, cof_error *err)
{
    ndw s = {.d = state};
    cofi_row_distance m = {.d = &s.product, .sum = COFI_L2};
    const cofi_problem *p = fit->problem;
    size_t n = 0;
    double n_pairs = 0; /* unordered pairs of values; their weights are equal at first and sum to 1 */
    COFI_TRY(cofi_distances_open(fit, &fit->scratch, &s.product, err));
    for (size_t r = 0; r < p->n_attrs; r++) {
        n += (size_t)p->n_values[r] * p->n_values[r];
        n_pairs += (double)p->n_present[r] * (p->n_present[r] - 1) / 2;
    }
    for (size_t at = 0; at < n; at++) s.product.d[at] = s.d->d[at] / n_pairs;
    return cofi_km_learn(fit, &m, reweight, &s, err);
}

const cofi_method cofi_method_hdc_ndw = {.name = "hdc:ndw",
                                         .title = "HD metric with learned pair weights",
                                         .flags = COFI_METHOD_PAIRS,
                                         .open = open,
                                         .run = run_ndw};
