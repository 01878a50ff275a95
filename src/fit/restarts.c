/* Restarts of a method, the best one kept. */
#include "restarts.h"

#include "criterion.h"

#include <assert.h>
#include <math.h>

/* ---- How restarts share the threads ---------------------------------------------------------------- */

enum {
    SMALL_CELLS = 1 << 22, /* rows x attributes; up to this, every thread has a restart of its own */
    MIDDLE_WORK = 1 << 29, /* cells x clusters; up to this, two restarts with many values share the threads */
    SMALL_ENTRIES = 1 << 20, /* values x clusters; with more, a table has many values */
    MOST_ENTRIES = 5 << 19,  /* with many values, up to this two restarts run in parallel, above it one */
    LANE_WORK = 1 << 18,     /* cells x clusters of all restarts; below it, starting threads takes longer */
    RESTART_WORK = 1 << 12,  /* what a restart takes besides its cells, in cells x clusters */
    PORTFOLIO_TIMES = 8,     /* work of a restart of the portfolio, in restarts from a random start */
    ROUND_ENTRIES = 1 << 22  /* values x clusters x lanes, in rounds */
};

static uint32_t least(uint32_t a, double b)
{
    return b < a ? (uint32_t)b : a;
}

/* Chooses the lanes and opens them. Whether restarts run in parallel depends on the table and the options, not on the number of
 * threads. In a large table with few values the rows keep all threads busy; the work for many values would not. */
static cof_status open_runner(cofi_restarts *run, cofi_rows *rows, const cofi_method *method,
                              const cof_fit_options *o, cof_error *err)
{
    const cofi_problem *p = rows->problem;
    double cells = (double)p->n_walked * (double)p->n_attrs;
    double entries = (double)cofi_n_flat(p) * cofi_stride(o->k);
    double times = o->init == COF_INIT_PORTFOLIO ? PORTFOLIO_TIMES : 1;
    double work = o->restarts * (times * cells * o->k + RESTART_WORK);
    bool pairs = (method->flags & COFI_METHOD_PAIRS) != 0; /* such a method has large tables for each lane */
    bool alone =
        pairs || (method->flags & COFI_METHOD_ROW_BY_ROW) != 0 || p->n_numeric > 0 || p->one_at_a_time;
    bool small = cells <= SMALL_CELLS && entries <= SMALL_ENTRIES;
    bool middle = entries > SMALL_ENTRIES && cells * o->k <= MIDDLE_WORK;
    bool side_by_side = o->restarts > 1 && !alone && entries <= MOST_ENTRIES && (small || middle);
    uint32_t threads = o->threads == 0 ? cof_n_cores() : o->threads;
    uint32_t n_lanes = !side_by_side || work < LANE_WORK ? 1 : least(threads, small ? o->restarts : 2);
    uint32_t n_rounds =
        pairs ? 1 : least(cofi_rounds_most(p), fmin(o->restarts, ROUND_ENTRIES / (entries + 1)));
    run->n_prepares = pairs || entries > MOST_ENTRIES ? 1 : least(threads, o->restarts);
    COFI_TRY(n_rounds > 1 ? cofi_runner_open_rounds(&run->runner, rows, n_rounds, o->threads, err)
                          : cofi_runner_open(&run->runner, &run->env, n_lanes, err));
    bool rounds = run->runner.rounds != NULL;
    run->reports = side_by_side || rounds;
    run->runner.tells_passes = !run->reports;
    run->runner.limit_s = o->time_limit_s;
    run->lane_threads = rounds || (side_by_side && small) ? 1 : o->threads;
    return COF_OK;
}

/* The lanes after the first are opened later, because the preparation of starts does not need them. */
static cof_status open_lane(cofi_restarts *run, uint32_t l, cofi_rows *rows, const cofi_method *method,
                            const cof_fit_options *o, cof_error *err)
{
    cofi_lane *lane = &run->runner.lane[l];
    const cofi_lane *first = run->runner.lane;
    COFI_TRY(cofi_lane_open(lane, rows, method, o, run->lane_threads, err));
    lane->fit.host.coarser = first->fit.host.coarser;
    return run->start->open == NULL
               ? COF_OK
               : run->start->open(&lane->fit, l > 0 ? first->start_state : NULL, &lane->start_state, err);
}

