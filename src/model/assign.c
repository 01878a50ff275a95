/* Labels and distances for new rows: arranges the model's scores for the values of the new table, and runs
 * the same kernels as a pass. */
#include "assignment.h"

#include "../rows/nearest.h"

#include <math.h>

typedef struct assignment {
    cofi_assignment rows;
    void (*each)(struct assignment *a, size_t row, const int64_t *sum); /* uses the k sums of a row */
    /* results of the rows */
    int32_t *label;
    double *distance;
    const int32_t *own_label; /* for margins: labels to compare with */
    cof_margin *margin;
} assignment;

static cof_status open_assignment(const cof_model *m, const cof_table *t, uint32_t threads, assignment *a,
                                  cof_error *err)
{
    if (m->no_scores)
        return cofi_fail(err, COF_ERR_NO_PREDICTION,
                         "this model of %s cannot label rows, because the method compares whole rows, or an "
                         "older version fitted numeric columns; fit coforest, kmodes or k-prototypes instead",
                         m->method);
    return cofi_assignment_open(&a->rows, m, t, &m->scores, threads, err);
}

/* Adds the distances between the row's quantities and the means as the fit has them. */
static void use_row(void *ctx, size_t row, int64_t *sum, double *number)
{
    assignment *a = ctx;
    for (uint32_t j = 0; a->rows.m->n_numeric > 0 && j < a->rows.m->k; j++) {
        double apart = cofi_assignment_apart(&a->rows, row, j);
        sum[j] += apart > 0 ? llrint(apart * a->rows.scores.scale) : 0;
    }
    a->each(a, row, sum);
}

static void label_row(assignment *a, size_t row, const int64_t *sum)
{
    a->label[row] = (int32_t)cofi_least_sum(&a->rows.scores, sum);
}

/* The kernels of a pass know categories only. */
static cof_status label_rows(assignment *a, cof_error *err)
{
    const cofi_assignment *rows = &a->rows;
    if (rows->m->n_numeric > 0)
        cofi_assignment_run(rows, 0, rows->t->n_rows, use_row, a);
    else
        COFI_TRY(cofi_nearest_labels(&rows->own.env, rows->team, rows->t->n_rows, rows->view.n,
                                     rows->view.ids, rows->view.first, &rows->scores, a->label, err));
    for (size_t i = 0; rows->dropped != NULL && i < rows->t->n_rows; i++)
        if (rows->dropped[i]) a->label[i] = -1;
    return COF_OK;
}

/* Whether the model knows no cell of the row; *n_unseen receives the cells with values that it does not have. */
static bool is_blank(const assignment *a, size_t row, uint64_t *n_unseen)
{
    size_t known = 0;
    *n_unseen = 0;
    if (!a->rows.any_unknown) return false;
    for (size_t r = 0; r < a->rows.view.n; r++) {
        uint32_t g = a->rows.view.first[r] + cofi_id(a->rows.view.ids[r], row);
        *n_unseen += a->rows.unseen[g];
        known += a->rows.view.value[g] != COFI_NO_VALUE;
    }
    for (size_t c = 0; c < a->rows.m->n_numeric; c++) {
        *n_unseen += isinf(cofi_assignment_numeric(&a->rows, c, row)) != 0;
        known += isfinite(cofi_assignment_numeric(&a->rows, c, row)) != 0;
    }
    return known == 0;
}

static void count_unseen(const assignment *a, cof_predict_info *info)
{
    for (size_t i = 0; i < a->rows.t->n_rows; i++) {
        uint64_t here;
        if (a->rows.dropped != NULL && a->rows.dropped[i]) {
            info->n_dropped++;
            continue;
        }
        info->n_blank_rows += is_blank(a, i, &here);
        info->n_unseen_cells += here;
        info->n_unseen_rows += here > 0;
    }
}

cof_status cof_model_predict(const cof_model *m, const cof_table *t, uint32_t threads, int32_t *labels,
                             size_t n_labels, cof_predict_info *info, cof_error *err)
{
    if (n_labels != t->n_rows)
        return cofi_fail(err, COF_ERR_ARGUMENT, "room for %zu labels was given, but the table has %zu rows",
                         n_labels, t->n_rows);
    assignment a = {.label = labels, .each = label_row};
    cof_status status = open_assignment(m, t, threads, &a, err);
    if (status == COF_OK) status = label_rows(&a, err);
    if (status == COF_OK && info != NULL) {
        cof_predict_info own = {.n_unseen_cells = 0};
        count_unseen(&a, &own);
        cofi_return_struct(info, &own, sizeof own);
    }
    cofi_assignment_close(&a.rows);
    return status;
}

