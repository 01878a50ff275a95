/* Memberships: the clusters as classes of a mixture. */
#include "assignment.h"
#include "class_statistics.h"

#include "../core/real.h"
#include "../fit/likelihood.h"
#include "../fit/scores.h"

#include <math.h>

struct cof_posterior {
    cofi_blocks own;
    cofi_assignment rows;
    cofi_scores scores; /* minus the log-probabilities of the model's values */
    double *charge;     /* per attribute of the view: surprise of a value that the model does not have */
    double per_apart;   /* what a distance of 1 between numbers and their means takes from a log-density */
    double *level;      /* per numeric column: surprise of a number that equals its mean */
};

/* ---- The class model ------------------------------------------------------------------------------ */

static double total_size(const cof_model *m)
{
    double n = 0;
    for (uint32_t j = 0; j < m->k; j++) n += m->size[j];
    return n;
}

/* The counts of an attribute; *n receives the rows that hold one of its values. */
static cofi_value_counts counts_of(const cof_model *m, size_t attribute, double *n)
{
    const cofi_model_attr *a = &m->attr[attribute];
    cofi_value_counts c = {.count = m->count + (size_t)a->first * m->k,
                           .stride = m->k,
                           .k = m->k,
                           .n_values = a->n_values,
                           .n_bins = a->domain.cut != NULL ? a->domain.cut->n_edges + 1 : 0,
                           .unit = m->unit,
                           .weight = cof_model_column_weight(m, attribute)};
    uint64_t all = 0;
    for (uint32_t v = 0; v < a->n_values; v++) {
        uint64_t here = 0;
        for (uint32_t j = 0; j < m->k; j++) here += c.count[(size_t)v * m->k + j];
        c.n_present += here > 0;
        all += here;
    }
    *n = (double)all / m->unit;
    return c;
}

/* The class model of the partition, as cofi_scores_likelihood has it during a fit. A cluster without rows takes none. */
static cof_status score_partition(cof_posterior *p, const cof_model *m, cof_error *err)
{
    cofi_scores *s = &p->scores;
    double n = total_size(m), largest = cofi_ln(2 * n + m->k), held;
    *s = (cofi_scores){.k = m->k, .stride = m->scores.stride};
    s->value = cofi_blocks_add_zero(&p->own, (size_t)m->n_flat * s->stride, sizeof *s->value);
    s->base = cofi_blocks_add(&p->own, s->stride, sizeof *s->base);
    COFI_TRY(cofi_blocks_status(&p->own, err));
    for (size_t r = 0; r < m->n_attrs; r++)
        if (m->attr[r].used)
            largest += cof_model_column_weight(m, r) * cofi_ln(2 * n + counts_of(m, r, &held).n_present);
    s->scale = cofi_scores_scale(largest);
    for (uint32_t j = 0; j < s->stride; j++)
        s->base[j] = j < m->k && m->size[j] > 0
                         ? cofi_fixed_point(cofi_ln(n + 0.5 * m->k) - cofi_ln(m->size[j] + 0.5), s->scale)
                         : COFI_NEVER;
    for (size_t r = 0; r < m->n_attrs; r++) {
        if (!m->attr[r].used) continue;
        cofi_value_counts c = counts_of(m, r, &held);
        cofi_value_surprises(&c, s->scale, s->stride, s->value + (size_t)m->attr[r].first * s->stride);
    }
    return COF_OK;
}

/* What the prior gives to a value that no row of the fit holds. It is the same in all clusters, so that such a value
 * favours none. */
static cof_status charge_unseen(cof_posterior *p, cof_error *err)
{
    const cofi_view *v = &p->rows.view;
    p->charge = cofi_blocks_add(&p->own, v->n, sizeof *p->charge);
    COFI_TRY(cofi_blocks_status(&p->own, err));
    for (size_t a = 0; a < v->n; a++) {
        double n;
        cofi_value_counts c = counts_of(p->rows.m, v->attribute[a], &n);
        p->charge[a] = c.weight * cofi_ln((n + 0.5 * (c.n_present + 1)) / 0.5);
    }
    return COF_OK;
}

