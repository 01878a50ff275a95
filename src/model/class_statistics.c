/* What statisticians read of latent classes: cells of the table beside those that the model expects, tests of fit,
 * residuals of pairs of columns, standard errors. Sums run over the distinct rows on one thread, so that they are the same
 * everywhere. */
#include "class_statistics.h"

#include "../core/real.h"
#include "../score/special.h"
#include "../table/dedupe.h"

#include <math.h>

enum { MOST_PARAMETERS = 1500 }; /* with more there are no standard errors */
#define NO_INFORMATION 1e-9      /* share of the largest: less information about a parameter counts as none */

struct cof_class_study {
    cofi_blocks own;
    const cof_model *m;
    size_t n_attrs;     /* of the model that take part */
    size_t *attr;       /* their numbers */
    int32_t **value;    /* [attribute that takes part][row]; -1: unknown */
    size_t n_patterns;  /* distinct rows */
    size_t *row;        /* the first row of each */
    double *weight;     /* of each */
    double *membership; /* [pattern][class] */
    double *log_likelihood;
    double *theta; /* [value of the model][class] */
    double *share; /* [class] */
    cofi_class_fit fit;
    size_t n_cells;
    cof_class_cell *cell;
    double *error;    /* of shares, then as theta; NULL: not known */
    double *residual; /* [attribute of the model][another] */
};

/* ---- Patterns ------------------------------------------------------------------------------------- */

static cof_status read_values(cof_class_study *s, const cof_table *t, cof_error *err)
{
    const cof_model *m = s->m;
    s->attr = cofi_blocks_add(&s->own, m->n_attrs, sizeof *s->attr);
    s->value = cofi_blocks_add_zero(&s->own, m->n_attrs, sizeof *s->value);
    COFI_TRY(cofi_blocks_status(&s->own, err));
    for (size_t a = 0; a < m->n_attrs; a++) {
        if (!m->attr[a].used) continue;
        int32_t *value = s->value[s->n_attrs] = cofi_blocks_add(&s->own, t->n_rows, sizeof *value);
        s->attr[s->n_attrs++] = a;
        COFI_TRY(cofi_blocks_status(&s->own, err));
        COFI_TRY(cof_model_values(m, t, a, value, t->n_rows, err));
    }
    return COF_OK;
}

/* Finds equal rows, and what the model thinks of each. Rows that are dropped have no weight. */
static cof_status find_patterns(cof_class_study *s, const cof_table *t, const double *weights, cof_error *err)
{
    uint32_t *group = cofi_blocks_add(&s->own, t->n_rows, sizeof *group), n_groups = 0, k = s->m->k;
    cofi_ids *ids = cofi_blocks_add(&s->own, s->n_attrs, sizeof *ids);
    cof_posterior *posterior = NULL;
    COFI_TRY(cofi_blocks_status(&s->own, err));
    for (size_t r = 0; r < s->n_attrs; r++) ids[r] = (cofi_ids){s->value[r], sizeof **s->value, false};
    if (cofi_dedupe(&t->env, ids, s->n_attrs, t->n_rows, group, &n_groups) != COF_OK)
        return cofi_no_memory(err);
    s->n_patterns = n_groups;
    s->row = cofi_blocks_add(&s->own, n_groups, sizeof *s->row);
    s->weight = cofi_blocks_add_zero(&s->own, n_groups, sizeof *s->weight);
    s->membership = cofi_blocks_add(&s->own, (size_t)n_groups * k, sizeof *s->membership);
    s->log_likelihood = cofi_blocks_add(&s->own, n_groups, sizeof *s->log_likelihood);
    COFI_TRY(cofi_blocks_status(&s->own, err));
    for (size_t i = t->n_rows; i-- > 0;) s->row[group[i]] = i;
    for (size_t i = 0; i < t->n_rows; i++) s->weight[group[i]] += weights[i];
    cof_status status = cof_posterior_open(s->m, t, 1, &posterior, err);
    for (size_t p = 0; status == COF_OK && p < n_groups; p++) {
        status =
            cof_posterior_rows(posterior, s->row[p], 1, s->membership + p * k, &s->log_likelihood[p], err);
        if (isnan(s->log_likelihood[p])) s->weight[p] = 0;
    }
    cof_posterior_free(posterior);
    return status;
}

/* The value that a pattern has in attribute r; -1: it is unknown. */
static int32_t value_of(const cof_class_study *s, size_t pattern, size_t r)
{
    return s->value[r][s->row[pattern]];
}

static bool is_complete(const cof_class_study *s, size_t pattern)
{
    for (size_t r = 0; r < s->n_attrs; r++)
        if (value_of(s, pattern, r) < 0) return false;
    return true;
}

