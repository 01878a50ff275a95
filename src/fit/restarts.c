/* Restarts of a method, the best one kept. */
#include "restarts.h"

#include "criterion.h"

#include <assert.h>
#include <math.h>

enum {
    SMALL_CELLS = 1 << 22, /* rows x attributes; up to this, every thread has a restart of its own */
    MIDDLE_WORK = 1 << 29, /* cells x clusters; up to this, two restarts with many values share the threads */
    SMALL_ENTRIES =
        1
        << 20, /* values x clusters; a table with more has many values. Each lane has several tables of this size */
    MOST_ENTRIES = 5 << 19, /* with many values, up to this two restarts run in parallel, above it one */
    LANE_WORK = 1 << 18,    /* see work_of; below it, starting threads takes longer */
    RESTART_WORK = 1 << 12, /* what a restart takes besides its cells, in cells x clusters */
    PORTFOLIO_TIMES = 8,    /* work of a restart of the portfolio, in restarts from a random start */
    ROUND_ENTRIES = 1 << 22 /* values x clusters x lanes, in rounds */
};

/* ---- The env of a lane ------------------------------------------------------------------ */

static bool is_time_up(const cofi_restarts *run)
{
    double limit_s = run->lane[0].fit.host.o.time_limit_s;
    return limit_s > 0 && cofi_now_s() - run->began_s >= limit_s;
}

/* The host is asked only on its own thread, which is that of the first lane, or in rounds that of none; the lanes use the
 * answer. When the time is up, the fit ends if a restart has ended; in rounds the other lanes leave that to the first. */
static int lane_should_stop(void *ctx)
{
    const cofi_lane *lane = ctx;
    cofi_restarts *run = lane->run;
    bool first = lane == run->lane;
    if (first && run->rounds == NULL && cofi_should_stop(&run->env)) atomic_store(&run->stopped, true);
    if (is_time_up(run)) {
        bool any_done = atomic_load(&run->any_done);
        if (any_done || (run->rounds != NULL && !first)) atomic_store(&run->timed_out, true);
        if (any_done) atomic_store(&run->stopped, true);
        if (run->rounds != NULL && !first) return 1;
    }
    return atomic_load(&run->stopped);
}

/* Only where restarts run one after the other; see tell_restarts. */
static void lane_progress(void *ctx, const cof_progress *progress)
{
    const cof_env *env = &((cofi_lane *)ctx)->run->env;
    env->progress(env->ctx, progress);
}

/* In rounds, the host is told between them. */
static void keep_progress(void *ctx, const cof_progress *progress)
{
    cofi_lane *lane = ctx;
    lane->progress = *progress;
    lane->has_progress = true;
}

static void *lane_alloc(void *ctx, size_t n_bytes)
{
    const cof_env *env = &((cofi_lane *)ctx)->run->env;
    return env->alloc(env->ctx, n_bytes);
}

static void lane_release(void *ctx, void *block)
{
    const cof_env *env = &((cofi_lane *)ctx)->run->env;
    env->release(env->ctx, block);
}

/* ---- One restart ---------------------------------------------------------------------------------- */

/* With quantities, the partition alone does not determine the means. */
static bool restores_by_partition(const cofi_fit *fit)
{
    return fit->method->restore != NULL && fit->problem->n_numeric == 0;
}

static void begin_restart(cofi_lane *lane, uint32_t restart)
{
    cofi_fit *fit = &lane->fit;
    cofi_log *log = &fit->log;
    log->restart = restart;
    log->n_passes = log->rebuild = 0;
    log->stop = COF_STOP_STOPPED;
    log->refiner = COFI_BY_METHOD;
    log->nearer_other = NAN;
    lane->holds = COFI_NONE;
    cofi_blocks_release(&fit->scratch);
    cofi_rng_seed(&fit->rng, fit->host.o.seed, restart);
    cofi_partition_forget(&fit->partition);
}

/* Start time includes everything that a start does, not only its passes. */
static cof_status run_start(cofi_lane *lane, cof_error *err)
{
    cofi_log *log = &lane->fit.log;
    double began_s = cofi_now_s(), before_s = log->start_s;
    cof_status status = lane->run->start->run(&lane->fit, lane->start_state, err);
    log->start_s = before_s + (cofi_now_s() - began_s);
    return status;
}

