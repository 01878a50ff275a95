/* Value distances that are sums over all attributes, and total variation between the conditional distributions of
 * two values of a target attribute, given in another attribute. */
#pragma once

#include "../km.h"
#include "entropy.h"

/* D_t[a][b] is the sum of term(t, r, a, b) over all attributes r. */
typedef struct cofi_pair_sum {
    cofi_fit *fit;
    cofi_distances *d;
    cofi_logs logs;
    /* Called once per pair of attributes with their pair table, which it may change. Returns a factor for `term`. */
    double (*factor)(const struct cofi_pair_sum *sum, size_t t, size_t r, double *count);
    double (*term)(const struct cofi_pair_sum *sum, double factor, const double *count, uint32_t o_r,
                   uint32_t a, uint32_t b);
} cofi_pair_sum;

/* Adds up the distances. `logs` is set from the problem. */
cof_status cofi_pair_sum_make(cofi_pair_sum *sum, cof_error *err);
/* The same as the `open` of a method: `state` is set to the distances. */
cof_status cofi_pair_sum_open(cofi_fit *fit, cofi_pair_sum sum, void **state, cof_error *err);

/* A `factor`: the number of attributes. Turns the pair table into conditional distributions: count[a][g] becomes
 * n(a,g) / n(a). A value that does not occur gets shares below 0. */
double cofi_to_shares(const cofi_pair_sum *sum, size_t t, size_t r, double *count);

/* Total variation of two conditional distributions: half of sum_g |p(g|a) - p(g|b)|. 0 if a or b does not
 * occur. */
static inline double cofi_total_variation(const double *share, uint32_t o_r, uint32_t a, uint32_t b)
{
    const double *of_a = share + (size_t)a * o_r, *of_b = share + (size_t)b * o_r;
    double sum = 0;
    if (of_a[0] < 0 || of_b[0] < 0) return 0;
    for (uint32_t g = 0; g < o_r; g++) sum += fabs(of_a[g] - of_b[g]);
    return sum / 2;
}
