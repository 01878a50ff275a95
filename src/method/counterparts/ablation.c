/* The ablations of COForest (paper, section 3.3): from the k-modes partition, one structure is built, and
 * one inner loop runs. */
#include "../../fit/criterion.h"
#include "../../fit/loops.h"
#include "../../fit/scores.h"
#include "../forest_steps.h"

/* The inner loop of the ablations: value distances are fixed, profiles follow the partition. */
static cof_status settle_on_forest(cofi_fit *fit, cof_error *err)
{
    cofi_loop loop = cofi_loop_begin(fit, COF_PHASE_FIT, NULL);
    while (cofi_loop_goes_on(&loop)) {
        cofi_scores_trace(fit);
        COFI_TRY(cofi_fit_pass(fit, COF_PHASE_FIT, &loop.moved, err));
        fit->log.objective = cofi_trace_objective(fit);
        COFI_TRY(cofi_loop_end_pass(fit, &loop, err));
    }
    return COF_OK;
}

static cof_status run_tree(cofi_fit *fit, void *state, cof_error *err)
{
    COFI_TRY(cofi_settle_kmodes(fit, err));
    cofi_build_forest(fit);
    return settle_on_forest(fit, err);
}

static cof_status run_line(cofi_fit *fit, void *state, cof_error *err)
{
    COFI_TRY(cofi_settle_kmodes(fit, err));
    for (size_t r = 0; r < fit->problem->n_attrs; r++)
        cofi_forest_line(&fit->forest, fit->partition.count, r);
    cofi_forest_trace(&fit->forest);
    return settle_on_forest(fit, err);
}

/* Without trees: every pair of values has its own distance, or all have distance 1. */
static cof_status settle_on_pairs(cofi_fit *fit, const cofi_distances *d, cof_error *err)
{
    const cofi_problem *p = fit->problem;
    double *factor = cofi_blocks_add(&fit->scratch, p->n_attrs, sizeof *factor);
    if (factor == NULL) return cofi_no_memory(err);
    for (size_t r = 0; r < p->n_attrs; r++)
        factor[r] = fit->host.o.variant == COF_VARIANT_AUTHORS ? 1.0 / cofi_problem_n_gaps(p, r) : 1.0;
    cofi_row_distance m = {.d = d, .factor = factor, .sum = COFI_L1};
    cofi_profile_update(fit);
    return cofi_loop_profiles(fit, &m, err);
}

static cof_status run_complete(cofi_fit *fit, void *state, cof_error *err)
{
    const cofi_problem *p = fit->problem;
    cofi_distances d;
    COFI_TRY(cofi_settle_kmodes(fit, err));
    COFI_TRY(cofi_distances_open(fit, &fit->scratch, &d, err));
    for (size_t r = 0; r < p->n_attrs; r++)
        for (uint32_t a = 0; a < p->n_values[r]; a++)
            for (uint32_t b = 0; b < p->n_values[r]; b++)
                cofi_distances_of(fit, &d, r, a)[b] =
                    a == b ? 0
                           : cofi_forest_weight(&fit->forest, fit->partition.count, p->first[r] + a,
                                                p->first[r] + b);
    return settle_on_pairs(fit, &d, err);
}

static cof_status run_hamming(cofi_fit *fit, void *state, cof_error *err)
{
    COFI_TRY(cofi_settle_kmodes(fit, err));
    return settle_on_pairs(fit, NULL, err);
}

const cofi_method cofi_method_cof1 = {.name = "cof1",
                                      .title = "COForest with the forest built once",
                                      .flags = COFI_METHOD_ORDER,
                                      .run = run_tree};
const cofi_method cofi_method_cof2 = {.name = "cof2",
                                      .title = "COForest with lines in code order",
                                      .flags = COFI_METHOD_ORDER,
                                      .run = run_line};
const cofi_method cofi_method_cof3 = {
    .name = "cof3", .title = "COForest with complete graphs", .run = run_complete};
const cofi_method cofi_method_cof4 = {
    .name = "cof4", .title = "COForest with Hamming distance", .run = run_hamming};
