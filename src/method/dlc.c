/* DLC (Zhang and Cheung 2020): the values of every attribute stand on a line in code order; the gaps between
 * neighbours are learned so that clusters become compact. Clusters are described by distributions. */
#include "km.h"
#include "methods.h"

/* Gaps of all attributes. gap[first[r] + t]: length between values t and t + 1 of attribute r; they sum to 1. A
 * value that no weighted row holds is no place of its own on the line: it falls on the next one. */
typedef struct lines {
    double *gap;
    uint8_t *present; /* per flat id */
    double *below;    /* k: share of each cluster's rows up to a value */
    cofi_distances d;
} lines;

/* Whether the value has a gap behind it: it is there, and another one after it. */
static bool has_gap(const cofi_problem *p, const lines *s, size_t r, uint32_t value)
{
    if (!s->present[p->first[r] + value]) return false;
    for (uint32_t v = value + 1; v < p->n_values[r]; v++)
        if (s->present[p->first[r] + v]) return true;
    return false;
}

static void line_distances(const cofi_engine *e, lines *s)
{
    const cofi_problem *p = e->problem;
    for (size_t r = 0; r < p->n_attrs; r++) {
        for (uint32_t a = 0; a < p->n_values[r]; a++) {
            double length = 0;
            for (uint32_t b = a + 1; b < p->n_values[r]; b++) {
                length += s->gap[p->first[r] + b - 1];
                cofi_distances_of(e, &s->d, r, a)[b] = cofi_distances_of(e, &s->d, r, b)[a] = length;
            }
        }
    }
}

static void equal_gaps(const cofi_engine *e, lines *s)
{
    const cofi_problem *p = e->problem;
    for (size_t r = 0; r < p->n_attrs; r++)
        for (uint32_t t = 0; t < p->n_values[r]; t++)
            s->gap[p->first[r] + t] = has_gap(p, s, r, t) ? 1.0 / (p->n_present[r] - 1) : 0;
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

static void learn_gaps(const cofi_engine *e, lines *s)
{
    const cofi_problem *p = e->problem;
    uint32_t stride = e->scores.stride;
    for (size_t r = 0; r < p->n_attrs; r++) {
        double sum = 0, within, between, *gap = s->gap + p->first[r];
        memset(s->below, 0, e->o.k * sizeof *s->below);
        for (uint32_t t = 0; t < p->n_values[r]; t++) {
            gap[t] = 0;
            if (!has_gap(p, s, r, t)) continue;
            for (uint32_t j = 0; j < e->o.k; j++)
                s->below[j] += e->profile[(size_t)(p->first[r] + t) * stride + j];
            gap_chances(e, s->below, &within, &between);
            gap[t] = between / (within + 1e-9);
            sum += gap[t];
        }
        for (uint32_t t = 0; t < p->n_values[r]; t++) {
            if (sum > 0)
                gap[t] /= sum;
            else
                gap[t] = has_gap(p, s, r, t) ? 1.0 / (p->n_present[r] - 1) : 0;
        }
    }
}

static cof_status learn(cofi_engine *e, lines *s, bool once, cof_error *err)
{
    cofi_measure m = {.d = &s->d, .sum = COFI_L1};
    uint64_t before = 0;
    cofi_profile_begin(e);
    for (e->rebuild = 0;; e->rebuild++) {
        line_distances(e, s);
        cof_status status = cofi_loop_profiles(e, &m, err);
        if (status != COF_OK || e->stopped || once || e->pass.hash == before) return status;
        if (e->rebuild + 1 == e->o.max_rebuilds) {
            e->stop = COF_STOP_CAP;
            return COF_OK;
        }
        before = e->pass.hash;
        cofi_profile_update(e);
        learn_gaps(e, s);
    }
}

static cof_status run_with(cofi_engine *e, bool once, cof_error *err)
{
    lines s = {.d = {NULL, NULL}};
    s.gap = cofi_alloc(&e->env, e->problem->first[e->problem->n_attrs], sizeof *s.gap);
    s.below = cofi_alloc(&e->env, e->o.k, sizeof *s.below);
    s.present = cofi_present_values(e);
    bool ok = s.gap != NULL && s.below != NULL && s.present != NULL;
    cof_status status = ok ? cofi_distances_open(e, &s.d, err) : cofi_no_memory(err);
    if (status == COF_OK) {
        equal_gaps(e, &s);
        status = learn(e, &s, once, err);
    }
    cofi_distances_close(e, &s.d);
    cofi_release(&e->env, s.gap);
    cofi_release(&e->env, s.below);
    cofi_release(&e->env, s.present);
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
