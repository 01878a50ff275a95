/* Labels and distances for new rows: arranges the model's scores for the values of the new table, and runs
 * the same kernels as a pass. */
#include "view.h"

#include "../core/team.h"
#include "../rows/nearest.h"

#include <math.h>

enum {
    BLOCK = 4096, /* rows per task */
    TILE = 8      /* clusters that are summed in registers */
};

typedef struct assignment {
    cof_env env;
    const cof_model *m;
    const cof_table *t;
    cofi_view view;
    uint8_t *unseen;  /* per flat id of the table: the model does not have the value */
    bool any_unknown; /* a value or a missing cell of the table adds nothing */
    cofi_scores scores;
    cofi_blocks own;
    cofi_ids *numeric_ids;  /* per numeric column of the model: codes of the rows */
    double **numeric_value; /* by code: scaled; NaN: missing, infinite: cannot be read */
    uint8_t *dropped;       /* per row; NULL: no row is dropped */
    /* results of the tasks */
    int32_t *label;
    double *distance;
    const int32_t *own_label; /* for margins: labels to compare with */
    cof_margin *margin;
    void *scratch; /* one area per worker */
    size_t scratch_size;
} assignment;

static void close_assignment(assignment *a)
{
    void *owned[] = {a->unseen, a->scores.value, a->dropped, a->scratch};
    for (size_t b = 0; b < sizeof owned / sizeof *owned; b++) cofi_release(&a->env, owned[b]);
    cofi_blocks_release(&a->own);
    if (a->view.value != NULL) cofi_view_close(&a->view);
}

/* Refuses the table or drops rows, as the model says. */
static cof_status treat_holes(assignment *a, const char *name, uint64_t n_missing, cof_error *err)
{
    if (a->m->missing == COF_MISSING_ERROR)
        return cofi_fail(err, COF_ERR_MISSING,
                         "column '%s' has %llu missing value%s, and the model allows none", name,
                         (unsigned long long)n_missing, n_missing == 1 ? "" : "s");
    if (a->m->missing == COF_MISSING_DROP && a->dropped == NULL)
        a->dropped = cofi_alloc_zero(&a->env, a->t->n_rows, 1);
    return a->m->missing == COF_MISSING_DROP && a->dropped == NULL ? cofi_no_memory(err) : COF_OK;
}

/* As in the fit, missing cells of all attributes count, including constant ones. */
static cof_status handle_missing(assignment *a, cof_error *err)
{
    for (size_t r = 0; r < a->view.n + a->view.n_idle; r++) {
        const cofi_column *c = &a->t->column[a->view.column[r]];
        bool used = r < a->view.n;
        cofi_ids ids = used ? a->view.ids[r] : (cofi_ids){c->codes, c->width};
        uint32_t hole = used ? a->view.n_codes[r] : c->n_values;
        uint64_t n_missing = used ? a->view.n_missing[r] : c->n_missing;
        if (n_missing == 0) continue;
        COFI_TRY(treat_holes(a, c->name, n_missing, err));
        for (size_t i = 0; a->dropped != NULL && i < a->t->n_rows; i++)
            a->dropped[i] |= cofi_id(ids, i) == hole;
    }
    return COF_OK;
}

/* Sets the scores of one column's values: the model's, or 0 if the model does not have the value. */
static void lay_out_column(assignment *a, size_t r)
{
    const cofi_model_attr *attr = &a->m->attr[a->view.attribute[r]];
    uint32_t stride = a->scores.stride, hole = a->view.n_codes[r];
    for (uint32_t code = 0; code <= hole; code++) {
        uint32_t g = a->view.first[r] + code, value = a->view.value[g];
        bool ignored = code == hole && (a->m->missing != COF_MISSING_VALUE || a->view.n_missing[r] == 0);
        if (value != COFI_NO_VALUE)
            memcpy(a->scores.value + (size_t)g * stride,
                   a->m->scores.value + (size_t)(attr->first + value) * stride,
                   stride * sizeof *a->scores.value);
        a->unseen[g] = value == COFI_NO_VALUE && !ignored;
        a->any_unknown |= value == COFI_NO_VALUE;
    }
}

static cof_status lay_out_scores(assignment *a, cof_error *err)
{
    size_t n_flat = a->view.first[a->view.n];
    a->scores = a->m->scores;
    a->scores.value = cofi_alloc_zero(&a->env, n_flat * a->scores.stride, sizeof *a->scores.value);
    a->unseen = cofi_alloc_zero(&a->env, n_flat, 1);
    if (a->scores.value == NULL || a->unseen == NULL) return cofi_no_memory(err);
    for (size_t r = 0; r < a->view.n; r++) lay_out_column(a, r);
    return COF_OK;
}

