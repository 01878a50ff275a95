/* Quantiles. */
#include "real.h"

#include <math.h>
#include <stdlib.h>

#include "coforest_extra.h"

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double cof_quantile(double *numbers, size_t n, double q)
{
    if (n == 0) return (double)NAN;
    qsort(numbers, n, sizeof *numbers, by_size);
    double at = q * (double)(n - 1);
    size_t i = (size_t)at;
    if (i + 1 >= n) return numbers[n - 1];
    return numbers[i] + (at - (double)i) * (numbers[i + 1] - numbers[i]);
}
