/* k-prototypes (Huang 1997) and ek-prototypes (after Sangam and Om 2018). Quantities are scaled as
 * options.scale says; a missing cell adds nothing. */
#include "mixed.h"

#include "../fit/method.h"
#include "../fit/scores.h"
#include "whole_rows.h"

#include <math.h>

enum { BLOCK = COFI_WHOLE_BLOCK };

typedef struct mixed {
    cofi_fit *fit;
    cofi_whole rows;
    const cofi_row_distance *distance;
    double *centre;    /* fit->centre */
    double *total;     /* k sums, then k weights, for the means of one quantity */
    double *block_sum; /* per block of rows: its part of the objective; the parts are added in order */
    int64_t *sum;      /* per worker: the sums of one row */
    /* clusters are distributions instead of modes, and |x - c| replaces the square */
    bool profiles;
} mixed;

/* The value of a cell; NaN if it is missing. */
static double quantity(const cofi_problem *p, const uint32_t *row, size_t c)
{
    return p->quantity[c].value[row[p->n_attrs + c]];
}

/* ---- Means -------------------------------------------------------------------------------------- */

/* A seed whose number is missing begins in the middle of the range, or at the mean, which is 0 on a scale of deviations. */
static void centres_from_seeds(mixed *m)
{
    const cofi_problem *p = m->fit->problem;
    bool z = m->fit->host.o.scale == COF_SCALE_Z;
    for (uint32_t j = 0; j < m->fit->partition.k; j++) {
        const uint32_t *seed = m->fit->seeds.cell + j * m->rows.n_columns;
        for (size_t c = 0; c < p->n_numeric; c++) {
            double x = quantity(p, seed, c);
            double middle = z ? 0 : (p->quantity[c].least + p->quantity[c].most) / 2;
            m->centre[j * p->n_numeric + c] = !isnan(x) ? x : middle;
        }
    }
}

/* Runs on one thread in row order, because floating-point sums must not depend on the number of threads.
 * An empty cluster keeps its means. */
static void update_centres(mixed *m)
{
    const cofi_problem *p = m->fit->problem;
    uint32_t k = m->fit->partition.k;
    double *weight_of = m->total + k;
    for (size_t c = 0; c < p->n_numeric; c++) {
        memset(m->total, 0, 2 * (size_t)k * sizeof *m->total);
        for (size_t i = 0; i < m->rows.n_rows; i++) {
            double x = quantity(p, cofi_whole_row(&m->rows, i), c), w = (double)m->rows.weight[i];
            if (isnan(x) || m->rows.weight[i] == 0) continue; /* a dropped row has no label */
            m->total[m->rows.label[i]] += w * x;
            weight_of[m->rows.label[i]] += w;
        }
        for (uint32_t j = 0; j < k; j++)
            if (weight_of[j] > 0) m->centre[j * p->n_numeric + c] = m->total[j] / weight_of[j];
    }
}

/* ---- Labels ------------------------------------------------------------------------------------- */

static void add_row(const mixed *m, const uint32_t *row, int64_t *sum)
{
    const cofi_scores *s = &m->fit->scores;
    const cofi_problem *p = m->fit->problem;
    memcpy(sum, s->base, s->stride * sizeof *sum);
    for (size_t r = 0; r < p->n_attrs; r++) {
        const int64_t *value = cofi_score_of(s, p->first[r] + row[r]);
        for (uint32_t j = 0; j < s->k; j++) sum[j] += value[j];
    }
    for (uint32_t j = 0; j < s->k; j++) {
        double apart = 0;
        for (size_t c = 0; c < p->n_numeric; c++) {
            double x = quantity(p, row, c) - m->centre[j * p->n_numeric + c];
            if (!isnan(x)) apart += p->quantity[c].column_weight * (m->profiles ? fabs(x) : x * x);
        }
        sum[j] += cofi_fixed_point(apart, s->scale);
    }
}