/* The likelihood of the rows if the clusters are the classes of a mixture; of a large table, of evenly spaced rows. */
static cof_status measure_mixture(cofi_lane *lane, double *log_likelihood, cof_error *err)
{
    enum { ROWS = 1 << 14 };
    cof_status status = COF_OK;
    if (lane->mixture == NULL) status = cofi_mixture_open(&lane->fit, ROWS, false, &lane->mixture, err);
    if (status != COF_OK) return status;
    cofi_mixture_begin(&lane->fit, lane->mixture);
    return cofi_mixture_expect(&lane->fit, lane->mixture, log_likelihood, err);
}

static cof_status judge(cofi_lane *lane, uint32_t restart, cof_error *err)
{
    cofi_restarts *run = lane->run;
    const cofi_fit *fit = &lane->fit;
    cofi_tree_gains tree = {.of_one = run->dependence.of_one};
    if (run->dependence.n_rows > 0)
        COFI_TRY(cofi_dependence_measure(&run->dependence, fit->host.team, &fit->partition, &tree.of_clusters,
                                         err));
    double likelihood = cofi_log_likelihood(&fit->partition);
    if (run->gains != NULL) run->gains[restart] = cofi_gains_measure(&fit->partition, likelihood, tree);
    double merit = cofi_criterion_given(fit, likelihood, run->gains != NULL ? &run->gains[restart] : NULL);
    if (fit->host.o.select == COF_SELECT_MIXTURE) COFI_TRY(measure_mixture(lane, &merit, err));
    run->record[restart] = (cof_restart_record){.objective = fit->log.objective,
                                                .log_likelihood = likelihood,
                                                .rebuilds = fit->log.rebuild,
                                                .passes = fit->log.n_passes,
                                                .stop_reason = fit->log.stop,
                                                .criterion = merit,
                                                .by_likelihood = fit->log.refiner == COFI_BY_LIKELIHOOD};
    lane->holds = restart;
    bool better = !lane->judged || cofi_clearly_larger(merit, lane->best_criterion);
    if (better) lane->best_criterion = merit;
    lane->judged = true;
    cof_status status = cofi_agreement_note(&fit->partition, &run->agreement, restart, err);
    bool last = restart + 1 == fit->host.o.restarts || fit->log.stopped;
    if (status != COF_OK || !better || last || !restores_by_partition(fit)) return status;
    lane->kept_restart = restart;
    return cofi_partition_keep(&fit->partition, &lane->kept, err);
}

/* False: it failed, and then the other lanes need not go on. */
static bool succeeds(cofi_lane *lane, cof_status status)
{
    lane->status = status;
    if (status != COF_OK) atomic_store(&lane->run->stopped, true);
    return status == COF_OK;
}

static void set_done(cofi_restarts *run, uint32_t restart, uint32_t lane)
{
    run->place[restart].lane = lane;
    atomic_store(&run->place[restart].done, true);
}

/* Its result would repeat that of an earlier one, or it is left out. */
static void repeat_earlier(cofi_restarts *run, uint32_t restart)
{
    uint32_t earlier = run->place[restart].same_as;
    if (run->place[earlier].lane == COFI_NONE) return; /* stopped before it had a partition */
    run->record[restart] = run->record[earlier];
    if (run->gains != NULL) run->gains[restart] = run->gains[earlier];
    cofi_agreement_repeat(&run->agreement, restart, earlier);
    set_done(run, restart, run->place[earlier].lane);
}

static void end_restart(cofi_lane *lane, uint32_t restart)
{
    cofi_restarts *run = lane->run;
    cofi_fit *fit = &lane->fit;
    cofi_restart_place *place = &run->place[restart];
    place->first = fit->log.n_history;
    if (!succeeds(lane, run_start(lane, &lane->err))) return;
    if ((!fit->log.stopped || fit->partition.known) &&
        !succeeds(lane, fit->method->run(fit, lane->method_state, &lane->err)))
        return;
    if (!fit->partition.known) return; /* stopped before the first pass */
    if (!succeeds(lane, judge(lane, restart, &lane->err))) return;
    place->n = fit->log.n_history - place->first;
    set_done(run, restart, (uint32_t)(lane - run->lane));
    if (!fit->log.stopped) atomic_store(&run->any_done, true);
}

