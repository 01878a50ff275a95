#include "trials.h"

#include "../fit/runner.h"
#include "../fit/scores.h"

#include <assert.h>

/* The trial of one restart. Clusters are numbered in order of first appearance, so equal partitions have equal labels. */
typedef struct trial {
    bool done; /* false: the host asked to stop, or the time was up */
    uint64_t visits;
    cofi_refiner refiner;
    bool shared;    /* a later trial began with the same partition */
    int32_t *label; /* per row of the sample */
} trial;

/* What every trial goes through, each step for all trials before the next. */
typedef enum trial_step { START, IMPROVE, REFINE } trial_step;

struct cofi_trials {
    cofi_problem problem;
    cofi_rows *rows;
    /* the same rows without the values that none of them holds; the trials run on these */
    cofi_problem tight_problem;
    cofi_rows *tight_rows;
    trial *trial; /* per restart */
    uint32_t restarts;
    /* of one run */
    const cofi_trial_start *start;
    trial_step step;
    uint32_t *same_as; /* per restart: as in cofi_start.prepare; at first, of its first partition */
    uint32_t *queue;   /* the restarts in the order in which a step is run */
};

cof_status cofi_trials_open(cofi_fit *fit, size_t n, cofi_trials **out, cof_error *err)
{
    cofi_trials *t = cofi_blocks_add_zero(&fit->own, 1, sizeof *t);
    if (t == NULL) return cofi_no_memory(err);
    uint32_t restarts = t->restarts = fit->host.o.restarts;
    cof_status status = cofi_rows_sample(fit->partition.rows, fit->host.team, n, fit->partition.k,
                                         &t->problem, &t->rows, err);
    bool varied = status == COF_OK && t->problem.n_distinct >= fit->partition.k;
    if (varied) status = cofi_rows_renumber(t->rows, &t->tight_problem, &t->tight_rows, err);
    if (varied && status == COF_OK) {
        t->trial = cofi_blocks_add_zero(&fit->own, restarts, sizeof *t->trial);
        t->queue = cofi_blocks_add(&fit->own, restarts, sizeof *t->queue);
        int32_t *label = cofi_blocks_add(&fit->own, n * restarts, sizeof *label);
        status = cofi_blocks_status(&fit->own, err);
        for (uint32_t r = 0; status == COF_OK && r < restarts; r++) t->trial[r].label = label + n * r;
    }
    if (varied && status == COF_OK)
        *out = t;
    else
        cofi_trials_close(t);
    return status;
}

void cofi_trials_close(cofi_trials *t)
{
    if (t == NULL) return;
    cofi_rows_close(t->tight_rows);
    cofi_problem_close(&t->tight_problem);
    cofi_rows_close(t->rows);
    cofi_problem_close(&t->problem);
}

cofi_rows *cofi_trials_rows(const cofi_trials *t)
{
    return t->rows;
}

/* ---- One trial ------------------------------------------------------------------------------------ */

/* Keeps the labels of the fit's partition. */
static cof_status keep_labels(const cofi_fit *fit, int32_t *label, cof_error *err)
{
    uint32_t n_numbered = 0, k = fit->partition.k;
    uint32_t *number = cofi_alloc(&fit->problem->env, k, sizeof *number);
    if (number == NULL) return cofi_no_memory(err);
    cof_status status = cofi_partition_labels(&fit->partition, NULL, fit->problem->n_table_rows, label, err);
    memset(number, 0xFF, k * sizeof *number);
    for (size_t i = 0; status == COF_OK && i < fit->problem->n_table_rows; i++) {
        if (number[label[i]] == COFI_NONE) number[label[i]] = n_numbered++;
        label[i] = (int32_t)number[label[i]];
    }
    cofi_release(&fit->problem->env, number);
    return status;
}

/* Makes the first partition. */
static cof_status run_start(const cofi_trials *t, cofi_lane *lane, cof_error *err)
{
    cofi_fit *fit = &lane->fit;
    fit->log.n_history = 0;
    cofi_rng_seed(&fit->rng, fit->host.o.seed, fit->log.restart);
    cofi_blocks_release(&fit->scratch);
    cofi_partition_forget(&fit->partition);
    COFI_TRY(t->start->run(fit, err));
    return fit->partition.known ? COF_OK : fit->method->run(fit, lane->method_state, err); /* was stopped */
}

/* Runs a step of a trial from the labels that the last step left. Restart 0 has to end with some partition. */
static cof_status run_step(void *ctx, cofi_lane *lane, uint32_t restart, cof_error *err)
{
    cofi_trials *t = ctx;
    cofi_fit *fit = &lane->fit;
    trial *of = &t->trial[restart];
    uint64_t visits = fit->log.visits, moved;
    fit->log.restart = restart;
    fit->log.stopped = lane->stopped;
    if (t->step == START) {
        COFI_TRY(run_start(t, lane, err));
    } else {
        fit->log.refiner = of->refiner;
        COFI_TRY(cofi_partition_take(&fit->partition, of->label, &moved, err));
        cofi_profile_clear(fit);
        COFI_TRY(t->step == IMPROVE ? t->start->improve(fit, lane->start_state, err)
                                    : fit->method->run(fit, lane->method_state, err));
    }
    COFI_TRY(keep_labels(fit, of->label, err));
    of->visits += fit->log.visits - visits;
    of->refiner = fit->log.refiner;
    of->done = restart == 0 || !fit->log.stopped;
    return COF_OK;
}

