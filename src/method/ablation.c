/* COForest cut down (paper, section 3.3): from the k-modes partition, one structure, one inner loop. */
#include "forest_steps.h"

#include "methods.h"

#include <math.h>

void cofi_build_forest(cofi_engine *e)
{
    double before = cofi_now_s();
    cofi_forest_build(&e->forest, e->pass.count, e->pass.size);
    cofi_trace_distances(e);
    e->forest_s += cofi_now_s() - before;
}

/* The inner loop of the ablations: distances stay, profiles follow the rows. */
static cof_status settle_on_forest(cofi_engine *e, cof_error *err)
{
    bool done = false;
    e->stop = COF_STOP_CAP;
    for (uint32_t pass = 0; pass < e->o.max_passes && !done; pass++) {
        cofi_profile_update(e);
        cofi_scores_trace(e);
        uint64_t moved = cofi_engine_pass(e, COF_PHASE_FIT);
        e->objective = cofi_objective(e);
        cof_status status = cofi_engine_record(e, moved, err);
        if (status != COF_OK) return status;
        cofi_engine_judge(e, moved, &done);
    }
    return COF_OK;
}

static cof_status run_tree(cofi_engine *e, void *state, cof_error *err)
{
    (void)state;
    cof_status status = cofi_settle_kmodes(e, err);
    if (status != COF_OK) return status;
    cofi_build_forest(e);
    return settle_on_forest(e, err);
}

/* ||p(C|a) - p(C|b)||, scaled as the variant says. 0 if a value does not occur. */
static double weight(const cofi_engine *e, uint32_t a, uint32_t b)
{
    const uint64_t *of_a = e->pass.count + (size_t)a * e->scores.stride;
    const uint64_t *of_b = e->pass.count + (size_t)b * e->scores.stride;
    double n_a = 0, n_b = 0, square = 0;
    for (uint32_t j = 0; j < e->o.k; j++) {
        n_a += (double)of_a[j];
        n_b += (double)of_b[j];
    }
    if (n_a == 0 || n_b == 0) return 0;
    for (uint32_t j = 0; j < e->o.k; j++) {
        double difference = (double)of_a[j] / n_a - (double)of_b[j] / n_b;
        square += difference * difference;
    }
    double w = e->forest.scale * sqrt(square);
    return w > 0 ? w : e->forest.twin_length;
}

/* A tree that is the line over the values in code order. */
static void build_lines(cofi_engine *e)
{
    const cofi_problem *p = e->problem;
    cofi_forest *f = &e->forest;
    for (size_t r = 0; r < p->n_attrs; r++) {
        uint32_t last = COFI_NONE;
        f->n_edges[r] = 0;
        f->reach[r] = 0;
        f->root[r] = COFI_NONE;
        for (uint32_t v = 0; v < p->n_values[r]; v++) {
            if (!cofi_value_occurs(e, p->first[r] + v)) continue;
            if (last == COFI_NONE) {
                f->root[r] = v;
            } else {
                double length = weight(e, p->first[r] + last, p->first[r] + v);
                f->edge[p->first[r] + f->n_edges[r]++] = (cof_edge){last, v, length};
                f->reach[r] += length;
            }
            last = v;
        }
    }
    cofi_trace_distances(e);
}

static cof_status run_line(cofi_engine *e, void *state, cof_error *err)
{
    (void)state;
    cof_status status = cofi_settle_kmodes(e, err);
    if (status != COF_OK) return status;
    build_lines(e);
    return settle_on_forest(e, err);
}

/* Without a tree: every pair of values at its own weight, or all at 1. */
static cof_status settle_on_pairs(cofi_engine *e, const cofi_distances *d, cof_error *err)
{
    const cofi_problem *p = e->problem;
    double *factor = cofi_alloc(&e->env, p->n_attrs, sizeof *factor);
    if (factor == NULL) return cofi_no_memory(err);
    for (size_t r = 0; r < p->n_attrs; r++)
        factor[r] = e->o.variant == COF_VARIANT_AUTHORS ? 1.0 / (p->n_present[r] - 1) : 1.0;
    cofi_measure m = {.d = d, .factor = factor, .sum = COFI_L1};
    cofi_profile_update(e);
    double *plain = e->scores.plain; /* no trace distances here */
    e->scores.plain = NULL;
    cof_status status = cofi_loop_profiles(e, &m, err);
    e->scores.plain = plain;
    cofi_release(&e->env, factor);
    return status;
}

static cof_status run_complete(cofi_engine *e, void *state, cof_error *err)
{
    (void)state;
    const cofi_problem *p = e->problem;
    cofi_distances d;
    cof_status status = cofi_settle_kmodes(e, err);
    if (status != COF_OK) return status;
    status = cofi_distances_open(e, &d, err);
    for (size_t r = 0; status == COF_OK && r < p->n_attrs; r++)
        for (uint32_t a = 0; a < p->n_values[r]; a++)
            for (uint32_t b = 0; b < p->n_values[r]; b++)
                cofi_distances_of(e, &d, r, a)[b] = a == b ? 0 : weight(e, p->first[r] + a, p->first[r] + b);
    if (status == COF_OK) status = settle_on_pairs(e, &d, err);
    cofi_distances_close(e, &d);
    return status;
}

static cof_status run_hamming(cofi_engine *e, void *state, cof_error *err)
{
    (void)state;
    cof_status status = cofi_settle_kmodes(e, err);
    return status == COF_OK ? settle_on_pairs(e, NULL, err) : status;
}

const cofi_method cofi_method_cof1 = {"cof1", "COForest with the forest built once", 0, NULL, run_tree, NULL,
                                      NULL};
const cofi_method cofi_method_cof2 = {"cof2", "COForest with lines in code order", 0, NULL, run_line, NULL,
                                      NULL};
const cofi_method cofi_method_cof3 = {"cof3", "COForest with complete graphs", 0, NULL, run_complete, NULL,
                                      NULL};
const cofi_method cofi_method_cof4 = {"cof4", "COForest with Hamming distance", 0, NULL, run_hamming, NULL,
                                      NULL};
