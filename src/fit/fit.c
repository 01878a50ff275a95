/* The method: restarts of Algorithm 1, the best one kept. */
#include "engine.h"
#include "harvest.h"

enum { DEFAULT_CAP = 51, MOST_PASSES = 1000000, DEFAULT_RESTARTS = 10 };

typedef struct fit_run {
    cofi_engine e;
    uint64_t *built, *met; /* hashes: partitions forests were built from; those of one inner loop */
    int32_t *kept, *turn;  /* labels: of the best restart so far; of the best partition of a cycle */
    cof_restart_record *record;
    uint32_t n_records, best;
    double best_criterion;
    bool in_pass; /* the engine holds the best restart's labels still */
    bool stopped;
} fit_run;

/* ---- Algorithm 1 -------------------------------------------------------------------------------- */

static cof_status record_pass(cofi_engine *e, uint64_t moved, cof_error *err)
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

static void build_forest(cofi_engine *e)
{
    double before = cofi_now_s();
    cofi_forest_build(&e->forest, e->pass.count, e->pass.size);
    cofi_trace_distances(e);
    e->forest_s += cofi_now_s() - before;
}

/* How many passes ago the partition was met; 0: never. */
static uint32_t passes_since(const uint64_t *met, uint32_t n_met, uint64_t hash)
{
    for (uint32_t back = 1; back <= n_met; back++)
        if (met[n_met - back] == hash) return back;
    return 0;
}

/* The inner loop: scores from the profiles, rows to their nearest cluster, until none moves. Where partitions
 * come back in turn instead, it ends with the one that running up to the cap would have ended with. */
static cof_status settle_rows(fit_run *run, bool record, cof_stop *stop, cof_error *err)
{
    cofi_engine *e = &run->e;
    uint32_t n_met = 0, last = e->o.max_passes;
    run->met[n_met++] = e->pass.hash;
    *stop = COF_STOP_CAP;
    for (uint32_t pass = 1; pass <= last; pass++) {
        cofi_profile_update(e);
        cofi_scores_trace(e);
        uint64_t moved = cofi_engine_pass(e, COF_PHASE_FIT);
        e->objective = cofi_objective(e);
        cof_status status = record ? record_pass(e, moved, err) : COF_OK;
        if (status != COF_OK) return status;
        run->stopped = moved > 0 && cofi_should_stop(&e->env);
        if (moved == 0 || run->stopped) {
            *stop = run->stopped ? COF_STOP_STOPPED : COF_STOP_CONVERGED;
            return COF_OK;
        }
        uint32_t period = *stop == COF_STOP_CYCLE ? 0 : passes_since(run->met, n_met, e->pass.hash);
        if (period > 0) {
            *stop = COF_STOP_CYCLE;
            last = pass + (last - pass) % period;
        }
        if (n_met <= e->o.max_passes) run->met[n_met++] = e->pass.hash;
    }
    return COF_OK;
}

static double criterion(const cofi_engine *e)
{
    return e->o.select == COF_SELECT_OBJECTIVE ? -e->objective : cofi_log_likelihood(e);
}

static cof_status keep_labels(const fit_run *run, int32_t **to, cof_error *err)
{
    const cofi_engine *e = &run->e;
    size_t n = e->problem->rows.n_rows;
    if (*to == NULL) *to = cofi_alloc(&e->env, n, sizeof **to);
    if (*to == NULL) return cofi_no_memory(err);
    memcpy(*to, e->pass.label, n * sizeof **to);
    return COF_OK;
}

/* Once more around a cycle of `period` forests, then back to the best partition met on the way. */
static cof_status choose_in_cycle(fit_run *run, uint32_t period, cof_error *err)
{
    cofi_engine *e = &run->e;
    double best = criterion(e), best_objective = e->objective;
    uint32_t n_passes = e->n_passes; /* the way round was counted once */
    cof_status status = keep_labels(run, &run->turn, err);
    for (uint32_t step = 1; status == COF_OK && step < period && !run->stopped; step++) {
        cof_stop ignored;
        build_forest(e);
        status = settle_rows(run, false, &ignored, err);
        if (status != COF_OK || !cofi_clearly_larger(criterion(e), best)) continue;
        best = criterion(e);
        best_objective = e->objective;
        status = keep_labels(run, &run->turn, err);
    }
    if (status != COF_OK) return status;
    cofi_pass_set_labels(&e->pass, run->turn);
    e->objective = best_objective;
    e->n_passes = n_passes;
    return COF_OK;
}

