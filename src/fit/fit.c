/* Restarts of a method, the best one kept. */
#include "agreement.h"
#include "harvest.h"
#include "method.h"

#include <math.h>

enum { DEFAULT_CAP = 51, MOST_PASSES = 1000000 };
enum {
    DEFAULT_RESTARTS = 10,
    SMALL_RESTARTS = 20,
    SMALL_CELLS = 1 << 20, /* rows times attributes */
    MOST_RESTARTS = 100,
    RESTART_WORK = 1 << 21, /* that times clusters, over all restarts of the smallest tables */
    CLUSTER_RESTARTS = 4,   /* a cluster: the more there are, the more ways to get stuck */
    CLUSTER_WORK = 1 << 26  /* but no more work than that */
};

typedef struct fit_run {
    cofi_engine e;
    const cofi_method *method;
    void *state;
    cofi_label *kept; /* labels of the best restart so far, if that is all it takes to restore it */
    cofi_agreement agreement;
    double *ari;     /* of each restart with the kept one */
    double *overlap; /* of each cluster with its counterparts in the good restarts */
    uint32_t n_good;
    cof_restart_record *record;
    uint32_t n_records, best;
    double best_criterion, best_mixture, best_bic;
    bool in_engine; /* the engine is as the best restart left it */
} fit_run;

/* ---- Restarts ----------------------------------------------------------------------------------- */

static cof_status keep_labels(fit_run *run, cof_error *err)
{
    const cofi_engine *e = &run->e;
    size_t n = e->problem->rows.n_rows;
    if (run->kept == NULL) run->kept = cofi_alloc(&e->env, n, sizeof *run->kept);
    if (run->kept == NULL) return cofi_no_memory(err);
    memcpy(run->kept, e->pass.label, n * sizeof *run->kept);
    return COF_OK;
}

/* With quantities a partition of the rows does not tell their means. */
static bool restores_by_labels(const fit_run *run)
{
    return run->method->restore != NULL && run->e.problem->n_numeric == 0;
}

static cof_status judge(fit_run *run, cof_error *err)
{
    cofi_engine *e = &run->e;
    double likelihood = cofi_log_likelihood(e), merit = cofi_criterion_given(e, likelihood);
    run->record[run->n_records] = (cof_restart_record){.objective = e->objective,
                                                       .log_likelihood = likelihood,
                                                       .rebuilds = e->rebuild,
                                                       .passes = e->n_passes,
                                                       .stop_reason = e->stop,
                                                       .criterion = merit,
                                                       .by_likelihood = cofi_by_likelihood(e)};
    run->in_engine = run->n_records == 0 || cofi_clearly_larger(merit, run->best_criterion);
    if (run->in_engine) {
        run->best = run->n_records;
        run->best_criterion = merit;
        run->best_mixture = e->mixture;
        run->best_bic = e->bic;
    }
    cofi_agreement_note(e, &run->agreement, run->n_records++);
    bool last = e->restart + 1 == e->o.restarts || e->stopped;
    return run->in_engine && !last && restores_by_labels(run) ? keep_labels(run, err) : COF_OK;
}

/* A restart that would end where an earlier one did. */
static void repeat(fit_run *run, uint32_t earlier)
{
    run->record[run->n_records] = run->record[earlier];
    cofi_agreement_repeat(&run->agreement, run->n_records++, earlier);
    run->in_engine = false;
}

static cof_status begin_restart(fit_run *run, cof_error *err)
{
    cofi_engine *e = &run->e;
    e->same_as = COFI_NONE;
    e->n_passes = e->rebuild = 0;
    e->mixture = e->bic = NAN;
    e->stop = COF_STOP_STOPPED;
    cofi_rng_seed(&e->rng, e->o.seed, e->restart);
    return cofi_begin(e, err);
}