/* What the numbers add to the objective of the kept restart: the rest comes from the categories. */
static double numeric_objective(const cof_model *m)
{
    double categories = 0;
    for (size_t g = 0; g < m->n_flat; g++)
        for (uint32_t j = 0; j < m->k; j++)
            categories += (double)m->count[g * m->k + j] * (double)m->scores.value[g * m->scores.stride + j];
    return fmax(0, m->restart[m->kept].objective - categories / m->scores.scale / m->unit);
}

/* Numbers are normal around the means of their cluster, or Laplace where differences are not squared, with one spread: its
 * maximum likelihood estimate, smoothed with one pseudo-row that is uniform over the range. */
static cof_status spread_numbers(cof_posterior *p, cof_error *err)
{
    const cof_model *m = p->rows.m;
    const double pi = 3.14159265358979323846;
    double weights = 0, pseudo = 0;
    if (m->n_numeric == 0) return COF_OK;
    p->level = cofi_blocks_add(&p->own, m->n_numeric, sizeof *p->level);
    COFI_TRY(cofi_blocks_status(&p->own, err));
    for (size_t c = 0; c < m->n_numeric; c++) {
        const cofi_model_numeric *q = &m->numeric[c];
        double range = q->most - q->least;
        weights += q->column_weight;
        pseudo += q->column_weight * (m->absolute ? range / 4 : range * range / 12);
    }
    double spread = (numeric_objective(m) + pseudo) / (weights * (total_size(m) + 1));
    if (!(spread > 0)) return COF_OK; /* constant, or without weight */
    p->per_apart = m->absolute ? 1 / spread : 1 / (2 * spread);
    for (size_t c = 0; c < m->n_numeric; c++) {
        const cofi_model_numeric *q = &m->numeric[c];
        double height = m->absolute ? cofi_ln(2 * spread) : 0.5 * cofi_ln(2 * pi * spread);
        p->level[c] = q->column_weight * (height + (q->unit > 0 ? cofi_ln(q->unit) : 0));
    }
    return COF_OK;
}

/* ---- Opening -------------------------------------------------------------------------------------- */

cof_status cof_posterior_open(const cof_model *m, const cof_table *t, uint32_t threads, cof_posterior **out,
                              cof_error *err)
{
    if (m->no_scores && (strcmp(m->method, "coforest") == 0 || strstr(m->method, "prototypes")))
        return cofi_fail(err, COF_ERR_NO_PREDICTION,
                         "this model of %s has no memberships, because an older version fitted numeric "
                         "columns; fit it again",
                         m->method);
    cof_posterior *p = cofi_alloc_zero(&t->env, 1, sizeof *p);
    if (p == NULL) return cofi_no_memory(err);
    p->own.env = t->env;
    p->scores = m->scores;
    cof_status status = cofi_model_is_mixture(m) ? COF_OK : score_partition(p, m, err);
    if (status == COF_OK) status = cofi_assignment_open(&p->rows, m, t, &p->scores, threads, err);
    if (status == COF_OK) status = charge_unseen(p, err);
    if (status == COF_OK) status = spread_numbers(p, err);
    if (status == COF_OK)
        *out = p;
    else
        cof_posterior_free(p);
    return status;
}

void cof_posterior_free(cof_posterior *p)
{
    if (p == NULL) return;
    cof_env env = p->own.env;
    cofi_assignment_close(&p->rows);
    cofi_blocks_release(&p->own);
    cofi_release(&env, p);
}

/* ---- One row -------------------------------------------------------------------------------------- */

/* What the columns add to minus the log-likelihood of a row in all clusters alike: values that the model does not have,
 * and the heights of densities. */
static double common_surprise(const cof_posterior *p, size_t row)
{
    const cofi_view *v = &p->rows.view;
    double sum = 0;
    for (size_t a = 0; p->rows.any_unknown && a < v->n; a++)
        if (p->rows.unseen[v->first[a] + cofi_id(v->ids[a], row)]) sum += p->charge[a];
    for (size_t c = 0; p->per_apart > 0 && c < p->rows.m->n_numeric; c++)
        if (isfinite(cofi_assignment_numeric(&p->rows, c, row))) sum += p->level[c];
    return sum;
}

