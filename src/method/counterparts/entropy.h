/* Entropies of counts, and the mutual information of two attributes. */
#pragma once

#include "../../fit/fit.h"
#include "../../core/real.h"

#include <math.h>

/* Table of x log2 x for whole x below n: entropies of counts are sums of such terms. */
typedef struct cofi_logs {
    double *of; /* NULL: no table, values are computed */
    size_t n;
} cofi_logs;

cof_status cofi_logs_open(cofi_fit *fit, cofi_logs *logs, cof_error *err); /* in scratch memory */

static inline double cofi_x_log_x(const cofi_logs *logs, double x)
{
    if (x < (double)logs->n) return logs->of[(size_t)x];
    return x > 0 ? x * cofi_log2(x) : 0;
}

/* Entropies of two attributes in bits, from their pair table. */
typedef struct cofi_shared {
    double own, other; /* entropies of the target attribute and of the other one */
    double joint;
} cofi_shared;

cofi_shared cofi_entropies(const cofi_logs *logs, const double *count, uint32_t o_t, uint32_t o_r);

/* n_t(a): the count of value a of the target, from its own pair table. */
static inline double cofi_pair_total(const double *count, uint32_t o_r, uint32_t a)
{
    double total = 0;
    for (uint32_t b = 0; b < o_r; b++) total += count[(size_t)a * o_r + b];
    return total;
}
