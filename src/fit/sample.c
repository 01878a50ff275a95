#include "sample.h"

#include "../core/rng.h"
#include "../table/dedupe.h"

/* Evenly spaced rows would miss whatever a table repeats at that distance. */
static uint32_t row_of_stretch(const cofi_problem *whole, size_t n, size_t at)
{
    size_t n_rows = whole->rows.n_rows;
    size_t begin = cofi_stretch_begin(at, n, n_rows), end = cofi_stretch_begin(at + 1, n, n_rows);
    return (uint32_t)(begin + cofi_mix64(at) % (end - begin));
}

static bool gather(const cofi_problem *whole, size_t n, cofi_problem *p)
{
    const cofi_rows *rows = &whole->rows;
    uint32_t *row = cofi_alloc(&p->env, n, sizeof *row);
    bool ok = row != NULL;
    for (size_t at = 0; ok && at < n; at++) row[at] = row_of_stretch(whole, n, at);
    for (size_t r = 0; ok && r < p->n_attrs; r++) ok = cofi_problem_gather(p, r, rows->ids[r], row, n);
    for (size_t at = 0; ok && at < n; at++) {
        uint64_t weight = rows->weight != NULL ? rows->weight[row[at]] : 1;
        if (rows->weight != NULL) p->row_weight[at] = weight;
        p->total_weight += weight;
    }
    cofi_release(&p->env, row);
    return ok;
}

static bool count_present(cofi_problem *p)
{
    uint8_t *met = cofi_alloc_zero(&p->env, p->first[p->n_attrs], 1);
    if (met == NULL) return false;
    for (size_t r = 0; r < p->n_attrs; r++) {
        p->n_present[r] = 0;
        for (size_t i = 0; i < p->rows.n_rows; i++)
            if (p->row_weight == NULL || p->row_weight[i] > 0) met[p->first[r] + cofi_id(p->ids[r], i)] = 1;
        for (uint32_t v = 0; v < p->n_values[r]; v++) p->n_present[r] += met[p->first[r] + v];
    }
    cofi_release(&p->env, met);
    return true;
}

static bool count_distinct(cofi_problem *p)
{
    size_t n = p->rows.n_rows;
    uint32_t *group = cofi_alloc(&p->env, n, sizeof *group), n_groups = 0;
    uint8_t *weighs = cofi_alloc_zero(&p->env, n, 1);
    bool ok = group != NULL && weighs != NULL &&
              cofi_dedupe(&p->env, p->ids, p->n_attrs, n, group, &n_groups) == COF_OK;
    for (size_t i = 0; ok && i < n; i++)
        if (p->row_weight == NULL || p->row_weight[i] > 0) weighs[group[i]] = 1;
    for (uint32_t d = 0; ok && d < n_groups; d++) p->n_distinct += weighs[d];
    cofi_release(&p->env, group);
    cofi_release(&p->env, weighs);
    return ok;
}

cof_status cofi_sample_open(const cofi_problem *whole, size_t n_rows, uint32_t k, cofi_sample *sample,
                            cof_error *err)
{
    cofi_problem *p = &sample->problem;
    memset(sample, 0, sizeof *sample);
    p->env = whole->env;
    p->table = whole->table;
    p->n_attrs = whole->n_attrs;
    p->first = whole->first;
    p->n_values = whole->n_values;
    p->unit = whole->unit;
    p->missing = whole->missing;
    p->n_table_rows = n_rows;
    p->ids = cofi_alloc(&p->env, p->n_attrs, sizeof *p->ids);
    p->gathered = cofi_alloc_zero(&p->env, p->n_attrs, sizeof *p->gathered);
    p->n_present = cofi_alloc(&p->env, p->n_attrs, sizeof *p->n_present);
    bool weighted = whole->rows.weight != NULL;
    if (weighted) p->row_weight = cofi_alloc(&p->env, n_rows, sizeof *p->row_weight);
    p->table_weight = p->row_weight;
    p->rows = (cofi_rows){n_rows, p->n_attrs, p->ids, p->first, p->row_weight, NULL};
    bool ok = p->ids != NULL && p->gathered != NULL && p->n_present != NULL &&
              (!weighted || p->row_weight != NULL) && gather(whole, n_rows, p) && count_present(p) &&
              count_distinct(p);
    sample->varied = ok && p->n_distinct >= k;
    return ok ? COF_OK : cofi_no_memory(err);
}

void cofi_sample_close(cofi_sample *sample)
{
    cofi_problem *p = &sample->problem;
    if (p->env.release == NULL) return; /* never opened */
    for (size_t r = 0; p->gathered != NULL && r < p->n_attrs; r++) cofi_release(&p->env, p->gathered[r]);
    void *owned[] = {p->ids, p->gathered, p->n_present, p->row_weight};
    for (size_t b = 0; b < sizeof owned / sizeof *owned; b++) cofi_release(&p->env, owned[b]);
    memset(sample, 0, sizeof *sample);
}