/* The logarithms of a row's joint probabilities with the clusters, less that of the likeliest, whose logarithm is
 * returned. Sums that a label treats as equal are equal here. */
static double join(const cof_posterior *p, size_t row, const int64_t *sum, double *joint)
{
    uint32_t k = p->scores.k;
    int64_t least = sum[0];
    double most = -INFINITY;
    for (uint32_t j = 1; j < k; j++) least = sum[j] < least ? sum[j] : least;
    for (uint32_t j = 0; j < k; j++) {
        int64_t behind = sum[j] - least;
        joint[j] = behind > COFI_TIE ? -(double)behind / p->scores.scale : 0;
        if (p->per_apart > 0) joint[j] -= p->per_apart * cofi_assignment_apart(&p->rows, row, j);
        if (p->scores.base[j] != COFI_NEVER) most = fmax(most, joint[j]);
    }
    for (uint32_t j = 0; j < k; j++) joint[j] -= most;
    return most - (double)least / p->scores.scale;
}

/* Writes the memberships of a row and returns its log-likelihood. */
static double rate_row(const cof_posterior *p, size_t row, const int64_t *sum, double *share)
{
    uint32_t k = p->scores.k;
    double total = 0;
    if (p->rows.dropped != NULL && p->rows.dropped[row]) {
        for (uint32_t j = 0; j < k; j++) share[j] = NAN;
        return NAN;
    }
    double most = join(p, row, sum, share);
    cofi_exp_all(share, k);
    for (uint32_t j = 0; j < k; j++) {
        if (p->scores.base[j] == COFI_NEVER) share[j] = 0;
        total += share[j];
    }
    for (uint32_t j = 0; j < k; j++) share[j] /= total;
    return most + cofi_ln(total) - common_surprise(p, row);
}

/* ---- Many rows ------------------------------------------------------------------------------------ */

typedef struct rating {
    const cof_posterior *p;
    size_t first;
    double *membership, *log_likelihood; /* either may be NULL */
} rating;

static void put_memberships(void *ctx, size_t row, int64_t *sum, double *share)
{
    const rating *job = ctx;
    uint32_t k = job->p->scores.k;
    size_t at = row - job->first;
    double log_likelihood = rate_row(job->p, row, sum, share);
    if (job->membership != NULL) memcpy(job->membership + at * k, share, k * sizeof *share);
    if (job->log_likelihood != NULL) job->log_likelihood[at] = log_likelihood;
}

cof_status cof_posterior_rows(cof_posterior *p, size_t first, size_t n, double *memberships,
                              double *log_likelihoods, cof_error *err)
{
    size_t n_rows = p->rows.t->n_rows;
    if (first > n_rows || n > n_rows - first)
        return cofi_fail(err, COF_ERR_ARGUMENT, "%zu rows from row %zu on were asked for, but there are %zu",
                         n, first, n_rows);
    rating job = {p, first, memberships, log_likelihoods};
    cofi_assignment_run(&p->rows, first, n, put_memberships, &job);
    return COF_OK;
}

/* ---- Criteria ------------------------------------------------------------------------------------- */

typedef struct tally {
    double n, log_likelihood, entropy;
    uint64_t n_shared;
    char room[32]; /* a line of the cache for each, since threads add to them row by row */
} tally;

typedef struct tallying {
    const cof_posterior *p;
    const double *weight;
    tally *block; /* one for each block of rows, so that sums do not depend on threads */
} tallying;

static void tally_row(void *ctx, size_t row, int64_t *sum, double *share)
{
    const tallying *job = ctx;
    tally *t = &job->block[row / COFI_ROW_BLOCK];
    double weight = job->weight[row], log_likelihood = rate_row(job->p, row, sum, share), largest = 0,
           entropy = 0;
    if (!(weight > 0) || isnan(log_likelihood)) return;
    for (uint32_t j = 0; j < job->p->scores.k; j++) {
        largest = fmax(largest, share[j]);
        if (share[j] > 0) entropy -= share[j] * cofi_ln(share[j]);
    }
    t->n += weight;
    t->log_likelihood += weight * log_likelihood;
    t->entropy += weight * entropy;
    t->n_shared += largest < COF_SHARED_MEMBERSHIP;
}

