/* HD metric (Zhang and Cheung 2022): D_t[a][b] is the mean over attributes r of sum_g |p(g|a) - p(g|b)| /
 * G, where G is the number of values of r that occur together with a or b. */
#include "variation.h"

#include <math.h>

typedef struct hd_work {
    cofi_fit *fit;
    cofi_km *km;
} hd_work;

/* G: the number of values of r that occur together with a or b. */
static uint32_t n_together(const double *share, uint32_t o_r, uint32_t a, uint32_t b)
{
    uint32_t n = 0;
    for (uint32_t g = 0; g < o_r; g++) n += share[(size_t)a * o_r + g] > 0 || share[(size_t)b * o_r + g] > 0;
    return n > 0 ? n : 1;
}

static void add_pair(void *ctx, uint32_t worker, size_t t, size_t r, double *count)
{
    hd_work *w = ctx;
    (void)worker;
    const cofi_problem *p = w->fit->problem;
    uint32_t o_r = p->n_values[r];
    cofi_to_shares(count, p->n_values[t], o_r);
    for (uint32_t a = 0; a < p->n_values[t]; a++) {
        for (uint32_t b = a + 1; b < p->n_values[t]; b++) {
            double *d = &cofi_distances_of(w->fit, &w->km->d, t, a)[b];
            *d += 2 * cofi_total_variation(count, o_r, a, b) / n_together(count, o_r, a, b) /
                  (double)p->n_attrs;
            cofi_distances_of(w->fit, &w->km->d, t, b)[a] = *d;
        }
    }
}

static cof_status open(cofi_fit *fit, void **state, cof_error *err)
{
    cof_status status = cofi_km_open(fit, state, err);
    if (status != COF_OK) return status;
    hd_work w = {fit, *state};
    cofi_pair_visitor visitor = {.ctx = &w, .pair = add_pair};
    return cofi_rows_pairs(fit->partition.rows, fit->host.team, &visitor, err);
}

const cofi_method cofi_method_hdc = {.name = "hdc",
                                     .title = "HD-based clustering (Zhang and Cheung 2022)",
                                     .flags = COFI_METHOD_PAIRS,
                                     .open = open,
                                     .run = cofi_km_run_l2,
                                     .close = cofi_km_close};

/* ---- HD-NDW: weights of value pairs are learned during clustering -------------------------------- */

/* Number of unordered value pairs over all attributes. The weights of the pairs are equal at first and sum
 * to 1. */
static double n_pairs(const cofi_fit *fit)
{
    const cofi_problem *p = fit->problem;
    double n = 0;
    for (size_t r = 0; r < p->n_attrs; r++) n += (double)p->n_present[r] * (p->n_present[r] - 1) / 2;
    return n;
}

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

/* Sets product = W * D, with new weights W from the partition. */
static void reweight(const cofi_fit *fit, const cofi_distances *d, cofi_distances *product)
{
    const cofi_problem *p = fit->problem;
    double total = 0;
    for (size_t r = 0; r < p->n_attrs; r++)
        for (uint32_t a = 0; a < p->n_values[r]; a++)
            for (uint32_t b = a + 1; b < p->n_values[r]; b++) total += pair_weight(fit, d, r, a, b);
    for (size_t r = 0; total > 0 && r < p->n_attrs; r++)
        for (uint32_t a = 0; a < p->n_values[r]; a++)
            for (uint32_t b = 0; b < p->n_values[r]; b++)
                cofi_distances_of(fit, product, r, a)[b] =
                    a == b ? 0 : pair_weight(fit, d, r, a, b) / total * cofi_distances_of(fit, d, r, a)[b];
}

static cof_status run_ndw(cofi_fit *fit, void *state, cof_error *err)
{
    cofi_km *km = state;
    cofi_distances product;
    cof_status status = cofi_distances_open(fit, &product, err);
    size_t n = 0;
    for (size_t r = 0; r < fit->problem->n_attrs; r++)
        n += (size_t)fit->problem->n_values[r] * fit->problem->n_values[r];
    for (size_t at = 0; status == COF_OK && at < n; at++) product.d[at] = km->d.d[at] / n_pairs(fit);
    cofi_row_distance m = {.d = &product, .sum = COFI_L2};
    uint64_t before = 0;
    cofi_profile_begin(fit);
    for (fit->log.rebuild = 0; status == COF_OK; fit->log.rebuild++) {
        status = cofi_loop_profiles(fit, &m, err);
        if (status != COF_OK || fit->log.stopped || (fit->log.rebuild > 0 && fit->partition.hash == before))
            break;
        if (fit->log.rebuild + 1 == fit->host.o.max_rebuilds) {
            fit->log.stop = COF_STOP_CAP;
            break;
        }
        before = fit->partition.hash;
        reweight(fit, &km->d, &product);
        cofi_profile_update(fit);
    }
    cofi_distances_close(fit, &product);
    return status;
}

const cofi_method cofi_method_hdc_ndw = {.name = "hdc:ndw",
                                         .title = "HD metric with learned pair weights",
                                         .flags = COFI_METHOD_PAIRS,
                                         .open = open,
                                         .run = run_ndw,
                                         .close = cofi_km_close};