/* On the host's thread. A restart that repeats an earlier one is done when that is. */
static bool is_done(cofi_restarts *run, uint32_t restart)
{
    uint32_t earlier = run->place[restart].same_as;
    if (earlier != COFI_NONE && atomic_load(&run->place[earlier].done)) repeat_earlier(run, restart);
    return atomic_load(&run->place[restart].done);
}

/* Reports the finished restarts to the host in their order, so that progress does not depend on the number of
 * threads. */
static void tell_restarts(cofi_restarts *run)
{
    const cofi_fit *fit = &run->lane[0].fit;
    while (run->n_told < fit->host.o.restarts && is_done(run, run->n_told)) {
        const cof_restart_record *record = &run->record[run->n_told++];
        if (run->env.progress == NULL) continue;
        cof_progress now = {.phase = COF_PHASE_FIT,
                            .restart = run->n_told,
                            .restarts = fit->host.o.restarts,
                            .rebuild = record->rebuilds,
                            .pass = record->passes,
                            .total = fit->problem->n_table_rows,
                            .elapsed_s = cofi_now_s() - fit->host.began_s,
                            .k = fit->host.o.k};
        run->env.progress(run->env.ctx, &now);
    }
}

/* After preparations the first restart always begins, so that a fit that is stopped has a result. */
static bool must_begin(const cofi_restarts *run, uint32_t restart)
{
    return restart == 0 && run->prepared;
}

static void restart_task(void *ctx, uint32_t worker, size_t number)
{
    cofi_restarts *run = ctx;
    cofi_lane *lane = &run->lane[worker];
    uint32_t restart = (uint32_t)number;
    bool stopped = cofi_log_stopped(&lane->fit.host, &lane->fit.log);
    if (lane->status != COF_OK || (stopped && !must_begin(run, restart))) return;
    if (run->place[restart].open) {
        run->place[restart].open = false;
        atomic_fetch_sub(&run->n_left, 1);
        begin_restart(lane, restart);
        end_restart(lane, restart);
        if (atomic_load(&run->n_left) == 0) atomic_fetch_sub(&run->n_busy, 1);
    } else if (!run->side_by_side && run->place[restart].same_as != COFI_NONE) {
        repeat_earlier(run, restart);
    }
    if (worker == 0 && run->side_by_side) tell_restarts(run);
}

/* ---- Rounds --------------------------------------------------------------------------------------- */

static void lane_task(void *ctx, uint32_t number)
{
    cofi_lane *lane = &((cofi_restarts *)ctx)->lane[number];
    end_restart(lane, lane->fit.log.restart);
}

/* All lanes wait. The host is told about the restarts that have ended, and the first that goes on. */
static void meet_host(void *ctx)
{
    cofi_restarts *run = ctx;
    cof_progress *news = NULL;
    uint64_t visits = 0;
    if (cofi_should_stop(&run->env)) atomic_store(&run->stopped, true);
    tell_restarts(run);
    for (uint32_t l = 0; l < run->n_lanes; l++) {
        if (run->lane[l].has_progress && news == NULL) news = &run->lane[l].progress;
        run->lane[l].has_progress = false;
        visits += run->lane[l].fit.log.visits;
    }
    if (news == NULL) return;
    if (news->elapsed_s > 0) news->rows_per_s = (double)visits / news->elapsed_s;
    run->env.progress(run->env.ctx, news);
}

/* Begins restarts, in their order, until every lane has one. Those that repeat an earlier one need no lane. */
static uint32_t fill_lanes(cofi_restarts *run, uint32_t *next, uint32_t restarts)
{
    uint32_t n = 0;
    for (; *next < restarts && n < run->n_lanes; (*next)++) {
        cofi_lane *lane = &run->lane[n];
        if (cofi_should_stop(&run->env)) atomic_store(&run->stopped, true);
        if (n > 0 && is_time_up(run)) atomic_store(&run->timed_out, true);
        bool stopped = atomic_load(&run->stopped) || atomic_load(&run->timed_out);
        if (stopped && !must_begin(run, *next)) break;
        if (!run->place[*next].open) continue;
        run->place[*next].open = false;
        begin_restart(lane, *next);
        n++;
    }
    return n;
}

