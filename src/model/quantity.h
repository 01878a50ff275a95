/* Quartiles of the quantities among a model's attributes. */
#ifndef COFI_QUANTITY_H
#define COFI_QUANTITY_H

#include "../table/table.h"
#include "model.h"

/* Computes minimum, quartiles and maximum of every cut attribute in every cluster, from the rows of the
 * fitted table and the model's labels. weight: per row; NULL: 1 each. */
cof_status cofi_quantity_measure(cof_model *model, const cof_table *table, const uint64_t *weight,
                                 cof_error *err);

#endif
