/* EM: the M step and its initial values. The E step is an operation of the rows (rows.h, expect). */
#include "mixture.h"

#include "../core/real.h"

#include "likelihood.h"
#include "scores.h"

#include <math.h>

enum { COARSE_WEIGHT = 1 << 16 }; /* with as much weight, coarse memberships would have less than 15 bits */

struct cofi_mixture {
    cofi_expectation e;
    double *log_theta; /* e.log_theta and e.log_pi point to these */
    double *log_pi;
    double *overall; /* [g]: share of each value in the table */
    double *rows;    /* of one class, for each value of one attribute */
    size_t n_entries;
};

static cof_status set_overall(cofi_fit *fit, cofi_mixture *m, cof_error *err)
{
    const cofi_problem *p = fit->problem;
    const uint64_t *total;
    COFI_TRY(cofi_fit_totals(fit, &total, err));
    for (size_t r = 0; r < p->n_attrs; r++) {
        double n = 0;
        for (uint32_t v = 0; v < p->n_values[r]; v++) n += (double)total[p->first[r] + v];
        for (uint32_t v = 0; v < p->n_values[r]; v++)
            m->overall[p->first[r] + v] = (double)total[p->first[r] + v] / n;
    }
    return COF_OK;
}

static uint32_t most_values(const cofi_problem *p)
{
    uint32_t most = 0;
    for (size_t r = 0; r < p->n_attrs; r++) most = p->n_values[r] > most ? p->n_values[r] : most;
    return most;
}

cof_status cofi_mixture_open(cofi_fit *fit, size_t most_rows, bool coarse, cofi_mixture **out, cof_error *err)
{
    const cofi_problem *p = fit->problem;
    uint32_t stride = fit->partition.stride;
    cofi_mixture *m = *out = cofi_blocks_add_zero(&fit->own, 1, sizeof *m);
    if (m == NULL) return cofi_no_memory(err);
    m->n_entries = (size_t)cofi_n_flat(p) * stride;
    m->log_theta = cofi_blocks_add_line(&fit->own, m->n_entries, sizeof *m->log_theta);
    m->log_pi = cofi_blocks_add_line(&fit->own, stride, sizeof *m->log_pi);
    m->overall = cofi_blocks_add_zero(&fit->own, cofi_n_flat(p), sizeof *m->overall);
    m->rows = cofi_blocks_add(&fit->own, most_values(p), sizeof *m->rows);
    m->e = (cofi_expectation){
        .log_theta = m->log_theta,
        .log_pi = m->log_pi,
        .k = fit->partition.k,
        .stride = stride,
        .step = p->n_table_rows <= most_rows ? 1 : (p->n_table_rows + most_rows - 1) / most_rows,
        /* weights of columns may make their surprises too different for 32 bits */
        .coarse = coarse && p->column_weight == NULL && p->total_weight < COARSE_WEIGHT};
    m->e.membership = m->e.coarse ? ldexp(1.0, (int)fmin(20, 30 - ilogb((double)p->total_weight)))
                                  : ldexp(1.0, (int)fmin(50, 61 - ilogb((double)p->total_weight)));
    m->e.count = cofi_blocks_add(&fit->own, m->n_entries, sizeof *m->e.count);
    m->e.size = cofi_blocks_add(&fit->own, stride, sizeof *m->e.size);
    COFI_TRY(cofi_blocks_status(&fit->own, err));
    memset(m->log_theta, 0, m->n_entries * sizeof *m->log_theta); /* the first M step compares with it */
    return set_overall(fit, m, err);
}

/* Rows of class j that hold each value of an attribute, those of a quantity smoothed over neighbouring bins. */
static void class_counts(const cofi_fit *fit, const cofi_mixture *m, const uint64_t *count, double unit,
                         size_t r, uint32_t j, double *rows)
{
    const cofi_problem *p = fit->problem;
    for (uint32_t v = 0; v < p->n_values[r]; v++)
        rows[v] = (double)count[(size_t)(p->first[r] + v) * fit->partition.stride + j] / unit;
    if (p->n_bins[r] > 0 && p->n_bins[r] <= COFI_SMOOTH_BINS)
        cofi_bins_smooth(m->overall + p->first[r], p->n_bins[r], rows);
}

/* M step. `unit` is the count of one full row of weight 1; n is the weight of all rows. Returns the mean change of the
 * cells' log-probabilities. */
