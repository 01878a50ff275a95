/* Restarts of a method, the best one kept. */
#include "restarts.h"

#include "criterion.h"

#include <math.h>

/* With quantities a partition of the rows does not tell their means. */
static bool restores_by_partition(const cofi_restarts *run)
{
    return run->fit.method->restore != NULL && run->fit.problem->n_numeric == 0;
}

static cof_status judge(cofi_restarts *run, cof_error *err)
{
    const cofi_fit *fit = &run->fit;
    double likelihood = cofi_log_likelihood(&fit->partition), merit = cofi_criterion_given(fit, likelihood);
    run->record[run->n_records] =
        (cof_restart_record){.objective = fit->log.objective,
                             .log_likelihood = likelihood,
                             .rebuilds = fit->log.rebuild,
                             .passes = fit->log.n_passes,
                             .stop_reason = fit->log.stop,
                             .criterion = merit,
                             .by_likelihood = fit->log.refiner == COFI_BY_LIKELIHOOD};
    run->in_place = run->n_records == 0 || cofi_clearly_larger(merit, run->best_criterion);
    if (run->in_place) {
        run->best = run->n_records;
        run->best_criterion = merit;
    }
    cof_status status = cofi_agreement_note(&fit->partition, &run->agreement, run->n_records++, err);
    bool last = fit->log.restart + 1 == fit->host.o.restarts || fit->log.stopped;
    if (status != COF_OK || !run->in_place || last || !restores_by_partition(run)) return status;
    return cofi_partition_keep(&fit->partition, &run->kept, err);
}

/* A restart that would end where an earlier one did. */
static void repeat(cofi_restarts *run, uint32_t earlier)
{
    run->record[run->n_records] = run->record[earlier];
    cofi_agreement_repeat(&run->agreement, run->n_records++, earlier);
    run->in_place = false;
}

/* A start's time is all of it, not only that of its passes. */
static cof_status run_start(cofi_restarts *run, uint32_t *same_as, cof_error *err)
{
    cofi_log *log = &run->fit.log;
    double began_s = cofi_now_s(), before_s = log->start_s;
    *same_as = COFI_NONE;
    log->n_passes = log->rebuild = 0;
    log->stop = COF_STOP_STOPPED;
    log->refiner = COFI_BY_METHOD;
    cofi_rng_seed(&run->fit.rng, run->fit.host.o.seed, log->restart);
    cofi_partition_forget(&run->fit.partition);
    cof_status status = run->start->run(&run->fit, run->start_state, same_as, err);
    log->start_s = before_s + (cofi_now_s() - began_s);
    return status;
}

static cof_status run_restart(cofi_restarts *run, cof_error *err)
{
    cofi_fit *fit = &run->fit;
    uint32_t same_as;
    cof_status status = run_start(run, &same_as, err);
    if (status != COF_OK) return status;
    if (same_as != COFI_NONE) {
        repeat(run, same_as);
        return COF_OK;
    }
    if (!fit->log.stopped || fit->partition.known) status = fit->method->run(fit, run->method_state, err);
    if (status != COF_OK || !fit->partition.known) return status; /* stopped before a first pass */
    return judge(run, err);
}

/* Leaves the fit as the best restart left it. */
static cof_status restore_best(cofi_restarts *run, cof_error *err)
{
    cofi_fit *fit = &run->fit;
    cof_status status = COF_OK;
    fit->log.restart = run->best;
    if (restores_by_partition(run)) {
        if (!run->in_place) status = cofi_partition_recall(&fit->partition, run->kept, err);
        fit->log.refiner = run->record[run->best].by_likelihood ? COFI_BY_LIKELIHOOD : COFI_BY_METHOD;
        return status == COF_OK ? fit->method->restore(fit, run->method_state, err) : status;
    }
    if (run->in_place) return COF_OK;
    bool stopped = fit->log.stopped;
    size_t n_history = fit->log.n_history;
    uint32_t same_as;
    fit->host.env.should_stop = NULL; /* what was kept is finished, whatever the host says now */
    fit->host.env.progress = NULL;
    fit->log.stopped = false;
    status = run_start(run, &same_as, err);
    if (status == COF_OK) status = fit->method->run(fit, run->method_state, err);
    fit->log.n_history = n_history;
    fit->log.stopped = stopped;
    return status;
}

