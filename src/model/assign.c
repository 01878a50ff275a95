/* Labels and distances for new rows: the model's scores are laid out for the new table's own values, and the
 * same pass kernel walks its rows. */
#include "model.h"

#include "../core/team.h"
#include "../pass/pass.h"
#include "../table/encode.h"

#include <math.h>

typedef struct assignment {
    cof_env env;
    const cof_model *m;
    const cof_table *t;
    size_t n_attrs; /* used attributes */
    size_t *column; /* the table column of each */
    size_t n_idle;  /* attributes that take no part but that the table has too */
    size_t *idle;   /* their columns: a hole there may still drop the row */
    cofi_ids *ids;
    uint32_t *first;
    uint8_t *unseen; /* per flat id of the table: the model never met the value */
    bool any_unseen;
    cofi_scores scores;
    cofi_rows rows;
    const cofi_kernel *kernel;
    cofi_plan plan;
    uint8_t *dropped; /* per row; NULL: none */
    /* what the tasks write */
    int32_t *label;
    const int32_t *own_label; /* or, for margins, read */
    cof_margin *margin;
    void *scratch; /* one piece per worker */
    size_t scratch_size;
} assignment;

static void close_assignment(assignment *a)
{
    void *owned[] = {a->column, a->idle,         a->ids,     a->first,
                     a->unseen, a->scores.value, a->dropped, a->scratch};
    for (size_t b = 0; b < sizeof owned / sizeof *owned; b++) cofi_release(&a->env, owned[b]);
}

/* The table column of every attribute, by name; one that takes no part may be absent. */
static cof_status find_columns(assignment *a, cof_error *err)
{
    cofi_encoder names;
    cof_status status = COF_OK;
    uint32_t id;
    cofi_encoder_init(&names, &a->env);
    for (size_t c = 0; status == COF_OK && c < a->t->n_columns; c++)
        status = cofi_encoder_intern(&names, a->t->column[c].name, strlen(a->t->column[c].name), &id);
    if (status != COF_OK) cofi_no_memory(err);
    for (size_t r = 0; status == COF_OK && r < a->m->n_attrs; r++) {
        const cofi_model_attr *attr = &a->m->attr[r];
        status = cofi_encoder_intern(&names, attr->name, strlen(attr->name), &id);
        if (status != COF_OK)
            cofi_no_memory(err);
        else if (id >= a->t->n_columns && attr->used)
            status = cofi_fail(err, COF_ERR_DATA,
                               "the model needs a column '%s', which the table does not have", attr->name);
        else if (attr->used)
            a->column[a->n_attrs++] = id;
        else if (id < a->t->n_columns)
            a->idle[a->n_idle++] = id;
    }
    cofi_encoder_free(&names);
    return status;
}

static const cofi_model_attr *next_used(const cof_model *m, size_t *at)
{
    while (!m->attr[*at].used) ++*at;
    return &m->attr[(*at)++];
}

/* The scores of one column's values: the model's where it knows the value, nothing where it does not. */
static cof_status map_values(assignment *a, const cofi_model_attr *attr, size_t r, cof_error *err)
{
    const cofi_column *c = &a->t->column[a->column[r]];
    uint32_t stride = a->scores.stride, id, n_known = attr->n_values - (attr->has_missing ? 1 : 0);
    cofi_encoder known;
    cof_status status = COF_OK;
    cofi_encoder_init(&known, &a->env);
    for (uint32_t v = 0; status == COF_OK && v < n_known; v++) {
        const char *text = attr->text + attr->offset[v];
        status = cofi_encoder_intern(&known, text, strlen(text), &id);
    }
    for (uint32_t v = 0; status == COF_OK && v <= c->n_values; v++) {
        bool missing = v == c->n_values, found;
        const char *text = cofi_column_text(c, v);
        if (missing)
            id = attr->n_values - 1;
        else
            status = cofi_encoder_intern(&known, text, strlen(text), &id);
        found = missing ? attr->has_missing : id < n_known;
        if (found)
            memcpy(a->scores.value + (size_t)(a->first[r] + v) * stride,
                   a->m->scores.value + (size_t)(attr->first + id) * stride,
                   stride * sizeof *a->scores.value);
        bool ignored = missing && (a->m->missing != COF_MISSING_VALUE || c->n_missing == 0);
        a->unseen[a->first[r] + v] = !found && !ignored;
        a->any_unseen |= !found && !ignored;
    }
    cofi_encoder_free(&known);
    return status == COF_OK ? COF_OK : cofi_no_memory(err);
}