static cof_status run_restart(fit_run *run, cof_error *err)
{
    cofi_engine *e = &run->e;
    cof_status status = begin_restart(run, err);
    if (status == COF_OK && (!e->stopped || e->pass.hash != 0)) status = run->method->run(e, run->state, err);
    if (status == COF_OK && e->same_as != COFI_NONE) {
        repeat(run, e->same_as);
        return COF_OK;
    }
    if (status != COF_OK || e->pass.hash == 0)
        return status; /* stopped before a first pass: nothing to keep */
    return judge(run, err);
}

static cof_status run_restarts(fit_run *run, cof_error *err)
{
    cofi_engine *e = &run->e;
    for (e->restart = 0; e->restart < e->o.restarts && !e->stopped; e->restart++) {
        e->stopped = cofi_should_stop(&e->env);
        cof_status status = e->stopped ? COF_OK : run_restart(run, err);
        if (status != COF_OK) return status;
    }
    if (run->n_records > 0) return COF_OK;
    return cofi_fail(err, COF_ERR_STOPPED, "stopped before there was a partition to keep");
}

/* Leaves the engine as the best restart left it. */
static cof_status restore_best(fit_run *run, cof_error *err)
{
    cofi_engine *e = &run->e;
    if (restores_by_labels(run)) {
        if (!run->in_engine) cofi_pass_set_labels(&e->pass, run->kept);
        e->restart = run->best;
        run->method->restore(e, run->state);
        return COF_OK;
    }
    if (run->in_engine) return COF_OK;
    bool stopped = e->stopped;
    size_t n_history = e->n_history;
    e->env.should_stop = NULL; /* what was kept is finished, whatever the host says now */
    e->env.progress = NULL;
    e->stopped = false;
    e->restart = run->best;
    cof_status status = begin_restart(run, err);
    if (status == COF_OK) status = run->method->run(e, run->state, err);
    e->n_history = n_history;
    e->stopped = stopped;
    return status;
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
    if (o->init_rows != NULL || o->init == COF_INIT_CAO) o->restarts = 1; /* no chance, so no second chance */
    if (cofi_method_find(o->method) != NULL) return COF_OK;
    return cofi_fail(err, COF_ERR_ARGUMENT, "there is no method '%s'", o->method);
}

/* Where starts cost little, more of them make the answer the same for more seeds. */
static uint32_t usual_restarts(const cofi_problem *p, uint32_t k)
{
    double cells = (double)p->rows.n_rows * (double)p->n_attrs;
    double n =
        fmax(RESTART_WORK / (cells * k), fmin(CLUSTER_RESTARTS * (double)k, CLUSTER_WORK / (cells * k)));
    if (cells >= SMALL_CELLS) return DEFAULT_RESTARTS;
    return (uint32_t)fmax(SMALL_RESTARTS, fmin(n, MOST_RESTARTS));
}

/* The portfolio is COForest's on categories; elsewhere its place is taken by the k-means start. */
static void resolve_start(const cofi_problem *p, cof_fit_options *o)
{
    bool coforest = strcmp(cofi_method_find(o->method)->name, "coforest") == 0 && p->n_numeric == 0;
    if (o->init == COF_INIT_PORTFOLIO && !coforest) o->init = COF_INIT_KMEANS;
    bool portfolio = o->init == COF_INIT_PORTFOLIO && o->init_rows == NULL;
    if (o->select == COF_SELECT_AUTO) o->select = portfolio ? COF_SELECT_BALANCE : COF_SELECT_LIKELIHOOD;
    if (o->restarts == 0) o->restarts = portfolio ? usual_restarts(p, o->k) : DEFAULT_RESTARTS;
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
                           .stop_reason = run->e.stopped ? COF_STOP_STOPPED : best->stop_reason,
                           .n_rows = p->n_table_rows - p->n_dropped,
                           .n_dropped = p->n_dropped,
                           .n_distinct_rows = p->n_distinct,
                           .threads = cofi_team_size(e->team),
                           .kernel = e->pass.kernel->name,
                           .row_visits = e->pass.visits,
                           .mixture_log_likelihood = run->best_mixture,
                           .bic = run->best_bic,
                           .restarts = e->o.restarts,
                           .init = e->o.init,
                           .select = e->o.select,
                           .log_likelihood_of_one = cofi_log_likelihood_of_one(e),
                           .prepare_s = prepare_s,
                           .start_s = e->start_s,
                           .pass_s = e->pass_s,
                           .forest_s = e->forest_s,
                           .fit_s = cofi_now_s() - began_s};
    if (p->n_numeric > 0) info->log_likelihood_of_one = NAN;
    if (e->o.k == 1) info->log_likelihood_of_one = best->log_likelihood; /* the same but for rounding */
    info->n_empty = cofi_count_empty(e);
}

