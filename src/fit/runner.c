#include "runner.h"

#include "method.h"

#include <assert.h>

/* ---- What a lane may call ------------------------------------------------------------------------- */

bool cofi_runner_is_time_up(const cofi_runner *run)
{
    return run->limit_s > 0 && cofi_now_s() - run->began_s >= run->limit_s;
}

/* Only the thread of the host calls its should_stop: that of the first lane, or in rounds none of a lane. The other lanes read
 * run->stopped. When the time is up, the lanes stop as soon as a job has ended; in rounds all but the first stop at once. */
static int lane_should_stop(void *ctx)
{
    cofi_lane *lane = ctx;
    cofi_runner *run = lane->runner;
    bool first = lane == run->lane, waits = first || run->rounds == NULL;
    if (first && run->rounds == NULL && cofi_should_stop(&run->env)) atomic_store(&run->stopped, true);
    if (cofi_runner_is_time_up(run)) {
        bool any_done = atomic_load(&run->any_done);
        if (any_done || !waits) atomic_store(&run->timed_out, true);
        if (any_done) atomic_store(&run->stopped, true);
        if (!waits) lane->stopped = true;
    }
    if (atomic_load(&run->stopped)) lane->stopped = true;
    return lane->stopped;
}

static void lane_progress(void *ctx, const cof_progress *progress)
{
    cofi_lane *lane = ctx;
    const cof_env *env = &lane->runner->env;
    if (lane->runner->rounds == NULL) {
        env->progress(env->ctx, progress);
        return;
    }
    lane->progress = *progress; /* the host is told between the rounds */
    lane->has_progress = true;
}

static void *lane_alloc(void *ctx, size_t n_bytes)
{
    const cof_env *env = &((cofi_lane *)ctx)->runner->env;
    return env->alloc(env->ctx, n_bytes);
}

static void lane_release(void *ctx, void *block)
{
    const cof_env *env = &((cofi_lane *)ctx)->runner->env;
    env->release(env->ctx, block);
}

/* ---- Running -------------------------------------------------------------------------------------- */

static bool must_begin(const cofi_runner *run, uint32_t job)
{
    return job == 0 && run->jobs->first_begins;
}

static void end_job(cofi_lane *lane, cof_status status)
{
    lane->status = status;
    if (status != COF_OK) atomic_store(&lane->runner->stopped, true);
    if (status == COF_OK && !lane->stopped) atomic_store(&lane->runner->any_done, true);
}

static void lane_task(void *ctx, uint32_t worker, size_t at)
{
    cofi_runner *run = ctx;
    cofi_lane *lane = &run->lane[worker];
    bool stops = lane_should_stop(lane) != 0;
    if (lane->status != COF_OK || (stops && !must_begin(run, run->jobs->queue[at]))) return;
    atomic_fetch_sub(&run->n_left, 1);
    lane->job = run->jobs->queue[at];
    end_job(lane, run->jobs->run(run->jobs->ctx, lane, lane->job, &lane->err));
    if (atomic_load(&run->n_left) == 0) atomic_fetch_sub(&run->n_busy, 1);
    if (worker == 0 && run->jobs->report != NULL) run->jobs->report(run->jobs->ctx);
}

static void round_task(void *ctx, uint32_t number)
{
    cofi_runner *run = ctx;
    cofi_lane *lane = &run->lane[number];
    end_job(lane, run->jobs->run(run->jobs->ctx, lane, lane->job, &lane->err));
}

/* All lanes wait. The host hears of the jobs that have ended, and of the first lane that goes on. */
static void meet_host(void *ctx)
{
    cofi_runner *run = ctx;
    cof_progress *news = NULL;
    uint64_t visits = 0;
    if (cofi_should_stop(&run->env)) atomic_store(&run->stopped, true);
    if (run->jobs->report != NULL) run->jobs->report(run->jobs->ctx);
    for (uint32_t l = 0; l < run->n_lanes; l++) {
        if (run->lane[l].has_progress && news == NULL) news = &run->lane[l].progress;
        run->lane[l].has_progress = false;
        visits += run->lane[l].fit.log.visits;
    }
    if (news == NULL) return;
    if (news->elapsed_s > 0) news->rows_per_s = (double)visits / news->elapsed_s;
    run->env.progress(run->env.ctx, news);
}

/* Gives every lane a job, and runs these until all have ended. A job that has begun leaves at least a partition, also if the
 * host asks to stop. */