/* ---- One restart ---------------------------------------------------------------------------------- */

/* With quantities, the partition alone does not determine the means. */
static bool restores_by_partition(const cofi_fit *fit)
{
    return fit->method->restore != NULL && fit->problem->n_numeric == 0;
}

static void begin_restart(cofi_fit *fit, uint32_t restart)
{
    cofi_log *log = &fit->log;
    log->restart = restart;
    log->n_passes = log->rebuild = 0;
    log->stop = COF_STOP_STOPPED;
    log->refiner = COFI_BY_METHOD;
    log->nearer_other = NAN;
    cofi_blocks_release(&fit->scratch);
    cofi_rng_seed(&fit->rng, fit->host.o.seed, restart);
    cofi_partition_forget(&fit->partition);
}

/* The likelihood of the rows if the clusters are the classes of a mixture; of a large table, of evenly spaced rows. */
static cof_status measure_mixture(cofi_fit *fit, cofi_mixture **mixture, double *log_likelihood,
                                  cof_error *err)
{
    enum { ROWS = 1 << 14 };
    if (*mixture == NULL) COFI_TRY(cofi_mixture_open(fit, ROWS, false, mixture, err));
    cofi_mixture_begin(fit, *mixture);
    return cofi_mixture_expect(fit, *mixture, log_likelihood, err);
}

/* Measures the partition of the restart, and keeps it if it is the best of the lane. */
static cof_status record_restart(cofi_restarts *run, cofi_lane *lane, uint32_t restart, cof_error *err)
{
    const cofi_fit *fit = &lane->fit;
    cofi_lane_best *best = &run->best_of[lane - run->runner.lane];
    cofi_tree_gains tree = {.of_one = run->dependence.of_one};
    COFI_TRY(
        cofi_dependence_measure(&run->dependence, fit->host.team, &fit->partition, &tree.of_clusters, err));
    double likelihood = cofi_log_likelihood(&fit->partition);
    if (run->gains != NULL) run->gains[restart] = cofi_gains_measure(&fit->partition, likelihood, tree);
    double merit = cofi_criterion_given(fit, likelihood, run->gains != NULL ? &run->gains[restart] : NULL);
    if (fit->host.o.select == COF_SELECT_MIXTURE)
        COFI_TRY(measure_mixture(&lane->fit, &best->mixture, &merit, err));
    run->record[restart] = (cof_restart_record){.objective = fit->log.objective,
                                                .log_likelihood = likelihood,
                                                .rebuilds = fit->log.rebuild,
                                                .passes = fit->log.n_passes,
                                                .stop_reason = fit->log.stop,
                                                .criterion = merit,
                                                .by_likelihood = fit->log.refiner == COFI_BY_LIKELIHOOD};
    best->holds = restart;
    bool better = !best->compared || cofi_clearly_larger(merit, best->criterion);
    if (better) best->criterion = merit;
    best->compared = true;
    COFI_TRY(cofi_agreement_note(&fit->partition, &run->agreement, restart, err));
    bool last = restart + 1 == fit->host.o.restarts || fit->log.stopped;
    if (!better || last || !restores_by_partition(fit)) return COF_OK;
    best->kept_restart = restart;
    return cofi_partition_keep(&fit->partition, &best->kept, err);
}

static void set_done(cofi_restarts *run, uint32_t restart, uint32_t lane)
{
    run->place[restart].lane = lane;
    atomic_store(&run->place[restart].done, true);
}

static cof_status run_restart(void *ctx, cofi_lane *lane, uint32_t restart, cof_error *err)
{
    cofi_restarts *run = ctx;
    cofi_fit *fit = &lane->fit;
    cofi_log *log = &fit->log;
    cofi_restart_place *place = &run->place[restart];
    uint32_t l = (uint32_t)(lane - run->runner.lane);
    double began_s = cofi_now_s(), before_s = log->start_s;
    place->first = log->n_history;
    run->best_of[l].holds = COFI_NONE;
    log->stopped = lane->stopped;
    begin_restart(fit, restart);
    COFI_TRY(run->start->run(fit, lane->start_state, err));
    log->start_s = before_s + (cofi_now_s() - began_s); /* all that a start does, not only its passes */
    if (!log->stopped || fit->partition.known) COFI_TRY(fit->method->run(fit, lane->method_state, err));
    if (!fit->partition.known) return COF_OK; /* stopped before the first pass */
    COFI_TRY(record_restart(run, lane, restart, err));
    place->n = log->n_history - place->first;
    set_done(run, restart, l);
    return COF_OK;
}

