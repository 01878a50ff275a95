/* What the ablations of COForest share with it. */
#pragma once

#include "../fit/method.h"

/* Builds a tree for every attribute from the counts of the partition (paper, "Order Forest Construction"). */
void cofi_build_forest(cofi_fit *fit);
