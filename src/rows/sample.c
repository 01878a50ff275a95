/* A sample of the rows, opened as rows of their own: on a large table, starts are tried on a sample. */
#include "local.h"

#include "../core/rng.h"
#include "../table/dedupe.h"

enum { FETCHED_ROWS = 4096 }; /* rows fetched at once */

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

/* Fetches the cells and weights of the drawn rows, some at a time. */
static cof_status fetch(cofi_rows *whole, cofi_team *team, cofi_local *l, cofi_problem *p, cof_error *err)
{
    size_t n = l->cells.n_rows, n_columns = whole->problem->n_attrs + whole->problem->n_numeric;
    cofi_blocks own = {.env = l->env};
    uint64_t *row = cofi_blocks_add(&own, FETCHED_ROWS, sizeof *row);
    uint32_t *cell = cofi_blocks_add(&own, FETCHED_ROWS * n_columns, sizeof *cell);
    cof_status status = own.short_of_memory ? cofi_no_memory(err) : COF_OK;
    for (size_t begin = 0; status == COF_OK && begin < n; begin += FETCHED_ROWS) {
        size_t n_here = n - begin < FETCHED_ROWS ? n - begin : FETCHED_ROWS;
        for (size_t i = 0; i < n_here; i++)
            row[i] = cofi_stretch_row(begin + i, n, whole->problem->n_table_rows);
        status = cofi_rows_fetch(whole, team, row, n_here, cell, l->table_weight + begin, err);
        for (size_t r = 0; status == COF_OK && r < p->n_attrs; r++)
            for (size_t i = 0; i < n_here; i++)
                cofi_code_set((void *)(uintptr_t)l->ids[r].codes, l->ids[r].width, begin + i,
                              cell[i * n_columns + r]);
        for (size_t i = begin; status == COF_OK && i < begin + n_here; i++)
            p->total_weight += l->table_weight[i];
    }
    cofi_blocks_release(&own);
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

cof_status cofi_rows_sample(cofi_rows *rows, cofi_team *team, size_t n, size_t enough, cofi_problem *p,
                            cofi_rows **out, cof_error *err)
{
    *p = *rows->problem;
    p->own = (cofi_blocks){.env = p->env};
    p->remote = false;
    p->n_table_rows = p->n_walked = n;
    p->n_dropped = p->n_distinct = p->total_weight = p->n_numeric = 0;
    cofi_local *l = cofi_local_new(p, out);
    if (l == NULL) return cofi_no_memory(err);
    l->n_rows = n;
    l->n_columns = p->n_attrs;
    p->n_present = cofi_blocks_add(&p->own, p->n_attrs, sizeof *p->n_present);
    l->ids = cofi_blocks_add(&p->own, p->n_attrs, sizeof *l->ids);
    l->gathered = cofi_blocks_add_zero(&p->own, p->n_attrs, sizeof *l->gathered);
    l->table_weight = cofi_blocks_add(&p->own, n, sizeof *l->table_weight);
    l->cells = (cofi_cells){n, p->n_attrs, l->ids, p->first, l->table_weight, NULL};
    if (p->own.short_of_memory || !open_columns(l, p)) return cofi_no_memory(err);
    COFI_TRY(fetch(rows, team, l, p, err));
    if (!count_present(&l->cells, p) || !count_distinct(&l->cells, enough, p)) return cofi_no_memory(err);
    forget_equal_weights(l);
    return COF_OK;
}
