/* Comparison of computed numbers: numbers that differ only by the order of addition count as equal. */
#pragma once

#include <math.h>
#include <stdbool.h>

#define COFI_EQUAL_SHARE 2e-12 /* of the larger magnitude: far above rounding errors */

/* Whether a exceeds b by more than rounding; any number exceeds -INFINITY. */
static inline bool cofi_clearly_larger(double a, double b)
{
    if (isinf(a) || isinf(b)) return a > b;
    return a - b > COFI_EQUAL_SHARE * fmax(fabs(a), fabs(b));
}
