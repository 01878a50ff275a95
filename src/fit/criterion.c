/* How good a partition is: L of the paper, the integrated likelihood, and how tight its clusters are, all from counts
 * alone. */
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
    for (uint32_t j = 0; j < e->o.k; j++)
        if (e->scores.base[j] < COFI_NEVER) sum += (double)e->pass.size[j] * (double)e->scores.base[j];
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

/* Weight of the rows that hold the value, whatever their cluster. */
static double pooled_count(const cofi_engine *e, size_t flat)
{
    uint64_t units = 0;
    for (uint32_t j = 0; j < e->o.k; j++) units += e->pass.count[flat * e->scores.stride + j];
    return (double)units / e->problem->unit;
}

/* One attribute's tables of all clusters taken as one. */
static double pooled_evidence(const cofi_engine *e, size_t r)
{
    const cofi_problem *p = e->problem;
    double total = 0, sum = 0, prior = 0.5 * p->n_present[r];
    for (uint32_t v = 0; v < p->n_values[r]; v++) {
        double n = pooled_count(e, p->first[r] + v);
        total += n;
        if (n > 0) sum += log_gamma(0.5 + n) - log_gamma(0.5);
    }
    return sum + log_gamma(prior) - log_gamma(prior + total);
}

double cofi_log_likelihood_of_one(const cofi_engine *e)
{
    double sum = 0;
    for (size_t r = 0; r < e->problem->n_attrs; r++) sum += pooled_evidence(e, r);
    return sum;
}

/* By how much knowing the clusters makes the attribute that gains most from it likelier; of_one gets what
 * cofi_log_likelihood_of_one tells. */
static double greatest_gain(const cofi_engine *e, double *of_one)
{
    double most = 0;
    *of_one = 0;
    for (size_t r = 0; r < e->problem->n_attrs; r++) {
        double pooled = pooled_evidence(e, r), gain = -pooled;
        *of_one += pooled;
        for (uint32_t j = 0; j < e->o.k; j++) gain += table_evidence(e, r, j);
        most = fmax(most, gain);
    }
    return most;
}

/* How much nearer rows are to the mean of their cluster than to that of the table: one-hot squared distances,
 * summed. */
static double tightness(const cofi_engine *e)
{
    const cofi_problem *p = e->problem;
    double gain = 0;
    for (size_t r = 0; r < p->n_attrs; r++) {
        double all = 0, all_squares = 0;
        for (uint32_t v = 0; v < p->n_values[r]; v++) {
            double n = pooled_count(e, p->first[r] + v);
            all += n;
            all_squares += n * n;
        }
        if (all > 0) gain -= all_squares / all;
        for (uint32_t j = 0; j < e->o.k; j++) {
            double own = 0, squares = 0;
            for (uint32_t v = 0; v < p->n_values[r]; v++) {
                double n = (double)e->pass.count[(size_t)(p->first[r] + v) * e->scores.stride + j] / p->unit;
                own += n;
                squares += n * n;
            }
            if (own > 0) gain += squares / own;
        }
    }
    return gain;
}

/* The likelihood alone likes a few odd rows set apart, tightness alone likes clusters of equal size: the product
 * of the two gains over a single cluster asks for both. What the likelihood gains without the attribute that tells
 * the clusters apart best joins in, to the power 1/4: a partition that only copies a column is none that was found.
 * COForest's own partitions are kept unless another is better by more than a hundredth. Where no partition explains
 * the rows better than one cluster does, the tightest is kept. As many clusters as were asked for come before all
 * that. docs/quality.md says what else was tried. */
static double balance(const cofi_engine *e, double log_likelihood)
{
    double of_one, most = greatest_gain(e, &of_one), gain = log_likelihood - of_one;
    double merit = log(fmax(tightness(e), 1e-300));
    if (!cofi_by_likelihood(e)) merit += 0.01;
    merit -= 1e5 * cofi_count_empty(e);
    if (gain <= 0) return merit - 1e4; /* below any that gains */
    double others = fmax(gain - most, 1e-3 * gain);
    return merit + log(gain) + 0.25 * log(others);
}

double cofi_criterion_given(const cofi_engine *e, double log_likelihood)
{
    if (e->o.select == COF_SELECT_BALANCE) return balance(e, log_likelihood);
    return e->o.select == COF_SELECT_OBJECTIVE ? -e->objective : log_likelihood;
}

double cofi_criterion(const cofi_engine *e)
{
    bool needed = e->o.select != COF_SELECT_OBJECTIVE;
    return cofi_criterion_given(e, needed ? cofi_log_likelihood(e) : 0);
}
