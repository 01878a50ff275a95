/* Total variation between conditional distributions, and the mean of it. */
#include "variation.h"

#include <math.h>

double cofi_total_variation(const double *count, uint32_t o_r, uint32_t a, uint32_t b, uint32_t *n_common)
{
    const double *of_a = count + (size_t)a * o_r, *of_b = count + (size_t)b * o_r;
    double n_a = cofi_pair_total(count, o_r, a), n_b = cofi_pair_total(count, o_r, b), sum = 0;
    uint32_t common = 0;
    if (n_a == 0 || n_b == 0) return 0;
    for (uint32_t g = 0; g < o_r; g++) {
        sum += fabs(of_a[g] / n_a - of_b[g] / n_b);
        common += of_a[g] > 0 || of_b[g] > 0;
    }
    if (n_common != NULL) *n_common = common;
    return sum / 2;
}

typedef struct base_work {
    cofi_engine *e;
    cofi_distances *d;
} base_work;

static void add_pair(void *ctx, uint32_t worker, size_t t, size_t r, const double *count)
{
    base_work *w = ctx;
    (void)worker;
    const cofi_problem *p = w->e->problem;
    for (uint32_t a = 0; a < p->n_values[t]; a++) {
        for (uint32_t b = a + 1; b < p->n_values[t]; b++) {
            double *d = &cofi_distances_of(w->e, w->d, t, a)[b];
            *d += cofi_total_variation(count, p->n_values[r], a, b, NULL) / (double)p->n_attrs;
            cofi_distances_of(w->e, w->d, t, b)[a] = *d;
        }
    }
}

cof_status cofi_base_distances(cofi_engine *e, cofi_distances *distances, cof_error *err)
{
    base_work w = {e, distances};
    cofi_pair_visitor visitor = {.ctx = &w, .pair = add_pair};
    return cofi_pairs_visit(e, &visitor, err);
}
