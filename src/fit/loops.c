/* k-modes with a value distance, and the loop with distribution descriptors. */
#include "loops.h"

#include <math.h>

/* ---- Value distances ---------------------------------------------------------------------------- */

cof_status cofi_distances_open(const cofi_engine *e, cofi_distances *d, cof_error *err)
{
    const cofi_problem *p = e->problem;
    size_t n = 0;
    *d = (cofi_distances){.at = cofi_alloc(&e->env, p->n_attrs, sizeof *d->at)};
    if (d->at == NULL) return cofi_no_memory(err);
    for (size_t r = 0; r < p->n_attrs; r++) {
        d->at[r] = n;
        if (p->n_values[r] > (UINT32_C(1) << 14) || n > (SIZE_MAX >> 8))
            return cofi_fail(
                err, COF_ERR_DATA,
                "column '%s' has %u values, too many for a method that compares each with each; leave "
                "it out, or use coforest, kmodes or lca",
                p->table->column[p->column[r]].name, p->n_values[r]);
        n += (size_t)p->n_values[r] * p->n_values[r];
    }
    d->d = cofi_alloc_zero(&e->env, n, sizeof *d->d);
    return d->d != NULL ? COF_OK : cofi_no_memory(err);
}

void cofi_distances_close(const cofi_engine *e, cofi_distances *d)
{
    cofi_release(&e->env, d->at);
    cofi_release(&e->env, d->d);
    *d = (cofi_distances){NULL, NULL};
}

/* ---- Modes and profiles ------------------------------------------------------------------------- */

void cofi_modes_frequent(cofi_engine *e)
{
    const cofi_problem *p = e->problem;
    uint32_t stride = e->scores.stride;
    for (uint32_t j = 0; j < e->o.k; j++) {
        if (e->pass.size[j] == 0) continue;
        for (size_t r = 0; r < p->n_attrs; r++) {
            const uint64_t *count = e->pass.count + (size_t)p->first[r] * stride + j;
            uint32_t best = 0;
            for (uint32_t v = 1; v < p->n_values[r]; v++)
                if (count[(size_t)v * stride] > count[(size_t)best * stride]) best = v;
            e->mode[j * p->n_attrs + r] = best;
        }
    }
}

bool cofi_value_occurs(const cofi_engine *e, uint32_t flat)
{
    for (uint32_t j = 0; j < e->o.k; j++)
        if (e->pass.count[(size_t)flat * e->scores.stride + j] > 0) return true;
    return false;
}

static uint32_t median(const cofi_engine *e, const cofi_distances *d, size_t r, uint32_t j)
{
    const cofi_problem *p = e->problem;
    uint32_t stride = e->scores.stride, best = 0, n_values = p->n_values[r];
    const uint64_t *count = e->pass.count + (size_t)p->first[r] * stride + j;
    double least = INFINITY;
    for (uint32_t v = 0; v < n_values; v++) {
        if (!cofi_value_occurs(e, p->first[r] + v)) continue;
        const double *row = cofi_distances_of(e, d, r, v);
        double cost = 0;
        for (uint32_t u = 0; u < n_values; u++) cost += row[u] * (double)count[(size_t)u * stride];
        if (!cofi_clearly_larger(least, cost)) continue;
        least = cost;
        best = v;
    }
    return best;
}

typedef struct median_job {
    cofi_engine *e;
    const cofi_distances *d;
} median_job;

static void median_task(void *ctx, uint32_t worker, size_t r)
{
    median_job *job = ctx;
    cofi_engine *e = job->e;
    (void)worker;
    for (uint32_t j = 0; j < e->o.k; j++)
        if (e->pass.size[j] > 0) e->mode[j * e->problem->n_attrs + r] = median(e, job->d, r, j);
}

void cofi_modes_median(cofi_engine *e, const cofi_distances *distances)
{
    median_job job = {e, distances};
    cofi_team_run(e->team, median_task, &job, e->problem->n_attrs);
}

void cofi_profile_from_modes(cofi_engine *e)
{
    const cofi_problem *p = e->problem;
    uint32_t stride = e->scores.stride;
    memset(e->profile, 0, (size_t)p->first[p->n_attrs] * stride * sizeof *e->profile);
    for (uint32_t j = 0; j < e->o.k; j++) {
        for (size_t r = 0; r < p->n_attrs; r++) {
            uint32_t v = e->mode[j * p->n_attrs + r];
            if (v < p->n_values[r])
                e->profile[(size_t)(p->first[r] + v) * stride + j] = 1; /* else: ignored */
        }
    }
    memset(e->alive, 1, e->o.k);
}

void cofi_profile_begin(cofi_engine *e)
{
    cofi_profile_from_modes(e);
    if (e->pass.hash != 0) cofi_profile_update(e);
}

/* ---- Scores ------------------------------------------------------------------------------------- */

typedef struct score_job {
    cofi_engine *e;
    const cofi_measure *m;
    bool modes; /* distance to the mode; else mean distance to the profile */
} score_job;

static double attribute_factor(const cofi_measure *m, size_t r)
{
    return m->factor != NULL ? m->factor[r] : 1.0;
}

