/* When two computed numbers count as different: the order of adding must not decide between equals. */
#ifndef COFI_TIE_H
#define COFI_TIE_H

#include <math.h>
#include <stdbool.h>

#define COFI_EQUAL_SHARE 2e-12 /* of the larger magnitude: far above rounding, far below what data can mean */

/* a is larger than b by more than rounding; any number exceeds -INFINITY. */
static inline bool cofi_clearly_larger(double a, double b)
{
    if (isinf(a) || isinf(b)) return a > b;
    return a - b > COFI_EQUAL_SHARE * fmax(fabs(a), fabs(b));
}

#endif
