/* EM: the M step and its initial values. The E step is an operation of the rows (rows.h, expect). */
#include "mixture.h"

#include "../core/real.h"

#include "likelihood.h"
#include "method.h"
#include "scores.h"

#include <math.h>
#include <stdlib.h>

enum { COARSE_WEIGHT = 1 << 16 }; /* with as much weight, coarse memberships would have less than 15 bits */

struct cofi_mixture {
    cofi_expectation e;
    double *log_theta; /* e.log_theta and e.log_pi point to these */
    double *log_pi;
    double *overall; /* [g]: share of each value in the table */
    double *rows;    /* of one class, for each value of one attribute */
    double prior;    /* pseudo-rows of a class */
    struct rank {
        double log_pi;
        uint32_t from;
    } * rank; /* k, for sorting */
    double *line;
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
    m->prior = (fit->method->flags & COFI_METHOD_CLASSES) == 0 ? 1 : fmax(fit->host.o.prior, 0);
    m->rank = cofi_blocks_add(&fit->own, stride, sizeof *m->rank);
    m->line = cofi_blocks_add_zero(&fit->own, stride, sizeof *m->line);
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

static double ln_of_share(double share)
{
    return fmax(cofi_ln(share), COFI_LEAST_LN);
}

/* M step. `unit` is the count of one full row of weight 1; n is the weight of all rows. Returns the mean change of the
 * cells' log-probabilities. */
static double maximise(const cofi_fit *fit, cofi_mixture *m, const uint64_t *count, const uint64_t *size,
                       double unit, double n, double prior)
{
    const cofi_problem *p = fit->problem;
    uint32_t stride = fit->partition.stride, k = fit->partition.k;
    double changed = 0;
    for (uint32_t j = 0; j < k; j++)
        m->log_pi[j] = ln_of_share(((double)size[j] / unit + prior / k) / (n + prior));
    for (size_t r = 0; r < p->n_attrs; r++) {
        double weight = cofi_column_weight(p, r);
        for (uint32_t j = 0; j < k; j++) {
            double total = 0;
            class_counts(fit, m, count, unit, r, j, m->rows);
            for (uint32_t v = 0; v < p->n_values[r]; v++) total += m->rows[v];
            if (total + prior == 0)
                continue; /* a class that has no row with a known cell keeps its probabilities */
            for (uint32_t v = 0; v < p->n_values[r]; v++) {
                size_t g = p->first[r] + v;
                double share = (m->rows[v] + prior * m->overall[g]) / (total + prior);
                double now = m->overall[g] > 0 ? weight * ln_of_share(share)
                                               : 0; /* no row of positive weight holds it */
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
    maximise(fit, m, fit->partition.count, fit->partition.size, p->unit, (double)p->total_weight / p->unit,
             fmax(m->prior, 1));
}

void cofi_mixture_begin_anywhere(cofi_fit *fit, cofi_mixture *m)
{
    const cofi_problem *p = fit->problem;
    for (uint32_t j = 0; j < fit->partition.k; j++) {
        m->log_pi[j] = -cofi_ln(fit->partition.k);
        for (size_t r = 0; r < p->n_attrs; r++) {
            double sum = 0;
            for (uint32_t v = 0; v < p->n_values[r]; v++) {
                m->rows[v] =
                    m->overall[p->first[r] + v] > 0 ? 1e-6 - cofi_ln(1 - cofi_rng_unit(&fit->rng)) : 0;
                sum += m->rows[v];
            }
            for (uint32_t v = 0; v < p->n_values[r]; v++)
                m->log_theta[(size_t)(p->first[r] + v) * fit->partition.stride + j] =
                    m->rows[v] > 0 ? cofi_column_weight(p, r) * cofi_ln(m->rows[v] / sum) : 0;
        }
    }
}

/* A pinch of the overall distribution keeps every row possible. */
void cofi_mixture_begin_at(const cofi_fit *fit, cofi_mixture *m)
{
    const double pinch = 1e-9;
    const cofi_problem *p = fit->problem;
    const double *given = fit->host.o.init_probabilities;
    uint32_t k = fit->partition.k;
    for (uint32_t j = 0; j < k; j++) m->log_pi[j] = -cofi_ln(k);
    for (size_t r = 0, a = 0; r < p->n_attrs; a++) {
        const cofi_column *c = &p->table->column[p->candidate[a]];
        if (p->column[r] == p->candidate[a]) {
            for (uint32_t v = 0; v < p->n_values[r]; v++)
                for (uint32_t j = 0; j < k; j++) {
                    size_t g = p->first[r] + v;
                    double share = (given[(size_t)v * k + j] + pinch * m->overall[g]) / (1 + pinch);
                    m->log_theta[g * fit->partition.stride + j] =
                        m->overall[g] > 0 ? cofi_column_weight(p, r) * ln_of_share(share) : 0;
                }
            r++;
        }
        given += (size_t)cofi_problem_n_values(p, c) * k;
    }
}

double cofi_mixture_maximise(const cofi_fit *fit, cofi_mixture *m)
{
    double unit = fit->problem->unit;
    return maximise(fit, m, m->e.count, m->e.size, m->e.membership * unit, (double)m->e.weight / unit,
                    m->prior);
}

/* Upper bound of minus the log-likelihood of any row under one class; of any row that the last M step saw, under one of the
 * classes that may have it, if not `all`. */
static double largest_surprise(const cofi_fit *fit, const cofi_mixture *m, bool all)
{
    const cofi_problem *p = fit->problem;
    uint32_t stride = fit->partition.stride, k = fit->partition.k;
    double largest = 0;
    for (uint32_t j = 0; j < k; j++)
        if (all || m->log_pi[j] > COFI_LEAST_LN) largest = fmax(largest, -m->log_pi[j]);
    for (size_t r = 0; r < p->n_attrs; r++) {
        double most = 0, impossible = -COFI_LEAST_LN * cofi_column_weight(p, r);
        for (uint32_t v = 0; v < p->n_values[r]; v++)
            for (uint32_t j = 0; j < k; j++) {
                double here = -m->log_theta[(size_t)(p->first[r] + v) * stride + j];
                if (all || here < impossible) most = fmax(most, here);
            }
        largest += most;
    }
    return largest;
}

cof_status cofi_mixture_expect(cofi_fit *fit, cofi_mixture *m, double *log_likelihood, cof_error *err)
{
    m->e.surprise = log_likelihood != NULL ? fmax(largest_surprise(fit, m, false), 1) : 0;
    cof_status status = cofi_partition_expect(&fit->partition, &m->e, err);
    fit->log.visits += (fit->problem->n_table_rows + m->e.step - 1) / m->e.step;
    if (log_likelihood != NULL) *log_likelihood = m->e.log_likelihood;
    return status;
}

double cofi_mixture_smoothing(const cofi_fit *fit, const cofi_mixture *m)
{
    uint32_t k = fit->partition.k;
    double sum = 0;
    if (m->prior == 0) return 0;
    for (uint32_t j = 0; j < k; j++) {
        sum += m->log_pi[j] / k;
        for (uint32_t g = 0; g < cofi_n_flat(fit->problem); g++)
            sum += m->overall[g] * m->log_theta[(size_t)g * fit->partition.stride + j];
    }
    return m->prior * sum;
}

static int by_falling_share(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;
    if (x->log_pi != y->log_pi) return x->log_pi > y->log_pi ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

void cofi_mixture_sort(const cofi_fit *fit, cofi_mixture *m)
{
    uint32_t k = fit->partition.k, stride = fit->partition.stride;
    for (uint32_t j = 0; j < k; j++) m->rank[j] = (struct rank){m->log_pi[j], j};
    qsort(m->rank, k, sizeof *m->rank, by_falling_share);
    for (size_t g = 0; g <= cofi_n_flat(fit->problem); g++) {
        double *entry = g < cofi_n_flat(fit->problem) ? m->log_theta + g * stride : m->log_pi;
        memcpy(m->line, entry, k * sizeof *entry);
        for (uint32_t j = 0; j < k; j++) entry[j] = m->line[m->rank[j].from];
    }
}

void cofi_mixture_scores(cofi_fit *fit, const cofi_mixture *m)
{
    cofi_scores *s = &fit->scores;
    memset(fit->profiles.alive, 1, fit->partition.k);
    cofi_scores_open(fit, largest_surprise(fit, m, true));
    for (size_t at = 0; at < m->n_entries; at++) s->value[at] = cofi_fixed_point(-m->log_theta[at], s->scale);
    for (uint32_t j = 0; j < fit->partition.k; j++) /* a class without a share takes no row */
        s->base[j] = m->log_pi[j] > COFI_LEAST_LN ? cofi_fixed_point(-m->log_pi[j], s->scale) : COFI_NEVER;
}

double cofi_mixture_parameters(const cofi_fit *fit)
{
    uint32_t k = fit->partition.k;
    double n = k - 1;
    for (size_t r = 0; r < fit->problem->n_attrs; r++) n += (double)k * (fit->problem->n_present[r] - 1);
    return n;
}