/* Restarts that were begun get at least a partition, also if the host asks to stop. */
static void run_rounds(cofi_restarts *run, uint32_t restarts)
{
    for (uint32_t next = 0; next < restarts && (!atomic_load(&run->stopped) || must_begin(run, next));) {
        uint32_t first = next;
        uint32_t n = fill_lanes(run, &next, restarts);
        if (n > 0) cofi_rounds_run(run->rounds, n, lane_task, meet_host, run);
        for (uint32_t r = first; r < next; r++)
            if (run->place[r].same_as != COFI_NONE) repeat_earlier(run, r);
        if (atomic_load(&run->timed_out)) break;
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
        cofi_lane *lane = &run->lane[run->place[r].lane];
        if (lane->holds == r) lane->holds = to;
        if (lane->kept_restart == r) lane->kept_restart = to;
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
            cof_pass_record pass = run->lane[place->lane].fit.log.history[place->first + at];
            pass.restart = r;
            run->history[run->n_history++] = pass;
        }
    }
    return COF_OK;
}

/* Where no restart is likelier than a single cluster, gains tell nothing, and the restart that agrees best with the others
 * is kept. */
static cof_status judge_by_agreement(cofi_restarts *run, cof_error *err)
{
    double *mean;
    if (run->lane[0].fit.host.o.select != COF_SELECT_BALANCE) return COF_OK;
    for (uint32_t r = 0; r < run->n_records; r++)
        if (run->record[r].criterion > COFI_NO_GAIN) return COF_OK;
    cof_status status =
        cofi_agreement_typical(&run->lane[0].fit.host, &run->agreement, run->n_records, &mean, err);
    for (uint32_t r = 0; mean != NULL && r < run->n_records; r++) run->record[r].criterion += mean[r];
    cofi_release(&run->env, mean);
    return status;
}

/* The restart with the greatest criterion; a later one must exceed it by more than rounding. */
static uint32_t choose_best(const cofi_restarts *run)
{
    uint32_t best = 0;
    for (uint32_t r = 1; r < run->n_records; r++)
        if (cofi_clearly_larger(run->record[r].criterion, run->record[best].criterion)) best = r;
    return best;
}

/* Runs a finished restart again. Its result is needed, so a request to stop is ignored. */
static cof_status repeat_restart(cofi_lane *lane, uint32_t restart, cof_error *err)
{
    cofi_fit *fit = &lane->fit;
    fit->host.env.should_stop = NULL;
    fit->host.env.progress = NULL;
    fit->log.stopped = false;
    uint64_t visits = fit->log.visits; /* already counted in the first run */
    begin_restart(lane, restart);
    cof_status status = run_start(lane, err);
    if (status == COF_OK) status = fit->method->run(fit, lane->method_state, err);
    fit->log.visits = visits;
    return status;
}

cof_status cofi_restarts_restore(cofi_restarts *run, uint32_t restart, cof_error *err)
{
    cofi_lane *lane = &run->lane[run->place[restart].lane];
    cofi_fit *fit = run->fit = &lane->fit;
    bool by_partition = restores_by_partition(fit);
    cof_status status = COF_OK;
    fit->log.restart = restart;
    if (lane->holds != restart) {
        if (by_partition && lane->kept_restart == restart)
            status = cofi_partition_recall(&fit->partition, lane->kept, err);
        else
            status = repeat_restart(lane, restart, err);
    }
    lane->holds = restart;
    if (status != COF_OK || !by_partition) return status;
    fit->log.refiner = run->record[restart].by_likelihood ? COFI_BY_LIKELIHOOD : COFI_BY_METHOD;
    return fit->method->restore(fit, lane->method_state, err);
}

/* ---- Other partitions that are nearly as good ------------------------------------------------------ */

