/* Rows that lie nearer to another cluster than to their own. A restart that is refined by likelihood leaves such rows,
 * because the distances along its trees did not decide. */
#include "strays.h"

enum { MOST_ROWS = 1 << 16, CHUNK_CELLS = 1 << 20 };

/* The rows that are looked at together. */
typedef struct chunk {
    size_t n;
    uint64_t *row, *weight;
    uint32_t *cell; /* [row][column] */
    int32_t *label;
    int64_t *sum; /* k */
} chunk;

static bool is_stray(const cofi_fit *fit, const uint32_t *cell, int32_t label, int64_t *sum)
{
    const cofi_problem *p = fit->problem;
    const cofi_scores *s = &fit->scores;
    for (uint32_t j = 0; j < s->k; j++) sum[j] = s->base[j];
    for (size_t r = 0; r < p->n_attrs; r++) {
        const int64_t *value = cofi_score_of(s, p->first[r] + cell[r]);
        for (uint32_t j = 0; j < s->k; j++) sum[j] += value[j];
    }
    int64_t least = sum[0];
    for (uint32_t j = 1; j < s->k; j++) least = sum[j] < least ? sum[j] : least;
    return sum[label] > least + COFI_TIE;
}

static cof_status look_at(const cofi_fit *fit, const chunk *c, uint64_t *strays, uint64_t *all,
                          cof_error *err)
{
    size_t n_columns = fit->problem->n_attrs + fit->problem->n_numeric;
    COFI_TRY(cofi_rows_fetch(fit->partition.rows, NULL, c->row, c->n, c->cell, c->weight, err));
    COFI_TRY(cofi_partition_labels(&fit->partition, c->row, c->n, c->label, err));
    for (size_t i = 0; i < c->n; i++) {
        if (c->label[i] < 0) continue;
        *all += c->weight[i];
        if (is_stray(fit, c->cell + i * n_columns, c->label[i], c->sum)) *strays += c->weight[i];
    }
    return COF_OK;
}

cof_status cofi_strays_measure(const cofi_fit *fit, double *share, cof_error *err)
{
    const cofi_problem *p = fit->problem;
    cofi_blocks own = {.env = p->env};
    size_t n_columns = p->n_attrs + p->n_numeric;
    size_t n = p->n_table_rows < MOST_ROWS ? (size_t)p->n_table_rows : MOST_ROWS;
    size_t room = n_columns < CHUNK_CELLS ? CHUNK_CELLS / n_columns : 1;
    uint64_t strays = 0, all = 0;
    if (room > n) room = n;
    chunk c = {.row = cofi_blocks_add(&own, room, sizeof *c.row),
               .weight = cofi_blocks_add(&own, room, sizeof *c.weight),
               .cell = cofi_blocks_add(&own, room * n_columns, sizeof *c.cell),
               .label = cofi_blocks_add(&own, room, sizeof *c.label),
               .sum = cofi_blocks_add(&own, fit->scores.k, sizeof *c.sum)};
    cof_status status = cofi_blocks_status(&own, err);
    for (size_t at = 0; status == COF_OK && at < n; at += c.n) {
        c.n = n - at < room ? n - at : room;
        for (size_t i = 0; i < c.n; i++) c.row[i] = cofi_stretch_begin(at + i, n, p->n_table_rows);
        status = look_at(fit, &c, &strays, &all, err);
    }
    *share = all > 0 ? (double)strays / (double)all : 0;
    cofi_blocks_release(&own);
    return status;
}