/* The result of a restart that would repeat an earlier one, if that has one. */
static void repeat_earlier(cofi_restarts *run, uint32_t restart)
{
    uint32_t earlier = run->place[restart].same_as;
    if (earlier == COFI_NONE || !atomic_load(&run->place[earlier].done)) return;
    assert(earlier < restart);
    run->record[restart] = run->record[earlier];
    if (run->gains != NULL) run->gains[restart] = run->gains[earlier];
    cofi_agreement_repeat(&run->agreement, restart, earlier);
    set_done(run, restart, run->place[earlier].lane);
}

/* Reports the finished restarts to the host in their order, so that progress does not depend on the number of
 * threads. */
static void report_restarts(void *ctx)
{
    cofi_restarts *run = ctx;
    const cofi_fit *fit = &run->runner.lane[0].fit;
    for (; run->n_reported < fit->host.o.restarts; run->n_reported++) {
        const cof_restart_record *record = &run->record[run->n_reported];
        repeat_earlier(run, run->n_reported);
        if (!atomic_load(&run->place[run->n_reported].done)) return;
        if (run->env.progress == NULL) continue;
        cof_progress now = {.phase = COF_PHASE_FIT,
                            .restart = run->n_reported + 1,
                            .restarts = fit->host.o.restarts,
                            .rebuild = record->rebuilds,
                            .pass = record->passes,
                            .total = fit->problem->n_table_rows,
                            .elapsed_s = cofi_now_s() - fit->host.began_s,
                            .k = fit->host.o.k};
        run->env.progress(run->env.ctx, &now);
    }
}

/* ---- The best restart ----------------------------------------------------------------------------- */

/* Removes the places of restarts that were stopped before they had a partition. */
static void close_gaps(cofi_restarts *run, uint32_t restarts)
{
    for (uint32_t r = 0; r < restarts; r++) {
        if (run->place[r].lane == COFI_NONE) continue;
        uint32_t to = run->n_records++;
        if (to == r) continue;
        run->record[to] = run->record[r];
        if (run->gains != NULL) run->gains[to] = run->gains[r];
        run->place[to].lane = run->place[r].lane;
        run->place[to].first = run->place[r].first;
        run->place[to].n = run->place[r].n;
        cofi_agreement_repeat(&run->agreement, to, r);
        cofi_lane_best *best = &run->best_of[run->place[r].lane];
        if (best->holds == r) best->holds = to;
        if (best->kept_restart == r) best->kept_restart = to;
    }
}

/* Joins the histories of all restarts in their order. */
static cof_status collect_history(cofi_restarts *run, cof_error *err)
{
    size_t n = 0;
    for (uint32_t r = 0; r < run->n_records; r++) n += run->place[r].n;
    run->history = cofi_alloc(&run->env, n, sizeof *run->history);
    if (run->history == NULL) return cofi_no_memory(err);
    for (uint32_t r = 0; r < run->n_records; r++) {
        const cofi_restart_place *place = &run->place[r];
        for (size_t at = 0; at < place->n; at++) {
            cof_pass_record pass = run->runner.lane[place->lane].fit.log.history[place->first + at];
            pass.restart = r;
            run->history[run->n_history++] = pass;
        }
    }
    return COF_OK;
}

/* Where no restart is likelier than a single cluster, gains tell nothing, and the restart that agrees best with the others
 * is kept. */
static cof_status compare_by_agreement(cofi_restarts *run, cof_error *err)
{
    double *mean;
    if (run->runner.lane[0].fit.host.o.select != COF_SELECT_BALANCE) return COF_OK;
    for (uint32_t r = 0; r < run->n_records; r++)
        if (run->record[r].criterion > COFI_NO_GAIN) return COF_OK;
    cof_status status =
        cofi_agreement_typical(&run->runner.lane[0].fit.host, &run->agreement, run->n_records, &mean, err);
    for (uint32_t r = 0; mean != NULL && r < run->n_records; r++) run->record[r].criterion += mean[r];
    cofi_release(&run->env, mean);
    return status;
}

