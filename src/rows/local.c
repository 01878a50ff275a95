/* Rows in memory, as an implementation of rows.h: labels, counts and cells. */
#include "local.h"

static void local_close(cofi_rows *rows)
{
    cofi_local *l = cofi_local_of(rows);
    cof_env env = l->env;
    for (size_t r = 0; l->gathered != NULL && r < l->n_columns; r++) cofi_release(&env, l->gathered[r]);
    COFI_RELEASE_ALL(&env, l->group, l);
}

cofi_local *cofi_local_new(const cofi_problem *p, cofi_rows **rows)
{
    cofi_local *l = cofi_alloc_zero(&p->env, 1, sizeof *l);
    *rows = l != NULL ? &l->base : NULL;
    if (l != NULL) *l = (cofi_local){.base = {&cofi_local_ops, p}, .env = p->env};
    return l;
}

bool cofi_local_gather(cofi_local *l, size_t r, cofi_ids from, const uint32_t *row, size_t n)
{
    char *to = cofi_alloc_column(&l->env, r, n, from.width, &l->gathered[r]);
    if (to == NULL) return false;
    for (size_t i = 0; i < n; i++)
        memcpy(to + i * from.width, (const char *)from.codes + (size_t)row[i] * from.width, from.width);
    l->ids[r] = (cofi_ids){to, from.width, false};
    return true;
}

/* ---- The rows themselves ------------------------------------------------------------------------- */

typedef struct total_job {
    const cofi_cells *cells;
    uint64_t *total;
} total_job;

/* Equal values in turn would wait for each other's addition to one total, so eight rows are added to eight tables. */
static size_t add_bytes(const uint8_t *id, size_t n_rows, uint32_t n_values, uint64_t *total)
{
    enum { TABLES = 8 };
    uint64_t n[TABLES][UINT8_MAX + 1] = {{0}};
    size_t i = 0;
    for (; i + TABLES <= n_rows; i += TABLES)
        for (size_t x = 0; x < TABLES; x++) n[x][id[i + x]]++;
    for (size_t x = 0; x < TABLES; x++)
        for (uint32_t v = 0; v < n_values; v++) total[v] += n[x][v];
    return i;
}

static void total_task(void *ctx, uint32_t worker, size_t r)
{
    const total_job *job = ctx;
    const cofi_cells *c = job->cells;
    uint64_t *total = job->total + c->first[r];
    size_t i = 0;
    if (c->weight == NULL && c->ids[r].width == 1)
        i = add_bytes(c->ids[r].codes, c->n_rows, c->first[r + 1] - c->first[r], total);
    for (; i < c->n_rows; i++) total[cofi_id(c->ids[r], i)] += cofi_cells_weight(c, i);
}

static cof_status local_totals(cofi_rows *rows, cofi_team *team, uint64_t *total, cof_error *err)
{
    const cofi_cells *c = &cofi_local_of(rows)->cells;
    total_job job = {.cells = c, .total = total};
    memset(total, 0, c->first[c->n_attrs] * sizeof *total);
    cofi_team_run(team, total_task, &job, c->n_attrs);
    return COF_OK;
}

typedef struct fetch_job {
    const cofi_local *l;
    const uint64_t *row; /* NULL: the first n */
    size_t n, n_columns;
    uint32_t *cell;
} fetch_job;

enum { FETCH_ROWS = 512 };

/* One column after the other, since few of its pages are needed at a time; few rows, so that what is written stays in the
 * cache until the last column. */
static void fetch_task(void *ctx, uint32_t worker, size_t task)
{
    enum { AHEAD = 32 };
    const fetch_job *job = ctx;
    const cofi_local *l = job->l;
    const uint64_t *row = job->row;
    size_t end = (task + 1) * FETCH_ROWS < job->n ? (task + 1) * FETCH_ROWS : job->n;
    for (size_t r = 0; r < job->n_columns; r++)
        for (size_t i = task * FETCH_ROWS; i < end; i++) {
            if (row != NULL && i + AHEAD < end)
                cofi_prefetch_id(l->ids[r], cofi_local_row(l, row[i + AHEAD]));
            job->cell[i * job->n_columns + r] =
                cofi_id(l->ids[r], cofi_local_row(l, row != NULL ? row[i] : i));
        }
}

