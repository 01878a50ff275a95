/* UDM (Zhang and Cheung 2022): D_r[a][b] = (1/l) sum_s R(r,s) psi_rs[a][b], where psi is the entropy in s
 * of the rows that hold a or b, and R the strength of the dependence between r and s. All attributes are
 * treated as nominal. */
#include "../km.h"
#include "entropy.h"

#include <math.h>

typedef struct udm_work {
    cofi_fit *fit;
    cofi_km *km;
    double n; /* summed weight of all rows */
    cofi_logs logs;
} udm_work;

/* (equal pairs + sum of |concordance| over all 2 x 2 sub-tables) / number of pairs of rows. */
static double relation(const double *c, uint32_t o_r, uint32_t o_s, double n)
{
    double equal = 0, apart = 0;
    for (size_t at = 0; at < (size_t)o_r * o_s; at++) equal += c[at] * (c[at] - 1) / 2;
    for (uint32_t a = 1; a < o_r; a++)
        for (uint32_t h = 0; h < a; h++)
            for (uint32_t g = 1; g < o_s; g++)
                for (uint32_t u = 0; u < g; u++)
                    apart += fabs(c[(size_t)a * o_s + g] * c[(size_t)h * o_s + u] -
                                  c[(size_t)a * o_s + u] * c[(size_t)h * o_s + g]);
    return (equal + apart) / (n * (n - 1) / 2);
}

/* -sum of q log2 q, with q = x / n, from a table of x log2 x. The q need not sum to 1. */
static double entropy_of_both(const udm_work *w, const double *c, uint32_t o_s, uint32_t a, uint32_t b)
{
    double sum = 0, rows = 0;
    for (uint32_t g = 0; g < o_s; g++) {
        double x = c[(size_t)a * o_s + g] + c[(size_t)b * o_s + g];
        sum += cofi_x_log_x(&w->logs, x);
        rows += x;
    }
    return (rows * log2(w->n) - sum) / w->n;
}

static void add_pair(void *ctx, uint32_t worker, size_t t, size_t r, double *count)
{
    udm_work *w = ctx;
    (void)worker;
    const cofi_problem *p = w->fit->problem;
    uint32_t o = p->n_values[t], o_r = p->n_values[r];
    double related = t == r ? 1 : relation(count, o, o_r, w->n);
    double factor = related / log2(p->n_present[r]) / (double)p->n_attrs;
    for (uint32_t a = 0; a < o; a++) {
        if (cofi_pair_total(count, o_r, a) == 0) continue;
        for (uint32_t b = a + 1; b < o; b++) {
            if (cofi_pair_total(count, o_r, b) == 0) continue;
            double *d = &cofi_distances_of(w->fit, &w->km->d, t, a)[b];
            *d += factor * entropy_of_both(w, count, o_r, a, b);
            cofi_distances_of(w->fit, &w->km->d, t, b)[a] = *d;
        }
    }
}

static cof_status open(cofi_fit *fit, void **state, cof_error *err)
{
    cof_status status = cofi_km_open(fit, state, err);
    if (status != COF_OK) return status;
    udm_work w = {.fit = fit, .km = *state, .n = (double)fit->problem->total_weight / fit->problem->unit};
    cofi_pair_visitor visitor = {.ctx = &w, .pair = add_pair};
    status = cofi_logs_open(fit->problem, &w.logs, err);
    if (status == COF_OK) status = cofi_rows_pairs(fit->partition.rows, fit->host.team, &visitor, err);
    cofi_logs_close(fit->problem, &w.logs);
    return status;
}

const cofi_method cofi_method_udm = {.name = "udm",
                                     .title = "unified distance metric (Zhang and Cheung 2022)",
                                     .flags = COFI_METHOD_PAIRS,
                                     .open = open,
                                     .run = cofi_km_run_l1,
                                     .close = cofi_km_close};
