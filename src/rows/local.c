/* Rows in memory, as an implementation of rows.h: labels, counts and cells. */
#include "local.h"

#include "stream.h"

#include <assert.h>

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

static cof_status answer_totals(const cofi_local *l, const cofi_question *q)
{
    const cofi_cells *c = &l->cells;
    bool census = q->kind == COFI_ASK_CENSUS;
    total_job job = {.cells = c, .total = census ? q->word + COFI_CENSUS_HEAD : q->total};
    memset(job.total, 0, c->first[c->n_attrs] * sizeof *job.total);
    cofi_team_run(q->team, total_task, &job, c->n_attrs);
    if (census) q->word[0] = l->base.problem->n_dropped;
    for (size_t i = 0; census && i < c->n_rows; i++) q->word[1] += cofi_cells_weight(c, i);
    return COF_OK;
}

typedef struct fetch_job {
    const cofi_local *l;
    const uint64_t *row; /* NULL: the first n */
    size_t n, n_columns;
    uint32_t *cell;
    bool streamed; /* the rows are asked for first, so that the disk looks for many at a time */
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
    for (size_t i = task * FETCH_ROWS; job->streamed && i < end; i++)
        cofi_stream_want(&l->cells, (size_t)row[i], (size_t)row[i] + 1);
    for (size_t i = task * FETCH_ROWS; row != NULL && i < end; i++) assert(row[i] < l->n_rows);
    for (size_t r = 0; r < job->n_columns; r++)
        for (size_t i = task * FETCH_ROWS; i < end; i++) {
            if (row != NULL && i + AHEAD < end)
                cofi_prefetch_id(l->ids[r], cofi_local_row(l, row[i + AHEAD]));
            job->cell[i * job->n_columns + r] =
                cofi_id(l->ids[r], cofi_local_row(l, row != NULL ? row[i] : i));
        }
}

static cof_status answer_cells(const cofi_local *l, const cofi_question *q)
{
    const cofi_problem *p = l->base.problem;
    const uint64_t *row = q->rows.row;
    size_t n = q->rows.n, n_tasks = q->cells.cell != NULL ? (n + FETCH_ROWS - 1) / FETCH_ROWS : 0;
    fetch_job job = {l,
                     row,
                     n,
                     p->n_attrs + p->n_numeric,
                     q->cells.cell,
                     row != NULL && n_tasks > 0 && cofi_is_streamed(&l->cells)};
    if (job.streamed) cofi_stream_begin(&l->cells);
    if (q->team != NULL && n_tasks > 2) /* for less, threads would take longer */
        cofi_team_run(q->team, fetch_task, &job, n_tasks);
    else
        for (size_t task = 0; task < n_tasks; task++) fetch_task(&job, 0, task);
    if (job.streamed) cofi_stream_end(&l->cells);
    for (size_t i = 0; q->cells.weight != NULL && i < n; i++)
        q->cells.weight[i] = l->table_weight != NULL ? l->table_weight[row != NULL ? row[i] : i] : 1;
    return COF_OK;
}

static cof_status answer_points(const cofi_local *l, const cofi_question *q)
{
    const cofi_column *u = l->base.problem->table->column[q->points.column].uncut;
    for (size_t i = 0; i < q->rows.n; i++)
        q->points.point[i] = u->point[cofi_column_code(u, (size_t)q->rows.row[i])];
    return COF_OK;
}

/* ---- Partitions ---------------------------------------------------------------------------------- */

static cof_status open_partition(cofi_partition *p, cofi_team *team, cof_error *err)
{
    const cofi_local *l = cofi_local_of(p->rows);
    p->labels = cofi_alloc_zero(&l->env, 1, sizeof *p->labels);
    if (p->labels == NULL) return cofi_no_memory(err);
    p->labels->own.env = p->labels->of_seeds.env = l->env;
    cofi_pass *pass = &p->labels->pass;
    COFI_TRY(cofi_pass_open(&l->env, &l->cells, p->k, team, NULL, pass, err));
    p->count = pass->count;
    p->size = pass->size;
    p->changed = pass->changed;
    p->kernel = pass->kernel->name;
    return COF_OK;
}

