#include "trials.h"

#include "../fit/scores.h"

/* The trial of one restart. Clusters are numbered in order of first appearance, so equal partitions have equal labels. */
typedef struct trial {
    bool done; /* false: the host asked to stop, or the time was up */
    uint64_t visits;
    cofi_refiner refiner;
    bool shared;    /* a later trial began with the same partition */
    int32_t *label; /* per row of the sample */
} trial;

/* One of the fits on the sample. */
typedef struct lane {
    cofi_fit fit;
    void *method_state, *start_state;
    uint32_t *number; /* k: number of each cluster in order of first appearance */
    cof_status status;
    cof_error err;
} lane;

struct cofi_trials {
    cofi_problem problem;
    cofi_rows *rows;
    /* the same rows without the values that none of them holds; the trials run on these */
    cofi_problem tight_problem;
    cofi_rows *tight_rows;
    trial *trial; /* per restart */
    /* of one run */
    const cofi_trial_start *start;
    const cofi_fit *whole;
    lane *lane;
    uint32_t *same_as;  /* per restart: as in cofi_start.prepare; at first, of its first partition */
    uint32_t *turn;     /* the restarts in the order in which they are improved */
    atomic_bool halted; /* lanes end as soon as they can */
};

cof_status cofi_trials_open(cofi_fit *fit, size_t n, cofi_trials **out, cof_error *err)
{
    uint32_t restarts = fit->host.o.restarts;
    cofi_trials *t = cofi_blocks_add_zero(&fit->own, 1, sizeof *t);
    if (t == NULL) return cofi_no_memory(err);
    cof_status status = cofi_rows_sample(fit->partition.rows, fit->host.team, n, fit->partition.k,
                                         &t->problem, &t->rows, err);
    bool varied = status == COF_OK && t->problem.n_distinct >= fit->partition.k;
    if (varied) status = cofi_rows_renumber(t->rows, &t->tight_problem, &t->tight_rows, err);
    if (varied && status == COF_OK) {
        t->trial = cofi_blocks_add_zero(&fit->own, restarts, sizeof *t->trial);
        t->turn = cofi_blocks_add(&fit->own, restarts, sizeof *t->turn);
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

static cof_status open_lane(cofi_trials *t, lane *l, const cof_fit_options *o, cof_error *err)
{
    const cofi_method *method = t->whole->method;
    COFI_TRY(cofi_fit_open(t->tight_rows, method, o, &l->fit, err));
    l->fit.host.env.progress = NULL; /* the host is told only about passes over the table */
    l->fit.host.halted = &t->halted;
    if (l != t->lane) l->fit.host.env.should_stop = NULL; /* only on the host's thread */
    l->number = cofi_blocks_add(&l->fit.own, o->k, sizeof *l->number);
    COFI_TRY(cofi_blocks_status(&l->fit.own, err));
    if (method->open != NULL) COFI_TRY(method->open(&l->fit, &l->method_state, err));
    return t->start->open(&l->fit, &l->start_state, err);
}

/* Notes the partition of the fit. */
static cof_status note_partition(lane *l, trial *of, cof_error *err)
{
    size_t n = l->fit.problem->n_table_rows;
    uint32_t n_numbered = 0;
    COFI_TRY(cofi_partition_labels(&l->fit.partition, NULL, n, of->label, err));
    memset(l->number, 0xFF, l->fit.partition.k * sizeof *l->number);
    for (size_t i = 0; i < n; i++) {
        uint32_t *number = &l->number[of->label[i]];
        if (*number == COFI_NONE) *number = n_numbered++;
        of->label[i] = (int32_t)*number;
    }
    return COF_OK;
}

static cof_status run_start(const cofi_trials *t, lane *l, uint32_t restart, cof_error *err)
{
    cofi_fit *fit = &l->fit;
    fit->log.n_history = 0;
    cofi_rng_seed(&fit->rng, fit->host.o.seed, restart);
    cofi_blocks_release(&fit->scratch);
    cofi_partition_forget(&fit->partition);
    COFI_TRY(t->start->run(fit, err));
    if (!fit->partition.known)
        COFI_TRY(fit->method->run(fit, l->method_state, err)); /* stopped before the first pass */
    return COF_OK;
}

/* Goes on from the partition that was noted. */
static cof_status take_up(const cofi_trials *t, lane *l, uint32_t restart, cof_error *err)
{
    cofi_fit *fit = &l->fit;
    uint64_t moved;
    fit->log.refiner = t->trial[restart].refiner;
    COFI_TRY(cofi_partition_take(&fit->partition, t->trial[restart].label, &moved, err));
    cofi_profile_clear(fit);
    return COF_OK;
}

static cof_status improve(const cofi_trials *t, lane *l, uint32_t restart, cof_error *err)
{
    COFI_TRY(take_up(t, l, restart, err));
    return t->start->improve(&l->fit, l->start_state, err);
}

static cof_status refine(const cofi_trials *t, lane *l, uint32_t restart, cof_error *err)
{
    COFI_TRY(take_up(t, l, restart, err));
    return l->fit.method->run(&l->fit, l->method_state, err);
}

/* The time limit leaves time for the first trial. */
static bool may_begin(cofi_trials *t, const lane *l, uint32_t restart)
{
    const cofi_host *host = &t->whole->host;
    double limit_s = host->o.time_limit_s;
    if (restart == 0) return true;
    if (limit_s > 0 && cofi_now_s() - host->began_s >= limit_s) atomic_store(&t->halted, true);
    return l->status == COF_OK && !atomic_load(&t->halted);
}

typedef cof_status (*step)(const cofi_trials *t, lane *l, uint32_t restart, cof_error *err);

/* Runs a step of a trial and notes the partition. The first restart has to end with some partition. */
static cof_status run_step(const cofi_trials *t, lane *l, step run, uint32_t restart, cof_error *err)
{
    cofi_fit *fit = &l->fit;
    trial *of = &t->trial[restart];
    uint64_t visits = fit->log.visits;
    fit->log.restart = restart;
    COFI_TRY(run(t, l, restart, err));
    COFI_TRY(note_partition(l, of, err));
    of->visits += fit->log.visits - visits;
    of->refiner = fit->log.refiner;
    of->done = restart == 0 || !fit->log.stopped;
    return COF_OK;
}

/* Does nothing for a trial that repeats an earlier one. */
static void step_task(cofi_trials *t, uint32_t worker, step run, size_t number)
{
    lane *l = &t->lane[worker];
    uint32_t restart = (uint32_t)number;
    if (t->same_as[restart] != COFI_NONE || l->status != COF_OK) return;
    if (restart > 0) t->trial[restart].done = false;
    if (!may_begin(t, l, restart)) return;
    l->status = run_step(t, l, run, restart, &l->err);
    if (l->status != COF_OK || l->fit.log.stopped) atomic_store(&t->halted, true);
}

static void start_task(void *ctx, uint32_t worker, size_t restart)
{
    step_task(ctx, worker, run_start, restart);
}

static void improve_task(void *ctx, uint32_t worker, size_t turn)
{
    const cofi_trials *t = ctx;
    step_task(ctx, worker, improve, t->turn[turn]);
}

static void refine_task(void *ctx, uint32_t worker, size_t restart)
{
    step_task(ctx, worker, refine, restart);
}

/* ---- All trials ----------------------------------------------------------------------------------- */

/* Whether what follows is the same for both. Improving does not ask for the refiner. */
static bool are_same(const trial *a, const trial *b, size_t n_rows, bool any_refiner)
{
    return (any_refiner || a->refiner == b->refiner) &&
           memcmp(a->label, b->label, n_rows * sizeof *a->label) == 0;
}

/* Finds the trials that repeat an earlier one, and those that were not done. */
static void find_same(cofi_trials *t, uint32_t restarts, bool any_refiner)
{
    for (uint32_t r = 0; r < restarts; r++) {
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

/* Partitions that one start alone found come first: they are often poor, so that EM takes longer, and the last task should
 * be short. */
static void choose_turns(cofi_trials *t, uint32_t restarts)
{
    uint32_t n = 0;
    for (uint32_t r = 0; r < restarts; r++) t->trial[r].shared = false;
    for (uint32_t r = 0; r < restarts; r++)
        if (t->same_as[r] < r) t->trial[t->same_as[r]].shared = true;
    for (int shared = 0; shared < 2; shared++)
        for (uint32_t r = 0; r < restarts; r++)
            if (t->trial[r].shared == shared) t->turn[n++] = r;
}

/* Gives trials that began with the same partition what was made of it. */
static void share_improved(cofi_trials *t, uint32_t restarts)
{
    size_t n = t->problem.n_table_rows;
    for (uint32_t r = 0; r < restarts; r++) {
        uint32_t earlier = t->same_as[r];
        t->same_as[r] = COFI_NONE;
        if (earlier >= r) continue;
        memcpy(t->trial[r].label, t->trial[earlier].label, n * sizeof *t->trial[r].label);
        t->trial[r].done = t->trial[earlier].done;
    }
}

static cof_status run_lanes(cofi_trials *t, cofi_team *team, uint32_t restarts, cof_error *err)
{
    cof_fit_options o = t->whole->host.o;
    uint32_t n = cofi_team_size(team);
    cof_status status = COF_OK;
    if (n > 1) o.threads = 1;
    for (uint32_t l = 0; status == COF_OK && l < n; l++) status = open_lane(t, &t->lane[l], &o, err);
    if (status == COF_OK) {
        cofi_team_run(team, start_task, t, restarts);
        find_same(t, restarts, true);
        choose_turns(t, restarts);
        cofi_team_run(team, improve_task, t, restarts);
        share_improved(t, restarts);
        find_same(t, restarts, false);
        cofi_team_run(team, refine_task, t, restarts);
        find_same(t, restarts, false);
    }
    for (uint32_t l = 0; l < n; l++) {
        if (status == COF_OK && t->lane[l].status != COF_OK) {
            status = t->lane[l].status;
            if (err != NULL) *err = t->lane[l].err;
        }
        cofi_fit_close(&t->lane[l].fit);
    }
    return status;
}

cof_status cofi_trials_run(cofi_trials *t, const cofi_trial_start *start, cofi_fit *fit, uint32_t n_lanes,
                           uint32_t *same_as, cof_error *err)
{
    const cof_env *env = &t->problem.env;
    cofi_team *team;
    COFI_TRY(cofi_team_open(env, n_lanes, &team, err));
    t->start = start;
    t->whole = fit;
    t->same_as = same_as;
    t->lane = cofi_alloc_zero(env, cofi_team_size(team), sizeof *t->lane);
    cof_status status = t->lane != NULL ? run_lanes(t, team, fit->host.o.restarts, err) : cofi_no_memory(err);
    cofi_release(env, t->lane);
    cofi_team_close(team);
    for (uint32_t r = 0; status == COF_OK && r < fit->host.o.restarts; r++)
        fit->log.visits += t->trial[r].visits;
    return status;
}

cof_status cofi_trials_join(const cofi_trials *t, cofi_fit *fit, cofi_partition *partition, cof_error *err)
{
    uint32_t restart = fit->log.restart, same = t->same_as[restart];
    const trial *of = &t->trial[same < restart ? same : restart];
    uint64_t moved;
    COFI_TRY(cofi_partition_take(partition, of->label, &moved, err));
    fit->log.refiner = of->refiner;
    cofi_scores_likelihood(fit, partition);
    return COF_OK;
}