static cof_status open_run(const cofi_problem *p, const cof_fit_options *o, fit_run *run, cof_error *err)
{
    memset(run, 0, sizeof *run);
    run->method = cofi_method_find(o->method);
    if ((run->method->flags & COFI_METHOD_PAIRS) && p->n_attrs < 2)
        return cofi_fail(
            err, COF_ERR_NO_COLUMNS,
            "%s compares columns with each other, so it needs at least two that vary, but there is one",
            run->method->name);
    if (p->n_numeric > 0 && !(run->method->flags & COFI_METHOD_MIXED))
        return cofi_fail(
            err, COF_ERR_NO_RESULT,
            "%s clusters categories only, but the table has a numeric column; leave it out, or use coforest, "
            "k-prototypes or ek-prototypes",
            run->method->name);
    cof_status status = cofi_engine_open(p, o, &run->e, err);
    if (status != COF_OK) return status;
    run->record = cofi_alloc(&p->env, o->restarts, sizeof *run->record);
    if (run->record == NULL) return cofi_no_memory(err);
    status = cofi_agreement_open(&run->e, &run->agreement, err);
    if (status != COF_OK) return status;
    return run->method->open != NULL ? run->method->open(&run->e, &run->state, err) : COF_OK;
}

static void close_run(fit_run *run, const cof_env *env)
{
    if (run->method != NULL && run->method->close != NULL) run->method->close(&run->e, run->state);
    cofi_agreement_close(&run->e, &run->agreement);
    cofi_release(env, run->ari);
    cofi_release(env, run->overlap);
    cofi_release(env, run->kept);
    cofi_release(env, run->record);
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
    const cofi_method *method = cofi_method_find(o.method);
    status = cofi_problem_open(table, &o, (method->flags & COFI_METHOD_ROW_BY_ROW) == 0, &problem, err);
    double prepare_s = cofi_now_s() - began_s;
    if (status == COF_OK) resolve_start(&problem, &o);
    if (status == COF_OK) status = open_run(&problem, &o, &run, err);
    if (status == COF_OK) status = run_restarts(&run, err);
    if (status == COF_OK) {
        cof_fit_info own;
        status = restore_best(&run, err);
        if (status == COF_OK)
            status = cofi_agreement_measure(&run.e, &run.agreement, run.n_records, run.best, &run.ari, err);
        if (status == COF_OK)
            status = cofi_agreement_clusters(&run.e, &run.agreement, run.record, run.n_records, run.best,
                                             &run.overlap, &run.n_good, err);
        fill_info(&run, &problem, prepare_s, began_s, &own);
        if (status == COF_OK) status = cofi_harvest(&run.e, run.method, run.record, run.n_records, out, err);
        if (status == COF_OK) {
            (*out)->agreement = run.ari;
            (*out)->cluster_agreement = run.overlap;
            (*out)->n_good = run.n_good;
            (*out)->kept = run.best;
            (*out)->select = o.select;
            run.record = NULL; /* all the model's now */
            run.ari = run.overlap = NULL;
        }
        if (status == COF_OK && info != NULL) cofi_return_struct(info, &own, sizeof own);
    }
    close_run(&run, &table->env);
    cofi_problem_close(&problem);
    return status;
}