static cof_status read_parameters(cof_class_study *s, cof_error *err)
{
    const cof_model *m = s->m;
    s->theta = cofi_blocks_add_zero(&s->own, (size_t)m->n_flat * m->k, sizeof *s->theta);
    s->share = cofi_blocks_add(&s->own, m->k, sizeof *s->share);
    COFI_TRY(cofi_blocks_status(&s->own, err));
    for (uint32_t j = 0; j < m->k; j++) s->share[j] = cof_model_class_share(m, j);
    for (size_t r = 0; r < s->n_attrs; r++) {
        size_t first = m->attr[s->attr[r]].first;
        for (uint32_t v = 0; v < m->attr[s->attr[r]].n_values; v++)
            for (uint32_t j = 0; j < m->k; j++)
                s->theta[(first + v) * m->k + j] = cof_model_class_probability(m, s->attr[r], v, j);
    }
    return COF_OK;
}

static uint32_t n_values(const cof_class_study *s, size_t r)
{
    return s->m->attr[s->attr[r]].n_values;
}

static size_t first_of(const cof_class_study *s, size_t r)
{
    return s->m->attr[s->attr[r]].first;
}

/* ---- Cells ---------------------------------------------------------------------------------------- */

/* Values of an attribute that occur; the others have no probability. */
static double n_present(const cof_class_study *s, size_t r)
{
    double n = 0;
    for (uint32_t v = 0; v < n_values(s, r); v++) {
        uint64_t units = 0;
        for (uint32_t j = 0; j < s->m->k; j++) units += s->m->count[(first_of(s, r) + v) * s->m->k + j];
        n += units > 0;
    }
    return n;
}

/* As poLCA does it: of rows without a missing cell. What the model expects in cells without rows counts in X squared. */
static cof_status compare_cells(cof_class_study *s, cof_error *err)
{
    double n = 0, complete = 0, expected = 0, n_possible = 1, n_parameters = s->m->k - 1;
    double g = 0, x = 0;
    s->cell = cofi_blocks_add(&s->own, s->n_patterns, sizeof *s->cell);
    COFI_TRY(cofi_blocks_status(&s->own, err));
    for (size_t p = 0; p < s->n_patterns; p++) {
        n += s->weight[p];
        if (is_complete(s, p)) complete += s->weight[p];
    }
    for (size_t p = 0; p < s->n_patterns; p++) {
        if (s->weight[p] == 0 || !is_complete(s, p)) continue;
        cof_class_cell *c = &s->cell[s->n_cells++];
        *c = (cof_class_cell){s->row[p], s->weight[p], complete * cofi_exp(s->log_likelihood[p])};
        expected += c->expected;
        g += 2 * c->observed * (cofi_ln(c->observed) - cofi_ln(complete) - s->log_likelihood[p]);
        x += (c->observed - c->expected) * (c->observed - c->expected) / c->expected;
    }
    for (size_t r = 0; r < s->n_attrs; r++) {
        n_possible *= n_present(s, r);
        n_parameters += s->m->k * (n_present(s, r) - 1);
    }
    s->fit = (cofi_class_fit){.df = fmin(n, n_possible - 1) - n_parameters, .g_squared = g};
    s->fit.x_squared = x + (complete - expected);
    bool some = s->n_cells > 0;
    if (!some) s->fit.g_squared = s->fit.x_squared = NAN;
    s->fit.p_g = some && s->fit.df > 0 ? cofi_chi_square_tail(fmax(g, 0), s->fit.df) : NAN;
    s->fit.p_x = some && s->fit.df > 0 ? cofi_chi_square_tail(fmax(s->fit.x_squared, 0), s->fit.df) : NAN;
    return COF_OK;
}

/* ---- Residuals of pairs --------------------------------------------------------------------------- */

/* X squared of the table of two columns, over rows that hold values of both, divided by its degrees of freedom. */
static double residual_of(const cof_class_study *s, size_t a, size_t b, double *held)
{
    uint32_t n_a = n_values(s, a), n_b = n_values(s, b), k = s->m->k;
    double n = 0, x = 0, df = (n_present(s, a) - 1) * (n_present(s, b) - 1);
    memset(held, 0, (size_t)n_a * n_b * sizeof *held);
    for (size_t p = 0; p < s->n_patterns; p++) {
        int32_t u = value_of(s, p, a), v = value_of(s, p, b);
        if (u < 0 || v < 0) continue;
        held[(size_t)u * n_b + (size_t)v] += s->weight[p];
        n += s->weight[p];
    }
    for (uint32_t u = 0; u < n_a; u++)
        for (uint32_t v = 0; v < n_b; v++) {
            double expected = 0, here = held[(size_t)u * n_b + v];
            for (uint32_t j = 0; j < k; j++)
                expected += s->share[j] * s->theta[(first_of(s, a) + u) * k + j] *
                            s->theta[(first_of(s, b) + v) * k + j];
            expected *= n;
            if (expected > 0) x += (here - expected) * (here - expected) / expected;
        }
    return df > 0 ? x / df : NAN;
}

