/* Rows that lie nearer to another cluster than to their own. A restart that is refined by likelihood leaves such rows,
 * because the distances along its trees did not decide. */
#include "strays.h"

enum { MOST_ROWS = 1 << 16, TASK_ROWS = 512 };
/* Of one chunk. Rows in memory stay in the cache; rows elsewhere take few requests. */
enum { CHUNK_CELLS = 1 << 17, CHUNK_CELLS_ELSEWHERE = 1 << 20 };

typedef struct tally {
    uint64_t strays, all; /* weight of the strays and of all rows */
} tally;

/* The rows that are looked at together. */
typedef struct chunk {
    const cofi_fit *fit;
    size_t n;
    uint64_t *row, *weight;
    uint32_t *cell; /* [row][column] */
    int32_t *label;
    tally *found; /* per task */
} chunk;

/* Two clusters at a time, so that both sums stay in registers. */
static bool is_stray(const cofi_fit *fit, const uint32_t *cell, uint32_t label)
{
    const cofi_problem *p = fit->problem;
    const cofi_scores *s = &fit->scores;
    int64_t own = 0, least = INT64_MAX;
    for (uint32_t j = 0; j < s->k; j += 2) {
        int64_t sum[2] = {s->base[j], s->base[j + 1]};
        for (size_t r = 0; r < p->n_attrs; r++) {
            const int64_t *value = cofi_score_of(s, p->first[r] + cell[r]) + j;
            sum[0] += value[0];
            sum[1] += value[1];
        }
        if (label / 2 == j / 2) own = sum[label % 2];
        least = sum[0] < least ? sum[0] : least;
        if (j + 1 < s->k) least = sum[1] < least ? sum[1] : least;
    }
    return own > least + COFI_TIE;
}

static void stray_task(void *ctx, uint32_t worker, size_t task)
{
    const chunk *c = ctx;
    size_t n_columns = c->fit->problem->n_attrs + c->fit->problem->n_numeric;
    size_t end = (task + 1) * TASK_ROWS < c->n ? (task + 1) * TASK_ROWS : c->n;
    tally found = {0, 0};
    for (size_t i = task * TASK_ROWS; i < end; i++) {
        if (c->label[i] < 0) continue;
        found.all += c->weight[i];
        if (is_stray(c->fit, c->cell + i * n_columns, (uint32_t)c->label[i])) found.strays += c->weight[i];
    }
    c->found[task] = found;
}

static cof_status look_at(chunk *c, tally *sum, cof_error *err)
{
    const cofi_partition *q = &c->fit->partition;
    cofi_team *team = c->fit->host.team;
    size_t n_tasks = (c->n + TASK_ROWS - 1) / TASK_ROWS;
    COFI_TRY(cofi_rows_fetch(q->rows, team, c->row, c->n, c->cell, c->weight, err));
    COFI_TRY(cofi_partition_labels(q, c->row, c->n, c->label, err));
    cofi_team_run(team, stray_task, c, n_tasks);
    for (size_t task = 0; task < n_tasks; task++) {
        sum->strays += c->found[task].strays;
        sum->all += c->found[task].all;
    }
    return COF_OK;
}

cof_status cofi_strays_measure(const cofi_fit *fit, double *share, cof_error *err)
{
    const cofi_problem *p = fit->problem;
    cofi_blocks own = {.env = p->env};
    size_t n_columns = p->n_attrs + p->n_numeric;
    size_t n = p->n_table_rows < MOST_ROWS ? (size_t)p->n_table_rows : MOST_ROWS;
    size_t room = (p->remote ? CHUNK_CELLS_ELSEWHERE : CHUNK_CELLS) / n_columns + 1;
    tally sum = {0, 0};
    if (room > n) room = n;
    chunk c = {.fit = fit,
               .row = cofi_blocks_add(&own, room, sizeof *c.row),
               .weight = cofi_blocks_add(&own, room, sizeof *c.weight),
               .cell = cofi_blocks_add(&own, room * n_columns, sizeof *c.cell),
               .label = cofi_blocks_add(&own, room, sizeof *c.label),
               .found = cofi_blocks_add(&own, room / TASK_ROWS + 1, sizeof *c.found)};
    cof_status status = cofi_blocks_status(&own, err);
    for (size_t at = 0; status == COF_OK && at < n; at += c.n) {
        c.n = n - at < room ? n - at : room;
        for (size_t i = 0; i < c.n; i++) c.row[i] = cofi_stretch_begin(at + i, n, p->n_table_rows);
        status = look_at(&c, &sum, err);
    }
    *share = sum.all > 0 ? (double)sum.strays / (double)sum.all : 0;
    cofi_blocks_release(&own);
    return status;
}
