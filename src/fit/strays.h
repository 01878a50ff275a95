/* Rows that lie nearer to another cluster than to their own. */
#pragma once

#include "fit.h"

/* *share: the share of the rows, by weight, whose sum of scores is less for another cluster than for their own; of a
 * large table, of 65,536 evenly spaced rows. 0 if no row has weight. */
cof_status cofi_strays_measure(const cofi_fit *fit, double *share, cof_error *err);
