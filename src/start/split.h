/* A start from a partition into one cluster less. */
#pragma once

#include "../fit/fit.h"

/* Sets the likelihood scores of the coarser partition, one cluster of which is in two parts: that with the most
 * entropy (rank 0), the second most (rank 1), and so on. The parts differ by chance; the rows have no labels yet. */
void cofi_split_cluster(cofi_fit *fit, const cofi_coarser *from, uint32_t rank);