static cof_status measure_residuals(cof_class_study *s, cof_error *err)
{
    size_t n = s->m->n_attrs, most = 0;
    for (size_t r = 0; r < s->n_attrs; r++) most = n_values(s, r) > most ? n_values(s, r) : most;
    s->residual = cofi_blocks_add(&s->own, n * n, sizeof *s->residual);
    double *held = cofi_blocks_add(&s->own, most * most, sizeof *held);
    COFI_TRY(cofi_blocks_status(&s->own, err));
    for (size_t i = 0; i < n * n; i++) s->residual[i] = NAN;
    for (size_t a = 0; a < s->n_attrs; a++)
        for (size_t b = 0; b < a; b++)
            s->residual[s->attr[a] * n + s->attr[b]] = s->residual[s->attr[b] * n + s->attr[a]] =
                residual_of(s, a, b, held);
    return COF_OK;
}

/* ---- Standard errors ------------------------------------------------------------------------------ */

/* What one row says about the parameters as logits, of shares first and then of every value in every class: the gradient
 * of its log-likelihood. */
static void score_row(const cof_class_study *s, size_t p, double *score)
{
    uint32_t k = s->m->k;
    const double *h = s->membership + p * k;
    memset(score, 0, (size_t)k * (1 + s->m->n_flat) * sizeof *score);
    for (uint32_t j = 0; j < k; j++) score[j] = h[j] - s->share[j];
    for (size_t r = 0; r < s->n_attrs; r++) {
        int32_t here = value_of(s, p, r);
        for (uint32_t v = 0; here >= 0 && v < n_values(s, r); v++)
            for (uint32_t j = 0; j < k; j++) {
                size_t at = (first_of(s, r) + v) * k + j;
                score[k + at] = h[j] * ((v == (uint32_t)here) - s->theta[at]);
            }
    }
}

/* Turns the lower triangle of a symmetric matrix into a Cholesky factor, with the rows and columns ordered by falling
 * pivots. Returns the rank: what is left then is no information. */
static size_t factor(double *a, size_t n, size_t *order)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        order[i] = i;
        most = fmax(most, a[i * n + i]);
    }
    for (size_t step = 0; step < n; step++) {
        size_t pivot = step;
        for (size_t i = step; i < n; i++)
            if (a[i * n + i] > a[pivot * n + pivot]) pivot = i;
        if (!(a[pivot * n + pivot] > NO_INFORMATION * most)) return step;
        for (size_t i = 0; pivot != step && i < n; i++) { /* swaps rows and columns of the lower triangle */
            if (i == step || i == pivot) continue;
            double *x = &a[i < step ? step * n + i : i * n + step];
            double *y = &a[i < pivot ? pivot * n + i : i * n + pivot];
            double kept = *x;
            *x = *y;
            *y = kept;
        }
        double kept = a[step * n + step];
        a[step * n + step] = sqrt(a[pivot * n + pivot]);
        if (pivot != step) a[pivot * n + pivot] = kept;
        size_t place = order[step];
        order[step] = order[pivot];
        order[pivot] = place;
        for (size_t i = step + 1; i < n; i++) {
            a[i * n + step] /= a[step * n + step];
            for (size_t j = step + 1; j <= i; j++) a[i * n + j] -= a[i * n + step] * a[j * n + step];
        }
    }
    return n;
}

/* The deviation of sum of gradient x parameter, by the delta method. */
static double deviation(const double *a, size_t n, size_t rank, const size_t *order, const double *gradient,
                        double *x)
{
    double sum = 0;
    for (size_t i = 0; i < rank; i++) {
        x[i] = gradient[order[i]];
        for (size_t j = 0; j < i; j++) x[i] -= a[i * n + j] * x[j];
        x[i] /= a[i * n + i];
        sum += x[i] * x[i];
    }
    return sqrt(sum);
}

/* The observed information, as the products of the rows' scores. Parameters that are logits have more dimensions than the
 * probabilities; any inverse gives these the same errors. */
