/* Makes a model from finished restarts. This is the only place where a fit writes a model. */
#pragma once

#include "../fit/restarts.h"
#include "model.h"

/* The model of run->fit, without records of restarts. */
cof_status cofi_model_collect(const cofi_restarts *run, cof_model **out, cof_error *err);
/* Adds a pick, whose state run->fit has. */
cof_status cofi_model_add_alternative(cof_model *model, const cofi_restarts *run, uint32_t pick,
                                      cof_error *err);
/* Copies the records and the history of the restarts into the model. */
cof_status cofi_model_add_records(cof_model *model, const cofi_restarts *run, cof_error *err);
/* Computes minimum, quartiles and maximum of every cut attribute in every cluster of the partition (quantity.c). */
cof_status cofi_quantity_measure(cof_model *model, const cofi_partition *partition, cof_error *err);
