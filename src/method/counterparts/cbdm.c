/* Context-based distance, DILCA (Ienco, Pensa and Meo 2012): two values are near if they have similar
 * conditional distributions given the values of related attributes, the context. */
#include "../km.h"
#include "entropy.h"

#include <math.h>

/* An attribute is in the context if its symmetric uncertainty is at least this share of the mean. */
#define SIGMA 0.8

/* Two sweeps over the pair tables: the first finds the context of every attribute, the second adds the
 * squared differences over each target's context. */
typedef struct dilca_work {
    cofi_fit *fit;
    cofi_distances *d;
    double *uncertainty; /* per worker: symmetric uncertainty of its target with every attribute */
    uint8_t *in_context; /* [t][r], one byte each: 10,000 attributes take 100 MB */
    uint64_t *n_context; /* per target: number of values of all attributes in its context */
    cofi_logs logs;
} dilca_work;

static double symmetric_uncertainty(const cofi_logs *logs, const double *count, uint32_t o_t, uint32_t o_r)
{
    cofi_shared h = cofi_entropies(logs, count, o_t, o_r);
    double su = h.own + h.other > 0 ? 2 * (h.own + h.other - h.joint) / (h.own + h.other) : 0;
    return su < 1e-10 ? 0 : su;
}

static void note_uncertainty(void *ctx, uint32_t worker, size_t t, size_t r, double *count)
{
    dilca_work *w = ctx;
    const cofi_problem *p = w->fit->problem;
    w->uncertainty[worker * p->n_attrs + r] =
        t == r ? 0 : symmetric_uncertainty(&w->logs, count, p->n_values[t], p->n_values[r]);
}

static void choose_context(void *ctx, uint32_t worker, size_t t)
{
    dilca_work *w = ctx;
    const cofi_problem *p = w->fit->problem;
    const double *su = w->uncertainty + worker * p->n_attrs;
    double sum = 0;
    for (size_t r = 0; r < p->n_attrs; r++) sum += su[r];
    double mean = sum / (double)(p->n_attrs - 1);
    for (size_t r = 0; r < p->n_attrs; r++) {
        bool in = r != t && su[r] > 0 && su[r] >= SIGMA * mean;
        w->in_context[t * p->n_attrs + r] = in;
        if (in) w->n_context[t] += p->n_present[r];
    }
}

static void add_pair(void *ctx, uint32_t worker, size_t t, size_t r, double *count)
{
    dilca_work *w = ctx;
    const cofi_problem *p = w->fit->problem;
    uint32_t o = p->n_values[t], o_r = p->n_values[r];
    if (!w->in_context[t * p->n_attrs + r]) return;
    for (uint32_t y = 0; y < o_r; y++) {
        double n = 0, *d = cofi_distances_of(w->fit, w->d, t, 0);
        for (uint32_t a = 0; a < o; a++) n += count[(size_t)a * o_r + y];
        if (n == 0) continue;
        for (uint32_t a = 0; a < o; a++) {
            for (uint32_t b = 0; b < a; b++) {
                double difference = (count[(size_t)a * o_r + y] - count[(size_t)b * o_r + y]) / n;
                d[(size_t)a * o + b] += difference * difference;
            }
        }
    }
}

static void finish_target(void *ctx, uint32_t worker, size_t t)
{
    dilca_work *w = ctx;
    uint32_t o = w->fit->problem->n_values[t];
    double *d = cofi_distances_of(w->fit, w->d, t, 0);
    for (uint32_t a = 0; a < o; a++)
        for (uint32_t b = 0; b < a; b++)
            d[(size_t)a * o + b] = d[(size_t)b * o + a] =
                sqrt(d[(size_t)a * o + b] / (double)w->n_context[t]);
}

static cof_status visit_twice(dilca_work *w, cof_error *err)
{
    const cofi_problem *p = w->fit->problem;
    cofi_pair_visitor first = {.ctx = w, .pair = note_uncertainty, .end = choose_context};
    cofi_pair_visitor second = {.ctx = w, .pair = add_pair, .end = finish_target};
    COFI_TRY(cofi_rows_pairs(w->fit->partition.rows, w->fit->host.team, &first, err));
    for (size_t t = 0; t < p->n_attrs; t++)
        if (w->n_context[t] == 0)
            return cofi_fail(err, COF_ERR_NO_RESULT,
                             "cbdm has no result here: column '%s' is independent of all others, so the "
                             "distances of its values are unknown",
                             p->table->column[p->column[t]].name);
    return cofi_rows_pairs(w->fit->partition.rows, w->fit->host.team, &second, err);
}

static cof_status open(cofi_fit *fit, void **state, cof_error *err)
{
    size_t n = fit->problem->n_attrs;
    COFI_TRY(cofi_km_open(fit, state, err));
    dilca_work w = {.fit = fit, .d = *state};
    w.uncertainty = cofi_blocks_add(&fit->scratch, cofi_team_size(fit->host.team) * n, sizeof *w.uncertainty);
    w.in_context = cofi_blocks_add_zero(&fit->scratch, n, n);
    w.n_context = cofi_blocks_add_zero(&fit->scratch, n, sizeof *w.n_context);
    COFI_TRY(cofi_blocks_status(&fit->scratch, err));
    COFI_TRY(cofi_logs_open(fit, &w.logs, err));
    return visit_twice(&w, err);
}

const cofi_method cofi_method_cbdm = {.name = "cbdm",
                                      .title = "context-based distance, DILCA (Ienco, Pensa and Meo 2012)",
                                      .flags = COFI_METHOD_PAIRS,
                                      .open = open,
                                      .run = cofi_km_run_l1};