static double to_mode(const cofi_engine *e, const cofi_measure *m, size_t r, uint32_t v, uint32_t j)
{
    uint32_t mode = e->mode[j * e->problem->n_attrs + r];
    if (m->d == NULL) return mode == v ? 0 : 1;
    if (mode >= e->problem->n_values[r]) return 0; /* the seed's cell was ignored */
    return cofi_distances_of(e, m->d, r, v)[mode];
}

static double to_profile(const cofi_engine *e, const cofi_measure *m, size_t r, uint32_t v, uint32_t j)
{
    const cofi_problem *p = e->problem;
    uint32_t stride = e->scores.stride;
    const double *profile = e->profile + (size_t)p->first[r] * stride + j;
    double sum = 0;
    if (m->d == NULL) return 1 - profile[(size_t)v * stride];
    const double *row = cofi_distances_of(e, m->d, r, v);
    for (uint32_t u = 0; u < p->n_values[r]; u++) sum += row[u] * profile[(size_t)u * stride];
    return sum;
}

static void score_task(void *ctx, uint32_t worker, size_t r)
{
    score_job *job = ctx;
    cofi_engine *e = job->e;
    (void)worker;
    const cofi_problem *p = e->problem;
    uint32_t stride = e->scores.stride;
    double factor = attribute_factor(job->m, r);
    for (uint32_t g = p->first[r]; g < p->first[r + 1]; g++) {
        uint32_t v = g - p->first[r];
        for (uint32_t j = 0; j < e->o.k; j++) {
            double score = 0; /* ignored cells cost nothing */
            if (v < p->n_values[r])
                score = factor * (job->modes ? to_mode(e, job->m, r, v, j) : to_profile(e, job->m, r, v, j));
            if (job->m->sum == COFI_L2) score *= score;
            e->scores.value[(size_t)g * stride + j] = cofi_fixed_point(score, e->scores.scale);
        }
    }
}

/* No row can be farther from a cluster than this. */
static double largest_sum(const cofi_engine *e, const cofi_measure *m)
{
    const cofi_problem *p = e->problem;
    double sum = m->beside;
    for (size_t r = 0; r < p->n_attrs; r++) {
        size_t n = (size_t)p->n_values[r] * p->n_values[r];
        double most = m->d == NULL ? 1 : 0;
        for (size_t at = 0; m->d != NULL && at < n; at++) most = fmax(most, m->d->d[m->d->at[r] + at]);
        most *= attribute_factor(m, r);
        sum += m->sum == COFI_L2 ? most * most : most;
    }
    return sum;
}

static void set_scores(cofi_engine *e, const cofi_measure *m, double largest, bool modes)
{
    score_job job = {e, m, modes};
    cofi_scores_open(e, largest);
    cofi_team_run(e->team, score_task, &job, e->problem->n_attrs);
}

void cofi_scores_modes(cofi_engine *e, const cofi_measure *m)
{
    set_scores(e, m, largest_sum(e, m), true);
}

void cofi_scores_profiles(cofi_engine *e, const cofi_measure *m)
{
    set_scores(e, m, largest_sum(e, m), false);
}

void cofi_scores_from(cofi_engine *e, const double *raw, double largest)
{
    size_t n = (size_t)e->problem->first[e->problem->n_attrs] * e->scores.stride;
    cofi_scores_open(e, largest);
    for (size_t at = 0; at < n; at++) e->scores.value[at] = cofi_fixed_point(raw[at], e->scores.scale);
}

/* ---- Loops -------------------------------------------------------------------------------------- */

/* One pass and its record; *done once nothing moves or the host says stop. */
static cof_status one_pass(cofi_engine *e, cof_phase phase, bool *done, cof_error *err)
{
    uint64_t moved = cofi_engine_pass(e, phase);
    e->objective = cofi_objective(e);
    cof_status status = phase == COF_PHASE_FIT ? cofi_engine_record(e, moved, err) : COF_OK;
    cofi_engine_judge(e, moved, done);
    return status;
}

cof_status cofi_loop_modes(cofi_engine *e, const cofi_measure *m, cofi_centre centre, cof_phase phase,
                           cof_error *err)
{
    double largest = largest_sum(e, m);
    bool done = false;
    cof_status status = COF_OK;
    e->stop = COF_STOP_CAP;
    memset(e->alive, 1, e->o.k);
    for (uint32_t pass = 0; pass < e->o.max_passes && !done && status == COF_OK; pass++) {
        if (pass > 0 && centre == COFI_FREQUENT) cofi_modes_frequent(e);
        if (pass > 0 && centre == COFI_MEDIAN) cofi_modes_median(e, m->d);
        set_scores(e, m, largest, true);
        status = one_pass(e, phase, &done, err);
    }
    return status;
}

cof_status cofi_loop_profiles(cofi_engine *e, const cofi_measure *m, cof_error *err)
{
    double largest = largest_sum(e, m);
    bool done = false;
    cof_status status = COF_OK;
    e->stop = COF_STOP_CAP;
    for (uint32_t pass = 0; pass < e->o.max_passes && !done && status == COF_OK; pass++) {
        if (pass > 0) cofi_profile_update(e);
        set_scores(e, m, largest, false);
        status = one_pass(e, COF_PHASE_FIT, &done, err);
    }
    return status;
}