/* A row far outside the table fitted counts as one half a range outside, so that sums stay within bounds; the nearest
 * mean is the same in each column. */
static double scale_point(const cofi_model_numeric *q, double point)
{
    double x = q->unit > 0 ? (point - q->origin) / q->unit : 0, slack = (q->most - q->least) / 2;
    return isnan(x) ? x : fmin(fmax(x, q->least - slack), q->most + slack);
}

static cof_status read_numeric(assignment *a, size_t c, cof_error *err)
{
    const cofi_model_numeric *q = &a->m->numeric[c];
    size_t column = cof_table_find(a->t, q->name);
    if (column == SIZE_MAX)
        return cofi_fail(err, COF_ERR_DATA, "the model needs a column '%s', which the table does not have",
                         q->name);
    cofi_uncut read = cofi_column_as_read(&a->t->column[column]);
    double *value = a->numeric_value[c] = cofi_blocks_add(&a->own, (size_t)read.n_values + 1, sizeof *value);
    if (value == NULL) return cofi_no_memory(err);
    a->numeric_ids[c] = (cofi_ids){read.codes, read.width};
    for (uint32_t code = 0; code < read.n_values; code++) {
        bool known = cofi_reading_parse(&q->reading, read.text + read.offset[code], &value[code]);
        value[code] = known ? scale_point(q, value[code]) : INFINITY;
        a->any_unknown |= !known;
    }
    value[read.n_values] = NAN;
    a->any_unknown |= read.n_missing > 0;
    return COF_OK;
}

static cof_status open_numeric(assignment *a, cof_error *err)
{
    a->own.env = a->env;
    a->numeric_ids = cofi_blocks_add(&a->own, a->m->n_numeric, sizeof *a->numeric_ids);
    a->numeric_value = cofi_blocks_add_zero(&a->own, a->m->n_numeric, sizeof *a->numeric_value);
    COFI_TRY(cofi_blocks_status(&a->own, err));
    for (size_t c = 0; c < a->m->n_numeric; c++) COFI_TRY(read_numeric(a, c, err));
    return COF_OK;
}

static double numeric_of(const assignment *a, size_t c, size_t row)
{
    return a->numeric_value[c][cofi_id(a->numeric_ids[c], row)];
}

static cof_status handle_missing_numbers(assignment *a, cof_error *err)
{
    for (size_t c = 0; c < a->m->n_numeric; c++) {
        uint64_t n_missing = 0;
        for (size_t i = 0; i < a->t->n_rows; i++) n_missing += isnan(numeric_of(a, c, i));
        if (n_missing == 0) continue;
        COFI_TRY(treat_holes(a, a->m->numeric[c].name, n_missing, err));
        for (size_t i = 0; a->dropped != NULL && i < a->t->n_rows; i++)
            a->dropped[i] |= isnan(numeric_of(a, c, i));
    }
    return COF_OK;
}

/* Adds the distances between a row's quantities and the means, as the fit does. */
static void add_numeric(const assignment *a, size_t row, int64_t *sum)
{
    for (uint32_t j = 0; j < a->m->k; j++) {
        double apart = 0;
        for (size_t c = 0; c < a->m->n_numeric; c++) {
            const cofi_model_numeric *q = &a->m->numeric[c];
            double x = numeric_of(a, c, row) - q->mean[j];
            if (isfinite(x)) apart += q->column_weight * (a->m->absolute ? fabs(x) : x * x);
        }
        sum[j] += apart > 0 ? llrint(apart * a->scores.scale) : 0;
    }
}

static cof_status open_assignment(const cof_model *m, const cof_table *t, assignment *a, cof_error *err)
{
    *a = (assignment){.env = t->env, .m = m, .t = t};
    if (m->no_scores)
        return cofi_fail(err, COF_ERR_NO_PREDICTION,
                         "this model of %s cannot label rows, because the method compares whole rows, or an "
                         "older version fitted numeric columns; fit coforest, kmodes or k-prototypes instead",
                         m->method);
    cof_status status = cofi_view_open(&a->view, m, t, err);
    if (status == COF_OK) status = handle_missing(a, err);
    if (status == COF_OK) status = lay_out_scores(a, err);
    if (status == COF_OK) status = open_numeric(a, err);
    return status == COF_OK ? handle_missing_numbers(a, err) : status;
}

