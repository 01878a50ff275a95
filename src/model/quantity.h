/* Quartiles of the quantities among a model's attributes. */
#pragma once

#include "../rows/rows.h"
#include "model.h"

/* Computes minimum, quartiles and maximum of every cut attribute in every cluster of the partition. */
cof_status cofi_quantity_measure(cof_model *model, const cofi_partition *partition, cof_error *err);