static void run_in_rounds(cofi_runner *run)
{
    const cofi_jobs *jobs = run->jobs;
    for (uint32_t at = 0, n = 1; at < jobs->n && n > 0 && !atomic_load(&run->timed_out);) {
        for (n = 0; at < jobs->n && n < run->n_lanes; n++, at++) {
            if (cofi_should_stop(&run->env)) atomic_store(&run->stopped, true);
            if (n > 0 && cofi_runner_is_time_up(run)) atomic_store(&run->timed_out, true);
            bool stops = atomic_load(&run->stopped) || atomic_load(&run->timed_out);
            if (stops && !must_begin(run, jobs->queue[at])) break;
            run->lane[n].job = jobs->queue[at];
        }
        if (n > 0) cofi_rounds_run(run->rounds, n, round_task, meet_host, run);
    }
}

cof_status cofi_runner_run(cofi_runner *run, const cofi_jobs *jobs, cof_error *err)
{
    const cofi_lane *failed = NULL;
    assert(run->n_lanes > 0);
    run->jobs = jobs;
    atomic_store(&run->n_left, jobs->n);
    atomic_store(&run->n_busy, jobs->n < run->n_lanes ? jobs->n : run->n_lanes);
    if (run->rounds != NULL)
        run_in_rounds(run);
    else if (run->n_lanes == 1)
        for (uint32_t at = 0; at < jobs->n; at++) lane_task(run, 0, at);
    else
        cofi_team_run(run->team, lane_task, run, jobs->n);
    atomic_store(&run->n_busy, 0);
    for (const cofi_lane *lane = run->lane; lane < run->lane + run->n_lanes; lane++) {
        if (lane->stopped) atomic_store(&run->stopped, true);
        if (lane->status != COF_OK && (failed == NULL || lane->job < failed->job)) failed = lane;
    }
    if (failed == NULL) return COF_OK;
    if (err != NULL) *err = failed->err;
    return failed->status;
}

/* ---- Opening -------------------------------------------------------------------------------------- */

static cof_status open_lanes(cofi_runner *run, uint32_t n_lanes, cof_error *err)
{
    run->lane = cofi_alloc_zero(&run->env, n_lanes, sizeof *run->lane);
    if (run->lane == NULL) return cofi_no_memory(err);
    run->n_lanes = n_lanes;
    for (cofi_lane *lane = run->lane; lane < run->lane + n_lanes; lane++) {
        lane->runner = run;
        lane->env = (cof_env){.struct_size = sizeof(cof_env),
                              .alloc = lane_alloc,
                              .release = lane_release,
                              .should_stop = lane_should_stop,
                              .ctx = lane};
    }
    return COF_OK;
}

cof_status cofi_runner_open(cofi_runner *run, const cof_env *env, uint32_t n_lanes, cof_error *err)
{
    run->env = *env;
    run->began_s = cofi_now_s();
    COFI_TRY(cofi_team_open(env, n_lanes, &run->team, err));
    return open_lanes(run, cofi_team_size(run->team), err);
}

cof_status cofi_runner_open_rounds(cofi_runner *run, cofi_rows *rows, uint32_t n_lanes, uint32_t threads,
                                   cof_error *err)
{
    if (n_lanes > 1) COFI_TRY(cofi_rounds_open(rows, n_lanes, threads, &run->rounds, err));
    if (run->rounds == NULL) return cofi_runner_open(run, &rows->problem->env, 1, err);
    run->env = rows->problem->env;
    run->began_s = cofi_now_s();
    return open_lanes(run, cofi_rounds_n(run->rounds), err);
}

cof_status cofi_lane_open(cofi_lane *lane, cofi_rows *rows, const cofi_method *method,
                          const cof_fit_options *options, uint32_t threads, cof_error *err)
{
    cofi_runner *run = lane->runner;
    cof_fit_options o = *options;
    assert(lane->fit.host.env.release == NULL); /* it is opened once */
    bool hears = run->env.progress != NULL && (run->tells_passes || run->rounds != NULL);
    o.threads = threads;
    lane->env.progress = hears ? lane_progress : NULL;
    if (run->rounds != NULL) rows = cofi_rounds_rows(run->rounds, (uint32_t)(lane - run->lane));
    COFI_TRY(cofi_fit_open(rows, method, &o, &lane->fit, err));
    lane->fit.host.o.threads = options->threads;
    lane->fit.host.began_s = run->began_s;
    lane->fit.host.env = lane->env;
    if (run->n_lanes > 1) cofi_team_share(lane->fit.host.team, &run->n_busy);
    return method->open != NULL ? method->open(&lane->fit, &lane->method_state, err) : COF_OK;
}

void cofi_runner_close(cofi_runner *run)
{
    if (run->env.release == NULL) return; /* never opened */
    for (uint32_t l = 0; l < run->n_lanes; l++) cofi_fit_close(&run->lane[l].fit);
    cofi_team_close(run->team);
    cofi_rounds_close(run->rounds);
    cofi_release(&run->env, run->lane);
    memset(run, 0, sizeof *run);
}