/* ---- All trials ----------------------------------------------------------------------------------- */

/* Whether what follows is the same for both. Improving does not ask for the refiner. */
static bool are_same(const trial *a, const trial *b, size_t n_rows, bool any_refiner)
{
    return (any_refiner || a->refiner == b->refiner) &&
           memcmp(a->label, b->label, n_rows * sizeof *a->label) == 0;
}

/* Finds the trials that repeat an earlier one, and those that were not done. */
static void find_same(cofi_trials *t, bool any_refiner)
{
    for (uint32_t r = 0; r < t->restarts; r++) {
        const trial *of = &t->trial[r];
        if (!of->done && t->same_as[r] == COFI_NONE) t->same_as[r] = r;
        for (uint32_t earlier = 0; earlier < r && t->same_as[r] == COFI_NONE; earlier++)
            if (t->same_as[earlier] == COFI_NONE &&
                are_same(&t->trial[earlier], of, t->problem.n_table_rows, any_refiner))
                t->same_as[r] = earlier;
        uint32_t first = t->same_as[r];
        if (first < r && t->same_as[first] != COFI_NONE) t->same_as[r] = t->same_as[first];
    }
}

/* Runs a step of the trials that do not repeat an earlier one. Before EM, partitions that one start alone found come first:
 * they are often poor, so that EM takes longer, and the last job should be short. */
static cof_status run_all(cofi_trials *t, cofi_runner *runner, trial_step step, cof_error *err)
{
    cofi_jobs jobs = {.queue = t->queue, .run = run_step, .ctx = t, .first_begins = true};
    t->step = step;
    for (uint32_t r = 0; r < t->restarts; r++) t->trial[r].shared = false;
    for (uint32_t r = 0; r < t->restarts && step == IMPROVE; r++)
        if (t->same_as[r] < r) t->trial[t->same_as[r]].shared = true;
    for (int shared = 0; shared < 2; shared++)
        for (uint32_t r = 0; r < t->restarts; r++)
            if (t->trial[r].shared == shared && t->same_as[r] == COFI_NONE) t->queue[jobs.n++] = r;
    for (uint32_t at = 0; at < jobs.n; at++) t->trial[t->queue[at]].done = t->queue[at] == 0;
    return cofi_runner_run(runner, &jobs, err);
}

/* Gives trials that began with the same partition what was made of it. */
static void share_improved(cofi_trials *t)
{
    size_t n = t->problem.n_table_rows;
    for (uint32_t r = 0; r < t->restarts; r++) {
        uint32_t earlier = t->same_as[r];
        t->same_as[r] = COFI_NONE;
        if (earlier >= r) continue;
        memcpy(t->trial[r].label, t->trial[earlier].label, n * sizeof *t->trial[r].label);
        t->trial[r].done = t->trial[earlier].done;
    }
}

static cof_status run_steps(cofi_trials *t, const cofi_fit *whole, cofi_runner *runner, cof_error *err)
{
    const cof_fit_options *o = &whole->host.o;
    for (cofi_lane *lane = runner->lane; lane < runner->lane + runner->n_lanes; lane++) {
        COFI_TRY(
            cofi_lane_open(lane, t->tight_rows, whole->method, o, runner->n_lanes > 1 ? 1 : o->threads, err));
        COFI_TRY(t->start->open(&lane->fit, &lane->start_state, err));
    }
    COFI_TRY(run_all(t, runner, START, err));
    find_same(t, true);
    COFI_TRY(run_all(t, runner, IMPROVE, err));
    share_improved(t);
    find_same(t, false);
    COFI_TRY(run_all(t, runner, REFINE, err));
    find_same(t, false);
    return COF_OK;
}

cof_status cofi_trials_run(cofi_trials *t, const cofi_trial_start *start, cofi_fit *fit, uint32_t n_lanes,
                           uint32_t *same_as, cof_error *err)
{
    cofi_runner runner = {.n_lanes = 0};
    cof_env env = t->problem.env;
    env.progress = NULL; /* the host is told only about passes over the table */
    t->start = start;
    t->same_as = same_as;
    cof_status status = cofi_runner_open(&runner, &env, n_lanes, err);
    runner.began_s = fit->host.began_s;
    runner.limit_s = fit->host.o.time_limit_s;
    if (status == COF_OK) status = run_steps(t, fit, &runner, err);
    cofi_runner_close(&runner);
    for (uint32_t r = 0; status == COF_OK && r < t->restarts; r++) fit->log.visits += t->trial[r].visits;
    return status;
}

cof_status cofi_trials_join(const cofi_trials *t, cofi_fit *fit, cofi_partition *partition, cof_error *err)
{
    uint32_t restart = fit->log.restart, same = t->same_as[restart];
    assert(same != restart); /* restarts that are left out do not run */
    const trial *of = &t->trial[same < restart ? same : restart];
    uint64_t moved;
    COFI_TRY(cofi_partition_take(partition, of->label, &moved, err));
    fit->log.refiner = of->refiner;
    cofi_scores_likelihood(fit, partition);
    return COF_OK;
}