cof_status cofi_restarts_run(cofi_restarts *run, cof_error *err)
{
    cofi_fit *fit = &run->fit;
    cofi_log *log = &fit->log;
    cof_status status = COF_OK;
    for (log->restart = 0; log->restart < fit->host.o.restarts && !log->stopped; log->restart++) {
        if (!cofi_log_stopped(&fit->host, log)) status = run_restart(run, err);
        if (status != COF_OK) return status;
    }
    if (run->n_records == 0)
        return cofi_fail(err, COF_ERR_STOPPED, "stopped before there was a partition to keep");
    status = restore_best(run, err);
    if (status == COF_OK)
        status =
            cofi_agreement_measure(&fit->host, &run->agreement, run->n_records, run->best, &run->ari, err);
    if (status == COF_OK)
        status = cofi_agreement_clusters(&fit->host, &fit->partition, &run->agreement, run->record,
                                         run->n_records, run->best, &run->overlap, &run->n_good, err);
    return status;
}

void cofi_restarts_tell(const cofi_restarts *run, cof_fit_info *info)
{
    const cofi_fit *fit = &run->fit;
    const cofi_problem *p = fit->problem;
    const cof_restart_record *best = &run->record[run->best];
    *info = (cof_fit_info){.objective = best->objective,
                           .log_likelihood = best->log_likelihood,
                           .best_restart = run->best,
                           .n_restarts = run->n_records,
                           .rebuilds = best->rebuilds,
                           .passes = best->passes,
                           .stop_reason = fit->log.stopped ? COF_STOP_STOPPED : best->stop_reason,
                           .n_rows = p->n_table_rows - p->n_dropped,
                           .n_dropped = p->n_dropped,
                           .n_distinct_rows = p->n_distinct,
                           .n_empty = cofi_count_empty(&fit->partition),
                           .threads = cofi_team_size(fit->host.team),
                           .kernel = fit->partition.rows->ops->kernel(&fit->partition),
                           .row_visits = fit->log.visits,
                           .mixture_log_likelihood = NAN,
                           .bic = NAN,
                           .restarts = fit->host.o.restarts,
                           .init = fit->host.o.init,
                           .select = fit->host.o.select,
                           .log_likelihood_of_one = cofi_log_likelihood_of_one(&fit->partition),
                           .start_s = fit->log.start_s,
                           .pass_s = fit->log.pass_s,
                           .forest_s = fit->log.forest_s};
    if (p->n_numeric > 0) info->log_likelihood_of_one = NAN;
    if (fit->host.o.k == 1)
        info->log_likelihood_of_one = best->log_likelihood; /* the same but for rounding */
    if (fit->method->tell != NULL) fit->method->tell(fit, run->method_state, info);
}

cof_status cofi_restarts_open(cofi_rows *rows, const cofi_method *method, const cofi_start *start,
                              const cof_fit_options *options, cofi_restarts *run, cof_error *err)
{
    memset(run, 0, sizeof *run);
    run->start = start;
    cof_status status = cofi_fit_open(rows, method, options, &run->fit, err);
    if (status != COF_OK) return status;
    run->record = cofi_alloc(&run->fit.host.env, options->restarts, sizeof *run->record);
    if (run->record == NULL) return cofi_no_memory(err);
    status = cofi_agreement_open(&run->fit.host, rows->problem->n_table_rows, &run->agreement, err);
    if (status == COF_OK && method->open != NULL) status = method->open(&run->fit, &run->method_state, err);
    if (status == COF_OK && start->open != NULL) status = start->open(&run->fit, &run->start_state, err);
    return status;
}

void cofi_restarts_close(cofi_restarts *run)
{
    const cof_env *env = &run->fit.host.env;
    if (env->release == NULL) return; /* never opened */
    const cofi_method *method = run->fit.method;
    if (run->start->close != NULL) run->start->close(&run->fit, run->start_state);
    if (method->close != NULL) method->close(&run->fit, run->method_state);
    cofi_agreement_close(&run->fit.host, &run->agreement);
    cofi_kept_free(&run->fit.partition, run->kept);
    cofi_release(env, run->ari);
    cofi_release(env, run->overlap);
    cofi_release(env, run->record);
    cofi_fit_close(&run->fit);
}