/* Makes the pick that o.keep asks for the kept restart, and the kept one the first pick. */
static cof_status keep_pick(cofi_restarts *run, const cofi_host *host, cof_error *err)
{
    uint32_t at = host->o.keep - 2, best = run->best;
    if (at >= run->picks.n)
        return cofi_fail(
            err, COF_ERR_NO_RESULT,
            "there is no partition number %u: besides the best, this fit has %u that is nearly as good "
            "and differs; leave out --keep, or give a smaller number",
            host->o.keep, run->picks.n);
    run->best = run->picks.restart[at];
    for (; at > 0; at--) run->picks.restart[at] = run->picks.restart[at - 1];
    run->picks.restart[0] = best;
    cofi_release(&run->env, run->ari);
    return cofi_agreement_measure(host, &run->agreement, run->n_records, run->best, &run->ari, err);
}

/* An interrupted run ends without them. */
static cof_status choose_picks(cofi_restarts *run, const cofi_host *host, cof_error *err)
{
    bool wanted = run->gains != NULL && (!host->o.no_alternatives || host->o.keep > 1);
    if (wanted && !atomic_load(&run->stopped))
        COFI_TRY(cofi_picks_find(host, &run->agreement, run->record, run->gains, run->n_records, run->best,
                                 run->ari, &run->picks, err));
    return host->o.keep > 1 ? keep_pick(run, host, err) : COF_OK;
}

/* ---- Lanes ------------------------------------------------------------------------------------------ */

static double count_entries(const cofi_problem *p, const cof_fit_options *o)
{
    return (double)cofi_n_flat(p) * cofi_stride(o->k);
}

static uint32_t count_threads(const cof_fit_options *o)
{
    return o->threads == 0 ? cof_n_cores() : o->threads;
}

/* Whether every thread may have a restart of its own. */
static bool is_small(const cofi_problem *p, const cof_fit_options *o)
{
    return (double)p->n_walked * (double)p->n_attrs <= SMALL_CELLS && count_entries(p, o) <= SMALL_ENTRIES;
}

static void set_env(cofi_restarts *run, cofi_lane *lane, const cof_fit_options *o)
{
    bool together = run->side_by_side || run->rounds != NULL, tells = run->env.progress != NULL;
    if (!together && o->time_limit_s <= 0) return;
    lane->fit.host.env = (cof_env){.struct_size = sizeof(cof_env),
                                   .alloc = lane_alloc,
                                   .release = lane_release,
                                   .should_stop = lane_should_stop,
                                   .progress = !tells || run->side_by_side ? NULL
                                               : run->rounds != NULL       ? keep_progress
                                                                           : lane_progress,
                                   .ctx = lane};
}

static cof_status open_lane(cofi_restarts *run, cofi_lane *lane, cofi_rows *rows, const cofi_method *method,
                            const cof_fit_options *options, cof_error *err)
{
    cof_fit_options o = *options;
    const void *first = lane != run->lane ? run->lane[0].start_state : NULL;
    if (run->rounds != NULL || (run->side_by_side && is_small(rows->problem, options))) o.threads = 1;
    lane->run = run;
    lane->kept_restart = lane->holds = COFI_NONE;
    COFI_TRY(cofi_fit_open(rows, method, &o, &lane->fit, err));
    lane->fit.host.o.threads = options->threads;
    set_env(run, lane, options);
    if (run->side_by_side) cofi_team_share(lane->fit.host.team, &run->n_busy);
    if (method->open != NULL) COFI_TRY(method->open(&lane->fit, &lane->method_state, err));
    return run->start->open != NULL ? run->start->open(&lane->fit, first, &lane->start_state, err) : COF_OK;
}

/* The lanes after the first, which are not needed before the starts are prepared. */
static cof_status open_other_lanes(cofi_restarts *run, cof_error *err)
{
    const cofi_fit *first = &run->lane[0].fit;
    for (uint32_t l = 1; l < run->n_lanes; l++) {
        cofi_fit *fit = &run->lane[l].fit;
        cofi_rows *rows = run->rounds != NULL ? cofi_rounds_rows(run->rounds, l) : first->partition.rows;
        COFI_TRY(open_lane(run, &run->lane[l], rows, first->method, &first->host.o, err));
        fit->host.coarser = first->host.coarser;
        fit->host.began_s = first->host.began_s;
    }
    return COF_OK;
}

