/* COForest (Zhao et al., ECAI 2024): a forest from the partition, a partition from the forest, until they agree. */
#include "forest_steps.h"

#include "../fit/mixture.h"
#include "../fit/sample.h"
#include "methods.h"
#include "mixed.h"

#include <math.h>

enum { SOFT_ROUNDS = 20, SOFT_ROWS = 4096 };
enum { SCOUT_ROWS = 8192, SCOUT_ROWS_OF_CLUSTER = 32, SCOUT_ROUNDS = 6, SCOUT_SOFT_ROWS = 2048 };

typedef struct coforest {
    uint64_t *built;       /* hashes of the partitions that forests were built from */
    uint64_t *met;         /* and of those met in one inner loop */
    cofi_label *turn;      /* labels of the best partition of a cycle */
    cofi_mixture *mixture; /* the portfolio's, NULL for other starts */
    uint32_t soft_rounds;
    struct scout *scout; /* the portfolio's on a large table */
} coforest;

/* Tries a start on some of the rows, and brings back where it led. */
typedef struct scout {
    cofi_sample sample;
    cofi_engine e;
    coforest *state;
    uint64_t *met;  /* per restart: hash of the partition of the sample, whatever its clusters are called */
    uint32_t *name; /* k: of the clusters in order of appearance */
} scout;

/* How many passes ago the partition was met; 0: never. */
static uint32_t passes_since(const uint64_t *met, uint32_t n_met, uint64_t hash)
{
    for (uint32_t back = 1; back <= n_met; back++)
        if (met[n_met - back] == hash) return back;
    return 0;
}

static void score_by_traces(cofi_engine *e)
{
    cofi_profile_update(e);
    cofi_scores_trace(e);
}

/* The inner loop: scores from the counts, rows to their nearest cluster, until none moves. Where partitions
 * come back in turn instead, it ends with the one that running up to the cap would have ended with. */
static cof_status settle_rows(coforest *s, cofi_engine *e, void (*score)(cofi_engine *), bool record,
                              cof_stop *stop, cof_error *err)
{
    uint32_t n_met = 0, last = e->o.max_passes;
    s->met[n_met++] = e->pass.hash;
    *stop = COF_STOP_CAP;
    for (uint32_t pass = 1; pass <= last; pass++) {
        score(e);
        uint64_t moved = cofi_engine_pass(e, COF_PHASE_FIT);
        e->objective = cofi_objective(e);
        cof_status status = record ? cofi_engine_record(e, moved, err) : COF_OK;
        if (status != COF_OK) return status;
        e->stopped = moved > 0 && cofi_should_stop(&e->env);
        if (moved == 0 || e->stopped) {
            *stop = e->stopped ? COF_STOP_STOPPED : COF_STOP_CONVERGED;
            return COF_OK;
        }
        uint32_t period = *stop == COF_STOP_CYCLE ? 0 : passes_since(s->met, n_met, e->pass.hash);
        if (period > 0) {
            *stop = COF_STOP_CYCLE;
            last = pass + (last - pass) % period;
        }
        if (n_met <= e->o.max_passes) s->met[n_met++] = e->pass.hash;
    }
    return COF_OK;
}

static cof_status keep_labels(const cofi_engine *e, cofi_label **to, cof_error *err)
{
    size_t n = e->problem->rows.n_rows;
    if (*to == NULL) *to = cofi_alloc(&e->env, n, sizeof **to);
    if (*to == NULL) return cofi_no_memory(err);
    memcpy(*to, e->pass.label, n * sizeof **to);
    return COF_OK;
}

/* Once more around a cycle of `period` forests, then back to the best partition met on the way. */
static cof_status choose_in_cycle(coforest *s, cofi_engine *e, uint32_t period, cof_error *err)
{
    double best = cofi_criterion(e), best_objective = e->objective;
    uint32_t n_passes = e->n_passes; /* the way round was counted once */
    cof_status status = keep_labels(e, &s->turn, err);
    for (uint32_t step = 1; status == COF_OK && step < period && !e->stopped; step++) {
        cof_stop ignored;
        cofi_build_forest(e);
        status = settle_rows(s, e, score_by_traces, false, &ignored, err);
        if (status != COF_OK) break;
        double merit = cofi_criterion(e);
        if (!cofi_clearly_larger(merit, best)) continue;
        best = merit;
        best_objective = e->objective;
        status = keep_labels(e, &s->turn, err);
    }
    if (status != COF_OK) return status;
    cofi_pass_set_labels(&e->pass, s->turn);
    e->objective = best_objective;
    e->n_passes = n_passes;
    return COF_OK;
}

