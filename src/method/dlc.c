/* DLC (Zhang and Cheung 2020): the values of every attribute stand on a line in code order; the gaps between
 * neighbours are learned so that clusters become compact. Clusters are described by distributions. */
#include "km.h"
#include "methods.h"

/* gap[first[r] + t]: length between values t and t + 1 of attribute r; they sum to 1. */
static void line_distances(const cofi_engine *e, const double *gap, cofi_distances *d)
{
    const cofi_problem *p = e->problem;
    for (size_t r = 0; r < p->n_attrs; r++) {
        for (uint32_t a = 0; a < p->n_values[r]; a++) {
            double length = 0;
            for (uint32_t b = a + 1; b < p->n_values[r]; b++) {
                length += gap[p->first[r] + b - 1];
                cofi_distances_of(e, d, r, a)[b] = cofi_distances_of(e, d, r, b)[a] = length;
            }
        }
    }
}

static void equal_gaps(const cofi_engine *e, double *gap)
{
    const cofi_problem *p = e->problem;
    for (size_t r = 0; r < p->n_attrs; r++)
        for (uint32_t t = 0; t + 1 < p->n_values[r]; t++) gap[p->first[r] + t] = 1.0 / (p->n_values[r] - 1);
}

/* Chance that a pair of rows, of one cluster or of two, lies on both sides of the gap. */
static void gap_chances(const cofi_engine *e, const double *below, double *within, double *between)
{
    double n = (double)e->problem->total_weight;
    *within = *between = 0;
    for (uint32_t j = 0; j < e->o.k; j++) {
        double pi = (double)e->pass.size[j] / n;
        *within += pi * 2 * below[j] * (1 - below[j]);
        for (uint32_t h = 0; h < e->o.k; h++)
            if (h != j)
                *between += pi * (double)e->pass.size[h] / n *
                            (below[j] * (1 - below[h]) + below[h] * (1 - below[j]));
    }
}

static void learn_gaps(const cofi_engine *e, double *gap, double *below)
{
    const cofi_problem *p = e->problem;
    uint32_t stride = e->scores.stride;
    for (size_t r = 0; r < p->n_attrs; r++) {
        double sum = 0, within, between, *own = gap + p->first[r];
        uint32_t n_gaps = p->n_values[r] - 1;
        memset(below, 0, e->o.k * sizeof *below);
        for (uint32_t t = 0; t < n_gaps; t++) {
            for (uint32_t j = 0; j < e->o.k; j++)
                below[j] += e->profile[(size_t)(p->first[r] + t) * stride + j];
            gap_chances(e, below, &within, &between);
            own[t] = between / (within + 1e-9);
            sum += own[t];
        }
        for (uint32_t t = 0; t < n_gaps; t++) own[t] = sum > 0 ? own[t] / sum : 1.0 / n_gaps;
    }
}

static cof_status learn(cofi_engine *e, double *gap, double *below, cofi_distances *d, bool once,
                        cof_error *err)
{
    cofi_measure m = {.d = d, .sum = COFI_L1};
    uint64_t before = 0;
    cofi_profile_begin(e);
    for (e->rebuild = 0;; e->rebuild++) {
        line_distances(e, gap, d);
        cof_status status = cofi_loop_profiles(e, &m, err);
        if (status != COF_OK || e->stopped || once || e->pass.hash == before) return status;
        if (e->rebuild + 1 == e->o.max_rebuilds) {
            e->stop = COF_STOP_CAP;
            return COF_OK;
        }
        before = e->pass.hash;
        cofi_profile_update(e);
        learn_gaps(e, gap, below);
    }
}

static cof_status run_with(cofi_engine *e, bool once, cof_error *err)
{
    cofi_distances d = {NULL, NULL};
    double *gap = cofi_alloc(&e->env, e->problem->first[e->problem->n_attrs], sizeof *gap);
    double *below = cofi_alloc(&e->env, e->o.k, sizeof *below);
    cof_status status = gap != NULL && below != NULL ? cofi_distances_open(e, &d, err) : cofi_no_memory(err);
    if (status == COF_OK) {
        equal_gaps(e, gap);
        status = learn(e, gap, below, &d, once, err);
    }
    cofi_distances_close(e, &d);
    cofi_release(&e->env, gap);
    cofi_release(&e->env, below);
    return status;
}

static cof_status run(cofi_engine *e, void *state, cof_error *err)
{
    (void)state;
    return run_with(e, false, err);
}

static cof_status run_fixed(cofi_engine *e, void *state, cof_error *err)
{
    (void)state;
    return run_with(e, true, err);
}

const cofi_method cofi_method_dlc = {
    "dlc", "distance learning on lines (Zhang and Cheung 2020)", 0, NULL, run, NULL, NULL};
const cofi_method cofi_method_dlc_fixed = {
    "dlc:fixed", "DLC with equal gaps, nothing learned", 0, NULL, run_fixed, NULL, NULL};