/* ---- All restarts ---------------------------------------------------------------------------------- */

static cof_status stopped_early(cof_error *err)
{
    return cofi_fail(err, COF_ERR_STOPPED, "stopped before there was a partition");
}

/* What starts do for all restarts before the first. A restart that they leave out was stopped. */
static cof_status prepare_starts(cofi_restarts *run, cof_error *err)
{
    cofi_lane *lane = &run->lane[0];
    uint32_t restarts = lane->fit.host.o.restarts;
    double began_s = cofi_now_s();
    if (run->start->prepare == NULL) return COF_OK;
    if (cofi_should_stop(&run->env)) return stopped_early(err);
    uint32_t *same_as = cofi_blocks_add(&run->own, restarts, sizeof *same_as);
    if (same_as == NULL) return cofi_no_memory(err);
    for (uint32_t r = 0; r < restarts; r++) same_as[r] = COFI_NONE;
    COFI_TRY(run->start->prepare(&lane->fit, lane->start_state, run->n_prepares, same_as, err));
    run->prepared = true;
    for (uint32_t r = 0; r < restarts; r++) {
        run->place[r].same_as = same_as[r];
        if (same_as[r] == r) atomic_store(is_time_up(run) ? &run->timed_out : &run->stopped, true);
    }
    lane->fit.log.start_s += cofi_now_s() - began_s;
    return COF_OK;
}

/* Runs the restarts that are open. */
static void run_open(cofi_restarts *run, uint32_t restarts)
{
    uint32_t n_left = 0;
    for (uint32_t r = 0; r < restarts; r++) n_left += run->place[r].open;
    atomic_store(&run->n_left, n_left);
    atomic_store(&run->n_busy, n_left < run->n_lanes ? n_left : run->n_lanes);
    if (run->rounds != NULL)
        run_rounds(run, restarts);
    else
        cofi_team_run(run->team, restart_task, run, restarts);
    atomic_store(&run->n_busy, 0);
}

cof_status cofi_restarts_run(cofi_restarts *run, cof_error *err)
{
    uint32_t restarts = run->lane[0].fit.host.o.restarts;
    cof_status status = COF_OK;
    COFI_TRY(prepare_starts(run, err));
    COFI_TRY(open_other_lanes(run, err));
    for (uint32_t r = 0; r < restarts; r++) run->place[r].open = run->place[r].same_as == COFI_NONE;
    run_open(run, restarts);
    bool together = run->side_by_side || run->rounds != NULL;
    for (uint32_t r = 0; r < restarts; r++)
        if (run->place[r].same_as != COFI_NONE) repeat_earlier(run, r);
    if (together) tell_restarts(run);
    for (uint32_t l = 0; l < run->n_lanes; l++) {
        if (run->lane[l].fit.log.stopped) atomic_store(&run->stopped, true);
        if (status != COF_OK || run->lane[l].status == COF_OK) continue;
        status = run->lane[l].status;
        if (err != NULL) *err = run->lane[l].err;
    }
    if (status != COF_OK) return status;
    close_gaps(run, restarts);
    if (run->n_records == 0) return stopped_early(err);
    status = collect_history(run, err);
    if (status == COF_OK) status = judge_by_agreement(run, err);
    run->best = choose_best(run);
    const cofi_host *host = &run->lane[0].fit.host;
    if (status == COF_OK)
        status = cofi_agreement_measure(host, &run->agreement, run->n_records, run->best, &run->ari, err);
    if (status == COF_OK) status = choose_picks(run, host, err);
    if (status == COF_OK) status = cofi_restarts_restore(run, run->best, err);
    if (status == COF_OK)
        status = cofi_agreement_clusters(host, &run->fit->partition, &run->agreement, run->record,
                                         run->n_records, run->best, &run->overlap, &run->n_good, err);
    return status;
}

static uint32_t count_used_threads(const cofi_restarts *run)
{
    uint32_t in_lane = cofi_team_size(run->fit->host.team);
    return in_lane > run->n_lanes ? in_lane : run->n_lanes;
}