/* The outer loop: a forest from the partition, a partition from the forest, until they agree. */
static cof_status refine(fit_run *run, cof_stop *stop, cof_error *err)
{
    cofi_engine *e = &run->e;
    e->n_passes = 0;
    for (e->rebuild = 0;; e->rebuild++) {
        run->built[e->rebuild] = e->pass.hash;
        build_forest(e);
        cof_status status = settle_rows(run, true, stop, err);
        if (status != COF_OK || *stop == COF_STOP_STOPPED) return status;
        if (e->pass.hash == run->built[e->rebuild])
            return COF_OK; /* converged, unless the inner loop was not */
        for (uint32_t earlier = 0; earlier < e->rebuild; earlier++) {
            if (e->pass.hash != run->built[earlier]) continue;
            *stop = COF_STOP_CYCLE;
            return choose_in_cycle(run, e->rebuild + 1 - earlier, err);
        }
        *stop = COF_STOP_CAP;
        if (e->rebuild + 1 == e->o.max_rebuilds) return COF_OK;
    }
}

/* ---- Restarts ----------------------------------------------------------------------------------- */

static cof_status judge(fit_run *run, cof_stop stop, cof_error *err)
{
    cofi_engine *e = &run->e;
    double merit = criterion(e);
    run->record[run->n_records] = (cof_restart_record){.objective = e->objective,
                                                       .log_likelihood = cofi_log_likelihood(e),
                                                       .rebuilds = e->rebuild,
                                                       .passes = e->n_passes,
                                                       .stop_reason = stop};
    run->in_pass = run->n_records == 0 || cofi_clearly_larger(merit, run->best_criterion);
    if (run->in_pass) {
        run->best = run->n_records;
        run->best_criterion = merit;
    }
    run->n_records++;
    if (!run->in_pass || e->o.restarts == 1 || run->stopped) return COF_OK;
    return keep_labels(run, &run->kept, err);
}

static cof_status run_restart(fit_run *run, cof_error *err)
{
    cofi_engine *e = &run->e;
    cof_stop stop = COF_STOP_STOPPED;
    e->n_passes = e->rebuild = 0;
    cofi_rng_seed(&e->rng, e->o.seed, e->restart);
    cof_status status = cofi_start(e, &run->stopped, err);
    if (status != COF_OK) return status;
    if (run->stopped && e->pass.hash == 0) return COF_OK; /* not even a first pass */
    cofi_profile_update(e);
    if (run->stopped) { /* the start's partition, as far as it came, with the L its own forest gives it */
        build_forest(e);
        cofi_scores_trace(e);
        e->objective = cofi_objective(e);
    } else {
        status = refine(run, &stop, err);
        if (status != COF_OK) return status;
    }
    return judge(run, stop, err);
}

static cof_status run_restarts(fit_run *run, cof_error *err)
{
    cofi_engine *e = &run->e;
    for (e->restart = 0; e->restart < e->o.restarts && !run->stopped; e->restart++) {
        run->stopped = cofi_should_stop(&e->env);
        if (run->stopped) break;
        cof_status status = run_restart(run, err);
        if (status != COF_OK) return status;
    }
    if (run->n_records > 0) return COF_OK;
    return cofi_fail(err, COF_ERR_STOPPED, "stopped before there was a partition to keep");
}

/* Leaves the engine with the kept partition, its forest and its scores. */
static void restore_best(fit_run *run)
{
    cofi_engine *e = &run->e;
    if (!run->in_pass) cofi_pass_set_labels(&e->pass, run->kept);
    build_forest(e);
    cofi_profile_clear(e);
    cofi_profile_update(e);
    cofi_scores_trace(e);
}

/* ---- The call ----------------------------------------------------------------------------------- */

static cof_status check_range(int32_t value, int32_t last, const char *what, cof_error *err)
{
    if (value >= 0 && value <= last) return COF_OK;
    return cofi_fail(err, COF_ERR_ARGUMENT, "there is no %s number %d", what, (int)value);
}