cof_status cofi_restarts_restore(cofi_restarts *run, uint32_t restart, cof_error *err)
{
    uint32_t l = run->place[restart].lane;
    assert(restart < run->n_records && l < run->runner.n_lanes);
    cofi_lane *lane = &run->runner.lane[l];
    cofi_lane_best *best = &run->best_of[l];
    cofi_fit *fit = run->fit = &lane->fit;
    bool by_partition = restores_by_partition(fit);
    fit->log.restart = restart;
    if (best->holds != restart && by_partition && best->kept_restart == restart) {
        COFI_TRY(cofi_partition_recall(&fit->partition, best->kept, err));
    } else if (best->holds != restart) { /* runs again; the result is needed, so nothing stops it */
        uint64_t visits = fit->log.visits;
        fit->host.env.should_stop = NULL;
        fit->host.env.progress = NULL;
        fit->log.stopped = false;
        begin_restart(fit, restart);
        COFI_TRY(run->start->run(fit, lane->start_state, err));
        COFI_TRY(fit->method->run(fit, lane->method_state, err));
        fit->log.visits = visits; /* those of the first run are counted */
    }
    best->holds = restart;
    if (!by_partition) return COF_OK;
    fit->log.refiner = run->record[restart].by_likelihood ? COFI_BY_LIKELIHOOD : COFI_BY_METHOD;
    return fit->method->restore(fit, lane->method_state, err);
}

/* ---- Other partitions that are nearly as good ------------------------------------------------------ */

/* Makes the alternative that o.keep asks for the kept restart, and the kept one the first alternative. */
static cof_status keep_alternative(cofi_restarts *run, const cofi_host *host, cof_error *err)
{
    uint32_t at = host->o.keep - 2, best = run->best;
    if (at >= run->alternatives.n)
        return cofi_fail(
            err, COF_ERR_NO_RESULT,
            "there is no partition number %u: besides the best, this fit has %u that is nearly as good "
            "and differs; leave out --keep, or give a smaller number",
            host->o.keep, run->alternatives.n);
    run->best = run->alternatives.restart[at];
    for (; at > 0; at--) run->alternatives.restart[at] = run->alternatives.restart[at - 1];
    run->alternatives.restart[0] = best;
    cofi_release(&run->env, run->ari);
    return cofi_agreement_measure(host, &run->agreement, run->n_records, run->best, &run->ari, err);
}

/* ---- All restarts ---------------------------------------------------------------------------------- */

static cof_status stopped_early(cof_error *err)
{
    return cofi_fail(err, COF_ERR_STOPPED, "stopped before there was a partition");
}

/* What starts do for all restarts before the first. A restart that they leave out was stopped. */
static cof_status prepare_starts(cofi_restarts *run, cof_error *err)
{
    cofi_lane *lane = run->runner.lane;
    uint32_t restarts = lane->fit.host.o.restarts;
    double began_s = cofi_now_s();
    if (run->start->prepare == NULL) return COF_OK;
    if (cofi_should_stop(&run->env)) return stopped_early(err);
    uint32_t *same_as = cofi_blocks_add(&run->own, restarts, sizeof *same_as);
    if (same_as == NULL) return cofi_no_memory(err);
    for (uint32_t r = 0; r < restarts; r++) same_as[r] = COFI_NONE;
    COFI_TRY(run->start->prepare(&lane->fit, lane->start_state, run->n_prepares, same_as, err));
    for (uint32_t r = 0; r < restarts; r++) {
        run->place[r].same_as = same_as[r];
        if (same_as[r] == r)
            atomic_store(cofi_runner_is_time_up(&run->runner) ? &run->runner.timed_out : &run->runner.stopped,
                         true);
    }
    lane->fit.log.start_s += cofi_now_s() - began_s;
    return COF_OK;
}

