/* A sample of the rows, opened as rows of their own: on a large table, starts are tried on a sample. */
#include "local.h"

#include "../core/rng.h"
#include "../table/dedupe.h"

/* The row is drawn within its stretch, because evenly spaced rows could all fall on one phase of a
 * periodic table. */
static uint32_t row_of_stretch(size_t n_rows, size_t n, size_t at)
{
    size_t begin = cofi_stretch_begin(at, n, n_rows), end = cofi_stretch_begin(at + 1, n, n_rows);
    return (uint32_t)(begin + cofi_mix64(at) % (end - begin));
}

static bool gather(const cofi_cells *whole, cofi_local *l, cofi_problem *p)
{
    size_t n = l->cells.n_rows;
    uint32_t *row = cofi_alloc(&l->env, n, sizeof *row);
    bool ok = row != NULL;
    for (size_t at = 0; ok && at < n; at++) row[at] = row_of_stretch(whole->n_rows, n, at);
    for (size_t r = 0; ok && r < p->n_attrs; r++) ok = cofi_local_gather(l, r, whole->ids[r], row, n);
    for (size_t at = 0; ok && at < n; at++) {
        uint64_t weight = cofi_cells_weight(whole, row[at]);
        if (l->table_weight != NULL) l->table_weight[at] = weight;
        p->total_weight += weight;
    }
    cofi_release(&l->env, row);
    return ok;
}

static bool count_present(const cofi_cells *c, cofi_problem *p)
{
    uint8_t *met = cofi_alloc_zero(&p->env, cofi_n_flat(p), 1);
    if (met == NULL) return false;
    for (size_t r = 0; r < p->n_attrs; r++) {
        p->n_present[r] = 0;
        for (size_t i = 0; i < c->n_rows; i++)
            if (cofi_cells_weight(c, i) > 0) met[p->first[r] + cofi_id(c->ids[r], i)] = 1;
        for (uint32_t v = 0; v < p->n_values[r]; v++) p->n_present[r] += met[p->first[r] + v];
    }
    cofi_release(&p->env, met);
    return true;
}

static bool count_distinct(const cofi_cells *c, cofi_problem *p)
{
    size_t n = c->n_rows;
    uint32_t *group = cofi_alloc(&p->env, n, sizeof *group), n_groups = 0;
    uint8_t *weighs = cofi_alloc_zero(&p->env, n, 1);
    bool ok = group != NULL && weighs != NULL &&
              cofi_dedupe(&p->env, c->ids, p->n_attrs, n, group, &n_groups) == COF_OK;
    for (size_t i = 0; ok && i < n; i++)
        if (cofi_cells_weight(c, i) > 0) weighs[group[i]] = 1;
    for (uint32_t d = 0; ok && d < n_groups; d++) p->n_distinct += weighs[d];
    cofi_release(&p->env, group);
    cofi_release(&p->env, weighs);
    return ok;
}

/* The sample owns only n_present of its problem; it shares the other members with the whole problem. */
cof_status cofi_local_sample(cofi_rows *rows, size_t n, cofi_problem *p, cofi_rows **out, cof_error *err)
{
    const cofi_cells *whole = &cofi_local_of(rows)->cells;
    *p = *rows->problem;
    p->n_table_rows = p->n_walked = n;
    p->n_dropped = p->n_distinct = p->total_weight = p->n_numeric = 0;
    p->n_present = cofi_alloc(&p->env, p->n_attrs, sizeof *p->n_present);
    cofi_local *l = cofi_alloc_zero(&p->env, 1, sizeof *l);
    *out = l != NULL ? &l->base : NULL;
    if (l == NULL) return cofi_no_memory(err);
    l->base = (cofi_rows){&cofi_local_ops, p};
    l->env = p->env;
    l->n_columns = p->n_attrs;
    l->ids = cofi_alloc(&p->env, p->n_attrs, sizeof *l->ids);
    l->gathered = cofi_alloc_zero(&p->env, p->n_attrs, sizeof *l->gathered);
    bool weighted = whole->weight != NULL;
    if (weighted) l->table_weight = cofi_alloc(&p->env, n, sizeof *l->table_weight);
    l->cells = (cofi_cells){n, p->n_attrs, l->ids, p->first, l->table_weight, NULL};
    bool ok = p->n_present != NULL && l->ids != NULL && l->gathered != NULL &&
              (!weighted || l->table_weight != NULL) && gather(whole, l, p) && count_present(&l->cells, p) &&
              count_distinct(&l->cells, p);
    return ok ? COF_OK : cofi_no_memory(err);
}