static cof_status local_fetch(cofi_rows *rows, cofi_team *team, const uint64_t *row, size_t n, uint32_t *cell,
                              uint64_t *weight, cof_error *err)
{
    const cofi_local *l = cofi_local_of(rows);
    fetch_job job = {l, row, n, rows->problem->n_attrs + rows->problem->n_numeric, cell};
    size_t n_tasks = cell != NULL ? (n + FETCH_ROWS - 1) / FETCH_ROWS : 0;
    if (team != NULL && n_tasks > 2) /* for less, threads would take longer */
        cofi_team_run(team, fetch_task, &job, n_tasks);
    else
        for (size_t task = 0; task < n_tasks; task++) fetch_task(&job, 0, task);
    for (size_t i = 0; weight != NULL && i < n; i++)
        weight[i] = l->table_weight != NULL ? l->table_weight[row != NULL ? row[i] : i] : 1;
    return COF_OK;
}

static cof_status local_points(cofi_rows *rows, size_t column, const uint64_t *row, size_t n, double *point,
                               cof_error *err)
{
    const cofi_column *u = rows->problem->table->column[column].uncut;
    for (size_t i = 0; i < n; i++) point[i] = u->point[cofi_column_code(u, (size_t)row[i])];
    return COF_OK;
}

/* ---- Partitions ---------------------------------------------------------------------------------- */

static void show(cofi_partition *p)
{
    p->hash = p->labels->pass.hash;
}

static cof_status open_labels(cofi_partition *p, cofi_team *team, cof_error *err)
{
    const cofi_local *l = cofi_local_of(p->rows);
    p->labels = cofi_alloc_zero(&l->env, 1, sizeof *p->labels);
    if (p->labels == NULL) return cofi_no_memory(err);
    p->labels->own.env = p->labels->of_seeds.env = l->env;
    cofi_pass *pass = &p->labels->pass;
    cof_status status = cofi_pass_open(&l->env, &l->cells, p->k, team, NULL, pass, err);
    p->count = pass->count;
    p->size = pass->size;
    p->changed = pass->changed;
    return status;
}

static void close_labels(cofi_partition *p)
{
    if (p->labels == NULL) return;
    cofi_pass_close(&p->labels->pass);
    cofi_local_drop_seeds(p);
    cofi_blocks_release(&p->labels->own);
    cofi_release(&cofi_local_of(p->rows)->env, p->labels);
}

static void forget(cofi_partition *p)
{
    cofi_pass_reset(&p->labels->pass);
    show(p);
}

static cof_status pass(cofi_pass_request *request, size_t n, cof_error *err)
{
    for (size_t at = 0; at < n; at++) {
        cofi_local_drop_seeds(request[at].partition);
        request[at].moved = cofi_pass_run(&request[at].partition->labels->pass, request[at].scores);
        request[at].partition->known = true;
        show(request[at].partition);
    }
    return COF_OK;
}

struct cofi_kept {
    cofi_pass_state state;
};

static cof_status keep(const cofi_partition *p, cofi_kept **kept, cof_error *err)
{
    cofi_blocks *own = &p->labels->own;
    cofi_pass *pass = &p->labels->pass;
    if (*kept == NULL) {
        cofi_kept *k = cofi_blocks_add(own, 1, sizeof *k);
        if (k == NULL || !cofi_pass_open_state(pass, own, &k->state)) return cofi_no_memory(err);
        *kept = k;
    }
    cofi_pass_save(pass, &(*kept)->state);
    return COF_OK;
}

