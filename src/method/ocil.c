/* OCIL (Cheung and Jia 2013): a row is as similar to a cluster as its values are frequent there. */
#include "km.h"
#include "methods.h"

#include <math.h>

/* In batches with equal attribute weights: mean Hamming distance to the cluster's rows. */
static cof_status run(cofi_engine *e, void *state, cof_error *err)
{
    (void)state;
    cofi_measure hamming = {.sum = COFI_L1};
    cofi_profile_begin(e);
    return cofi_loop_profiles(e, &hamming, err);
}

const cofi_method cofi_method_ocil = {
    "ocil", "object-cluster similarity (Cheung and Jia 2013)", 0, NULL, run, NULL, NULL};

/* ---- The original form: entropy weights, and every move counts at once -------------------------- */

typedef struct online {
    cofi_engine *e;
    double *weight; /* per attribute, sum 1 */
    double *count;  /* [g][k], summed row weights */
    double *size;   /* k */
    cofi_label *label;
} online;

static void entropy_weights(cofi_engine *e, double *weight, const uint64_t *total)
{
    const cofi_problem *p = e->problem;
    double sum = 0;
    for (size_t r = 0; r < p->n_attrs; r++) {
        double n = 0, h = 0;
        for (uint32_t v = 0; v < p->n_values[r]; v++) n += (double)total[p->first[r] + v];
        for (uint32_t v = 0; v < p->n_values[r]; v++) {
            double share = (double)total[p->first[r] + v] / n;
            if (share > 0) h -= share * log(share);
        }
        weight[r] = h / p->n_present[r];
        sum += weight[r];
    }
    for (size_t r = 0; r < p->n_attrs; r++) weight[r] /= sum;
}

static void shift_row(online *o, size_t row, cofi_label j, double by)
{
    const cofi_rows *rows = &o->e->problem->rows;
    for (size_t r = 0; r < rows->n_attrs; r++)
        o->count[(size_t)(rows->first[r] + cofi_id(rows->ids[r], row)) * o->e->o.k + (uint32_t)j] += by;
    o->size[j] += by;
}

/* Greatest similarity, lowest cluster where two differ by no more than rounding. */
static cofi_label most_similar(const online *o, size_t row)
{
    const cofi_rows *rows = &o->e->problem->rows;
    double best = -1;
    cofi_label at = 0;
    for (uint32_t j = 0; j < o->e->o.k; j++) {
        double s = 0;
        for (size_t r = 0; r < rows->n_attrs; r++) {
            uint32_t v = cofi_id(rows->ids[r], row);
            if (v < o->e->problem->n_values[r] && o->size[j] > 0)
                s += o->weight[r] * o->count[(size_t)(rows->first[r] + v) * o->e->o.k + j] / o->size[j];
        }
        if (!cofi_clearly_larger(s, best)) continue;
        best = s;
        at = (cofi_label)j;
    }
    return at;
}

static uint64_t visit_rows(online *o)
{
    const cofi_rows *rows = &o->e->problem->rows;
    uint64_t moved = 0;
    for (size_t i = 0; i < rows->n_rows; i++) {
        cofi_label from = o->label[i], to = most_similar(o, i);
        double weight = rows->weight != NULL ? (double)rows->weight[i] : 1.0;
        if (from == to) continue;
        if (from != COFI_NO_LABEL) shift_row(o, i, from, -weight);
        shift_row(o, i, to, weight);
        o->label[i] = to;
        moved += weight > 0;
    }
    o->e->pass.visits += rows->n_rows;
    return moved;
}

/* Scores that say the same: weight times (1 - share of the value in the cluster). */
static void leave_scores(online *o)
{
    cofi_measure m = {.factor = o->weight, .sum = COFI_L1};
    cofi_profile_clear(o->e);
    cofi_profile_update(o->e);
    cofi_scores_profiles(o->e, &m);
    o->e->objective = cofi_objective(o->e);
}

static cof_status settle_online(online *o, cof_error *err)
{
    cofi_engine *e = o->e;
    cof_status status = COF_OK;
    for (uint32_t j = 0; j < e->o.k; j++) {
        o->label[e->seed[j]] = (cofi_label)j;
        shift_row(o, e->seed[j], (cofi_label)j,
                  e->problem->rows.weight != NULL ? (double)e->problem->rows.weight[e->seed[j]] : 1);
    }
    bool done = e->stopped;
    e->stop = COF_STOP_CAP;
    for (uint32_t pass = 0; pass < e->o.max_passes && status == COF_OK && !done; pass++) {
        uint64_t moved = visit_rows(o);
        e->n_passes++;
        cofi_pass_set_labels(&e->pass, o->label);
        leave_scores(o);
        status = cofi_engine_record(e, moved, err);
        cofi_engine_judge(e, moved, &done);
    }
    return status;
}

static cof_status run_original(cofi_engine *e, void *state, cof_error *err)
{
    (void)state;
    const cofi_problem *p = e->problem;
    uint32_t n_flat = p->first[p->n_attrs];
    online o = {.e = e};
    uint64_t *total = cofi_alloc(&e->env, n_flat, sizeof *total);
    o.weight = cofi_alloc(&e->env, p->n_attrs, sizeof *o.weight);
    o.count = cofi_alloc_zero(&e->env, (size_t)n_flat * e->o.k, sizeof *o.count);
    o.size = cofi_alloc_zero(&e->env, e->o.k, sizeof *o.size);
    o.label = cofi_alloc(&e->env, p->rows.n_rows, sizeof *o.label);
    cof_status status = COF_OK;
    if (total == NULL || o.weight == NULL || o.count == NULL || o.size == NULL || o.label == NULL) {
        status = cofi_no_memory(err);
    } else {
        memset(o.label, 0xFF /* COFI_NO_LABEL */, p->rows.n_rows * sizeof *o.label);
        cofi_value_totals(e, total);
        entropy_weights(e, o.weight, total);
        status = settle_online(&o, err);
    }
    void *owned[] = {total, o.weight, o.count, o.size, o.label};
    for (size_t b = 0; b < sizeof owned / sizeof *owned; b++) cofi_release(&e->env, owned[b]);
    return status;
}

const cofi_method cofi_method_ocil_original = {"ocil:original",
                                               "OCIL with entropy weights and row by row updates",
                                               COFI_METHOD_ROW_BY_ROW,
                                               NULL,
                                               run_original,
                                               NULL,
                                               NULL};
