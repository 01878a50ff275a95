/* The order of values that decides ties. Value ids follow the names of the values; a result that
 * depended on them would change if values were renamed. */
#include "value_order.h"

#include <stdlib.h>

enum {
    MOST_ROWS = 1 << 16,
    CHUNK_ROWS = 1 << 10,
    LARGE_CELLS = 1 << 22 /* below it, starting threads takes longer */
};

typedef struct ranked {
    uint64_t total; /* weight of the rows that hold the value */
    uint32_t met;   /* first row that holds it; COFI_NONE: not looked for, or not found */
    uint32_t value;
} ranked;

static int compare(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->total != y->total) return x->total > y->total ? -1 : 1;
    if (x->met != y->met) return x->met < y->met ? -1 : 1;
    return x->value < y->value ? -1 : x->value > y->value;
}

static bool has_order(const cofi_problem *p, size_t r)
{
    return p->n_bins[r] > 0 || p->table->column[p->column[r]].ordinal;
}

static void sort_all(const cofi_problem *p, ranked *item)
{
    for (size_t r = 0; r < p->n_attrs; r++)
        if (!has_order(p, r)) qsort(item + p->first[r], p->n_values[r], sizeof *item, compare);
}

/* The number of values as frequent as another of the same attribute; place[g] is their place in item, COFI_NONE of others.
 * Values of weight 0 decide no tie. */
static uint32_t find_tied(const cofi_problem *p, const ranked *item, uint32_t *place)
{
    uint32_t n = 0;
    for (size_t r = 0; r < p->n_attrs; r++) {
        uint32_t begin = p->first[r], end = begin + p->n_values[r];
        for (uint32_t at = begin; at < end; at++) {
            bool tied = (at > begin && item[at - 1].total == item[at].total) ||
                        (at + 1 < end && item[at + 1].total == item[at].total);
            tied = tied && item[at].total > 0 && !has_order(p, r);
            place[begin + item[at].value] = tied ? at : COFI_NONE;
            n += tied;
        }
    }
    return n;
}

/* Looks for the tied values in the first rows, until all are found. */
static cof_status meet_tied(cofi_rows *rows, ranked *item, const uint32_t *place, uint32_t n_left,
                            cof_error *err)
{
    const cofi_problem *p = rows->problem;
    size_t n = p->n_table_rows < MOST_ROWS ? (size_t)p->n_table_rows : MOST_ROWS;
    size_t n_columns = p->n_attrs + p->n_numeric;
    cofi_blocks own = {.env = p->env};
    uint64_t *row = cofi_blocks_add(&own, CHUNK_ROWS, sizeof *row);
    uint32_t *cell = cofi_blocks_add(&own, CHUNK_ROWS * n_columns, sizeof *cell);
    cof_status status = cofi_blocks_status(&own, err);
    for (size_t begin = 0; status == COF_OK && begin < n && n_left > 0; begin += CHUNK_ROWS) {
        size_t n_here = n - begin < CHUNK_ROWS ? n - begin : CHUNK_ROWS;
        for (size_t i = 0; i < n_here; i++) row[i] = begin + i;
        status = cofi_rows_fetch(rows, NULL, row, n_here, cell, NULL, err);
        for (size_t at = 0; status == COF_OK && at < n_here * p->n_attrs; at++) {
            size_t i = at / p->n_attrs, r = at % p->n_attrs;
            uint32_t v = cell[i * n_columns + r];
            uint32_t found = v < p->n_values[r] ? place[p->first[r] + v] : COFI_NONE;
            if (found == COFI_NONE || item[found].met != COFI_NONE) continue;
            item[found].met = (uint32_t)(begin + i);
            n_left--;
        }
    }
    cofi_blocks_release(&own);
    return status;
}

static cof_status add_totals(cofi_rows *rows, uint32_t threads, uint64_t *total, cof_error *err)
{
    const cofi_problem *p = rows->problem;
    bool large = (double)p->n_walked * (double)p->n_attrs >= LARGE_CELLS;
    cofi_team *team;
    COFI_TRY(cofi_team_open(&p->env, large ? threads : 1, &team, err));
    cof_status status = cofi_rows_totals(rows, team, total, err);
    cofi_team_close(team);
    return status;
}

cof_status cofi_value_order_set(cofi_rows *rows, cofi_problem *p, uint32_t threads, cof_error *err)
{
    uint32_t n_flat = cofi_n_flat(p);
    cofi_blocks own = {.env = p->env};
    uint64_t *total = cofi_blocks_add(&own, n_flat, sizeof *total);
    ranked *item = cofi_blocks_add(&own, n_flat, sizeof *item);
    uint32_t *place = cofi_blocks_add(&own, n_flat, sizeof *place);
    uint32_t *order = cofi_blocks_add(&p->own, n_flat, sizeof *order);
    cof_status status = order != NULL ? cofi_blocks_status(&own, err) : cofi_no_memory(err);
    if (status == COF_OK) status = add_totals(rows, threads, total, err);
    if (status == COF_OK) {
        for (size_t r = 0; r < p->n_attrs; r++)
            for (uint32_t g = p->first[r]; g < p->first[r + 1]; g++)
                item[g] = (ranked){total[g], COFI_NONE, g - p->first[r]};
        sort_all(p, item);
        uint32_t n_tied = find_tied(p, item, place);
        if (n_tied > 0) status = meet_tied(rows, item, place, n_tied, err);
        if (n_tied > 0) sort_all(p, item);
        for (uint32_t g = 0; g < n_flat; g++) order[g] = item[g].value;
        p->order = order;
    }
    cofi_blocks_release(&own);
    return status;
}
