/* COForest (Zhao et al., ECAI 2024): alternates between a forest from the partition and a partition from
 * the forest until both are stable. */
#include "forest_steps.h"

#include "../fit/criterion.h"
#include "../fit/loops.h"
#include "../fit/scores.h"
#include "mixed.h"

#include <assert.h>
#include <math.h>

typedef struct coforest {
    uint64_t *built; /* hashes of the partitions from which forests were built */
    uint64_t *met;   /* hashes of the partitions in one inner loop */
    cofi_kept *best; /* the best partition of a cycle */
} coforest;

/* ---- Algorithm 1 --------------------------------------------------------------------------------- */

/* A restart that is restored has its forest already. */
void cofi_build_forest(cofi_fit *fit)
{
    double before = cofi_now_s();
    if (fit->has_forest && fit->forest_of == fit->partition.hash) return;
    fit->has_forest = true;
    fit->forest_of = fit->partition.hash;
    fit->scores.same_as = NULL; /* that is known of the last forest */
    cofi_forest_build(&fit->forest, fit->partition.count, fit->partition.size);
    fit->log.forest_s += cofi_now_s() - before;
}

/* The inner loop: every row joins the cluster that is nearest along the trees, until no label changes. */
static cof_status move_rows(cofi_fit *fit, const coforest *s, bool unrecorded, cof_error *err)
{
    cofi_loop inner = cofi_loop_begin(fit, COF_PHASE_FIT, s->met);
    inner.unrecorded = unrecorded;
    while (cofi_loop_goes_on(&inner)) {
        cofi_scores_trace(fit);
        COFI_TRY(cofi_fit_pass(fit, COF_PHASE_FIT, &inner.moved, err));
        fit->log.objective = cofi_trace_objective(fit);
        COFI_TRY(cofi_loop_end_pass(fit, &inner, err));
    }
    return COF_OK;
}

/* Runs once more through a cycle of `period` forests, then restores the best partition of the cycle. */
static cof_status choose_in_cycle(cofi_fit *fit, coforest *s, uint32_t period, cof_error *err)
{
    double best = cofi_criterion(fit), best_objective = fit->log.objective;
    uint32_t n_passes = fit->log.n_passes; /* the passes of the cycle are already counted */
    cof_status status = cofi_partition_keep(&fit->partition, &s->best, err);
    for (uint32_t step = 1; status == COF_OK && step < period && !fit->log.stopped; step++) {
        cofi_build_forest(fit);
        status = move_rows(fit, s, true, err);
        double merit = cofi_criterion(fit);
        if (status != COF_OK || !cofi_clearly_larger(merit, best)) continue;
        best = merit;
        best_objective = fit->log.objective;
        status = cofi_partition_keep(&fit->partition, &s->best, err);
    }
    if (status == COF_OK) status = cofi_partition_recall(&fit->partition, s->best, err);
    fit->log.objective = best_objective;
    fit->log.n_passes = n_passes;
    fit->log.stop = COF_STOP_CYCLE;
    return status;
}

/* The outer loop: alternates between the forest of the partition Q, which is fit->partition, and the partition of the forest,
 * until Q comes back. Equal partitions have equal hashes. */
static cof_status refine(cofi_fit *fit, coforest *s, cof_error *err)
{
    const cofi_partition *q = &fit->partition;
    cofi_log *log = &fit->log;
    for (log->rebuild = 0;; log->rebuild++) {
        assert(log->rebuild < fit->host.o.max_rebuilds);
        s->built[log->rebuild] = q->hash;
        cofi_build_forest(fit);
        COFI_TRY(move_rows(fit, s, false, err));
        if (log->stop == COF_STOP_STOPPED) return COF_OK;
        if (q->hash == s->built[log->rebuild])
            return COF_OK; /* log->stop is that of the inner loop: converged, cycle or cap */
        for (uint32_t earlier = 0; earlier < log->rebuild; earlier++)
            if (q->hash == s->built[earlier]) return choose_in_cycle(fit, s, log->rebuild + 1 - earlier, err);
        log->stop = COF_STOP_CAP;
        if (log->rebuild + 1 == fit->host.o.max_rebuilds) return COF_OK;
    }
}

/* ---- Alternatives to the outer loop ---------------------------------------------------------------- */

/* Builds the forest of the partition and sets the scores along it. */
static void set_traces(cofi_fit *fit)
{
    cofi_build_forest(fit);
    cofi_profile_clear(fit);
    cofi_scores_trace(fit);
}