static void label_task(void *ctx, uint32_t worker, size_t block)
{
    mixed *m = ctx;
    const cofi_scores *s = &m->fit->scores;
    size_t begin = block * BLOCK, end = begin + BLOCK;
    int64_t *sum = m->sum + (size_t)worker * s->stride;
    double total = 0;
    for (size_t i = begin; i < (end < m->rows.n_rows ? end : m->rows.n_rows); i++) {
        add_row(m, cofi_whole_row(&m->rows, i), sum);
        uint32_t j = cofi_least_sum(s, sum);
        m->rows.label[i] = (int32_t)j;
        total += (double)sum[j] / s->scale * ((double)m->rows.weight[i] / m->fit->problem->unit);
    }
    m->block_sum[block] = total;
}

static cof_status label_rows(cofi_fit *fit, mixed *m, uint64_t *moved, cof_error *err)
{
    size_t n = cofi_whole_blocks(&m->rows, BLOCK);
    cofi_team_run(fit->host.team, label_task, m, n);
    fit->log.objective = 0;
    for (size_t b = 0; b < n; b++) fit->log.objective += m->block_sum[b];
    return cofi_whole_set_labels(fit, &m->rows, moved, err);
}

/* ---- The loop ----------------------------------------------------------------------------------- */

static cof_status open_mixed(mixed *m, cof_error *err)
{
    cofi_fit *fit = m->fit;
    cofi_blocks *own = &fit->scratch;
    size_t k = fit->partition.k;
    COFI_TRY(cofi_whole_open(fit, own, &m->rows, err));
    m->centre = fit->centre;
    m->total = cofi_blocks_add(own, 2 * k, sizeof *m->total);
    m->block_sum = cofi_blocks_add(own, cofi_whole_blocks(&m->rows, BLOCK), sizeof *m->block_sum);
    m->sum =
        cofi_blocks_add(own, (size_t)cofi_team_size(fit->host.team) * fit->partition.stride, sizeof *m->sum);
    return cofi_blocks_status(own, err);
}

static cof_status settle(mixed *m, cof_error *err)
{
    cofi_fit *fit = m->fit;
    memset(fit->profiles.alive, 1, fit->partition.k);
    if (m->profiles) cofi_profile_begin(fit);
    centres_from_seeds(m);
    if (fit->partition.known) {
        COFI_TRY(cofi_partition_labels(&fit->partition, NULL, m->rows.n_rows, m->rows.label, err));
        update_centres(m);
    }
    if (fit->log.stopped) return COF_OK;
    cofi_loop loop = cofi_loop_begin(fit, COF_PHASE_FIT, NULL);
    while (cofi_loop_goes_on(&loop)) {
        bool again = loop.pass > 0;
        if (again) update_centres(m);
        if (again && m->profiles) cofi_profile_update(fit);
        if (again && !m->profiles && m->distance->d == NULL) cofi_modes_frequent(fit);
        if (again && !m->profiles && m->distance->d != NULL) cofi_modes_median(fit, m->distance->d);
        if (m->profiles)
            cofi_scores_profiles(fit, m->distance);
        else
            cofi_scores_modes(fit, m->distance);
        COFI_TRY(label_rows(fit, m, &loop.moved, err));
        COFI_TRY(cofi_loop_end_pass(fit, &loop, err));
    }
    return COF_OK;
}

/* ---- The weight of the attributes ---------------------------------------------------------------- */

/* The mean variance of the scaled quantities, and their mean standard deviation. Runs on one thread in row order. */
static void spread(const cofi_problem *p, const cofi_whole *rows, double *variance, double *deviation)
{
    *variance = *deviation = 0;
    for (size_t c = 0; c < p->n_numeric; c++) {
        double n = 0, sum = 0, squares = 0;
        for (size_t i = 0; i < rows->n_rows; i++) {
            double x = quantity(p, cofi_whole_row(rows, i), c), w = (double)rows->weight[i];
            if (isnan(x) || rows->weight[i] == 0) continue;
            n += w;
            sum += w * x;
            squares += w * x * x;
        }
        double here = n > 0 ? fmax(0, squares / n - sum / n * (sum / n)) : 0;
        *variance += here / (double)p->n_numeric;
        *deviation += sqrt(here) / (double)p->n_numeric;
    }
}

