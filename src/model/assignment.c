/* Lays out the scores of a model for the values of a table. */
#include "assignment.h"

#include <assert.h>
#include <math.h>

enum { TILE = 8 }; /* clusters that are summed in registers */

void cofi_assignment_close(cofi_assignment *a)
{
    cofi_team_close(a->team);
    cofi_blocks_release(&a->own);
    if (a->view.value != NULL) cofi_view_close(&a->view);
}

/* Refuses the table or drops rows, as the model says. */
static cof_status treat_holes(cofi_assignment *a, const char *name, uint64_t n_missing, cof_error *err)
{
    if (a->m->missing == COF_MISSING_ERROR)
        return cofi_fail(err, COF_ERR_MISSING,
                         "column '%s' has %llu missing value%s, and the model allows none", name,
                         (unsigned long long)n_missing, n_missing == 1 ? "" : "s");
    if (a->m->missing == COF_MISSING_DROP && a->dropped == NULL)
        a->dropped = cofi_blocks_add_zero(&a->own, a->t->n_rows, 1);
    return cofi_blocks_status(&a->own, err);
}

/* As in the fit, missing cells of all attributes count, including constant ones. */
static cof_status handle_missing(cofi_assignment *a, cof_error *err)
{
    for (size_t r = 0; r < a->view.n + a->view.n_idle; r++) {
        const cofi_column *c = &a->t->column[a->view.column[r]];
        bool used = r < a->view.n;
        cofi_ids ids = used ? a->view.ids[r] : (cofi_ids){c->codes, c->width, false};
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
static void lay_out_column(cofi_assignment *a, const int64_t *from, size_t r)
{
    const cofi_model_attr *attr = &a->m->attr[a->view.attribute[r]];
    uint32_t stride = a->scores.stride, hole = a->view.n_codes[r];
    for (uint32_t code = 0; code <= hole; code++) {
        uint32_t g = a->view.first[r] + code, value = a->view.value[g];
        bool ignored = code == hole && (a->m->missing != COF_MISSING_VALUE || a->view.n_missing[r] == 0);
        assert(value == COFI_NO_VALUE || value < attr->n_values);
        if (value != COFI_NO_VALUE)
            memcpy(a->scores.value + (size_t)g * stride, from + (size_t)(attr->first + value) * stride,
                   stride * sizeof *a->scores.value);
        a->unseen[g] = value == COFI_NO_VALUE && !ignored;
        a->any_unknown |= value == COFI_NO_VALUE;
    }
}

static cof_status lay_out_scores(cofi_assignment *a, const int64_t *from, cof_error *err)
{
    size_t n_flat = a->view.first[a->view.n];
    a->scores.value = cofi_blocks_add_zero(&a->own, n_flat * a->scores.stride, sizeof *a->scores.value);
    a->unseen = cofi_blocks_add_zero(&a->own, n_flat, 1);
    COFI_TRY(cofi_blocks_status(&a->own, err));
    for (size_t r = 0; r < a->view.n; r++) lay_out_column(a, from, r);
    return COF_OK;
}

/* A row far outside the table fitted counts as one half a range outside, so that sums stay within bounds; the nearest
 * mean is the same in each column. */
static cof_status read_numeric(cofi_assignment *a, size_t c, cof_error *err)
{
    const cofi_model_numeric *q = &a->m->numeric[c];
    size_t column = cof_table_find(a->t, q->name);
    if (column == SIZE_MAX)
        return cofi_fail(err, COF_ERR_DATA, "the model needs a column '%s', which the table does not have",
                         q->name);
    const cofi_column *read = cofi_column_as_read(&a->t->column[column]);
    double *value = a->numeric_value[c] = cofi_blocks_add(&a->own, (size_t)read->n_values + 1, sizeof *value);
    if (value == NULL) return cofi_no_memory(err);
    a->numeric_ids[c] = (cofi_ids){read->codes, read->width, false};
    for (uint32_t code = 0; code < read->n_values; code++) {
        bool known = cofi_reading_parse(&q->reading, cofi_column_text(read, code), &value[code]);
        double x = q->unit > 0 ? (value[code] - q->origin) / q->unit : 0, slack = (q->most - q->least) / 2;
        if (!isnan(x)) x = fmin(fmax(x, q->least - slack), q->most + slack);
        value[code] = known ? x : INFINITY;
        a->any_unknown |= !known;
    }
    value[read->n_values] = NAN;
    a->any_unknown |= read->n_missing > 0;
    return COF_OK;
}

cof_status cofi_assignment_read_numbers(cofi_assignment *a, cof_error *err)
{
    a->numeric_ids = cofi_blocks_add(&a->own, a->m->n_numeric, sizeof *a->numeric_ids);
    a->numeric_value = cofi_blocks_add_zero(&a->own, a->m->n_numeric, sizeof *a->numeric_value);
    COFI_TRY(cofi_blocks_status(&a->own, err));
    for (size_t c = 0; c < a->m->n_numeric; c++) COFI_TRY(read_numeric(a, c, err));
    return COF_OK;
}

static cof_status handle_missing_numbers(cofi_assignment *a, cof_error *err)
{
    for (size_t c = 0; c < a->m->n_numeric; c++) {
        uint64_t n_missing = 0;
        for (size_t i = 0; i < a->t->n_rows; i++) n_missing += isnan(cofi_assignment_numeric(a, c, i)) != 0;
        if (n_missing == 0) continue;
        COFI_TRY(treat_holes(a, a->m->numeric[c].name, n_missing, err));
        for (size_t i = 0; a->dropped != NULL && i < a->t->n_rows; i++)
            a->dropped[i] |= isnan(cofi_assignment_numeric(a, c, i)) != 0;
    }
    return COF_OK;
}

double cofi_assignment_apart(const cofi_assignment *a, size_t row, uint32_t j)
{
    double apart = 0;
    for (size_t c = 0; c < a->m->n_numeric; c++) {
        const cofi_model_numeric *q = &a->m->numeric[c];
        double x = cofi_assignment_numeric(a, c, row) - q->mean[j];
        if (isfinite(x)) apart += q->column_weight * (a->m->absolute ? fabs(x) : x * x);
    }
    return apart;
}

cof_status cofi_assignment_open(cofi_assignment *a, const cof_model *m, const cof_table *t,
                                const cofi_scores *scores, uint32_t threads, cof_error *err)
{
    *a = (cofi_assignment){.own = {.env = t->env}, .m = m, .t = t, .scores = *scores};
    a->scores.value = NULL; /* for the table's values, not the model's */
    cof_status status = cofi_view_open(&a->view, m, t, err);
    if (status == COF_OK) status = handle_missing(a, err);
    if (status == COF_OK) status = lay_out_scores(a, scores->value, err);
    if (status == COF_OK) status = cofi_assignment_read_numbers(a, err);
    if (status == COF_OK) status = handle_missing_numbers(a, err);
    if (status == COF_OK)
        status = cofi_team_open(&t->env, t->n_rows > COFI_ROW_BLOCK ? threads : 1, &a->team, err);
    if (status != COF_OK) return status;
    a->scratch_size = (a->scores.stride * (sizeof(int64_t) + sizeof(double)) + 63) & ~(size_t)63;
    a->scratch = cofi_blocks_add_line(&a->own, cofi_team_size(a->team), a->scratch_size);
    return cofi_blocks_status(&a->own, err);
}

/* ---- Rows ---------------------------------------------------------------------------------------- */

/* Writes the sums of one row for n clusters from `first` on. n is a constant where the function is inlined, so that the
 * sums stay in registers; in memory, every addition would wait for the previous store. */
static inline void sum_tile(const cofi_assignment *a, size_t row, uint32_t first, uint32_t n, int64_t *sum)
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

static void sum_row(const cofi_assignment *a, size_t row, int64_t *sum)
{
    uint32_t first = 0, stride = a->scores.stride;
    for (; stride - first >= TILE; first += TILE) sum_tile(a, row, first, TILE, sum);
    if (stride - first == 6) sum_tile(a, row, first, 6, sum);
    if (stride - first == 4) sum_tile(a, row, first, 4, sum);
    if (stride - first == 2) sum_tile(a, row, first, 2, sum);
}

typedef struct run {
    const cofi_assignment *a;
    size_t first, n;
    cofi_row_task task;
    void *ctx;
} run;

static void run_block(void *ctx, uint32_t worker, size_t block)
{
    const run *r = ctx;
    int64_t *sum = (int64_t *)(void *)(r->a->scratch + worker * r->a->scratch_size);
    size_t begin = block * COFI_ROW_BLOCK, n = r->n - begin < COFI_ROW_BLOCK ? r->n - begin : COFI_ROW_BLOCK;
    for (size_t row = r->first + begin; n-- > 0; row++) {
        sum_row(r->a, row, sum);
        r->task(r->ctx, row, sum, (double *)(void *)(sum + r->a->scores.stride));
    }
}

void cofi_assignment_run(const cofi_assignment *a, size_t first, size_t n, cofi_row_task task, void *ctx)
{
    run r = {a, first, n, task, ctx};
    cofi_team_run(a->team, run_block, &r, (n + COFI_ROW_BLOCK - 1) / COFI_ROW_BLOCK);
}