/* As the fit did: every attribute's holes count, whether it takes part or not. */
static cof_status handle_missing(assignment *a, cof_error *err)
{
    for (size_t r = 0; r < a->n_attrs + a->n_idle; r++) {
        const cofi_column *c = &a->t->column[r < a->n_attrs ? a->column[r] : a->idle[r - a->n_attrs]];
        if (c->n_missing == 0) continue;
        if (a->m->missing == COF_MISSING_ERROR)
            return cofi_fail(err, COF_ERR_MISSING,
                             "column '%s' has %llu missing values, and the model allows none", c->name,
                             (unsigned long long)c->n_missing);
        if (a->m->missing != COF_MISSING_DROP) continue;
        if (a->dropped == NULL) a->dropped = cofi_alloc_zero(&a->env, a->t->n_rows, 1);
        if (a->dropped == NULL) return cofi_no_memory(err);
        for (size_t i = 0; i < a->t->n_rows; i++) a->dropped[i] |= cofi_column_code(c, i) == c->n_values;
    }
    return COF_OK;
}

static cof_status lay_out_scores(assignment *a, cof_error *err)
{
    uint64_t n_flat = 0;
    for (size_t r = 0; r < a->n_attrs; r++) {
        const cofi_column *c = &a->t->column[a->column[r]];
        a->ids[r] = (cofi_ids){c->codes, c->width};
        a->first[r] = (uint32_t)n_flat;
        n_flat += (uint64_t)c->n_values + 1;
        if (n_flat > UINT32_MAX / 2)
            return cofi_fail(err, COF_ERR_DATA, "the table has too many different values");
    }
    a->first[a->n_attrs] = (uint32_t)n_flat;
    a->scores = a->m->scores;
    a->scores.value = cofi_alloc_zero(&a->env, (size_t)n_flat * a->scores.stride, sizeof *a->scores.value);
    a->unseen = cofi_alloc_zero(&a->env, (size_t)n_flat, 1);
    if (a->scores.value == NULL || a->unseen == NULL) return cofi_no_memory(err);
    size_t at = 0;
    for (size_t r = 0; r < a->n_attrs; r++) {
        cof_status status = map_values(a, next_used(a->m, &at), r, err);
        if (status != COF_OK) return status;
    }
    return COF_OK;
}

static cof_status open_assignment(const cof_model *m, const cof_table *t, assignment *a, cof_error *err)
{
    *a = (assignment){.env = t->env, .m = m, .t = t};
    if (m->no_scores)
        return cofi_fail(err, COF_ERR_UNSUPPORTED,
                         "a model of %s that compares whole rows, or has numeric columns, keeps no value "
                         "scores and cannot label "
                         "new rows; fit coforest or kmodes on categories instead",
                         m->method);
    a->column = cofi_alloc(&a->env, m->n_attrs, sizeof *a->column);
    a->idle = cofi_alloc(&a->env, m->n_attrs, sizeof *a->idle);
    a->ids = cofi_alloc(&a->env, m->n_attrs, sizeof *a->ids);
    a->first = cofi_alloc(&a->env, m->n_attrs + 1, sizeof *a->first);
    if (a->column == NULL || a->idle == NULL || a->ids == NULL || a->first == NULL)
        return cofi_no_memory(err);
    cof_status status = find_columns(a, err);
    if (status == COF_OK) status = handle_missing(a, err);
    if (status == COF_OK) status = lay_out_scores(a, err);
    a->rows = (cofi_rows){t->n_rows, a->n_attrs, a->ids, a->first, NULL, NULL};
    return status;
}

static size_t n_blocks(const assignment *a)
{
    return (a->t->n_rows + COFI_BLOCK_ROWS - 1) / COFI_BLOCK_ROWS;
}

static void label_task(void *ctx, uint32_t worker, size_t block)
{
    assignment *a = ctx;
    size_t begin = block * COFI_BLOCK_ROWS;
    size_t n = a->t->n_rows - begin < COFI_BLOCK_ROWS ? a->t->n_rows - begin : COFI_BLOCK_ROWS;
    char *scratch = (char *)a->scratch + worker * a->scratch_size;
    cofi_label label[COFI_BLOCK_ROWS];
    a->kernel->nearest(&a->plan, begin, n, label, NULL, scratch);
    for (size_t i = 0; i < n; i++)
        a->label[begin + i] = a->dropped != NULL && a->dropped[begin + i] ? -1 : label[i];
}

static cof_status label_rows(assignment *a, uint32_t threads, cof_error *err)
{
    cofi_team *team;
    cof_status status = cofi_team_open(&a->env, n_blocks(a) > 1 ? threads : 1, &team, err);
    if (status != COF_OK) return status;
    a->kernel = cofi_kernel_choose();
    status =
        cofi_plan_open(&a->env, &a->rows, a->m->k, a->kernel->most_cells, a->kernel->split, &a->plan, err);
    if (status == COF_OK) {
        cofi_plan_prepare(&a->plan, &a->scores);
        a->scratch_size = (a->kernel->scratch_bytes(&a->plan) + 63) & ~(size_t)63;
        a->scratch = cofi_alloc(&a->env, cofi_team_size(team), a->scratch_size);
        if (a->scratch == NULL) status = cofi_no_memory(err);
    }
    if (status == COF_OK) cofi_team_run(team, label_task, a, n_blocks(a));
    cofi_plan_close(&a->plan);
    cofi_team_close(team);
    return status;
}

