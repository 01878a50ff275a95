/* Rows that are nearer to another cluster than to their own. A restart that is refined by likelihood leaves such rows,
 * because the distances along its trees did not decide.
 *
 * A pass with these distances finds the nearest cluster of every row. Only the rows for which that is another cluster are
 * looked at one by one, because their own may be as near. */
#include "criterion.h"

enum {
    MOST_ROWS = 1 << 16,
    MOST_CELLS = 1 << 26, /* of wide tables fewer rows are looked at, but at least LEAST_ROWS */
    LEAST_ROWS = 1 << 10,
    MOST_ENTRIES = 1 << 20 /* values x clusters; the tables of a pass would take too much memory with more */
};

typedef struct tally { /* weights of rows */
    uint64_t nearer_other, all;
} tally;

typedef struct search {
    const cofi_fit *fit;
    cofi_rows *rows; /* the rows that are looked at */
    size_t n, n_columns, task_rows;
    int32_t *own, *nearest; /* per row: its cluster, and that of the pass */
    /* of every worker */
    uint64_t *row, *weight; /* task_rows each */
    uint32_t *cell;         /* [task_rows][column] */
    tally *found;
} search;

/* Two clusters at a time, so that both sums stay in registers. */
static bool is_nearer_other(const cofi_fit *fit, const uint32_t *cell, uint32_t label)
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

/* The rows are in memory, so fetching them does not fail. */
static void search_task(void *ctx, uint32_t worker, size_t task)
{
    const search *s = ctx;
    size_t begin = task * s->task_rows, n = 0;
    size_t end = begin + s->task_rows < s->n ? begin + s->task_rows : s->n;
    uint64_t *row = s->row + worker * s->task_rows, *weight = s->weight + worker * s->task_rows;
    uint32_t *cell = s->cell + worker * s->task_rows * s->n_columns;
    tally found = {0, 0};
    for (size_t i = begin; i < end; i++) row[i - begin] = i;
    cofi_rows_fetch(s->rows, NULL, row, end - begin, NULL, weight, NULL);
    for (size_t i = begin; i < end; i++) {
        if (s->own[i] < 0) continue;
        found.all += weight[i - begin];
        if (s->nearest[i] != s->own[i]) row[n++] = i;
    }
    cofi_rows_fetch(s->rows, NULL, row, n, cell, weight, NULL);
    for (size_t i = 0; i < n; i++)
        if (is_nearer_other(s->fit, cell + i * s->n_columns, (uint32_t)s->own[row[i]]))
            found.nearer_other += weight[i];
    s->found[worker].nearer_other +=
        found.nearer_other; /* once, since the tallies of other workers are on the same line of the cache */
    s->found[worker].all += found.all;
}

static cof_status count(search *s, cofi_blocks *own, double *share, cof_error *err)
{
    cofi_team *team = s->fit->host.team;
    size_t n_workers = cofi_team_size(team);
    tally sum = {0, 0};
    s->n_columns = s->rows->problem->n_attrs + s->rows->problem->n_numeric;
    s->task_rows = cofi_rows_at_once(s->n_columns);
    s->row = cofi_blocks_add(own, n_workers * s->task_rows, sizeof *s->row);
    s->weight = cofi_blocks_add(own, n_workers * s->task_rows, sizeof *s->weight);
    s->cell = cofi_blocks_add(own, n_workers * s->task_rows * s->n_columns, sizeof *s->cell);
    s->found = cofi_blocks_add_zero(own, n_workers, sizeof *s->found);
    COFI_TRY(cofi_blocks_status(own, err));
    cofi_team_run(team, search_task, s, (s->n + s->task_rows - 1) / s->task_rows);
    for (size_t w = 0; w < n_workers; w++) {
        sum.nearer_other += s->found[w].nearer_other;
        sum.all += s->found[w].all;
    }
    *share = sum.all > 0 ? (double)sum.nearer_other / (double)sum.all : 0;
    return COF_OK;
}

/* Finds the nearest clusters; where that takes too much memory, all rows are left to be looked at. */
static cof_status run_pass(search *s, cof_error *err)
{
    const cofi_fit *fit = s->fit;
    cofi_scores scores = fit->scores;
    cofi_partition nearest;
    uint64_t moved;
    memset(s->nearest, 0xFF, s->n * sizeof *s->nearest);
    if ((uint64_t)cofi_n_flat(fit->problem) * scores.stride > MOST_ENTRIES) return COF_OK;
    scores.plain = NULL; /* distances decide, not their rounding */
    cof_status status = cofi_partition_open(s->rows, scores.k, fit->host.team, &nearest, err);
    if (status == COF_OK) status = cofi_partition_pass(&nearest, &scores, &moved, err);
    if (status == COF_OK) status = cofi_partition_labels(&nearest, NULL, s->n, s->nearest, err);
    cofi_partition_close(&nearest);
    return status;
}

cof_status cofi_nearer_other_measure(const cofi_fit *fit, double *share, cof_error *err)
{
    const cofi_problem *p = fit->problem;
    cofi_blocks own = {.env = p->env};
    cofi_problem some = {.own = {.env = p->env}};
    cofi_rows *sample = NULL;
    size_t n_wide = MOST_CELLS / p->n_attrs, most = n_wide < LEAST_ROWS  ? LEAST_ROWS
                                                    : n_wide > MOST_ROWS ? MOST_ROWS
                                                                         : n_wide;
    search s = {
        .fit = fit, .rows = fit->partition.rows, .n = p->n_table_rows < most ? p->n_table_rows : most};
    s.own = cofi_blocks_add(&own, s.n, sizeof *s.own);
    s.nearest = cofi_blocks_add(&own, s.n, sizeof *s.nearest);
    cof_status status = cofi_blocks_status(&own, err);
    if (status == COF_OK) status = cofi_partition_labels(&fit->partition, NULL, s.n, s.own, err);
    if (status == COF_OK && (p->one_at_a_time || s.n < p->n_table_rows)) {
        status = cofi_rows_spaced(s.rows, fit->host.team, s.n, &some, &sample, err);
        s.rows = sample;
    }
    if (status == COF_OK) status = run_pass(&s, err);
    if (status == COF_OK) status = count(&s, &own, share, err);
    cofi_rows_close(sample);
    cofi_problem_close(&some);
    cofi_blocks_release(&own);
    return status;
}
