/* A sample of the rows, opened as rows of their own: on a large table, starts are tried on a sample. */
#include "local.h"

#include "../core/rng.h"
#include "../table/dedupe.h"

/* Where the rows are elsewhere, so many cells are fetched at once that few requests do. */
enum { TASK_CELLS_ELSEWHERE = 1 << 20 };

static bool open_columns(cofi_local *l, const cofi_problem *p)
{
    for (size_t r = 0; r < p->n_attrs; r++) {
        uint32_t n_slots = p->first[r + 1] - p->first[r];
        uint8_t width = cofi_local_width(n_slots);
        void *codes = cofi_alloc_column(&l->env, r, l->cells.n_rows, width, &l->gathered[r]);
        if (codes == NULL) return false;
        l->ids[r] = (cofi_ids){codes, width, false};
    }
    return true;
}

/* Cells and weights of drawn rows, on their way into the sample. */
typedef struct fetching {
    cofi_rows *whole;
    cofi_local *to;
    bool drawn; /* a row of each stretch is drawn; else it is the first one */
    size_t n_columns, task_rows;
    uint64_t *row;  /* [worker][task_rows] */
    uint32_t *cell; /* [worker][task_rows][n_columns] */
} fetching;

static void store_column(cofi_ids ids, size_t begin, size_t n, const uint32_t *cell, size_t n_columns)
{
    void *codes = (void *)(uintptr_t)ids.codes;
    if (ids.width == 1)
        for (size_t i = 0; i < n; i++) ((uint8_t *)codes)[begin + i] = (uint8_t)cell[i * n_columns];
    else
        for (size_t i = 0; i < n; i++) cofi_code_set(codes, ids.width, begin + i, cell[i * n_columns]);
}

static cof_status fetch_some(const fetching *f, uint32_t worker, size_t task, cof_error *err)
{
    uint64_t *row = f->row + worker * f->task_rows;
    uint32_t *cell = f->cell + worker * f->task_rows * f->n_columns;
    size_t begin = task * f->task_rows, n_all = f->to->cells.n_rows;
    size_t n = n_all - begin < f->task_rows ? n_all - begin : f->task_rows;
    uint64_t n_rows = f->whole->problem->n_table_rows;
    for (size_t i = 0; i < n; i++)
        row[i] = f->drawn ? cofi_stretch_row(begin + i, n_all, n_rows)
                          : cofi_stretch_begin(begin + i, n_all, n_rows);
    COFI_TRY(cofi_rows_fetch(f->whole, NULL, row, n, cell, f->to->table_weight + begin, err));
    for (size_t r = 0; r < f->to->cells.n_attrs; r++)
        store_column(f->to->ids[r], begin, n, cell + r, f->n_columns);
    return COF_OK;
}

/* Of rows in memory, which can be fetched without a failure. */
static void fetch_task(void *ctx, uint32_t worker, size_t task)
{
    fetch_some(ctx, worker, task, NULL);
}

static cof_status fetch(cofi_rows *whole, cofi_team *team, bool drawn, cofi_local *l, cofi_problem *p,
                        cof_error *err)
{
    bool remote = whole->problem->one_at_a_time;
    size_t n_workers = remote || team == NULL ? 1 : cofi_team_size(team);
    fetching f = {.whole = whole,
                  .to = l,
                  .drawn = drawn,
                  .n_columns = whole->problem->n_attrs + whole->problem->n_numeric};
    f.task_rows = remote ? TASK_CELLS_ELSEWHERE / f.n_columns + 1 : cofi_rows_at_once(f.n_columns);
    if (f.task_rows > l->cells.n_rows) f.task_rows = l->cells.n_rows;
    size_t n_tasks = (l->cells.n_rows + f.task_rows - 1) / f.task_rows;
    cofi_blocks own = {.env = l->env};
    f.row = cofi_blocks_add(&own, n_workers * f.task_rows, sizeof *f.row);
    f.cell = cofi_blocks_add(&own, n_workers * f.task_rows * f.n_columns, sizeof *f.cell);
    cof_status status = cofi_blocks_status(&own, err);
    if (status == COF_OK && n_workers > 1)
        cofi_team_run(team, fetch_task, &f, n_tasks);
    else
        for (size_t task = 0; status == COF_OK && task < n_tasks; task++)
            status = fetch_some(&f, 0, task, err);
    cofi_blocks_release(&own);
    for (size_t i = 0; status == COF_OK && i < l->cells.n_rows; i++) p->total_weight += l->table_weight[i];
    return status;
}