/* The outer loop: a forest from the partition, a partition from the forest, until they agree. */
static cof_status refine(coforest *s, cofi_engine *e, cof_stop *stop, cof_error *err)
{
    e->n_passes = 0;
    for (e->rebuild = 0;; e->rebuild++) {
        s->built[e->rebuild] = e->pass.hash;
        cofi_build_forest(e);
        cof_status status = settle_rows(s, e, score_by_traces, true, stop, err);
        if (status != COF_OK || *stop == COF_STOP_STOPPED) return status;
        if (e->pass.hash == s->built[e->rebuild])
            return COF_OK; /* converged, unless the inner loop was not */
        for (uint32_t earlier = 0; earlier < e->rebuild; earlier++) {
            if (e->pass.hash != s->built[earlier]) continue;
            *stop = COF_STOP_CYCLE;
            return choose_in_cycle(s, e, e->rebuild + 1 - earlier, err);
        }
        *stop = COF_STOP_CAP;
        if (e->rebuild + 1 == e->o.max_rebuilds) return COF_OK;
    }
}

static void close_state(cofi_engine *e, coforest *s)
{
    if (s == NULL) return;
    cofi_release(&e->env, s->built);
    cofi_release(&e->env, s->met);
    cofi_release(&e->env, s->turn);
    cofi_mixture_close(e, s->mixture);
    cofi_release(&e->env, s);
}

static cof_status open_state(cofi_engine *e, coforest **state, cof_error *err)
{
    coforest *s = cofi_alloc_zero(&e->env, 1, sizeof *s);
    if (s == NULL) return cofi_no_memory(err);
    *state = s;
    s->built = cofi_alloc(&e->env, e->o.max_rebuilds, sizeof *s->built);
    s->met = cofi_alloc(&e->env, (size_t)e->o.max_passes + 1, sizeof *s->met);
    return s->built != NULL && s->met != NULL ? COF_OK : cofi_no_memory(err);
}

static void close_scout(cofi_engine *e, scout *t)
{
    if (t == NULL) return;
    close_state(&t->e, t->state);
    cofi_engine_close(&t->e);
    cofi_sample_close(&t->sample);
    cofi_release(&e->env, t->met);
    cofi_release(&e->env, t->name);
    cofi_release(&e->env, t);
}

/* Leaves *out NULL where the sample is too uniform to start from. */
static cof_status open_scout(cofi_engine *e, size_t n_rows, scout **out, cof_error *err)
{
    scout *t = cofi_alloc_zero(&e->env, 1, sizeof *t);
    if (t == NULL) return cofi_no_memory(err);
    cof_status status = cofi_sample_open(e->problem, n_rows, e->o.k, &t->sample, err);
    if (status == COF_OK && t->sample.varied) {
        t->met = cofi_alloc(&e->env, e->o.restarts, sizeof *t->met);
        t->name = cofi_alloc(&e->env, e->o.k, sizeof *t->name);
        if (t->met == NULL || t->name == NULL) status = cofi_no_memory(err);
        if (status == COF_OK) status = cofi_engine_open(&t->sample.problem, &e->o, &t->e, err);
        if (status == COF_OK) status = open_state(&t->e, &t->state, err);
        if (status == COF_OK) status = cofi_mixture_open(&t->e, SCOUT_SOFT_ROWS, &t->state->mixture, err);
        if (status == COF_OK) {
            t->e.env.progress = NULL; /* the host hears of passes over its table */
            t->state->soft_rounds = SCOUT_ROUNDS;
            *out = t;
            return COF_OK;
        }
    }
    close_scout(e, t);
    return status;
}

static void coforest_close(cofi_engine *e, void *state)
{
    coforest *s = state;
    if (s == NULL) return;
    close_scout(e, s->scout);
    close_state(e, s);
}

