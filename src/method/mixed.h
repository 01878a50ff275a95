/* Attributes and quantities together: k-prototypes and methods built on it. */
#pragma once

#include "../fit/loops.h"

/* Weight of a value distance relative to squared differences of scaled quantities. */
#define COFI_GAMMA 0.5

/* Huang's loop from the seeds of the restart. The distance is the squared differences to the means plus
 * gamma times the value distances to the modes. `distances` NULL: 0 for equal values, 1 for others. */
cof_status cofi_prototypes(cofi_fit *fit, const cofi_distances *distances, cof_error *err);