void cofi_restarts_tell(const cofi_restarts *run, cof_fit_info *info)
{
    const cofi_fit *fit = run->fit;
    const cofi_problem *p = fit->problem;
    const cof_restart_record *best = &run->record[run->best];
    double share = run->rounds != NULL ? 1.0 / run->n_lanes : 1; /* lanes wait for each other's requests */
    *info = (cof_fit_info){.objective = best->objective,
                           .log_likelihood = best->log_likelihood,
                           .best_restart = run->best,
                           .n_restarts = run->n_records,
                           .rebuilds = best->rebuilds,
                           .passes = best->passes,
                           .stop_reason = atomic_load(&run->timed_out) ? COF_STOP_TIME
                                          : atomic_load(&run->stopped) ? COF_STOP_STOPPED
                                                                       : best->stop_reason,
                           .n_rows = p->n_table_rows - p->n_dropped,
                           .n_dropped = p->n_dropped,
                           .n_distinct_rows = p->n_distinct,
                           .n_empty = cofi_count_empty(&fit->partition),
                           .threads = run->rounds != NULL ? cofi_rounds_threads(run->rounds)
                                                          : count_used_threads(run),
                           .kernel = fit->partition.rows->ops->kernel(&fit->partition),
                           .mixture_log_likelihood = NAN,
                           .bic = NAN,
                           .aic = NAN,
                           .icl = NAN,
                           .n_parameters = NAN,
                           .restarts = fit->host.o.restarts,
                           .init = fit->host.o.init,
                           .select = fit->host.o.select,
                           .log_likelihood_of_one = cofi_log_likelihood_of_one(&fit->partition)};
    for (uint32_t l = 0; l < run->n_lanes; l++) {
        const cofi_log *log = &run->lane[l].fit.log;
        info->row_visits += log->visits;
        info->start_s += share * log->start_s;
        info->pass_s += share * log->pass_s;
        info->forest_s += share * log->forest_s;
    }
    if (p->n_numeric > 0) info->log_likelihood_of_one = NAN;
    if (fit->host.o.k == 1)
        info->log_likelihood_of_one = best->log_likelihood; /* equal except for rounding */
    if (fit->method->tell != NULL)
        fit->method->tell(fit, run->lane[run->place[run->best].lane].method_state, info);
}

/* ---- Opening -------------------------------------------------------------------------------------- */

/* Whether restarts run in parallel. It depends on the table and the options, not on the number of threads. In a large table with
 * few values the rows keep all threads busy; the work for many values would not. */
static bool fits_side_by_side(const cofi_problem *p, const cofi_method *method, const cof_fit_options *o)
{
    bool alone =
        (method->flags & (COFI_METHOD_PAIRS | COFI_METHOD_ROW_BY_ROW)) != 0 || p->n_numeric > 0 || p->remote;
    return o->restarts > 1 && !alone && count_entries(p, o) <= MOST_ENTRIES &&
           (is_small(p, o) || (count_entries(p, o) > SMALL_ENTRIES &&
                               (double)p->n_walked * (double)p->n_attrs * o->k <= MIDDLE_WORK));
}

/* How many fits the preparations of starts may have at the same time. */
static uint32_t count_prepares(const cofi_problem *p, const cofi_method *method, const cof_fit_options *o)
{
    bool alone = (method->flags & COFI_METHOD_PAIRS) != 0 || count_entries(p, o) > MOST_ENTRIES;
    uint32_t n = count_threads(o);
    return alone ? 1 : n < o->restarts ? n : o->restarts;
}

/* The work of all restarts, in cells x clusters of a restart from a random start. */
static double work_of(const cofi_problem *p, const cof_fit_options *o)
{
    double times = o->init == COF_INIT_PORTFOLIO ? PORTFOLIO_TIMES : 1;
    return o->restarts * (times * (double)p->n_walked * (double)p->n_attrs * o->k + RESTART_WORK);
}

static uint32_t choose_lanes(const cofi_restarts *run, const cofi_problem *p, const cof_fit_options *o)
{
    uint32_t threads = count_threads(o);
    if (!run->side_by_side || work_of(p, o) < LANE_WORK) return 1;
    return is_small(p, o) || threads == 1 ? threads : 2;
}