static void count_unseen(const assignment *a, cof_predict_info *info)
{
    for (size_t i = 0; i < a->t->n_rows; i++) {
        uint64_t here = 0;
        if (a->dropped != NULL && a->dropped[i]) {
            info->n_dropped++;
            continue;
        }
        for (size_t r = 0; a->any_unseen && r < a->n_attrs; r++)
            here += a->unseen[a->first[r] + cofi_id(a->ids[r], i)];
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

static void measure_row(const assignment *a, size_t row, double *distance)
{
    bool dropped = a->dropped != NULL && a->dropped[row];
    for (uint32_t j = 0; j < a->m->k; j++) {
        int64_t sum = a->scores.base[j];
        for (size_t r = 0; r < a->n_attrs; r++)
            sum += a->scores.value[(size_t)(a->first[r] + cofi_id(a->ids[r], row)) * a->scores.stride + j];
        distance[j] = dropped                           ? (double)NAN
                      : a->scores.base[j] == COFI_NEVER ? INFINITY
                                                        : (double)sum / a->scores.scale;
    }
}

cof_status cof_model_transform(const cof_model *m, const cof_table *t, double *distances, size_t n_distances,
                               cof_error *err)
{
    if (n_distances / m->k != t->n_rows || n_distances % m->k != 0)
        return cofi_fail(err, COF_ERR_ARGUMENT,
                         "room for %zu distances was given, but %zu rows and %u clusters have %zu",
                         n_distances, t->n_rows, m->k, t->n_rows * m->k);
    assignment a;
    cof_status status = open_assignment(m, t, &a, err);
    for (size_t i = 0; status == COF_OK && i < t->n_rows; i++) measure_row(&a, i, distances + i * m->k);
    close_assignment(&a);
    return status;
}

/* Sums of one row over all clusters go to `sum`, k of them. */
static void sum_row(const assignment *a, size_t row, int64_t *sum)
{
    uint32_t k = a->m->k;
    for (uint32_t j = 0; j < k; j++) sum[j] = a->scores.base[j];
    for (size_t r = 0; r < a->n_attrs; r++) {
        const int64_t *value =
            a->scores.value + (size_t)(a->first[r] + cofi_id(a->ids[r], row)) * a->scores.stride;
        for (uint32_t j = 0; j < k; j++) sum[j] += value[j];
    }
}

static cof_margin margin_of(const assignment *a, size_t row, const int64_t *sum)
{
    int32_t own = a->own_label[row], second = -1;
    cof_margin m = {.own = NAN, .other = INFINITY, .second = -1};
    if (own < 0 || own >= (int32_t)a->m->k) return m;
    for (int32_t j = 0; j < (int32_t)a->m->k; j++) {
        if (j == own || a->scores.base[j] >= COFI_NEVER) continue;
        if (second < 0 || sum[j] < sum[second]) second = j;
    }
    int64_t closed = a->scores.base[own] >= COFI_NEVER ? a->scores.base[own] : 0; /* rows put there by hand */
    m.own = (float)((double)(sum[own] - closed) / a->scores.scale);
    if (second >= 0) m.other = (float)((double)sum[second] / a->scores.scale);
    m.second = second;
    return m;
}

static void margin_task(void *ctx, uint32_t worker, size_t block)
{
    assignment *a = ctx;
    int64_t *sum = (int64_t *)((char *)a->scratch + worker * a->scratch_size);
    size_t begin = block * COFI_BLOCK_ROWS, end = begin + COFI_BLOCK_ROWS;
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
    cofi_team *team = NULL;
    cof_status status = open_assignment(m, t, &a, err);
    a.own_label = labels;
    a.margin = margins;
    if (status == COF_OK) status = cofi_team_open(&a.env, n_blocks(&a) > 1 ? threads : 1, &team, err);
    if (status == COF_OK) {
        a.scratch_size = ((size_t)m->k * sizeof(int64_t) + 63) & ~(size_t)63;
        a.scratch = cofi_alloc(&a.env, cofi_team_size(team), a.scratch_size);
        if (a.scratch == NULL) status = cofi_no_memory(err);
    }
    if (status == COF_OK) cofi_team_run(team, margin_task, &a, n_blocks(&a));
    cofi_team_close(team);
    close_assignment(&a);
    return status;
}

double cof_margin_lead(const cof_margin *m)
{
    if (isnan(m->own)) return 0;
    if (!(m->other > 0) || isinf(m->other)) return isinf(m->other) ? 1 : 0;
    return fmin(1, fmax(0, 1 - (double)m->own / (double)m->other));
}