static cof_status resolve_options(const cof_fit_options *given, cof_fit_options *o, cof_error *err)
{
    COFI_COPY_OPTIONS(o, given);
    if (o->k == 0) return cofi_fail(err, COF_ERR_ARGUMENT, "the number of clusters k must be at least 1");
    cof_status status = check_range(o->variant, COF_VARIANT_AUTHORS, "variant", err);
    if (status == COF_OK) status = check_range(o->init, COF_INIT_CAO, "start", err);
    if (status == COF_OK) status = check_range(o->select, COF_SELECT_OBJECTIVE, "selection rule", err);
    if (status == COF_OK)
        status = check_range(o->missing, COF_MISSING_ERROR, "treatment of missing values", err);
    if (status != COF_OK) return status;
    if (o->max_rebuilds > MOST_PASSES || o->max_passes > MOST_PASSES || o->restarts > MOST_PASSES)
        return cofi_fail(err, COF_ERR_ARGUMENT, "restarts, rebuilds and passes are limited to %d",
                         MOST_PASSES);
    if (o->max_rebuilds == 0) o->max_rebuilds = DEFAULT_CAP;
    if (o->max_passes == 0) o->max_passes = DEFAULT_CAP;
    if (o->restarts == 0) o->restarts = DEFAULT_RESTARTS;
    if (o->init_rows != NULL || o->init == COF_INIT_CAO) o->restarts = 1; /* no chance, so no second chance */
    return COF_OK;
}

static void fill_info(const fit_run *run, const cofi_problem *p, double prepare_s, double began_s,
                      cof_fit_info *info)
{
    const cofi_engine *e = &run->e;
    const cof_restart_record *best = &run->record[run->best];
    *info = (cof_fit_info){.objective = best->objective,
                           .log_likelihood = best->log_likelihood,
                           .best_restart = run->best,
                           .n_restarts = run->n_records,
                           .rebuilds = best->rebuilds,
                           .passes = best->passes,
                           .stop_reason = run->stopped ? COF_STOP_STOPPED : best->stop_reason,
                           .n_rows = p->n_table_rows - p->n_dropped,
                           .n_dropped = p->n_dropped,
                           .n_distinct_rows = p->n_distinct,
                           .threads = cofi_team_size(e->team),
                           .kernel = e->pass.kernel->name,
                           .row_visits = e->pass.visits,
                           .prepare_s = prepare_s,
                           .start_s = e->start_s,
                           .pass_s = e->pass_s,
                           .forest_s = e->forest_s,
                           .fit_s = cofi_now_s() - began_s};
    for (uint32_t j = 0; j < e->o.k; j++) info->n_empty += e->pass.size[j] == 0;
}

static cof_status open_run(const cofi_problem *p, const cof_fit_options *o, fit_run *run, cof_error *err)
{
    memset(run, 0, sizeof *run);
    cof_status status = cofi_engine_open(p, o, &run->e, err);
    if (status != COF_OK) return status;
    run->built = cofi_alloc(&p->env, o->max_rebuilds, sizeof *run->built);
    run->met = cofi_alloc(&p->env, (size_t)o->max_passes + 1, sizeof *run->met);
    run->record = cofi_alloc(&p->env, o->restarts, sizeof *run->record);
    return run->built != NULL && run->met != NULL && run->record != NULL ? COF_OK : cofi_no_memory(err);
}

static void close_run(fit_run *run, const cof_env *env)
{
    void *owned[] = {run->built, run->met, run->kept, run->turn, run->record};
    for (size_t b = 0; b < sizeof owned / sizeof *owned; b++) cofi_release(env, owned[b]);
    cofi_engine_close(&run->e);
}

cof_status cof_fit(const cof_table *table, const cof_fit_options *options, cof_model **out,
                   cof_fit_info *info, cof_error *err)
{
    cof_fit_options o;
    cofi_problem problem;
    fit_run run = {.n_records = 0};
    double began_s = cofi_now_s();
    cof_status status = resolve_options(options, &o, err);
    if (status != COF_OK) return status;
    status = cofi_problem_open(table, &o, &problem, err);
    double prepare_s = cofi_now_s() - began_s;
    if (status == COF_OK) status = open_run(&problem, &o, &run, err);
    if (status == COF_OK) status = run_restarts(&run, err);
    if (status == COF_OK) {
        cof_fit_info own;
        restore_best(&run);
        fill_info(&run, &problem, prepare_s, began_s, &own);
        status = cofi_harvest(&run.e, run.record, run.n_records, out, err);
        if (status == COF_OK) run.record = NULL; /* the model's now */
        if (status == COF_OK && info != NULL) cofi_return_struct(info, &own, sizeof own);
    }
    close_run(&run, &table->env);
    cofi_problem_close(&problem);
    return status;
}
