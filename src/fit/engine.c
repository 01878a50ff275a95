/* Memory and bookkeeping of a running fit. */
#include "method.h"

enum { FEW_VALUES = 64 };

/* Where each attribute's trace distances will lie; only those with few values are kept. */
static cof_status open_traces(cofi_engine *e)
{
    const cofi_problem *p = e->problem;
    size_t n = 0;
    e->trace_at = cofi_alloc(&e->env, p->n_attrs, sizeof *e->trace_at);
    if (e->trace_at == NULL) return COF_ERR_MEMORY;
    for (size_t r = 0; r < p->n_attrs; r++) {
        bool few = p->n_values[r] <= FEW_VALUES;
        e->trace_at[r] = few ? n : SIZE_MAX;
        n += few ? (size_t)p->n_values[r] * p->n_values[r] : 0;
    }
    e->trace = cofi_alloc(&e->env, n, sizeof *e->trace);
    e->scores.plain =
        cofi_alloc_zero(&e->env, (size_t)p->first[p->n_attrs] * e->scores.stride, sizeof *e->scores.plain);
    return e->trace != NULL && e->scores.plain != NULL ? COF_OK : COF_ERR_MEMORY;
}

static cof_status open_scores(cofi_engine *e)
{
    const cofi_problem *p = e->problem;
    size_t n = (size_t)p->first[p->n_attrs] * cofi_stride(e->o.k);
    e->scores.k = e->o.k;
    e->scores.stride = cofi_stride(e->o.k);
    e->scores.value = cofi_alloc_zero(&e->env, n, sizeof *e->scores.value);
    e->scores.base = cofi_alloc_zero(&e->env, e->scores.stride, sizeof *e->scores.base);
    e->profile = cofi_alloc_zero(&e->env, n, sizeof *e->profile);
    e->alive = cofi_alloc_zero(&e->env, e->o.k, sizeof *e->alive);
    e->seed = cofi_alloc(&e->env, e->o.k, sizeof *e->seed);
    e->mode = cofi_alloc(&e->env, (size_t)e->o.k * p->n_attrs, sizeof *e->mode);
    bool ok = e->scores.value != NULL && e->scores.base != NULL && e->profile != NULL && e->alive != NULL &&
              e->seed != NULL && e->mode != NULL;
    if (!ok) return COF_ERR_MEMORY;
    return e->o.variant == COF_VARIANT_AUTHORS ? open_traces(e) : COF_OK;
}

/* Threads cost more than they bring while a pass takes less than waking them. */
static uint32_t useful_threads(const cofi_problem *p, const cof_fit_options *o)
{
    double work = (double)p->rows.n_rows * (double)p->n_attrs * o->k;
    bool pairs = (cofi_method_find(o->method)->flags & COFI_METHOD_PAIRS) != 0;
    if (pairs && work * (double)p->n_attrs / o->k > 10000000) return o->threads; /* comparing columns */
    return work < 200000 || p->rows.n_rows <= COFI_BLOCK_ROWS ? 1 : o->threads;
}

cof_status cofi_engine_open(const cofi_problem *problem, const cof_fit_options *options, cofi_engine *e,
                            cof_error *err)
{
    memset(e, 0, sizeof *e);
    e->env = problem->env;
    e->problem = problem;
    e->o = *options;
    e->began_s = cofi_now_s();
    cof_status status = cofi_team_open(&e->env, useful_threads(problem, options), &e->team, err);
    if (status == COF_OK)
        status = cofi_pass_open(&e->env, &problem->rows, options->k, e->team, NULL, &e->pass, err);
    if (status == COF_OK)
        status = cofi_forest_open(&e->env, e->team, problem->n_attrs, problem->first, problem->n_values,
                                  options->k, options->variant == COF_VARIANT_AUTHORS, &e->forest, err);
    if (status == COF_OK && open_scores(e) != COF_OK) status = cofi_no_memory(err);
    return status;
}

void cofi_engine_close(cofi_engine *e)
{
    if (e->env.release == NULL) return; /* never opened */
    cofi_pass_close(&e->pass);
    cofi_forest_close(&e->forest);
    cofi_team_close(e->team);
    void *owned[] = {e->profile, e->alive,    e->scores.value, e->scores.base, e->scores.plain,
                     e->trace,   e->trace_at, e->history,      e->seed,        e->mode};
    for (size_t b = 0; b < sizeof owned / sizeof *owned; b++) cofi_release(&e->env, owned[b]);
    memset(e, 0, sizeof *e);
}

static void tell(const cofi_engine *e, cof_phase phase, uint64_t moved)
{
    if (e->env.progress == NULL) return;
    double elapsed = cofi_now_s() - e->began_s;
    cof_progress now = {.phase = phase,
                        .restart = e->restart + 1,
                        .restarts = e->o.restarts,
                        .rebuild = e->rebuild,
                        .pass = e->n_passes,
                        .done = moved,
                        .total = e->problem->n_table_rows,
                        .elapsed_s = elapsed,
                        .k = e->o.k,
                        .rows_per_s = elapsed > 0 ? (double)e->pass.visits / elapsed : 0};
    e->env.progress(e->env.ctx, &now);
}

uint64_t cofi_engine_pass(cofi_engine *e, cof_phase phase)
{
    double before = cofi_now_s();
    uint64_t moved = cofi_pass_run(&e->pass, &e->scores);
    double took = cofi_now_s() - before;
    if (phase == COF_PHASE_START)
        e->start_s += took;
    else
        e->pass_s += took;
    e->n_passes++;
    tell(e, phase, moved);
    return moved;
}

void cofi_engine_judge(cofi_engine *e, uint64_t moved, bool *done)
{
    if (moved == 0) e->stop = COF_STOP_CONVERGED;
    e->stopped = e->stopped || (moved > 0 && cofi_should_stop(&e->env));
    if (e->stopped) e->stop = COF_STOP_STOPPED;
    *done = moved == 0 || e->stopped;
}

cof_status cofi_engine_record(cofi_engine *e, uint64_t moved, cof_error *err)
{
    if (e->n_history == e->history_capacity) {
        size_t capacity = 2 * e->history_capacity + 64;
        cof_pass_record *grown = cofi_regrow(&e->env, e->history, e->n_history, capacity, sizeof *grown);
        if (grown == NULL) return cofi_no_memory(err);
        e->history = grown;
        e->history_capacity = capacity;
    }
    e->history[e->n_history++] = (cof_pass_record){.restart = e->restart,
                                                   .rebuild = e->rebuild,
                                                   .pass = e->n_passes,
                                                   .objective = e->objective,
                                                   .moved = moved};
    return COF_OK;
}

void cofi_value_totals(const cofi_engine *e, uint64_t *total)
{
    const cofi_rows *rows = &e->problem->rows;
    memset(total, 0, rows->first[rows->n_attrs] * sizeof *total);
    for (size_t r = 0; r < rows->n_attrs; r++)
        for (size_t i = 0; i < rows->n_rows; i++)
            total[rows->first[r] + cofi_id(rows->ids[r], i)] += rows->weight != NULL ? rows->weight[i] : 1;
}