static double count_parameters(const cof_model *m)
{
    double k = m->k, n = k - 1, held;
    for (size_t r = 0; r < m->n_attrs; r++)
        if (m->attr[r].used) n += k * ((double)counts_of(m, r, &held).n_present - 1);
    return m->n_numeric > 0 ? n + k * (double)m->n_numeric + 1 : n;
}

static tally sum_tallies(const tally *block, size_t n)
{
    tally t = {.n = 0};
    for (size_t b = 0; b < n; b++) {
        t.n += block[b].n;
        t.log_likelihood += block[b].log_likelihood;
        t.entropy += block[b].entropy;
        t.n_shared += block[b].n_shared;
    }
    return t;
}

/* Cells of a table that is too large for them are not counted. */
static cof_status measure_fit(const cof_model *m, const cof_table *t, const double *weights,
                              cofi_class_fit *fit, cof_error *err)
{
    enum { MOST_CELLS = 1 << 27 };
    cof_class_study *study;
    *fit = (cofi_class_fit){NAN, NAN, NAN, NAN, NAN};
    if (strcmp(m->method, "lca") != 0 || (double)t->n_rows * (double)m->n_attrs > MOST_CELLS) return COF_OK;
    COFI_TRY(cof_class_study_open(m, t, weights, 0, &study, err));
    *fit = cofi_class_study_fit(study);
    cof_class_study_free(study);
    return COF_OK;
}

static void set_criteria(const cof_model *m, const tally *t, const cofi_class_fit *fit, cof_fit_info *info)
{
    cof_fit_info own;
    COFI_COPY_OPTIONS(&own, info);
    own.n_parameters = count_parameters(m);
    own.mixture_log_likelihood = t->log_likelihood;
    own.aic = 2 * own.n_parameters - 2 * t->log_likelihood;
    own.bic = own.n_parameters * cofi_ln(t->n) - 2 * t->log_likelihood;
    own.icl = own.bic + 2 * t->entropy;
    own.n_shared = t->n_shared;
    own.aic3 = 3 * own.n_parameters - 2 * t->log_likelihood;
    own.bic_adjusted = own.n_parameters * cofi_ln((t->n + 2) / 24) - 2 * t->log_likelihood;
    own.entropy_r_squared = m->k > 1 ? 1 - t->entropy / (t->n * cofi_ln(m->k)) : NAN;
    own.g_squared = fit->g_squared;
    own.x_squared = fit->x_squared;
    own.df = fit->df;
    own.p_g_squared = fit->p_g;
    own.p_x_squared = fit->p_x;
    cofi_return_struct(info, &own, sizeof own);
}

cof_status cof_model_criteria(const cof_model *m, const cof_table *t, const double *weights, uint32_t threads,
                              cof_fit_info *info, cof_error *err)
{
    cof_posterior *p;
    size_t n_blocks = (t->n_rows + COFI_ROW_BLOCK - 1) / COFI_ROW_BLOCK;
    COFI_TRY(cof_posterior_open(m, t, threads, &p, err));
    double *own = weights == NULL ? cofi_blocks_add(&p->own, t->n_rows, sizeof *own) : NULL;
    tallying job = {p, weights != NULL ? weights : own,
                    cofi_blocks_add_line(&p->own, n_blocks, sizeof *job.block)};
    cof_status status = cofi_blocks_status(&p->own, err);
    if (status == COF_OK && weights == NULL) status = cof_table_weights(t, own, t->n_rows, err);
    cofi_class_fit fit;
    if (status == COF_OK) status = measure_fit(m, t, job.weight, &fit, err);
    if (status == COF_OK) {
        cofi_assignment_run(&p->rows, 0, t->n_rows, tally_row, &job);
        tally all = sum_tallies(job.block, n_blocks);
        set_criteria(m, &all, &fit, info);
    }
    cof_posterior_free(p);
    return status;
}