static double maximise(const cofi_fit *fit, cofi_mixture *m, const uint64_t *count, const uint64_t *size,
                       double unit, double n)
{
    const cofi_problem *p = fit->problem;
    uint32_t stride = fit->partition.stride, k = fit->partition.k;
    double changed = 0;
    for (uint32_t j = 0; j < k; j++) m->log_pi[j] = cofi_ln(((double)size[j] / unit + 1.0 / k) / (n + 1));
    for (size_t r = 0; r < p->n_attrs; r++) {
        double weight = cofi_column_weight(p, r);
        for (uint32_t j = 0; j < k; j++) {
            double total = 0;
            class_counts(fit, m, count, unit, r, j, m->rows);
            for (uint32_t v = 0; v < p->n_values[r]; v++) total += m->rows[v];
            for (uint32_t v = 0; v < p->n_values[r]; v++) {
                size_t g = p->first[r] + v;
                double share = (m->rows[v] + m->overall[g]) / (total + 1);
                double now =
                    share > 0 ? weight * cofi_ln(share) : 0; /* 0: no row of positive weight holds it */
                changed += m->rows[v] * fabs(now - m->log_theta[g * stride + j]);
                m->log_theta[g * stride + j] = now;
            }
        }
    }
    return changed / (n * (double)p->n_attrs);
}

void cofi_mixture_begin(const cofi_fit *fit, cofi_mixture *m)
{
    const cofi_problem *p = fit->problem;
    maximise(fit, m, fit->partition.count, fit->partition.size, p->unit, (double)p->total_weight / p->unit);
}

double cofi_mixture_maximise(const cofi_fit *fit, cofi_mixture *m)
{
    double unit = fit->problem->unit;
    return maximise(fit, m, m->e.count, m->e.size, m->e.membership * unit, (double)m->e.weight / unit);
}

/* Upper bound of minus the log-likelihood of any row under one class. */
static double largest_surprise(const cofi_fit *fit, const cofi_mixture *m)
{
    const cofi_problem *p = fit->problem;
    uint32_t stride = fit->partition.stride, k = fit->partition.k;
    double largest = 0;
    for (uint32_t j = 0; j < k; j++) largest = fmax(largest, -m->log_pi[j]);
    for (size_t r = 0; r < p->n_attrs; r++) {
        double most = 0;
        for (uint32_t v = 0; v < p->n_values[r]; v++)
            for (uint32_t j = 0; j < k; j++)
                most = fmax(most, -m->log_theta[(size_t)(p->first[r] + v) * stride + j]);
        largest += most;
    }
    return largest;
}

cof_status cofi_mixture_expect(cofi_fit *fit, cofi_mixture *m, double *log_likelihood, cof_error *err)
{
    m->e.surprise = log_likelihood != NULL ? fmax(largest_surprise(fit, m), 1) : 0;
    cof_status status = cofi_partition_expect(&fit->partition, &m->e, err);
    fit->log.visits += (fit->problem->n_table_rows + m->e.step - 1) / m->e.step;
    if (log_likelihood != NULL) *log_likelihood = m->e.log_likelihood;
    return status;
}

double cofi_mixture_smoothing(const cofi_fit *fit, const cofi_mixture *m)
{
    uint32_t k = fit->partition.k;
    double sum = 0;
    for (uint32_t j = 0; j < k; j++) {
        sum += m->log_pi[j] / k;
        for (uint32_t g = 0; g < cofi_n_flat(fit->problem); g++)
            sum += m->overall[g] * m->log_theta[(size_t)g * fit->partition.stride + j];
    }
    return sum;
}

void cofi_mixture_scores(cofi_fit *fit, const cofi_mixture *m)
{
    cofi_scores *s = &fit->scores;
    memset(fit->profiles.alive, 1, fit->partition.k);
    cofi_scores_open(fit, largest_surprise(fit, m));
    for (size_t at = 0; at < m->n_entries; at++) s->value[at] = cofi_fixed_point(-m->log_theta[at], s->scale);
    for (uint32_t j = 0; j < fit->partition.k; j++) s->base[j] = cofi_fixed_point(-m->log_pi[j], s->scale);
}

double cofi_mixture_parameters(const cofi_fit *fit)
{
    uint32_t k = fit->partition.k;
    double n = k - 1;
    for (size_t r = 0; r < fit->problem->n_attrs; r++) n += (double)k * (fit->problem->n_present[r] - 1);
    return n;
}