/* Uses the sums of all rows: the members of `a` say how. */
static cof_status sum_rows(const cof_model *m, const cof_table *t, uint32_t threads, assignment a,
                           cof_error *err)
{
    cof_status status = open_assignment(m, t, threads, &a, err);
    if (status == COF_OK) cofi_assignment_run(&a.rows, 0, t->n_rows, use_row, &a);
    cofi_assignment_close(&a.rows);
    return status;
}

/* ---- Distances ----------------------------------------------------------------------------------- */

static void put_distances(assignment *a, size_t row, const int64_t *sum)
{
    uint64_t n_unseen;
    bool dropped = a->rows.dropped != NULL && a->rows.dropped[row];
    /* of a row without a known cell, a mixture knows the shares of its classes; distances know nothing */
    bool unknown = dropped || (!cofi_model_is_mixture(a->rows.m) && is_blank(a, row, &n_unseen));
    double *to = a->distance + row * a->rows.m->k;
    for (uint32_t j = 0; j < a->rows.m->k; j++)
        to[j] = unknown                                ? (double)NAN
                : a->rows.scores.base[j] == COFI_NEVER ? INFINITY
                                                       : (double)sum[j] / a->rows.scores.scale;
}

cof_status cof_model_transform(const cof_model *m, const cof_table *t, uint32_t threads, double *distances,
                               size_t n_distances, cof_error *err)
{
    if (n_distances / m->k != t->n_rows || n_distances % m->k != 0)
        return cofi_fail(err, COF_ERR_ARGUMENT,
                         "room for %zu distances was given, but %zu rows and %u clusters have %zu",
                         n_distances, t->n_rows, m->k, t->n_rows * m->k);
    return sum_rows(m, t, threads, (assignment){.distance = distances, .each = put_distances}, err);
}

/* ---- Margins ------------------------------------------------------------------------------------- */

static void put_margin(assignment *a, size_t row, const int64_t *sum)
{
    int32_t own = a->own_label[row], second = -1;
    cof_margin *m = &a->margin[row];
    *m = (cof_margin){.own = NAN, .other = INFINITY, .second = -1};
    if (own < 0 || own >= (int32_t)a->rows.m->k) return;
    for (int32_t j = 0; j < (int32_t)a->rows.m->k; j++) {
        if (j == own || a->rows.scores.base[j] >= COFI_NEVER) continue;
        if (second < 0 || sum[j] < sum[second]) second = j;
    }
    /* the caller's label may name a cluster that takes no rows */
    int64_t closed = a->rows.scores.base[own] >= COFI_NEVER ? a->rows.scores.base[own] : 0;
    m->own = (float)((double)(sum[own] - closed) / a->rows.scores.scale);
    if (second >= 0) m->other = (float)((double)sum[second] / a->rows.scores.scale);
    m->second = second;
}

cof_status cof_model_margins(const cof_model *m, const cof_table *t, const int32_t *labels, uint32_t threads,
                             cof_margin *margins, size_t n_margins, cof_error *err)
{
    if (n_margins != t->n_rows)
        return cofi_fail(err, COF_ERR_ARGUMENT, "room for %zu margins was given, but the table has %zu rows",
                         n_margins, t->n_rows);
    assignment a = {.own_label = labels, .margin = margins, .each = put_margin};
    return sum_rows(m, t, threads, a, err);
}

double cof_margin_lead(const cof_margin *m)
{
    if (isnan(m->own)) return 0;
    if (!(m->other > 0) || isinf(m->other)) return isinf(m->other) ? 1 : 0;
    return fmin(1, fmax(0, 1 - (double)m->own / (double)m->other));
}

cof_status cof_model_values(const cof_model *m, const cof_table *t, size_t attribute, int32_t *values,
                            size_t n_values, cof_error *err)
{
    if (attribute >= m->n_attrs || !m->attr[attribute].used || n_values != t->n_rows)
        return cofi_fail(err, COF_ERR_ARGUMENT,
                         "attribute %zu takes no part, or %zu values do not fit %zu rows", attribute,
                         n_values, t->n_rows);
    cofi_view v;
    COFI_TRY(cofi_view_open(&v, m, t, err));
    size_t a = 0;
    while (v.attribute[a] != attribute) a++;
    for (size_t i = 0; i < t->n_rows; i++) {
        uint32_t value = cofi_view_value(&v, a, i);
        values[i] = value == COFI_NO_VALUE ? -1 : (int32_t)value;
    }
    cofi_view_close(&v);
    return COF_OK;
}
