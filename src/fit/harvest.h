/* From a finished engine to a model. */
#ifndef COFI_HARVEST_H
#define COFI_HARVEST_H

#include "../model/model.h"
#include "method.h"

/* On COF_OK the model owns `restarts` and the engine's history. */
cof_status cofi_harvest(cofi_engine *engine, const cofi_method *method, cof_restart_record *restarts,
                        size_t n_restarts, cof_model **out, cof_error *err);

#endif