/* Restores the kept restart, and lets the method improve it. */
static cof_status finish_best(cofi_restarts *run, cof_error *err)
{
    cofi_restart_place *place = &run->place[run->best];
    cofi_lane *lane = &run->runner.lane[place->lane];
    cofi_fit *fit = &lane->fit;
    cof_restart_record *record = &run->record[run->best];
    bool held = run->best_of[place->lane].holds == run->best;
    size_t first = held ? place->first : fit->log.n_history; /* of the passes of this restart */
    COFI_TRY(cofi_restarts_restore(run, run->best, err));
    if (fit->method->finish == NULL) return COF_OK;
    COFI_TRY(fit->method->finish(fit, lane->method_state, !atomic_load(&run->runner.stopped), err));
    place->first = first;
    place->n = fit->log.n_history - first;
    record->objective = fit->log.objective;
    record->passes = fit->log.n_passes;
    record->stop_reason = fit->log.stop;
    record->log_likelihood = cofi_log_likelihood(&fit->partition);
    if (fit->host.o.select == COF_SELECT_OBJECTIVE) record->criterion = -record->objective;
    COFI_TRY(cofi_agreement_note(&fit->partition, &run->agreement, run->best, err));
    cofi_release(&run->env, run->ari);
    run->ari = NULL;
    return cofi_agreement_measure(&run->runner.lane[0].fit.host, &run->agreement, run->n_records, run->best,
                                  &run->ari, err);
}

cof_status cofi_restarts_run(cofi_restarts *run, cof_error *err)
{
    const cofi_fit *first = &run->runner.lane[0].fit;
    const cofi_host *host = &first->host;
    cofi_jobs jobs = {.run = run_restart,
                      .report = run->reports ? report_restarts : NULL,
                      .ctx = run,
                      .first_begins = run->start->prepare != NULL};
    COFI_TRY(prepare_starts(run, err));
    uint32_t *queue = cofi_blocks_add(&run->own, host->o.restarts, sizeof *queue);
    if (queue == NULL) return cofi_no_memory(err);
    for (uint32_t r = 0; r < host->o.restarts; r++)
        if (run->place[r].same_as == COFI_NONE) queue[jobs.n++] = r;
    jobs.queue = queue;
    for (uint32_t l = 1; l < run->runner.n_lanes; l++)
        COFI_TRY(open_lane(run, l, first->partition.rows, first->method, &host->o, err));
    COFI_TRY(cofi_runner_run(&run->runner, &jobs, err));
    for (uint32_t r = 0; r < host->o.restarts; r++) repeat_earlier(run, r);
    if (run->reports) report_restarts(run);
    close_gaps(run, host->o.restarts);
    if (run->n_records == 0) return stopped_early(err);
    COFI_TRY(compare_by_agreement(run, err));
    for (uint32_t r = 1; r < run->n_records; r++) /* a later restart must be better by more than rounding */
        if (cofi_clearly_larger(run->record[r].criterion, run->record[run->best].criterion)) run->best = r;
    COFI_TRY(cofi_agreement_measure(host, &run->agreement, run->n_records, run->best, &run->ari, err));
    bool wanted = run->gains != NULL && (!host->o.no_alternatives || host->o.keep > 1);
    if (wanted && !atomic_load(&run->runner.stopped)) /* an interrupted run ends without them */
        COFI_TRY(cofi_alternatives_find(host, &run->agreement, run->record, run->gains, run->n_records,
                                        run->best, run->ari, &run->alternatives, err));
    if (host->o.keep > 1) COFI_TRY(keep_alternative(run, host, err));
    COFI_TRY(finish_best(run, err));
    COFI_TRY(collect_history(run, err));
    return cofi_agreement_clusters(host, &run->fit->partition, &run->agreement, run->record, run->n_records,
                                   run->best, &run->overlap, &run->n_good, err);
}

