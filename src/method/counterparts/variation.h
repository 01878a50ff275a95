/* Total variation between the conditional distributions of two values of a target attribute, given in
 * another attribute. */
#ifndef COFI_VARIATION_H
#define COFI_VARIATION_H

#include "../km.h"

#include <math.h>

/* Turns a pair table into conditional distributions: count[a][g] becomes n(a,g) / n(a). A value that does not
 * occur gets shares below 0. */
void cofi_to_shares(double *count, uint32_t o_t, uint32_t o_r);

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

/* Sets `distances` to Het2Hom's base distances: the mean total variation over all attributes. */
cof_status cofi_base_distances(cofi_fit *fit, cofi_distances *distances, cof_error *err);

#endif
