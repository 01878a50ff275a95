/* How good a partition is: L of the paper, and the integrated likelihood, both from counts alone. */
#include "engine.h"

#include <math.h>

double cofi_objective(const cofi_engine *e)
{
    const cofi_problem *p = e->problem;
    double sum = 0;
    for (size_t r = 0; r < p->n_attrs; r++) {
        for (uint32_t g = p->first[r]; g < p->first[r] + p->n_values[r]; g++) {
            size_t at = (size_t)g * e->scores.stride;
            for (uint32_t j = 0; j < e->o.k; j++)
                sum += (double)e->pass.count[at + j] * (double)e->scores.value[at + j];
        }
    }
    return sum / e->scores.scale / p->unit;
}

static double log_gamma(double x)
{
    int sign; /* lgamma proper would write a global */
    return lgamma_r(x, &sign);
}

/* One cluster's table of one attribute under a Dirichlet prior of 1/2 per value. */
static double table_evidence(const cofi_engine *e, size_t r, uint32_t j)
{
    const cofi_problem *p = e->problem;
    uint32_t stride = e->scores.stride;
    const uint64_t *count = e->pass.count + (size_t)p->first[r] * stride + j;
    double total = 0, sum = 0, prior = 0.5 * p->n_present[r], none = log_gamma(0.5);
    for (uint32_t v = 0; v < p->n_values[r]; v++) {
        uint64_t units = count[(size_t)v * stride];
        if (units == 0) continue;
        double n = (double)units / p->unit;
        total += n;
        sum += log_gamma(0.5 + n) - none;
    }
    return sum + log_gamma(prior) - log_gamma(prior + total);
}

double cofi_log_likelihood(const cofi_engine *e)
{
    const cofi_problem *p = e->problem;
    double n = (double)p->total_weight / p->unit, half_k = 0.5 * e->o.k;
    double sum = log_gamma(half_k) - log_gamma(half_k + n);
    for (uint32_t j = 0; j < e->o.k; j++) {
        double size = (double)e->pass.size[j] / p->unit;
        sum += log_gamma(0.5 + size) - log_gamma(0.5);
        for (size_t r = 0; r < p->n_attrs; r++) sum += table_evidence(e, r, j);
    }
    return sum;
}

bool cofi_clearly_larger(double a, double b)
{
    return a > b && a - b > 1e-12 * (fabs(a) + fabs(b));
}

double cofi_criterion_given(const cofi_engine *e, double log_likelihood)
{
    return e->o.select == COF_SELECT_OBJECTIVE ? -e->objective : log_likelihood;
}

double cofi_criterion(const cofi_engine *e)
{
    bool needed = e->o.select != COF_SELECT_OBJECTIVE;
    return cofi_criterion_given(e, needed ? cofi_log_likelihood(e) : 0);
}