/* How many restarts advance together over rows elsewhere. A method that compares attributes has large tables for each. */
static uint32_t count_rounds(const cofi_problem *p, const cofi_method *method, const cof_fit_options *o)
{
    uint64_t entries = (uint64_t)cofi_n_flat(p) * cofi_stride(o->k) + 1;
    uint32_t n = cofi_rounds_most(p);
    if ((method->flags & COFI_METHOD_PAIRS) != 0) return 1;
    if (n > o->restarts) n = o->restarts;
    return n > ROUND_ENTRIES / entries ? (uint32_t)(ROUND_ENTRIES / entries) : n;
}

static cof_status open_team(cofi_restarts *run, const cofi_problem *p, const cof_fit_options *o,
                            cof_error *err)
{
    COFI_TRY(cofi_team_open(&run->env, choose_lanes(run, p, o), &run->team, err));
    if (cofi_team_size(run->team) <= o->restarts) return COF_OK; /* every worker has a lane */
    cofi_team_close(run->team);
    run->team = NULL;
    return cofi_team_open(&run->env, o->restarts, &run->team, err);
}

cof_status cofi_restarts_open(cofi_rows *rows, const cofi_method *method, const cofi_start *start,
                              const cof_fit_options *options, cofi_restarts *run, cof_error *err)
{
    const cofi_problem *p = rows->problem;
    memset(run, 0, sizeof *run);
    run->env = run->own.env = p->env;
    run->start = start;
    run->began_s = cofi_now_s();
    run->side_by_side = fits_side_by_side(p, method, options);
    run->n_prepares = count_prepares(p, method, options);
    uint32_t n_rounds = count_rounds(p, method, options);
    if (n_rounds > 1) COFI_TRY(cofi_rounds_open(rows, n_rounds, options->threads, &run->rounds, err));
    if (run->rounds == NULL) COFI_TRY(open_team(run, p, options, err));
    run->n_lanes = run->rounds != NULL ? cofi_rounds_n(run->rounds) : cofi_team_size(run->team);
    run->lane = cofi_blocks_add_zero(&run->own, run->n_lanes, sizeof *run->lane);
    run->place = cofi_blocks_add_zero(&run->own, options->restarts, sizeof *run->place);
    run->record = cofi_alloc(&run->env, options->restarts, sizeof *run->record);
    if (options->select == COF_SELECT_BALANCE || options->select == COF_SELECT_MIXTURE)
        run->gains = cofi_blocks_add(&run->own, options->restarts, sizeof *run->gains);
    if (run->own.short_of_memory || run->record == NULL) return cofi_no_memory(err);
    for (uint32_t r = 0; r < options->restarts; r++) run->place[r].lane = run->place[r].same_as = COFI_NONE;
    COFI_TRY(open_lane(run, run->lane, run->rounds != NULL ? cofi_rounds_rows(run->rounds, 0) : rows, method,
                       options, err));
    if (options->select == COF_SELECT_BALANCE && options->restarts > 1)
        COFI_TRY(cofi_dependence_open(&run->own, rows, run->lane[0].fit.host.team, &run->dependence, err));
    return cofi_agreement_open(&run->own, options->restarts, p->n_table_rows, &run->agreement, err);
}

static void close_lane(cofi_restarts *run, cofi_lane *lane)
{
    cofi_fit *fit = &lane->fit;
    if (fit->host.env.release == NULL) return; /* never opened */
    if (run->start->close != NULL) run->start->close(fit, lane->start_state);
    cofi_fit_close(fit);
}

void cofi_restarts_close(cofi_restarts *run)
{
    if (run->env.release == NULL) return; /* never opened */
    for (uint32_t l = run->lane != NULL ? run->n_lanes : 0; l-- > 0;)
        close_lane(run, &run->lane[l]); /* the first one last: the others use its start */
    cofi_team_close(run->team);
    cofi_rounds_close(run->rounds);
    COFI_RELEASE_ALL(&run->env, run->record, run->ari, run->overlap, run->history);
    cofi_blocks_release(&run->own);
}