void cofi_restarts_tell(const cofi_restarts *run, cof_fit_info *info)
{
    const cofi_fit *fit = run->fit;
    const cofi_problem *p = fit->problem;
    const cof_restart_record *best = &run->record[run->best];
    const cofi_runner *runner = &run->runner;
    const cofi_rounds *rounds = runner->rounds;
    uint32_t lane_threads = cofi_team_size(fit->host.team);
    double share = rounds != NULL ? 1.0 / runner->n_lanes : 1; /* lanes wait for each other's requests */
    *info = (cof_fit_info){.objective = best->objective,
                           .log_likelihood = best->log_likelihood,
                           .best_restart = run->best,
                           .n_restarts = run->n_records,
                           .rebuilds = best->rebuilds,
                           .passes = best->passes,
                           .stop_reason = atomic_load(&runner->timed_out) ? COF_STOP_TIME
                                          : atomic_load(&runner->stopped) ? COF_STOP_STOPPED
                                                                          : best->stop_reason,
                           .n_rows = p->n_table_rows - p->n_dropped,
                           .n_dropped = p->n_dropped,
                           .n_distinct_rows = p->n_distinct,
                           .n_empty = cofi_count_empty(&fit->partition),
                           .threads = rounds != NULL                   ? cofi_rounds_threads(rounds)
                                      : lane_threads > runner->n_lanes ? lane_threads
                                                                       : runner->n_lanes,
                           .kernel = fit->partition.kernel,
                           .mixture_log_likelihood = NAN,
                           .bic = NAN,
                           .aic = NAN,
                           .icl = NAN,
                           .n_parameters = NAN,
                           .restarts = fit->host.o.restarts,
                           .init = fit->host.o.init,
                           .select = fit->host.o.select,
                           .log_likelihood_of_one = cofi_log_likelihood_of_one(&fit->partition),
                           .gamma = p->n_numeric > 0 ? fit->gamma : NAN,
                           .aic3 = NAN,
                           .bic_adjusted = NAN,
                           .entropy_r_squared = NAN,
                           .g_squared = NAN,
                           .x_squared = NAN,
                           .df = NAN,
                           .p_g_squared = NAN,
                           .p_x_squared = NAN};
    for (uint32_t l = 0; l < runner->n_lanes; l++) {
        const cofi_log *log = &runner->lane[l].fit.log;
        info->row_visits += log->visits;
        info->start_s += share * log->start_s;
        info->pass_s += share * log->pass_s;
        info->forest_s += share * log->forest_s;
    }
    if (p->n_numeric > 0) info->log_likelihood_of_one = NAN;
    if (fit->host.o.k == 1)
        info->log_likelihood_of_one = best->log_likelihood; /* equal except for rounding */
    if (fit->method->tell != NULL)
        fit->method->tell(fit, runner->lane[run->place[run->best].lane].method_state, info);
}

/* ---- Opening -------------------------------------------------------------------------------------- */

cof_status cofi_restarts_open(cofi_rows *rows, const cofi_method *method, const cofi_start *start,
                              const cof_fit_options *options, cofi_restarts *run, cof_error *err)
{
    const cofi_problem *p = rows->problem;
    bool by_gains = options->select == COF_SELECT_BALANCE || options->select == COF_SELECT_MIXTURE;
    memset(run, 0, sizeof *run);
    run->env = run->own.env = p->env;
    run->start = start;
    COFI_TRY(open_runner(run, rows, method, options, err));
    run->best_of = cofi_blocks_add_zero(&run->own, run->runner.n_lanes, sizeof *run->best_of);
    run->place = cofi_blocks_add_zero(&run->own, options->restarts, sizeof *run->place);
    run->record = cofi_alloc(&run->env, options->restarts, sizeof *run->record);
    if (by_gains) run->gains = cofi_blocks_add(&run->own, options->restarts, sizeof *run->gains);
    if (run->own.short_of_memory || run->record == NULL) return cofi_no_memory(err);
    for (uint32_t l = 0; l < run->runner.n_lanes; l++)
        run->best_of[l].kept_restart = run->best_of[l].holds = COFI_NONE;
    for (uint32_t r = 0; r < options->restarts; r++) run->place[r].lane = run->place[r].same_as = COFI_NONE;
    COFI_TRY(open_lane(run, 0, rows, method, options, err));
    if (options->select == COF_SELECT_BALANCE && options->restarts > 1)
        COFI_TRY(
            cofi_dependence_open(&run->own, rows, run->runner.lane[0].fit.host.team, &run->dependence, err));
    return cofi_agreement_open(&run->own, options->restarts, p->n_table_rows, &run->agreement, err);
}

void cofi_restarts_close(cofi_restarts *run)
{
    if (run->env.release == NULL) return; /* never opened */
    for (uint32_t l = run->runner.n_lanes; l-- > 0 && run->start->close != NULL;) {
        cofi_lane *lane = &run->runner.lane[l]; /* the first one last: the others use its start */
        if (lane->fit.host.env.release != NULL) run->start->close(&lane->fit, lane->start_state);
    }
    cofi_runner_close(&run->runner);
    COFI_RELEASE_ALL(&run->env, run->record, run->ari, run->overlap, run->history);
    cofi_blocks_release(&run->own);
}