static size_t n_blocks(const assignment *a)
{
    return (a->t->n_rows + BLOCK - 1) / BLOCK;
}

/* Writes the sums of one row for n clusters from `first` on. n is a constant where the function is inlined, so that the
 * sums stay in registers; in memory, every addition would wait for the previous store. */
static inline void sum_tile(const assignment *a, size_t row, uint32_t first, uint32_t n, int64_t *sum)
{
    int64_t here[TILE];
    for (uint32_t j = 0; j < n; j++) here[j] = a->scores.base[first + j];
    for (size_t r = 0; r < a->view.n; r++) {
        size_t g = a->view.first[r] + cofi_id(a->view.ids[r], row);
        const int64_t *value = a->scores.value + g * a->scores.stride + first;
        for (uint32_t j = 0; j < n; j++) here[j] += value[j];
    }
    memcpy(sum + first, here, n * sizeof *here);
}

/* Writes the sums of one row to `sum`, for the k clusters and the padding of the scores. */
static void sum_row(const assignment *a, size_t row, int64_t *sum)
{
    uint32_t first = 0, stride = a->scores.stride;
    for (; stride - first >= TILE; first += TILE) sum_tile(a, row, first, TILE, sum);
    if (stride - first == 6) sum_tile(a, row, first, 6, sum);
    if (stride - first == 4) sum_tile(a, row, first, 4, sum);
    if (stride - first == 2) sum_tile(a, row, first, 2, sum);
    if (a->m->n_numeric > 0) add_numeric(a, row, sum);
}

/* Runs a task over all blocks of rows; each worker has memory for the sums of a row. */
static cof_status run_with_sums(assignment *a, uint32_t threads, cofi_task task, cof_error *err)
{
    cofi_team *team;
    cof_status status = cofi_team_open(&a->env, n_blocks(a) > 1 ? threads : 1, &team, err);
    if (status != COF_OK) return status;
    a->scratch_size = ((size_t)a->scores.stride * sizeof(int64_t) + 63) & ~(size_t)63;
    a->scratch = cofi_alloc(&a->env, cofi_team_size(team), a->scratch_size);
    if (a->scratch == NULL) status = cofi_no_memory(err);
    if (status == COF_OK) cofi_team_run(team, task, a, n_blocks(a));
    cofi_team_close(team);
    return status;
}

static void label_task(void *ctx, uint32_t worker, size_t block)
{
    assignment *a = ctx;
    int64_t *sum = (int64_t *)((char *)a->scratch + worker * a->scratch_size);
    size_t begin = block * BLOCK, end = begin + BLOCK;
    for (size_t i = begin; i < end && i < a->t->n_rows; i++) {
        sum_row(a, i, sum);
        a->label[i] = (int32_t)cofi_least_sum(&a->scores, sum);
    }
}

/* The kernels of a pass know categories only. */
static cof_status label_by_kernels(assignment *a, uint32_t threads, cof_error *err)
{
    cofi_team *team;
    COFI_TRY(cofi_team_open(&a->env, n_blocks(a) > 1 ? threads : 1, &team, err));
    cof_status status = cofi_nearest_labels(&a->env, team, a->t->n_rows, a->view.n, a->view.ids,
                                            a->view.first, &a->scores, a->label, err);
    cofi_team_close(team);
    return status;
}

static cof_status label_rows(assignment *a, uint32_t threads, cof_error *err)
{
    COFI_TRY(a->m->n_numeric > 0 ? run_with_sums(a, threads, label_task, err)
                                 : label_by_kernels(a, threads, err));
    for (size_t i = 0; a->dropped != NULL && i < a->t->n_rows; i++)
        if (a->dropped[i]) a->label[i] = -1;
    return COF_OK;
}

static void count_unseen(const assignment *a, cof_predict_info *info)
{
    for (size_t i = 0; i < a->t->n_rows; i++) {
        uint64_t here = 0, known = 0;
        if (a->dropped != NULL && a->dropped[i]) {
            info->n_dropped++;
            continue;
        }
        for (size_t r = 0; a->any_unknown && r < a->view.n; r++) {
            uint32_t g = a->view.first[r] + cofi_id(a->view.ids[r], i);
            here += a->unseen[g];
            known += a->view.value[g] != COFI_NO_VALUE;
        }
        for (size_t c = 0; a->any_unknown && c < a->m->n_numeric; c++) {
            here += isinf(numeric_of(a, c, i));
            known += isfinite(numeric_of(a, c, i));
        }
        info->n_unseen_cells += here;
        info->n_unseen_rows += here > 0;
        info->n_blank_rows += a->any_unknown && known == 0;
    }
}