static cof_status measure_errors(cof_class_study *s, cof_error *err)
{
    const cof_model *m = s->m;
    size_t k = m->k, n = k * (1 + m->n_flat);
    if (n > MOST_PARAMETERS || m->column_weight != NULL) return COF_OK;
    double *info = cofi_blocks_add_zero(&s->own, n * n, sizeof *info);
    double *score = cofi_blocks_add(&s->own, n, sizeof *score), *x = cofi_blocks_add(&s->own, n, sizeof *x);
    size_t *order = cofi_blocks_add(&s->own, n, sizeof *order);
    double *error = cofi_blocks_add_zero(&s->own, n, sizeof *error);
    COFI_TRY(cofi_blocks_status(&s->own, err));
    for (size_t p = 0; p < s->n_patterns; p++) {
        score_row(s, p, score);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; score[i] != 0 && j <= i; j++)
                info[i * n + j] += s->weight[p] * score[i] * score[j];
    }
    size_t rank = factor(info, n, order);
    for (uint32_t j = 0; j < k; j++) {
        for (size_t i = 0; i < n; i++) score[i] = i < k ? s->share[j] * ((i == j) - s->share[i]) : 0;
        error[j] = deviation(info, n, rank, order, score, x);
    }
    for (size_t r = 0; r < s->n_attrs; r++)
        for (uint32_t v = 0; v < n_values(s, r); v++)
            for (uint32_t j = 0; j < k; j++) {
                const double *theta = s->theta + first_of(s, r) * k + j;
                memset(score, 0, n * sizeof *score);
                for (uint32_t u = 0; u < n_values(s, r); u++)
                    score[k + (first_of(s, r) + u) * k + j] = theta[v * k] * ((u == v) - theta[u * k]);
                error[k + (first_of(s, r) + v) * k + j] = deviation(info, n, rank, order, score, x);
            }
    s->error = error;
    return COF_OK;
}

/* ---- The handle ----------------------------------------------------------------------------------- */

static cof_status study(cof_class_study *s, const cof_table *t, const double *weights, uint32_t wanted,
                        cof_error *err)
{
    if (strcmp(s->m->method, "lca") != 0)
        return cofi_fail(err, COF_ERR_NO_RESULT, "the model is of %s, which has no classes; fit lca",
                         s->m->method);
    if (weights == NULL) {
        double *own = cofi_blocks_add(&s->own, t->n_rows, sizeof *own);
        COFI_TRY(cofi_blocks_status(&s->own, err));
        COFI_TRY(cof_table_weights(t, own, t->n_rows, err));
        weights = own;
    }
    COFI_TRY(read_values(s, t, err));
    COFI_TRY(find_patterns(s, t, weights, err));
    COFI_TRY(read_parameters(s, err));
    COFI_TRY(compare_cells(s, err));
    if ((wanted & COF_STUDY_ERRORS) != 0) COFI_TRY(measure_errors(s, err));
    return (wanted & COF_STUDY_RESIDUALS) != 0 ? measure_residuals(s, err) : COF_OK;
}

cof_status cof_class_study_open(const cof_model *m, const cof_table *t, const double *weights,
                                uint32_t wanted, cof_class_study **out, cof_error *err)
{
    cof_class_study *s = cofi_alloc_zero(&t->env, 1, sizeof *s);
    if (s == NULL) return cofi_no_memory(err);
    s->own.env = t->env;
    s->m = m;
    cof_status status = study(s, t, weights, wanted, err);
    if (status == COF_OK)
        *out = s;
    else
        cof_class_study_free(s);
    return status;
}

void cof_class_study_free(cof_class_study *s)
{
    if (s == NULL) return;
    cof_env env = s->own.env;
    cofi_blocks_release(&s->own);
    cofi_release(&env, s);
}

const cof_class_cell *cof_class_study_cells(const cof_class_study *s, size_t *n_cells)
{
    *n_cells = s->n_cells;
    return s->cell;
}

double cof_class_study_share_error(const cof_class_study *s, uint32_t cluster)
{
    return s->error != NULL && cluster < s->m->k ? s->error[cluster] : (double)NAN;
}

double cof_class_study_probability_error(const cof_class_study *s, size_t attribute, uint32_t value,
                                         uint32_t cluster)
{
    if (s->error == NULL || isnan(cof_model_class_probability(s->m, attribute, value, cluster))) return NAN;
    return s->error[s->m->k + (s->m->attr[attribute].first + value) * (size_t)s->m->k + cluster];
}

double cof_class_study_residual(const cof_class_study *s, size_t one, size_t other)
{
    size_t n = s->m->n_attrs;
    return s->residual != NULL && one < n && other < n ? s->residual[one * n + other] : (double)NAN;
}

cofi_class_fit cofi_class_study_fit(const cof_class_study *s)
{
    return s->fit;
}
