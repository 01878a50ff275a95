/* What a model tells about the quantities among its attributes. */
#ifndef COFI_QUANTITY_H
#define COFI_QUANTITY_H

#include "../table/table.h"
#include "model.h"

/* Fills in the five numbers of every cluster and every attribute that was cut, from the rows of the table that was
 * fitted and the model's labels. weight: of every row, NULL: 1 each. */
cof_status cofi_quantity_measure(cof_model *model, const cof_table *table, const uint64_t *weight,
                                 cof_error *err);

#endif
