/* Numbers in order of size: what medians and quantiles are made from (reproduce_stats.c). */
#ifndef COF_CLI_NUMBERS_H
#define COF_CLI_NUMBERS_H

#include <stddef.h>

void rep_sort(double *x, size_t n);
double rep_quantile(const double *sorted, size_t n, double q); /* NaN for none */

#endif
