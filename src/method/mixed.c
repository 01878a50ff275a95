/* k-prototypes (Huang 1997) and ek-prototypes (after Sangam and Om 2018). Quantities are scaled to 0..1 over the
 * table; a missing one adds nothing. */
#include "mixed.h"

#include "methods.h"

#include <math.h>

typedef struct mixed {
    cofi_engine *e;
    double *centre; /* [j][quantity]: mean over the cluster's rows */
    cofi_label *label;
    double *block_sum; /* per block of rows: its part of the objective, added up in order */
    int64_t *sum;      /* per worker: a row's sums */
    bool absolute;     /* |x - c| instead of its square */
} mixed;

static double quantity(const cofi_problem *p, size_t c, size_t row)
{
    return p->quantity[c][cofi_id(p->rows.ids[p->n_attrs + c], row)];
}

/* ---- Means -------------------------------------------------------------------------------------- */

static void centres_from_seeds(mixed *m)
{
    const cofi_problem *p = m->e->problem;
    for (uint32_t j = 0; j < m->e->o.k; j++) {
        for (size_t c = 0; c < p->n_numeric; c++) {
            double x = quantity(p, c, m->e->seed[j]);
            m->centre[j * p->n_numeric + c] = isnan(x) ? 0.5 : x;
        }
    }
}

/* In row order, one thread: the sums must not depend on how many there are. An empty cluster keeps its means. */
static void update_centres(mixed *m, double *total, double *weight_of)
{
    const cofi_problem *p = m->e->problem;
    for (size_t c = 0; c < p->n_numeric; c++) {
        memset(total, 0, m->e->o.k * sizeof *total);
        memset(weight_of, 0, m->e->o.k * sizeof *weight_of);
        for (size_t i = 0; i < p->rows.n_rows; i++) {
            double x = quantity(p, c, i), w = p->rows.weight != NULL ? (double)p->rows.weight[i] : 1.0;
            if (isnan(x)) continue;
            total[m->e->pass.label[i]] += w * x;
            weight_of[m->e->pass.label[i]] += w;
        }
        for (uint32_t j = 0; j < m->e->o.k; j++)
            if (weight_of[j] > 0) m->centre[j * p->n_numeric + c] = total[j] / weight_of[j];
    }
}

/* ---- Rows to clusters --------------------------------------------------------------------------- */

static void add_row(const mixed *m, size_t row, int64_t *sum)
{
    const cofi_engine *e = m->e;
    const cofi_problem *p = e->problem;
    cofi_sum_rows(&p->rows, &e->scores, &row, 1, sum);
    for (uint32_t j = 0; j < e->o.k; j++) {
        double apart = 0;
        for (size_t c = 0; c < p->n_numeric; c++) {
            double x = quantity(p, c, row) - m->centre[j * p->n_numeric + c];
            if (!isnan(x)) apart += m->absolute ? fabs(x) : x * x;
        }
        sum[j] += cofi_fixed_point(apart, e->scores.scale);
    }
}

static void label_task(void *ctx, uint32_t worker, size_t block)
{
    mixed *m = ctx;
    const cofi_engine *e = m->e;
    const cofi_rows *rows = &e->problem->rows;
    size_t begin = block * COFI_BLOCK_ROWS, end = begin + COFI_BLOCK_ROWS;
    int64_t *sum = m->sum + (size_t)worker * e->scores.stride;
    double total = 0;
    for (size_t i = begin; i < (end < rows->n_rows ? end : rows->n_rows); i++) {
        add_row(m, i, sum);
        m->label[i] = cofi_settle(rows, &e->scores, i, sum);
        total += (double)sum[m->label[i]] / e->scores.scale *
                 (rows->weight != NULL ? (double)rows->weight[i] / e->problem->unit : 1.0);
    }
    m->block_sum[block] = total;
}

static uint64_t assign(mixed *m)
{
    cofi_engine *e = m->e;
    size_t n_blocks = (e->problem->rows.n_rows + COFI_BLOCK_ROWS - 1) / COFI_BLOCK_ROWS;
    cofi_team_run(e->team, label_task, m, n_blocks);
    e->objective = 0;
    for (size_t b = 0; b < n_blocks; b++) e->objective += m->block_sum[b];
    e->pass.visits += e->problem->rows.n_rows;
    e->n_passes++;
    return cofi_pass_take(&e->pass, m->label);
}

