/* Steps that COForest and its cut-down versions share. */
#ifndef COFI_FOREST_STEPS_H
#define COFI_FOREST_STEPS_H

#include "../fit/loops.h"
#include "../fit/method.h"

void cofi_build_forest(
    cofi_engine *engine); /* from the counts, timed, with what the authors' variant needs */

#endif
