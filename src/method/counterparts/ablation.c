/* The ablations of COForest (paper, section 3.3): from the k-modes partition, one structure is built, and
 * one inner loop runs. */
#include "../forest_steps.h"

#include <math.h>

/* The inner loop of the ablations: value distances are fixed, profiles follow the partition. */
static cof_status settle_on_forest(cofi_fit *fit, cof_error *err)
{
    cofi_loop loop = {.phase = COF_PHASE_FIT, .score = cofi_score_traces};
    return cofi_loop_run(fit, &loop, err);
}

static cof_status run_tree(cofi_fit *fit, void *state, cof_error *err)
{
    (void)state;
    cof_status status = cofi_settle_kmodes(fit, err);
    if (status != COF_OK) return status;
    cofi_build_forest(fit);
    return settle_on_forest(fit, err);
}

/* ||p(C|a) - p(C|b)||, scaled as the variant requires. 0 if a value does not occur. */
static double weight(const cofi_fit *fit, uint32_t a, uint32_t b)
{
    const uint64_t *of_a = fit->partition.count + (size_t)a * fit->scores.stride;
    const uint64_t *of_b = fit->partition.count + (size_t)b * fit->scores.stride;
    double n_a = 0, n_b = 0, square = 0;
    for (uint32_t j = 0; j < fit->partition.k; j++) {
        n_a += (double)of_a[j];
        n_b += (double)of_b[j];
    }
    if (n_a == 0 || n_b == 0) return 0;
    for (uint32_t j = 0; j < fit->partition.k; j++) {
        double difference = (double)of_a[j] / n_a - (double)of_b[j] / n_b;
        square += difference * difference;
    }
    double w = fit->forest.scale * sqrt(square);
    return w > 0 ? w : fit->forest.twin_length;
}

/* Builds trees that are lines over the values in code order. */
static void build_lines(cofi_fit *fit)
{
    const cofi_problem *p = fit->problem;
    cofi_forest *f = &fit->forest;
    for (size_t r = 0; r < p->n_attrs; r++) {
        uint32_t last = COFI_NONE;
        f->n_edges[r] = 0;
        f->reach[r] = 0;
        f->root[r] = COFI_NONE;
        for (uint32_t v = 0; v < p->n_values[r]; v++) {
            if (!cofi_value_occurs(fit, p->first[r] + v)) continue;
            if (last == COFI_NONE) {
                f->root[r] = v;
            } else {
                double length = weight(fit, p->first[r] + last, p->first[r] + v);
                f->edge[p->first[r] + f->n_edges[r]++] = (cof_edge){last, v, length};
                f->reach[r] += length;
            }
            last = v;
        }
    }
    cofi_forest_trace(f);
}

static cof_status run_line(cofi_fit *fit, void *state, cof_error *err)
{
    (void)state;
    cof_status status = cofi_settle_kmodes(fit, err);
    if (status != COF_OK) return status;
    build_lines(fit);
    return settle_on_forest(fit, err);
}

/* Without trees: every pair of values has its own distance, or all have distance 1. */
static cof_status settle_on_pairs(cofi_fit *fit, const cofi_distances *d, cof_error *err)
{
    const cofi_problem *p = fit->problem;
    double *factor = cofi_alloc(&fit->host.env, p->n_attrs, sizeof *factor);
    if (factor == NULL) return cofi_no_memory(err);
    for (size_t r = 0; r < p->n_attrs; r++)
        factor[r] = fit->host.o.variant == COF_VARIANT_AUTHORS ? 1.0 / (p->n_present[r] - 1) : 1.0;
    cofi_row_distance m = {.d = d, .factor = factor, .sum = COFI_L1};
    cofi_profile_update(fit);
    cof_status status = cofi_loop_profiles(fit, &m, err);
    cofi_release(&fit->host.env, factor);
    return status;
}

static cof_status run_complete(cofi_fit *fit, void *state, cof_error *err)
{
    (void)state;
    const cofi_problem *p = fit->problem;
    cofi_distances d;
    cof_status status = cofi_settle_kmodes(fit, err);
    if (status != COF_OK) return status;
    status = cofi_distances_open(fit, &d, err);
    for (size_t r = 0; status == COF_OK && r < p->n_attrs; r++)
        for (uint32_t a = 0; a < p->n_values[r]; a++)
            for (uint32_t b = 0; b < p->n_values[r]; b++)
                cofi_distances_of(fit, &d, r, a)[b] =
                    a == b ? 0 : weight(fit, p->first[r] + a, p->first[r] + b);
    if (status == COF_OK) status = settle_on_pairs(fit, &d, err);
    cofi_distances_close(fit, &d);
    return status;
}

static cof_status run_hamming(cofi_fit *fit, void *state, cof_error *err)
{
    (void)state;
    cof_status status = cofi_settle_kmodes(fit, err);
    return status == COF_OK ? settle_on_pairs(fit, NULL, err) : status;
}

const cofi_method cofi_method_cof1 = {
    .name = "cof1", .title = "COForest with the forest built once", .run = run_tree};
const cofi_method cofi_method_cof2 = {
    .name = "cof2", .title = "COForest with lines in code order", .run = run_line};
const cofi_method cofi_method_cof3 = {
    .name = "cof3", .title = "COForest with complete graphs", .run = run_complete};
const cofi_method cofi_method_cof4 = {
    .name = "cof4", .title = "COForest with Hamming distance", .run = run_hamming};