cof_status cof_model_predict(const cof_model *m, const cof_table *t, uint32_t threads, int32_t *labels,
                             size_t n_labels, cof_predict_info *info, cof_error *err)
{
    if (n_labels != t->n_rows)
        return cofi_fail(err, COF_ERR_ARGUMENT, "room for %zu labels was given, but the table has %zu rows",
                         n_labels, t->n_rows);
    assignment a;
    cof_status status = open_assignment(m, t, &a, err);
    a.label = labels;
    if (status == COF_OK) status = label_rows(&a, threads, err);
    if (status == COF_OK && info != NULL) {
        cof_predict_info own = {.n_unseen_cells = 0};
        count_unseen(&a, &own);
        cofi_return_struct(info, &own, sizeof own);
    }
    close_assignment(&a);
    return status;
}

/* ---- Distances ----------------------------------------------------------------------------------- */

static void distance_task(void *ctx, uint32_t worker, size_t block)
{
    assignment *a = ctx;
    int64_t *sum = (int64_t *)((char *)a->scratch + worker * a->scratch_size);
    size_t begin = block * BLOCK, end = begin + BLOCK;
    for (size_t i = begin; i < end && i < a->t->n_rows; i++) {
        bool dropped = a->dropped != NULL && a->dropped[i];
        double *to = a->distance + i * a->m->k;
        sum_row(a, i, sum);
        for (uint32_t j = 0; j < a->m->k; j++)
            to[j] = dropped                           ? (double)NAN
                    : a->scores.base[j] == COFI_NEVER ? INFINITY
                                                      : (double)sum[j] / a->scores.scale;
    }
}

cof_status cof_model_transform(const cof_model *m, const cof_table *t, uint32_t threads, double *distances,
                               size_t n_distances, cof_error *err)
{
    if (n_distances / m->k != t->n_rows || n_distances % m->k != 0)
        return cofi_fail(err, COF_ERR_ARGUMENT,
                         "room for %zu distances was given, but %zu rows and %u clusters have %zu",
                         n_distances, t->n_rows, m->k, t->n_rows * m->k);
    assignment a;
    cof_status status = open_assignment(m, t, &a, err);
    a.distance = distances;
    if (status == COF_OK) status = run_with_sums(&a, threads, distance_task, err);
    close_assignment(&a);
    return status;
}

/* ---- Margins ------------------------------------------------------------------------------------- */

static cof_margin margin_of(const assignment *a, size_t row, const int64_t *sum)
{
    int32_t own = a->own_label[row], second = -1;
    cof_margin m = {.own = NAN, .other = INFINITY, .second = -1};
    if (own < 0 || own >= (int32_t)a->m->k) return m;
    for (int32_t j = 0; j < (int32_t)a->m->k; j++) {
        if (j == own || a->scores.base[j] >= COFI_NEVER) continue;
        if (second < 0 || sum[j] < sum[second]) second = j;
    }
    /* the caller's label may name a cluster that takes no rows */
    int64_t closed = a->scores.base[own] >= COFI_NEVER ? a->scores.base[own] : 0;
    m.own = (float)((double)(sum[own] - closed) / a->scores.scale);
    if (second >= 0) m.other = (float)((double)sum[second] / a->scores.scale);
    m.second = second;
    return m;
}

static void margin_task(void *ctx, uint32_t worker, size_t block)
{
    assignment *a = ctx;
    int64_t *sum = (int64_t *)((char *)a->scratch + worker * a->scratch_size);
    size_t begin = block * BLOCK, end = begin + BLOCK;
    for (size_t i = begin; i < end && i < a->t->n_rows; i++) {
        sum_row(a, i, sum);
        a->margin[i] = margin_of(a, i, sum);
    }
}

cof_status cof_model_margins(const cof_model *m, const cof_table *t, const int32_t *labels, uint32_t threads,
                             cof_margin *margins, size_t n_margins, cof_error *err)
{
    if (n_margins != t->n_rows)
        return cofi_fail(err, COF_ERR_ARGUMENT, "room for %zu margins was given, but the table has %zu rows",
                         n_margins, t->n_rows);
    assignment a;
    cof_status status = open_assignment(m, t, &a, err);
    a.own_label = labels;
    a.margin = margins;
    if (status == COF_OK) status = run_with_sums(&a, threads, margin_task, err);
    close_assignment(&a);
    return status;
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
