/* Makes a model from finished restarts. This is the only place where a fit writes a model. */
#pragma once

#include "../fit/restarts.h"
#include "model.h"

/* On COF_OK the model owns the records and the history of the restarts. */
cof_status cofi_model_collect(cofi_restarts *run, cof_model **out, cof_error *err);
