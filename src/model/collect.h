/* Makes a model from finished restarts. This is the only place where a fit writes a model. */
#pragma once

#include "../fit/restarts.h"
#include "model.h"

/* Run it last, because run->fit is then in the state of an alternative. On COF_OK the model owns the records and the
 * history of the restarts. */
cof_status cofi_model_collect(cofi_restarts *run, cof_model **out, cof_error *err);