static bool count_present(const cofi_cells *c, cofi_problem *p)
{
    uint8_t *met = cofi_blocks_add_zero(&p->own, cofi_n_flat(p), 1);
    if (met == NULL) return false;
    for (size_t r = 0; r < p->n_attrs; r++) {
        p->n_present[r] = 0;
        for (size_t i = 0; i < c->n_rows; i++)
            if (cofi_cells_weight(c, i) > 0) met[p->first[r] + cofi_id(c->ids[r], i)] = 1;
        for (uint32_t v = 0; v < p->n_values[r]; v++) p->n_present[r] += met[p->first[r] + v];
    }
    return true;
}

/* Looks at ever more of the rows: the first of them usually hold enough that differ. */
static bool count_distinct(const cofi_cells *c, size_t enough, cofi_problem *p)
{
    uint32_t *group = cofi_blocks_add(&p->own, c->n_rows, sizeof *group), n_groups = 0;
    for (size_t n = 0; n < c->n_rows && p->n_distinct < enough;) {
        n = n == 0 ? 4 * enough : 8 * n;
        if (n > c->n_rows) n = c->n_rows;
        if (group == NULL || cofi_dedupe(&p->env, c->ids, p->n_attrs, n, group, &n_groups) != COF_OK ||
            !cofi_count_weighing(&p->env, group, n_groups, c->weight, n, &p->n_distinct))
            return false;
    }
    return true;
}

/* The kernels count unweighted rows faster. */
static void forget_equal_weights(cofi_local *l)
{
    for (size_t i = 0; i < l->cells.n_rows; i++)
        if (l->table_weight[i] != 1) return;
    l->table_weight = NULL;
    l->cells.weight = NULL;
}

static cof_status open_some(cofi_rows *rows, cofi_team *team, size_t n, bool drawn, cofi_problem *p,
                            cofi_rows **out, cof_error *err)
{
    *p = *rows->problem;
    p->own = (cofi_blocks){.env = p->env};
    p->one_at_a_time = false;
    p->n_table_rows = p->n_walked = n;
    p->n_dropped = p->n_distinct = p->total_weight = p->n_numeric = 0;
    cofi_local *l = cofi_local_new(p, out);
    if (l == NULL) return cofi_no_memory(err);
    l->n_rows = n;
    l->n_columns = p->n_attrs;
    l->ids = cofi_blocks_add(&p->own, p->n_attrs, sizeof *l->ids);
    l->gathered = cofi_blocks_add_zero(&p->own, p->n_attrs, sizeof *l->gathered);
    l->table_weight = cofi_blocks_add(&p->own, n, sizeof *l->table_weight);
    l->cells = (cofi_cells){n, p->n_attrs, l->ids, p->first, l->table_weight, NULL};
    if (p->own.short_of_memory || !open_columns(l, p)) return cofi_no_memory(err);
    COFI_TRY(fetch(rows, team, drawn, l, p, err));
    forget_equal_weights(l);
    return COF_OK;
}

cof_status cofi_rows_spaced(cofi_rows *rows, cofi_team *team, size_t n, cofi_problem *p, cofi_rows **out,
                            cof_error *err)
{
    return open_some(rows, team, n, false, p, out, err);
}

cof_status cofi_rows_sample(cofi_rows *rows, cofi_team *team, size_t n, size_t enough, cofi_problem *p,
                            cofi_rows **out, cof_error *err)
{
    COFI_TRY(open_some(rows, team, n, true, p, out, err));
    const cofi_local *l = cofi_local_of(*out);
    p->n_present = cofi_blocks_add(&p->own, p->n_attrs, sizeof *p->n_present);
    if (p->n_present == NULL || !count_present(&l->cells, p) || !count_distinct(&l->cells, enough, p))
        return cofi_no_memory(err);
    return COF_OK;
}
