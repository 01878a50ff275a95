/* DLC (Zhang and Cheung 2020): the values of every attribute lie on a line in code order; the gaps between
 * neighbours are learned so that clusters become compact. Clusters are described by distributions. */
#include "../km.h"

extern const cofi_method cofi_method_dlc_fixed;

/* Gaps of all attributes. gap[first[r] + t] is the distance between values t and t + 1 of attribute r; the
 * gaps of an attribute sum to 1. A value that occurs in no row of positive weight has no position of its
 * own: it has that of the next value. */
typedef struct lines {
    double *gap;
    uint8_t *present; /* per flat id */
    double *below;    /* k: share of each cluster's rows with this value or a lower one */
    cofi_distances d;
} lines;

/* Whether there is a gap after the value: the value occurs, and so does a higher one. */
static bool has_gap(const cofi_problem *p, const lines *s, size_t r, uint32_t value)
{
    if (!s->present[p->first[r] + value]) return false;
    for (uint32_t v = value + 1; v < p->n_values[r]; v++)
        if (s->present[p->first[r] + v]) return true;
    return false;
}

static void line_distances(const cofi_fit *fit, lines *s)
{
    const cofi_problem *p = fit->problem;
    for (size_t r = 0; r < p->n_attrs; r++) {
        for (uint32_t a = 0; a < p->n_values[r]; a++) {
            double length = 0;
            for (uint32_t b = a + 1; b < p->n_values[r]; b++) {
                length += s->gap[p->first[r] + b - 1];
                cofi_distances_of(fit, &s->d, r, a)[b] = cofi_distances_of(fit, &s->d, r, b)[a] = length;
            }
        }
    }
}

static void equal_gaps(const cofi_fit *fit, lines *s)
{
    const cofi_problem *p = fit->problem;
    for (size_t r = 0; r < p->n_attrs; r++)
        for (uint32_t t = 0; t < p->n_values[r]; t++)
            s->gap[p->first[r] + t] = has_gap(p, s, r, t) ? 1.0 / cofi_problem_n_gaps(p, r) : 0;
}

/* Probability that the gap separates a pair of rows, from one cluster (within) or from two (between). */
static void gap_chances(const cofi_fit *fit, const double *below, double *within, double *between)
{
    double n = (double)fit->problem->total_weight;
    *within = *between = 0;
    for (uint32_t j = 0; j < fit->partition.k; j++) {
        double pi = (double)fit->partition.size[j] / n;
        *within += pi * 2 * below[j] * (1 - below[j]);
        for (uint32_t h = 0; h < fit->partition.k; h++)
            if (h != j)
                *between += pi * (double)fit->partition.size[h] / n *
                            (below[j] * (1 - below[h]) + below[h] * (1 - below[j]));
    }
}

static void learn_gaps(const cofi_fit *fit, lines *s)
{
    const cofi_problem *p = fit->problem;
    for (size_t r = 0; r < p->n_attrs; r++) {
        double sum = 0, within, between, *gap = s->gap + p->first[r];
        memset(s->below, 0, fit->partition.k * sizeof *s->below);
        for (uint32_t t = 0; t < p->n_values[r]; t++) {
            gap[t] = 0;
            if (!has_gap(p, s, r, t)) continue;
            for (uint32_t j = 0; j < fit->partition.k; j++) s->below[j] += cofi_profile_of(fit, r, t, j);
            gap_chances(fit, s->below, &within, &between);
            gap[t] = between / (within + 1e-9);
            sum += gap[t];
        }
        for (uint32_t t = 0; t < p->n_values[r]; t++) {
            if (sum > 0)
                gap[t] /= sum;
            else
                gap[t] = has_gap(p, s, r, t) ? 1.0 / cofi_problem_n_gaps(p, r) : 0;
        }
    }
}

static void learn(cofi_fit *fit, void *ctx)
{
    learn_gaps(fit, ctx);
    line_distances(fit, ctx);
}

static cof_status run(cofi_fit *fit, void *state, cof_error *err)
{
    lines s;
    bool once = fit->method == &cofi_method_dlc_fixed;
    cofi_row_distance m = {.d = &s.d, .sum = COFI_L1};
    s.gap = cofi_blocks_add(&fit->scratch, cofi_n_flat(fit->problem), sizeof *s.gap);
    s.below = cofi_blocks_add(&fit->scratch, fit->partition.k, sizeof *s.below);
    COFI_TRY(cofi_blocks_status(&fit->scratch, err));
    COFI_TRY(cofi_present_values(fit, &s.present, err));
    COFI_TRY(cofi_distances_open(fit, &fit->scratch, &s.d, err));
    equal_gaps(fit, &s);
    line_distances(fit, &s);
    return cofi_km_learn(fit, &m, once ? NULL : learn, &s, err);
}

const cofi_method cofi_method_dlc = {.name = "dlc",
                                     .title = "distance learning on lines (Zhang and Cheung 2020)",
                                     .flags = COFI_METHOD_ORDER,
                                     .run = run};
const cofi_method cofi_method_dlc_fixed = {.name = "dlc:fixed",
                                           .title = "DLC with equal gaps, nothing learned",
                                           .flags = COFI_METHOD_ORDER,
                                           .run = run};