/* Labels every row by likelihood instead of distance until no label changes. */
static cof_status settle_by_likelihood(cofi_fit *fit, coforest *s, cof_error *err)
{
    cofi_loop loop = cofi_loop_begin(fit, COF_PHASE_FIT, s->met);
    while (cofi_loop_goes_on(&loop)) {
        cofi_scores_likelihood(fit, &fit->partition);
        COFI_TRY(cofi_fit_pass(fit, COF_PHASE_FIT, &loop.moved, err));
        fit->log.objective = cofi_objective(&fit->partition, &fit->scores);
        COFI_TRY(cofi_loop_end_pass(fit, &loop, err));
    }
    set_traces(fit); /* L, for comparison with other restarts */
    fit->log.objective = cofi_objective(&fit->partition, &fit->scores);
    return COF_OK;
}

/* ---- The method ------------------------------------------------------------------------------------ */

static cof_status coforest_open(cofi_fit *fit, void **state, cof_error *err)
{
    coforest *s = *state = cofi_blocks_add_zero(&fit->own, 1, sizeof *s);
    if (s == NULL) return cofi_no_memory(err);
    s->built = cofi_blocks_add(&fit->own, fit->host.o.max_rebuilds, sizeof *s->built);
    s->met = cofi_blocks_add(&fit->own, (size_t)fit->host.o.max_passes + 1, sizeof *s->met);
    return cofi_blocks_status(&fit->own, err);
}

/* Trace distances of every attribute, scaled so that the longest one is 1. */
static void scaled_traces(cofi_fit *fit, cofi_distances *d)
{
    const cofi_problem *p = fit->problem;
    for (size_t r = 0; r < p->n_attrs; r++) {
        uint32_t o = p->n_values[r];
        double most = 0, *block = cofi_distances_of(fit, d, r, 0);
        for (uint32_t u = 0; u < o; u++) cofi_trace_from(&fit->forest, r, u, cofi_distances_of(fit, d, r, u));
        for (size_t at = 0; at < (size_t)o * o; at++) most = fmax(most, block[at]);
        for (size_t at = 0; most > 0 && at < (size_t)o * o; at++) block[at] /= most;
    }
}

/* With quantities, the trees are learned from the attributes alone; their distances then replace the 0/1
 * distances in k-prototypes, from the same seeds. */
static cof_status run(cofi_fit *fit, void *state, cof_error *err)
{
    bool by_likelihood = fit->log.refiner == COFI_BY_LIKELIHOOD;
    cofi_distances d;
    COFI_TRY(cofi_settle_kmodes(fit, err));
    fit->log.n_passes = fit->log.rebuild = 0;
    if (fit->log.stopped) { /* the partition of the start remains */
        set_traces(fit);
        fit->log.objective = cofi_objective(&fit->partition, &fit->scores);
        fit->log.stop = COF_STOP_STOPPED;
    } else {
        COFI_TRY(by_likelihood ? settle_by_likelihood(fit, state, err) : refine(fit, state, err));
    }
    if (fit->problem->n_numeric == 0) return COF_OK;
    for (size_t c = 0; c < fit->partition.k * fit->problem->n_numeric; c++) fit->centre[c] = NAN;
    if (fit->log.stopped) return COF_OK;
    COFI_TRY(cofi_distances_open(fit, &fit->scratch, &d, err));
    scaled_traces(fit, &d);
    cofi_partition_forget(&fit->partition);
    cofi_modes_from_seeds(fit);
    return cofi_prototypes(fit, &d, err);
}

/* The partition determines everything else: forest, profiles and scores are computed from its counts. */
static cof_status restore(cofi_fit *fit, void *state, cof_error *err)
{
    set_traces(fit);
    fit->log.nearer_other = NAN;
    if (fit->log.refiner != COFI_BY_LIKELIHOOD) return COF_OK;
    cof_status status = cofi_nearer_other_measure(fit, &fit->log.nearer_other, err);
    cofi_scores_likelihood(fit, &fit->partition);
    return status;
}

const cofi_method cofi_method_coforest = {.name = "coforest",
                                          .title = "COForest (Zhao et al. 2024)",
                                          .flags =
                                              COFI_METHOD_MIXED | COFI_METHOD_PORTFOLIO | COFI_METHOD_ORDER,
                                          .open = coforest_open,
                                          .run = run,
                                          .restore = restore};
