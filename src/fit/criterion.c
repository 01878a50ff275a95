/* Quality of a partition: L of the paper, the integrated likelihood, and the compactness of its clusters,
 * all from counts alone. */
#include "criterion.h"

#include <math.h>

/* Constants of the criterion `balance`, which is a sum of logarithms. The other attributes are all but the one whose
 * likelihood gains most. The penalties exceed any difference in gains. */
#define OTHERS_POWER    0.25 /* exponent of the likelihood gain of the other attributes */
#define LEAST_OTHERS    1e-3 /* lower limit of that gain, as a share of the whole gain */
#define OWN_ADVANTAGE   0.01 /* bonus of partitions that the method itself refined */
#define EMPTY_PENALTY   1e5  /* per empty cluster */
#define NO_GAIN_PENALTY 1e4  /* if the likelihood gains nothing */

double cofi_objective(const cofi_partition *q, const cofi_scores *s)
{
    const cofi_problem *p = q->rows->problem;
    double sum = 0;
    for (size_t r = 0; r < p->n_attrs; r++) {
        for (uint32_t g = p->first[r]; g < p->first[r] + p->n_values[r]; g++) {
            size_t at = (size_t)g * q->stride;
            for (uint32_t j = 0; j < q->k; j++) sum += (double)q->count[at + j] * (double)s->value[at + j];
        }
    }
    for (uint32_t j = 0; j < q->k; j++)
        if (s->base[j] < COFI_NEVER) sum += (double)q->size[j] * (double)s->base[j];
    return sum / s->scale / p->unit;
}

static double log_gamma(double x)
{
    int sign; /* lgamma would write the global variable signgam */
    return lgamma_r(x, &sign);
}

/* Log evidence of one cluster's counts of one attribute, under a Dirichlet prior of 1/2 per value. */
static double table_evidence(const cofi_partition *q, size_t r, uint32_t j)
{
    const cofi_problem *p = q->rows->problem;
    uint32_t stride = q->stride;
    const uint64_t *count = q->count + (size_t)p->first[r] * stride + j;
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

double cofi_log_likelihood(const cofi_partition *q)
{
    const cofi_problem *p = q->rows->problem;
    double n = (double)p->total_weight / p->unit, half_k = 0.5 * q->k;
    double sum = log_gamma(half_k) - log_gamma(half_k + n);
    for (uint32_t j = 0; j < q->k; j++) {
        double size = (double)q->size[j] / p->unit;
        sum += log_gamma(0.5 + size) - log_gamma(0.5);
        for (size_t r = 0; r < p->n_attrs; r++) sum += table_evidence(q, r, j);
    }
    return sum;
}

/* Weight of the rows that hold the value, over all clusters. */
static double pooled_count(const cofi_partition *q, size_t flat)
{
    uint64_t units = 0;
    for (uint32_t j = 0; j < q->k; j++) units += q->count[flat * q->stride + j];
    return (double)units / q->rows->problem->unit;
}

/* Log evidence of one attribute's counts, summed over all clusters. */
static double pooled_evidence(const cofi_partition *q, size_t r)
{
    const cofi_problem *p = q->rows->problem;
    double total = 0, sum = 0, prior = 0.5 * p->n_present[r];
    for (uint32_t v = 0; v < p->n_values[r]; v++) {
        double n = pooled_count(q, p->first[r] + v);
        total += n;
        if (n > 0) sum += log_gamma(0.5 + n) - log_gamma(0.5);
    }
    return sum + log_gamma(prior) - log_gamma(prior + total);
}

double cofi_log_likelihood_of_one(const cofi_partition *q)
{
    double sum = 0;
    for (size_t r = 0; r < q->rows->problem->n_attrs; r++) sum += pooled_evidence(q, r);
    return sum;
}

/* The greatest gain in log evidence of any attribute when the clusters are known. Sets *of_one to the
 * result of cofi_log_likelihood_of_one. */
static double greatest_gain(const cofi_partition *q, double *of_one)
{
    double most = 0;
    *of_one = 0;
    for (size_t r = 0; r < q->rows->problem->n_attrs; r++) {
        double pooled = pooled_evidence(q, r), gain = -pooled;
        *of_one += pooled;
        for (uint32_t j = 0; j < q->k; j++) gain += table_evidence(q, r, j);
        most = fmax(most, gain);
    }
    return most;
}

/* Reduction of the summed squared one-hot distances when every row is compared with the mean of its
 * cluster instead of the mean of the table. */
static double tightness(const cofi_partition *q)
{
    const cofi_problem *p = q->rows->problem;
    double gain = 0;
    for (size_t r = 0; r < p->n_attrs; r++) {
        double all = 0, all_squares = 0;
        for (uint32_t v = 0; v < p->n_values[r]; v++) {
            double n = pooled_count(q, p->first[r] + v);
            all += n;
            all_squares += n * n;
        }
        if (all > 0) gain -= all_squares / all;
        for (uint32_t j = 0; j < q->k; j++) {
            double own = 0, squares = 0;
            for (uint32_t v = 0; v < p->n_values[r]; v++) {
                double n = (double)q->count[(size_t)(p->first[r] + v) * q->stride + j] / p->unit;
                own += n;
                squares += n * n;
            }
            if (own > 0) gain += squares / own;
        }
    }
    return gain;
}

/* The likelihood alone prefers partitions that separate a few outliers; compactness alone prefers clusters
 * of equal size. The product of the two gains over a single cluster penalises both. A third factor is the
 * likelihood gain without the attribute that gains most, to the power 1/4: it penalises a partition that
 * only copies one column. A partition that the method itself refined wins unless another is better by more
 * than 1 %. If no partition is likelier than a single cluster, the most compact one wins. An empty cluster
 * is penalised more than all of this. docs/quality.md lists the alternatives that were tried. */
static double balance(const cofi_partition *q, bool by_likelihood, double log_likelihood)
{
    double of_one, most = greatest_gain(q, &of_one), gain = log_likelihood - of_one;
    double merit = log(fmax(tightness(q), 1e-300));
    if (!by_likelihood) merit += OWN_ADVANTAGE;
    merit -= EMPTY_PENALTY * cofi_count_empty(q);
    if (gain <= 0) return merit - NO_GAIN_PENALTY; /* worse than any partition with a gain */
    double others = fmax(gain - most, LEAST_OTHERS * gain);
    return merit + log(gain) + OTHERS_POWER * log(others);
}

double cofi_criterion_given(const cofi_fit *fit, double log_likelihood)
{
    if (fit->host.o.select == COF_SELECT_BALANCE)
        return balance(&fit->partition, fit->log.refiner == COFI_BY_LIKELIHOOD, log_likelihood);
    return fit->host.o.select == COF_SELECT_OBJECTIVE ? -fit->log.objective : log_likelihood;
}

double cofi_criterion(const cofi_fit *fit)
{
    bool needed = fit->host.o.select != COF_SELECT_OBJECTIVE;
    return cofi_criterion_given(fit, needed ? cofi_log_likelihood(&fit->partition) : 0);
}