static cof_status coforest_open(cofi_engine *e, void **state, cof_error *err)
{
    coforest *s = NULL;
    cof_status status = open_state(e, &s, err);
    *state = s;
    if (status != COF_OK || !cofi_in_portfolio(e)) return status;
    size_t n_scouted = (size_t)SCOUT_ROWS_OF_CLUSTER * e->o.k;
    if (n_scouted < SCOUT_ROWS) n_scouted = SCOUT_ROWS;
    if (e->problem->rows.n_rows > 2 * n_scouted) status = open_scout(e, n_scouted, &s->scout, err);
    e->scouted = s->scout != NULL;
    if (status != COF_OK || e->scouted) return status;
    s->soft_rounds = SOFT_ROUNDS;
    return cofi_mixture_open(e, SOFT_ROWS, &s->mixture, err);
}

/* A few rounds of EM: rows on the edge between clusters weigh little there, so that profiles come closer to what
 * the clusters are like, and the hard loops after it start from a better partition. Not where it empties clusters:
 * so many were asked for. */
static cof_status soften(coforest *s, cofi_engine *e, cof_error *err)
{
    uint32_t n_empty = cofi_count_empty(e);
    cof_status status = keep_labels(e, &s->turn, err);
    if (status != COF_OK) return status;
    double began_s = cofi_now_s(), passes_s = e->start_s;
    double *plain = e->scores.plain; /* not by trace distances */
    e->scores.plain = NULL;
    cofi_mixture_begin(e, s->mixture);
    for (uint32_t round = 0; round < s->soft_rounds && !e->stopped; round++) {
        cofi_mixture_expect(e, s->mixture);
        cofi_mixture_maximise(e, s->mixture);
        e->stopped = cofi_should_stop(&e->env);
    }
    cofi_mixture_scores(e, s->mixture);
    cofi_engine_pass(e, COF_PHASE_START);
    if (cofi_count_empty(e) > n_empty) cofi_pass_set_labels(&e->pass, s->turn);
    cofi_profile_clear(e);
    e->scores.plain = plain;
    e->start_s = passes_s + (cofi_now_s() - began_s);
    return COF_OK;
}

/* The forest of the partition, and the scores along it. */
static void set_traces(cofi_engine *e)
{
    cofi_build_forest(e);
    cofi_profile_clear(e);
    score_by_traces(e);
}

/* Rows to the cluster that makes them likeliest, in place of the nearest one. */
static cof_status settle_by_likelihood(coforest *s, cofi_engine *e, cof_error *err)
{
    double *plain = e->scores.plain;
    e->scores.plain = NULL;
    e->n_passes = e->rebuild = 0;
    cof_status status = settle_rows(s, e, cofi_scores_likelihood, true, &e->stop, err);
    e->scores.plain = plain;
    set_traces(e); /* L, to compare with the other starts */
    e->objective = cofi_objective(e);
    return status;
}

/* From the start's partition to that of the restart. */
static cof_status settle(coforest *s, cofi_engine *e, cof_error *err)
{
    if (!e->stopped && cofi_by_likelihood(e)) return settle_by_likelihood(s, e, err);
    cofi_profile_update(e);
    if (!e->stopped) return refine(s, e, &e->stop, err);
    /* the start's partition, as far as it came, with the L its own forest gives it */
    cofi_build_forest(e);
    cofi_scores_trace(e);
    e->objective = cofi_objective(e);
    e->stop = COF_STOP_STOPPED;
    return COF_OK;
}

static cof_status run_categories(cofi_engine *e, coforest *s, cof_error *err)
{
    cof_status status = cofi_settle_kmodes(e, err);
    if (status != COF_OK) return status;
    if (s->mixture != NULL && !e->stopped) status = soften(s, e, err);
    return status == COF_OK ? settle(s, e, err) : status;
}

/* Of the sample's partition: clusters are numbered as they appear. */
static uint64_t partition_hash(scout *t)
{
    uint64_t hash = 0;
    uint32_t n_names = 0;
    memset(t->name, 0xFF, t->e.o.k * sizeof *t->name);
    for (size_t i = 0; i < t->sample.problem.rows.n_rows; i++) {
        uint32_t *name = &t->name[t->e.pass.label[i]];
        if (*name == COFI_NONE) *name = n_names++;
        hash = cofi_mix64(hash + *name);
    }
    return hash;
}