static cof_status recall(cofi_partition *p, const cofi_kept *kept, cof_error *err)
{
    cofi_pass_load(&p->labels->pass, &kept->state);
    show(p);
    return COF_OK;
}

/* Rows that are folded into one must have equal labels. */
static cof_status take(cofi_partition *p, const int32_t *label, uint64_t *moved, cof_error *err)
{
    const cofi_local *l = cofi_local_of(p->rows);
    cofi_labels *labels = p->labels;
    if (labels->given == NULL)
        labels->given = cofi_blocks_add(&labels->own, l->cells.n_rows, sizeof *labels->given);
    if (labels->given == NULL) return cofi_no_memory(err);
    for (size_t i = 0; i < p->rows->problem->n_table_rows; i++)
        labels->given[cofi_local_row(l, i)] = (cofi_label)label[i];
    *moved = cofi_pass_take(&labels->pass, labels->given);
    show(p);
    return COF_OK;
}

typedef struct label_job {
    const cofi_partition *p;
    const uint64_t *row;
    size_t n;
    int32_t *label;
} label_job;

enum { LABEL_ROWS = 1 << 16, FEW_TASKS = 8 };

static void label_task(void *ctx, uint32_t worker, size_t task)
{
    const label_job *job = ctx;
    const cofi_local *l = cofi_local_of(job->p->rows);
    const cofi_label *label = job->p->labels->pass.label;
    size_t end = (task + 1) * LABEL_ROWS < job->n ? (task + 1) * LABEL_ROWS : job->n;
    size_t i = task * LABEL_ROWS;
    if (job->row == NULL && job->n == l->n_rows && l->dropped == NULL && l->group == NULL) {
        for (; i < end; i++) job->label[i] = label[i];
        return;
    }
    cofi_stretches spaced = cofi_stretches_at(i, job->n, l->n_rows);
    for (; i < end; i++) {
        uint64_t row = job->row != NULL ? job->row[i] : cofi_next_stretch(&spaced);
        job->label[i] = l->dropped != NULL && l->dropped[row] ? -1 : label[cofi_local_row(l, row)];
    }
}

/* Most of the time goes into first writes to fresh memory. Up to 2^19 rows, waking threads for that takes longer. */
static cof_status labels(const cofi_partition *p, const uint64_t *row, size_t n, int32_t *label,
                         cof_error *err)
{
    label_job job = {p, row, n, label};
    size_t n_tasks = (n + LABEL_ROWS - 1) / LABEL_ROWS;
    if (n_tasks > FEW_TASKS) cofi_team_run(p->labels->pass.team, label_task, &job, n_tasks);
    for (size_t task = 0; n_tasks <= FEW_TASKS && task < n_tasks; task++) label_task(&job, 0, task);
    return COF_OK;
}

static cof_status remember(const cofi_partition *p, cofi_blocks *own, cofi_remembered *out, cof_error *err)
{
    size_t n = (size_t)p->rows->problem->n_table_rows;
    *out = (cofi_remembered){.label = cofi_blocks_add(own, n, sizeof *out->label), .n_labels = n};
    return out->label != NULL ? labels(p, NULL, n, out->label, err) : cofi_no_memory(err);
}

static const char *kernel(const cofi_partition *p)
{
    return p->labels->pass.kernel->name;
}

const cofi_rows_ops cofi_local_ops = {
    .kernel = kernel,
    .close = local_close,
    .totals = local_totals,
    .fetch = local_fetch,
    .points = local_points,
    .pairs = cofi_local_pairs,
    .open = open_labels,
    .close_labels = close_labels,
    .forget = forget,
    .pass = pass,
    .take = take,
    .keep = keep,
    .recall = recall,
    .labels = labels,
    .remember = remember,
    .expect = cofi_local_expect,
    .add_seed = cofi_local_add_seed,
    .mass = cofi_local_mass,
    .row_at = cofi_local_row_at,
    .densest = cofi_local_densest,
};