/* ---- Loops -------------------------------------------------------------------------------------- */

static void open_mixed(cofi_engine *e, mixed *m)
{
    const cofi_problem *p = e->problem;
    m->e = e;
    m->centre = cofi_alloc(&e->env, (size_t)e->o.k * p->n_numeric, sizeof *m->centre);
    m->label = cofi_alloc(&e->env, p->rows.n_rows, sizeof *m->label);
    m->block_sum = cofi_alloc(&e->env, p->rows.n_rows / COFI_BLOCK_ROWS + 1, sizeof *m->block_sum);
    m->sum = cofi_alloc(&e->env, (size_t)cofi_team_size(e->team) * e->scores.stride, sizeof *m->sum);
}

static void close_mixed(mixed *m)
{
    cofi_release(&m->e->env, m->centre);
    cofi_release(&m->e->env, m->label);
    cofi_release(&m->e->env, m->block_sum);
    cofi_release(&m->e->env, m->sum);
}

/* `profiles`: clusters are distributions, else modes. */
static cof_status settle(mixed *m, const cofi_measure *measure, bool profiles, double *scratch,
                         cof_error *err)
{
    cofi_engine *e = m->e;
    cof_status status = COF_OK;
    bool done = e->stopped;
    e->stop = COF_STOP_CAP;
    memset(e->alive, 1, e->o.k);
    if (profiles) cofi_profile_begin(e);
    centres_from_seeds(m);
    if (e->pass.hash != 0) update_centres(m, scratch, scratch + e->o.k);
    for (uint32_t pass = 0; pass < e->o.max_passes && status == COF_OK && !done; pass++) {
        if (pass > 0) {
            update_centres(m, scratch, scratch + e->o.k);
            if (profiles) cofi_profile_update(e);
            if (!profiles && measure->d == NULL) cofi_modes_frequent(e);
            if (!profiles && measure->d != NULL) cofi_modes_median(e, measure->d);
        }
        if (profiles)
            cofi_scores_profiles(e, measure);
        else
            cofi_scores_modes(e, measure);
        uint64_t moved = assign(m);
        status = cofi_engine_record(e, moved, err);
        cofi_engine_judge(e, moved, &done);
    }
    return status;
}

static cof_status run_loop(cofi_engine *e, const cofi_distances *d, double gamma, bool ek, cof_error *err)
{
    const cofi_problem *p = e->problem;
    mixed m = {.absolute = ek};
    open_mixed(e, &m);
    double *factor = cofi_alloc(&e->env, p->n_attrs, sizeof *factor);
    double *scratch = cofi_alloc(&e->env, 2 * (size_t)e->o.k, sizeof *scratch);
    bool ok = factor != NULL && scratch != NULL && m.centre != NULL && m.label != NULL &&
              m.block_sum != NULL && m.sum != NULL;
    cof_status status = ok ? COF_OK : cofi_no_memory(err);
    if (status == COF_OK) {
        for (size_t r = 0; r < p->n_attrs; r++) factor[r] = gamma;
        cofi_measure measure = {.d = d, .factor = factor, .sum = COFI_L1, .beside = (double)p->n_numeric};
        double *plain = e->scores.plain; /* no trace distances here */
        e->scores.plain = NULL;
        status = settle(&m, &measure, ek, scratch, err);
        e->scores.plain = plain;
    }
    close_mixed(&m);
    cofi_release(&e->env, factor);
    cofi_release(&e->env, scratch);
    return status;
}

cof_status cofi_prototypes(cofi_engine *e, const cofi_distances *distances, cof_error *err)
{
    return run_loop(e, distances, COFI_GAMMA, false, err);
}

static cof_status run_k(cofi_engine *e, void *state, cof_error *err)
{
    (void)state;
    return cofi_prototypes(e, NULL, err);
}

static cof_status run_ek(cofi_engine *e, void *state, cof_error *err)
{
    (void)state;
    return run_loop(e, NULL, 1.0, true, err);
}

const cofi_method cofi_method_k_prototypes = {
    "k-prototypes", "modes and means together (Huang 1997)", COFI_METHOD_MIXED, NULL, run_k, NULL, NULL};
const cofi_method cofi_method_ek_prototypes = {
    "ek-prototypes",
    "distributions and means, no weight between them (after Sangam and Om 2018)",
    COFI_METHOD_MIXED,
    NULL,
    run_ek,
    NULL,
    NULL};
