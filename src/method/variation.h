/* How differently two values of a target attribute go together with another attribute's values. */
#ifndef COFI_VARIATION_H
#define COFI_VARIATION_H

#include "km.h"

/* Total variation of the conditional distributions: half of sum_g |n(a,g)/n(a) - n(b,g)/n(b)|. `n_common`, if
 * not NULL, gets the number of values g that occur together with a or b. 0 if a or b does not occur. */
double cofi_total_variation(const double *count, uint32_t o_r, uint32_t a, uint32_t b, uint32_t *n_common);

/* Het2Hom's base distance, the mean total variation over all attributes, into distances. */
cof_status cofi_base_distances(cofi_engine *engine, cofi_distances *distances, cof_error *err);

#endif
