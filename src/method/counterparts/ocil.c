/* OCIL (Cheung and Jia 2013): the similarity of a row and a cluster is the mean frequency of the row's
 * values in the cluster. */
#include "../km.h"
#include "../../core/real.h"
#include "../whole_rows.h"

#include <math.h>

/* Batch form with equal attribute weights: mean Hamming distance to the cluster's rows. */
static cof_status run(cofi_fit *fit, void *state, cof_error *err)
{
    cofi_row_distance hamming = {.sum = COFI_L1};
    cofi_profile_begin(fit);
    return cofi_loop_profiles(fit, &hamming, err);
}

const cofi_method cofi_method_ocil = {
    .name = "ocil", .title = "object-cluster similarity (Cheung and Jia 2013)", .run = run};

/* ---- The original form: entropy weights and row-by-row updates ---------------------------------- */

typedef struct online {
    cofi_fit *fit;
    cofi_whole rows; /* label -1: not assigned yet */
    double *weight;  /* per attribute, sum 1 */
    double *count;   /* [g][k], summed row weights */
    double *size;    /* k */
} online;

static void entropy_weights(cofi_fit *fit, double *weight, const uint64_t *total)
{
    const cofi_problem *p = fit->problem;
    double sum = 0;
    for (size_t r = 0; r < p->n_attrs; r++) {
        double n = 0, h = 0;
        for (uint32_t v = 0; v < p->n_values[r]; v++) n += (double)total[p->first[r] + v];
        for (uint32_t v = 0; v < p->n_values[r]; v++) {
            double share = (double)total[p->first[r] + v] / n;
            if (share > 0) h -= share * cofi_ln(share);
        }
        weight[r] = h / p->n_present[r];
        sum += weight[r];
    }
    /* where all weight is on equal rows, no attribute tells more than another */
    for (size_t r = 0; r < p->n_attrs; r++) weight[r] = sum > 0 ? weight[r] / sum : 1 / (double)p->n_attrs;
}

static void shift_row(online *o, size_t row, int32_t j, double by)
{
    const cofi_problem *p = o->fit->problem;
    const uint32_t *cell = cofi_whole_row(&o->rows, row);
    for (size_t r = 0; r < p->n_attrs; r++)
        o->count[(size_t)(p->first[r] + cell[r]) * o->fit->partition.k + (uint32_t)j] += by;
    o->size[j] += by;
}

/* The cluster with the greatest similarity; if similarities differ only by rounding, the lowest cluster. */
static int32_t most_similar(const online *o, size_t row)
{
    const cofi_problem *p = o->fit->problem;
    const uint32_t *cell = cofi_whole_row(&o->rows, row);
    uint32_t k = o->fit->partition.k;
    double best = -1;
    int32_t at = 0;
    for (uint32_t j = 0; j < k; j++) {
        double s = 0;
        for (size_t r = 0; r < p->n_attrs; r++)
            if (cell[r] < p->n_values[r] && o->size[j] > 0)
                s += o->weight[r] * o->count[(size_t)(p->first[r] + cell[r]) * k + j] / o->size[j];
        if (!cofi_clearly_larger(s, best)) continue;
        best = s;
        at = (int32_t)j;
    }
    return at;
}

static uint64_t visit_rows(online *o)
{
    uint64_t moved = 0;
    for (size_t i = 0; i < o->rows.n_rows; i++) {
        int32_t from = o->rows.label[i], to = most_similar(o, i);
        double weight = (double)o->rows.weight[i];
        if (from == to) continue;
        if (from >= 0) shift_row(o, i, from, -weight);
        shift_row(o, i, to, weight);
        o->rows.label[i] = to;
        moved += weight > 0;
    }
    return moved;
}

static cof_status label_rows(cofi_fit *fit, online *o, uint64_t *moved, cof_error *err)
{
    uint64_t ignored;
    *moved = visit_rows(o);
    cofi_partition_forget(&fit->partition);
    cof_status status = cofi_whole_set_labels(fit, &o->rows, &ignored, err);
    /* equivalent scores: weight times (1 - share of the value in the cluster) */
    cofi_row_distance m = {.factor = o->weight, .sum = COFI_L1};
    cofi_profile_clear(fit);
    cofi_profile_update(fit);
    cofi_scores_profiles(fit, &m);
    fit->log.objective = cofi_objective(&fit->partition, &fit->scores);
    return status;
}

static cof_status run_original(cofi_fit *fit, void *state, cof_error *err)
{
    cofi_blocks *own = &fit->scratch;
    online o = {.fit = fit};
    const uint64_t *total;
    COFI_TRY(cofi_whole_open(fit, own, &o.rows, err));
    o.weight = cofi_blocks_add(own, fit->problem->n_attrs, sizeof *o.weight);
    o.count =
        cofi_blocks_add_zero(own, (size_t)cofi_n_flat(fit->problem) * fit->partition.k, sizeof *o.count);
    o.size = cofi_blocks_add_zero(own, fit->partition.k, sizeof *o.size);
    COFI_TRY(cofi_blocks_status(own, err));
    COFI_TRY(cofi_fit_totals(fit, &total, err));
    entropy_weights(fit, o.weight, total);
    for (size_t i = 0; i < o.rows.n_rows; i++) o.rows.label[i] = -1;
    for (uint32_t j = 0; j < fit->partition.k; j++) {
        uint64_t row = fit->seeds.row[j];
        o.rows.label[row] = (int32_t)j;
        shift_row(&o, row, (int32_t)j, (double)o.rows.weight[row]);
    }
    cofi_loop loop = cofi_loop_begin(fit, COF_PHASE_FIT, NULL);
    while (!fit->log.stopped && cofi_loop_goes_on(&loop)) {
        COFI_TRY(label_rows(fit, &o, &loop.moved, err));
        COFI_TRY(cofi_loop_end_pass(fit, &loop, err));
    }
    return COF_OK;
}

const cofi_method cofi_method_ocil_original = {.name = "ocil:original",
                                               .title = "OCIL with entropy weights and row by row updates",
                                               .flags = COFI_METHOD_ROW_BY_ROW,
                                               .run = run_original};