/* The probability that two rows differ in an attribute, as a mean over the attributes. */
static double mean_difference(const cofi_problem *p, const cofi_whole *rows)
{
    double mean = 0;
    for (size_t r = 0; r < p->n_attrs; r++) {
        double n = 0, same = 0;
        for (uint32_t v = 0; v < p->n_values[r]; v++) {
            double here = 0;
            for (size_t i = 0; i < rows->n_rows; i++)
                if (cofi_whole_row(rows, i)[r] == v) here += (double)rows->weight[i];
            n += here;
            same += here * here;
        }
        mean += n > 0 ? (1 - same / (n * n)) / (double)p->n_attrs : 0;
    }
    return mean;
}

static double choose_gamma(const mixed *m, double gamma)
{
    const cofi_problem *p = m->fit->problem;
    double variance, deviation;
    if (gamma > 0) return gamma;
    spread(p, &m->rows, &variance, &deviation);
    double difference = gamma == COF_GAMMA_KMODES ? 0 : mean_difference(p, &m->rows);
    double chosen = gamma == COF_GAMMA_KMODES ? 0.5 * deviation : difference > 0 ? variance / difference : 1;
    return chosen > 0 ? chosen : 1; /* all quantities are constant, so only the attributes matter */
}

/* ---- The methods --------------------------------------------------------------------------------- */

static cof_status run_loop(cofi_fit *fit, const cofi_distances *d, double gamma, bool profiles,
                           cof_error *err)
{
    const cofi_problem *p = fit->problem;
    double *factor = cofi_blocks_add(&fit->scratch, p->n_attrs, sizeof *factor);
    cofi_row_distance distance = {.d = d, .factor = factor, .sum = COFI_L1};
    for (size_t c = 0; c < p->n_numeric; c++) {
        double reach = p->quantity[c].most - p->quantity[c].least;
        distance.beside += p->quantity[c].column_weight * (profiles ? reach : reach * reach);
    }
    fit->absolute = profiles;
    if (!(distance.beside < 1e200))
        return cofi_fail(
            err, COF_ERR_DATA,
            "the numeric columns reach too far to be compared as they are; leave out --scale none");
    mixed m = {.fit = fit, .distance = &distance, .profiles = profiles};
    COFI_TRY(open_mixed(&m, err));
    fit->gamma = choose_gamma(&m, gamma);
    for (size_t r = 0; r < p->n_attrs; r++) factor[r] = fit->gamma;
    return settle(&m, err);
}

/* The weight that the caller gave, if any. */
static double given_gamma(const cofi_fit *fit, double otherwise)
{
    return fit->host.o.gamma > 0 ? fit->host.o.gamma : otherwise;
}

cof_status cofi_prototypes(cofi_fit *fit, const cofi_distances *distances, cof_error *err)
{
    return run_loop(fit, distances, given_gamma(fit, COFI_GAMMA), false, err);
}

static cof_status run_k(cofi_fit *fit, void *state, cof_error *err)
{
    /* on a raw scale no constant would suit every table */
    double usual = fit->host.o.scale == COF_SCALE_NONE ? COF_GAMMA_KMODES : COFI_GAMMA;
    return run_loop(fit, NULL, fit->host.o.gamma != 0 ? fit->host.o.gamma : usual, false, err);
}

static cof_status run_ek(cofi_fit *fit, void *state, cof_error *err)
{
    return run_loop(fit, NULL, given_gamma(fit, 1.0), true, err);
}

const cofi_method cofi_method_k_prototypes = {.name = "k-prototypes",
                                              .title = "modes and means together (Huang 1997)",
                                              .flags = COFI_METHOD_MIXED | COFI_METHOD_ROW_BY_ROW |
                                                       COFI_METHOD_STANDARD | COFI_METHOD_COST,
                                              .run = run_k};
const cofi_method cofi_method_ek_prototypes = {
    .name = "ek-prototypes",
    .title = "distributions and means, no weight between them (after Sangam and Om 2018)",
    .flags = COFI_METHOD_MIXED | COFI_METHOD_ROW_BY_ROW,
    .run = run_ek};