/* The restart on the sample; then every row goes to the cluster that the sample's makes likeliest. */
static cof_status follow_scout(scout *t, cofi_engine *e, cof_error *err)
{
    double began_s = cofi_now_s(), passes_s = e->start_s, *plain = e->scores.plain;
    uint64_t visits = t->e.pass.visits;
    t->e.restart = e->restart;
    t->e.rng = e->rng;
    t->e.n_history = 0;
    cof_status status = cofi_begin(&t->e, err);
    if (status == COF_OK) status = run_categories(&t->e, t->state, err);
    e->pass.visits += t->e.pass.visits - visits;
    e->stopped = t->e.stopped;
    if (status == COF_OK) {
        t->met[e->restart] = partition_hash(t);
        for (uint32_t earlier = e->restart % 2; earlier < e->restart && !e->stopped; earlier += 2)
            if (t->met[earlier] == t->met[e->restart] && e->same_as == COFI_NONE) e->same_as = earlier;
    }
    if (status == COF_OK && e->same_as == COFI_NONE) {
        size_t n_entries = (size_t)e->problem->first[e->problem->n_attrs] * e->scores.stride;
        memcpy(e->pass.count, t->e.pass.count, n_entries * sizeof *e->pass.count);
        memcpy(e->pass.size, t->e.pass.size, e->o.k * sizeof *e->pass.size);
        e->scores.plain = NULL;
        cofi_scores_likelihood(e);
        cofi_pass_reset(&e->pass);
        cofi_engine_pass(e, COF_PHASE_START);
        cofi_profile_clear(e);
        e->scores.plain = plain;
    }
    e->start_s = passes_s + (cofi_now_s() - began_s);
    return status;
}

static cof_status run_portfolio(cofi_engine *e, coforest *s, cof_error *err)
{
    cof_status status = follow_scout(s->scout, e, err);
    return status == COF_OK && e->same_as == COFI_NONE ? settle(s, e, err) : status;
}

/* Trace distances of every attribute, the longest of each scaled to 1. */
static void scaled_traces(cofi_engine *e, cofi_distances *d)
{
    const cofi_problem *p = e->problem;
    for (size_t r = 0; r < p->n_attrs; r++) {
        uint32_t o = p->n_values[r];
        double most = 0, *block = cofi_distances_of(e, d, r, 0);
        for (uint32_t u = 0; u < o; u++) cofi_trace_from(&e->forest, r, u, cofi_distances_of(e, d, r, u));
        for (size_t at = 0; at < (size_t)o * o; at++) most = fmax(most, block[at]);
        for (size_t at = 0; most > 0 && at < (size_t)o * o; at++) block[at] /= most;
    }
}

/* With quantities: the trees are learned on the categories, then take the place of "equal or not" in
 * k-prototypes from the same seeds. */
static cof_status run(cofi_engine *e, void *state, cof_error *err)
{
    cofi_distances d = {NULL, NULL};
    coforest *s = state;
    cof_status status = s->scout != NULL ? run_portfolio(e, s, err) : run_categories(e, s, err);
    if (status != COF_OK || e->problem->n_numeric == 0 || e->stopped) return status;
    status = cofi_distances_open(e, &d, err);
    if (status == COF_OK) {
        scaled_traces(e, &d);
        cofi_pass_reset(&e->pass);
        cofi_modes_from_seeds(e);
        status = cofi_prototypes(e, &d, err);
    }
    cofi_distances_close(e, &d);
    return status;
}

/* The kept partition tells everything: its forest, profiles and scores are made from its counts. */
static void restore(cofi_engine *e, void *state)
{
    (void)state;
    set_traces(e);
    if (cofi_by_likelihood(e)) cofi_scores_likelihood(e);
}

const cofi_method cofi_method_coforest = {
    "coforest", "COForest (Zhao et al. 2024)", COFI_METHOD_MIXED, coforest_open, run, coforest_close,
    restore};
