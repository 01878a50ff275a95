/* Memory and log of a running fit. */
#include "fit.h"

#include "method.h"
#include "scores.h"

static cof_status open_tables(cofi_fit *fit, cof_error *err)
{
    const cofi_problem *p = fit->problem;
    cofi_blocks *own = &fit->own;
    uint32_t k = fit->host.o.k, stride = cofi_stride(k);
    size_t n = (size_t)cofi_n_flat(p) * stride;
    fit->scores = (cofi_scores){.k = k, .stride = stride};
    fit->scores.value = cofi_blocks_add_zero(own, n, sizeof *fit->scores.value);
    fit->scores.base = cofi_blocks_add_zero(own, stride, sizeof *fit->scores.base);
    fit->profiles.held = cofi_blocks_add_zero(own, n, sizeof *fit->profiles.held);
    fit->profiles.whole = cofi_blocks_add_zero(own, p->n_attrs * stride, sizeof *fit->profiles.whole);
    fit->profiles.alive = cofi_blocks_add_zero(own, k, sizeof *fit->profiles.alive);
    fit->seeds.row = cofi_blocks_add(own, k, sizeof *fit->seeds.row);
    fit->seeds.cell = cofi_blocks_add(own, (size_t)k * (p->n_attrs + p->n_numeric), sizeof *fit->seeds.cell);
    fit->seeds.mode = cofi_blocks_add(own, (size_t)k * p->n_attrs, sizeof *fit->seeds.mode);
    fit->centre = cofi_blocks_add_zero(own, k * p->n_numeric, sizeof *fit->centre);
    if (fit->host.o.variant == COF_VARIANT_AUTHORS)
        fit->exact = cofi_blocks_add_zero(own, n, sizeof *fit->exact);
    return cofi_blocks_status(own, err);
}

cof_status cofi_fit_open(cofi_rows *rows, const cofi_method *method, const cof_fit_options *options,
                         cofi_fit *fit, cof_error *err)
{
    enum { PASS_WORK = 200000 };   /* rows x attributes x clusters */
    enum { PAIR_WORK = 10000000 }; /* rows x attributes x attributes */
    const cofi_problem *p = rows->problem;
    double cells = (double)p->n_walked * (double)p->n_attrs;
    bool many_pairs = (method->flags & COFI_METHOD_PAIRS) != 0 && cells * (double)p->n_attrs > PAIR_WORK;
    bool few_rows = cells * options->k < PASS_WORK || p->n_walked <= COFI_ONE_THREAD_ROWS;
    /* on a small table, waking the threads takes longer than a pass */
    uint32_t threads = few_rows && !many_pairs ? 1 : options->threads;
    memset(fit, 0, sizeof *fit);
    fit->host = (cofi_host){.env = p->env, .o = *options, .began_s = cofi_now_s()};
    fit->own.env = fit->scratch.env = p->env;
    fit->problem = p;
    fit->method = method;
    cofi_host *host = &fit->host;
    COFI_TRY(cofi_team_open(&host->env, threads, &host->team, err));
    COFI_TRY(cofi_partition_open(rows, options->k, host->team, &fit->partition, err));
    COFI_TRY(cofi_forest_open(&host->env, host->team, p->n_attrs, p->first, p->n_values, options->k,
                              options->variant == COF_VARIANT_AUTHORS, &fit->forest, err));
    fit->forest.order = p->order;
    /* Bins of a quantity have an order too, but their neighbours need not be alike. */
    for (size_t r = 0; r < p->n_attrs; r++) {
        const cofi_column *c = &p->table->column[p->column[r]];
        fit->forest.line[r] = c->ordinal != 0 && c->cut == NULL;
    }
    COFI_TRY(open_tables(fit, err));
    return cofi_value_sums_open(fit, err);
}

void cofi_fit_close(cofi_fit *fit)
{
    if (fit->host.env.release == NULL) return; /* never opened */
    cofi_partition_close(&fit->partition);
    cofi_forest_close(&fit->forest);
    cofi_team_close(fit->host.team);
    cofi_release(&fit->host.env, fit->log.history);
    cofi_blocks_release(&fit->scratch);
    cofi_blocks_release(&fit->own);
    memset(fit, 0, sizeof *fit);
}

cof_status cofi_fit_totals(cofi_fit *fit, const uint64_t **total, cof_error *err)
{
    uint64_t *own = cofi_blocks_add(&fit->scratch, cofi_n_flat(fit->problem), sizeof *own);
    *total = own;
    return own != NULL ? cofi_rows_totals(fit->partition.rows, fit->host.team, own, err)
                       : cofi_no_memory(err);
}

cof_status cofi_fit_pass(cofi_fit *fit, cof_phase phase, uint64_t *moved, cof_error *err)
{
    const cof_env *env = &fit->host.env;
    double before = cofi_now_s();
    COFI_TRY(cofi_partition_pass(&fit->partition, &fit->scores, moved, err));
    double now = cofi_now_s(), elapsed = now - fit->host.began_s;
    *(phase == COF_PHASE_START ? &fit->log.start_s : &fit->log.pass_s) += now - before;
    fit->log.visits += fit->problem->n_walked;
    fit->log.n_passes++;
    if (env->progress == NULL) return COF_OK;
    cof_progress progress = {.phase = phase,
                             .restart = fit->log.restart + 1,
                             .restarts = fit->host.o.restarts,
                             .rebuild = fit->log.rebuild,
                             .pass = fit->log.n_passes,
                             .done = *moved,
                             .total = fit->problem->n_table_rows,
                             .elapsed_s = elapsed,
                             .k = fit->host.o.k,
                             .rows_per_s = elapsed > 0 ? (double)fit->log.visits / elapsed : 0};
    env->progress(env->ctx, &progress);
    return COF_OK;
}

bool cofi_log_stopped(const cofi_host *host, cofi_log *log)
{
    log->stopped = log->stopped || cofi_should_stop(&host->env);
    return log->stopped;
}

cof_status cofi_log_record(const cofi_host *host, cofi_log *log, uint64_t moved, cof_error *err)
{
    if (log->n_history == log->history_capacity) {
        size_t capacity = 2 * log->history_capacity + 64;
        cof_pass_record *grown =
            cofi_regrow(&host->env, log->history, log->n_history, capacity, sizeof *grown);
        if (grown == NULL) return cofi_no_memory(err);
        log->history = grown;
        log->history_capacity = capacity;
    }
    log->history[log->n_history++] = (cof_pass_record){.restart = log->restart,
                                                       .rebuild = log->rebuild,
                                                       .pass = log->n_passes,
                                                       .objective = log->objective,
                                                       .moved = moved};
    return COF_OK;
}