static void close_partition(cofi_partition *p)
{
    if (p->labels == NULL) return;
    cofi_pass_close(&p->labels->pass);
    cofi_local_drop_seeds(p);
    cofi_blocks_release(&p->labels->own);
    cofi_release(&cofi_local_of(p->rows)->env, p->labels);
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

static cof_status set(cofi_partition *p, const cofi_kept *kept, const int32_t *label, uint64_t *moved,
                      cof_error *err)
{
    const cofi_local *l = cofi_local_of(p->rows);
    cofi_labels *s = p->labels;
    if (kept != NULL) {
        cofi_pass_load(&s->pass, &kept->state);
    } else if (label == NULL) {
        cofi_pass_reset(&s->pass);
    } else {
        if (s->given == NULL) s->given = cofi_blocks_add(&s->own, l->cells.n_rows, sizeof *s->given);
        if (s->given == NULL) return cofi_no_memory(err);
        /* rows that are folded into one must have equal labels */
        for (size_t i = 0; i < l->n_rows; i++) s->given[cofi_local_row(l, i)] = (cofi_label)label[i];
        *moved = cofi_pass_take(&s->pass, s->given);
    }
    p->hash = s->pass.hash;
    return COF_OK;
}

typedef struct label_job {
    const cofi_local *l;
    const cofi_label *from;
    const cofi_row_list *rows;
    int32_t *label;
} label_job;

enum { LABEL_ROWS = 1 << 16, FEW_TASKS = 8 };

static void label_task(void *ctx, uint32_t worker, size_t task)
{
    const label_job *job = ctx;
    const cofi_local *l = job->l;
    const cofi_row_list *rows = job->rows;
    size_t end = (task + 1) * LABEL_ROWS < rows->n ? (task + 1) * LABEL_ROWS : rows->n;
    size_t i = task * LABEL_ROWS;
    if (rows->row == NULL && rows->n == l->n_rows && l->dropped == NULL && l->group == NULL) {
        for (; i < end; i++) job->label[i] = job->from[i];
        return;
    }
    cofi_stretches spaced = cofi_stretches_at(i, rows->n, rows->span);
    for (; i < end; i++) {
        uint64_t row = rows->row != NULL ? rows->row[i] : cofi_next_stretch(&spaced);
        job->label[i] = l->dropped != NULL && l->dropped[row] ? -1 : job->from[cofi_local_row(l, row)];
    }
}

/* Most of the time goes into first writes to fresh memory. Up to 2^19 rows, waking threads for that takes longer. */
static cof_status answer_labels(const cofi_local *l, const cofi_labels *s, const cofi_question *q)
{
    label_job job = {l, s->pass.label, &q->rows, q->label};
    size_t n_tasks = (q->rows.n + LABEL_ROWS - 1) / LABEL_ROWS;
    if (n_tasks > FEW_TASKS) cofi_team_run(s->pass.team, label_task, &job, n_tasks);
    for (size_t task = 0; n_tasks <= FEW_TASKS && task < n_tasks; task++) label_task(&job, 0, task);
    return COF_OK;
}

static cof_status answer_remember(const cofi_local *l, cofi_question *q, cof_error *err)
{
    cofi_question all = {.kind = COFI_ASK_LABELS, .rows = {.n = l->n_rows, .span = l->n_rows}};
    all.label = cofi_blocks_add(q->remember.own, l->n_rows, sizeof *all.label);
    q->remember.out = (cofi_remembered){.label = all.label, .n_labels = l->n_rows};
    return all.label != NULL ? answer_labels(l, q->partition->labels, &all) : cofi_no_memory(err);
}

/* Answers a question over rows in memory. */
static cof_status ask(cofi_rows *rows, cofi_question *q, cof_error *err)
{
    const cofi_local *l = cofi_local_of(rows);
    switch (q->kind) {
    case COFI_ASK_CENSUS:
    case COFI_ASK_TOTALS:
        return answer_totals(l, q);
    case COFI_ASK_CELLS:
        return answer_cells(l, q);
    case COFI_ASK_POINTS:
        return answer_points(l, q);
    case COFI_ASK_PAIRS:
        return cofi_local_pairs(rows, q, err);
    case COFI_ASK_PASS:
        cofi_local_drop_seeds(q->partition);
        q->pass.moved = cofi_pass_run(&q->partition->labels->pass, q->pass.scores);
        q->partition->hash = q->partition->labels->pass.hash;
        return COF_OK;
    case COFI_ASK_LABELS:
        return answer_labels(l, q->partition->labels, q);
    case COFI_ASK_REMEMBER:
        return answer_remember(l, q, err);
    case COFI_ASK_EXPECT:
        return cofi_local_expect(q->partition, q->expect, err);
    case COFI_ASK_SEED:
        return cofi_local_add_seed(q->partition, q->seed, err);
    case COFI_ASK_DRAW:
        return cofi_local_draw(q->partition, q, err);
    case COFI_ASK_DENSEST:
        return cofi_local_densest(q->partition, q);
    case COFI_ASK_NEAR:
        return cofi_local_near(q->partition, q);
    case COFI_ASK_MASS:
        return cofi_local_masses(q->partition, q);
    case COFI_ASK_MERIT:
        return cofi_local_merits(q->partition, q);
    default: /* these are about several partitions, or about rows as they were read */
        assert(false);
        return COF_ERR_UNSUPPORTED;
    }
}

const cofi_rows_ops cofi_local_ops = {.ask = ask,
                                      .open_partition = open_partition,
                                      .close_partition = close_partition,
                                      .keep = keep,
                                      .set = set,
                                      .close = local_close};
