/* Categories and quantities together: k-prototypes and what is built on it. */
#ifndef COFI_MIXED_H
#define COFI_MIXED_H

#include "../fit/loops.h"

#define COFI_GAMMA 0.5 /* weight of a category's distance beside squared differences on 0..1 */

/* Huang's loop from the restart's seeds: squared differences to the means, plus gamma times the categories'
 * distances to the modes; `distances` NULL: equal or not. */
cof_status cofi_prototypes(cofi_fit *fit, const cofi_distances *distances, cof_error *err);

#endif
