/* Quality of a partition: the integrated likelihood, and the compactness of its clusters. */
#include "criterion.h"

#include "../core/real.h"

#include <assert.h>
#include <math.h>

/* Constants of the criterion `balance`, which is a sum of logarithms. The penalty exceeds any difference in gains. */
#define OWN_ADVANTAGE 0.01 /* bonus of partitions that the method itself refined */
#define EMPTY_PENALTY 1e5  /* per empty cluster */

/* Counts below it have their log gamma in a table, if many are asked for. */
enum { FEW = 256 };

/* Log evidence of one cluster's counts of one attribute, under a Dirichlet prior of 1/2 per value. of_few: NULL, or
 * log gamma(n + 1/2) - log gamma(1/2) of n units, n below FEW. */
static double table_evidence(const cofi_partition *q, size_t r, uint32_t j, const double *of_few)
{
    const cofi_problem *p = q->rows->problem;
    uint32_t stride = q->stride;
    const uint64_t *count = q->count + (size_t)p->first[r] * stride + j;
    double total = 0, sum = 0, prior = 0.5 * p->n_present[r], none = cofi_log_gamma(0.5);
    for (uint32_t v = 0; v < p->n_values[r]; v++) {
        uint64_t units = count[(size_t)v * stride];
        if (units == 0) continue;
        double n = (double)units / p->unit;
        total += n;
        sum += of_few != NULL && units < FEW ? of_few[units] : cofi_log_gamma(0.5 + n) - none;
    }
    return cofi_column_weight(p, r) * (sum + cofi_log_gamma(prior) - cofi_log_gamma(prior + total));
}

double cofi_log_likelihood(const cofi_partition *q)
{
    const cofi_problem *p = q->rows->problem;
    double n = (double)p->total_weight / p->unit, half_k = 0.5 * q->k;
    double sum = cofi_log_gamma(half_k) - cofi_log_gamma(half_k + n), few[FEW];
    bool many = (size_t)cofi_n_flat(p) * q->k >= 4 * FEW;
    for (uint32_t units = 0; many && units < FEW; units++)
        few[units] = cofi_log_gamma(0.5 + units / p->unit) - cofi_log_gamma(0.5);
    for (uint32_t j = 0; j < q->k; j++) {
        double size = (double)q->size[j] / p->unit;
        sum += cofi_log_gamma(0.5 + size) - cofi_log_gamma(0.5);
        for (size_t r = 0; r < p->n_attrs; r++) sum += table_evidence(q, r, j, many ? few : NULL);
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

double cofi_log_likelihood_of_one(const cofi_partition *q)
{
    const cofi_problem *p = q->rows->problem;
    double all = 0;
    for (size_t r = 0; r < p->n_attrs; r++) {
        double total = 0, sum = 0, prior = 0.5 * p->n_present[r];
        for (uint32_t v = 0; v < p->n_values[r]; v++) {
            double n = pooled_count(q, p->first[r] + v);
            total += n;
            if (n > 0) sum += cofi_log_gamma(0.5 + n) - cofi_log_gamma(0.5);
        }
        all += cofi_column_weight(p, r) * (sum + cofi_log_gamma(prior) - cofi_log_gamma(prior + total));
    }
    return all;
}

/* Reduction of the summed squared one-hot distances when every row is compared with the mean of its
 * cluster instead of the mean of the table. */
static double tightness(const cofi_partition *q)
{
    const cofi_problem *p = q->rows->problem;
    double gain = 0;
    for (size_t r = 0; r < p->n_attrs; r++) {
        double all = 0, all_squares = 0, weight = cofi_column_weight(p, r);
        for (uint32_t v = 0; v < p->n_values[r]; v++) {
            double n = pooled_count(q, p->first[r] + v);
            all += n;
            all_squares += n * n;
        }
        if (all > 0) gain -= weight * all_squares / all;
        for (uint32_t j = 0; j < q->k; j++) {
            double own = 0, squares = 0;
            for (uint32_t v = 0; v < p->n_values[r]; v++) {
                double n = (double)q->count[(size_t)(p->first[r] + v) * q->stride + j] / p->unit;
                own += n;
                squares += n * n;
            }
            if (own > 0) gain += weight * squares / own;
        }
    }
    return gain;
}

double cofi_gain_by_chance(size_t n_attrs)
{
    double n_pairs = (double)n_attrs * ((double)n_attrs - 1) / 2;
    return fmax(2 * cofi_ln(n_pairs), 1);
}

/* The product of three gains over a single cluster: in likelihood; in likelihood where a tree of dependent attributes helps
 * both (dependence.c); and in compactness. The likelihood alone prefers partitions that separate a few outliers or that
 * follow attributes which depend on each other; compactness alone prefers clusters of equal size. A partition that the
 * method itself refined wins unless another is better by more than 1 %. A partition that is no likelier than a single
 * cluster is worse than any that is. An empty cluster is penalised more than all of this. docs/quality.md lists the
 * alternatives that were tried. */
static double balance(const cofi_gains *g, bool by_likelihood)
{
    double penalty = EMPTY_PENALTY * g->n_empty;
    if (g->likelihood <= 0) return COFI_NO_GAIN - penalty;
    assert(g->beside_tree > 0);
    double merit = cofi_ln(g->likelihood) + cofi_ln(g->beside_tree) + cofi_ln(fmax(g->tightness, 1e-300));
    return merit + (by_likelihood ? 0 : OWN_ADVANTAGE) - penalty;
}

cofi_gains cofi_gains_measure(const cofi_partition *q, double log_likelihood, cofi_tree_gains tree)
{
    cofi_gains g = {.likelihood = log_likelihood - cofi_log_likelihood_of_one(q),
                    .n_empty = cofi_count_empty(q)};
    if (g.likelihood <= 0) return g;
    g.beside_tree =
        fmax(g.likelihood + tree.of_clusters - tree.of_one, cofi_gain_by_chance(q->rows->problem->n_attrs));
    g.tightness = tightness(q);
    return g;
}

double cofi_criterion_given(const cofi_fit *fit, double log_likelihood, const cofi_gains *gains)
{
    if (fit->host.o.select == COF_SELECT_BALANCE)
        return balance(gains, fit->log.refiner == COFI_BY_LIKELIHOOD);
    return fit->host.o.select == COF_SELECT_OBJECTIVE ? -fit->log.objective : log_likelihood;
}

double cofi_criterion(const cofi_fit *fit)
{
    bool needed = fit->host.o.select != COF_SELECT_OBJECTIVE;
    double log_likelihood = needed ? cofi_log_likelihood(&fit->partition) : 0;
    cofi_gains gains = {.likelihood = 0};
    if (fit->host.o.select == COF_SELECT_BALANCE)
        gains = cofi_gains_measure(&fit->partition, log_likelihood, (cofi_tree_gains){0, 0});
    return cofi_criterion_given(fit, log_likelihood, &gains);
}
