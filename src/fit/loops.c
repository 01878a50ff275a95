/* The loop of passes that all methods share; k-modes with value distances, and the loop with clusters described by
 * distributions. */
#include "loops.h"

#include "criterion.h"
#include "scores.h"

#include <assert.h>
#include <math.h>

/* ---- Value distances ---------------------------------------------------------------------------- */

cof_status cofi_distances_open(const cofi_fit *fit, cofi_blocks *own, cofi_distances *d, cof_error *err)
{
    const cofi_problem *p = fit->problem;
    size_t n = 0;
    *d = (cofi_distances){.at = cofi_blocks_add(own, p->n_attrs, sizeof *d->at)};
    COFI_TRY(cofi_blocks_status(own, err));
    for (size_t r = 0; r < p->n_attrs; r++) {
        d->at[r] = n;
        if (p->n_values[r] > (UINT32_C(1) << 14) || n > (SIZE_MAX >> 8))
            return cofi_fail(err, COF_ERR_DATA,
                             "column '%s' has %u values, too many for a method that compares all pairs of "
                             "values; leave it out, or use coforest, kmodes or lca",
                             p->table->column[p->column[r]].name, p->n_values[r]);
        n += (size_t)p->n_values[r] * p->n_values[r];
    }
    d->d = cofi_blocks_add_zero(own, n, sizeof *d->d);
    return cofi_blocks_status(own, err);
}

/* ---- Modes and profiles ------------------------------------------------------------------------- */

void cofi_modes_from_seeds(cofi_fit *fit)
{
    size_t n_attrs = fit->problem->n_attrs, n_columns = n_attrs + fit->problem->n_numeric;
    for (uint32_t j = 0; j < fit->partition.k; j++)
        memcpy(fit->seeds.mode + j * n_attrs, fit->seeds.cell + j * n_columns,
               n_attrs * sizeof *fit->seeds.mode);
}

void cofi_modes_frequent(cofi_fit *fit)
{
    const cofi_problem *p = fit->problem;
    uint32_t stride = fit->scores.stride;
    for (uint32_t j = 0; j < fit->partition.k; j++) {
        if (fit->partition.size[j] == 0) continue;
        for (size_t r = 0; r < p->n_attrs; r++) {
            const uint64_t *count = fit->partition.count + (size_t)p->first[r] * stride + j;
            const uint32_t *order = p->order != NULL ? p->order + p->first[r] : NULL;
            uint32_t best = order != NULL ? order[0] : 0;
            for (uint32_t at = 1; at < p->n_values[r]; at++) {
                uint32_t v = order != NULL ? order[at] : at;
                if (count[(size_t)v * stride] > count[(size_t)best * stride]) best = v;
            }
            fit->seeds.mode[j * p->n_attrs + r] = best;
        }
    }
}

bool cofi_value_occurs(const cofi_fit *fit, uint32_t flat)
{
    for (uint32_t j = 0; j < fit->partition.k; j++)
        if (fit->partition.count[(size_t)flat * fit->scores.stride + j] > 0) return true;
    return false;
}

typedef struct median_job {
    cofi_fit *fit;
    const cofi_distances *d;
} median_job;

/* The value of an attribute with the least summed distance to the values of each cluster's rows. */
static void median_task(void *ctx, uint32_t worker, size_t r)
{
    median_job *job = ctx;
    cofi_fit *fit = job->fit;
    const cofi_problem *p = fit->problem;
    uint32_t stride = fit->scores.stride, n_values = p->n_values[r];
    for (uint32_t j = 0; j < fit->partition.k; j++) {
        const uint64_t *count = fit->partition.count + (size_t)p->first[r] * stride + j;
        uint32_t best = 0;
        double least = INFINITY;
        for (uint32_t v = 0; fit->partition.size[j] > 0 && v < n_values; v++) {
            if (!cofi_value_occurs(fit, p->first[r] + v)) continue;
            const double *row = cofi_distances_of(fit, job->d, r, v);
            double cost = 0;
            for (uint32_t u = 0; u < n_values; u++) cost += row[u] * (double)count[(size_t)u * stride];
            if (!cofi_clearly_larger(least, cost)) continue;
            least = cost;
            best = v;
        }
        if (fit->partition.size[j] > 0) fit->seeds.mode[j * p->n_attrs + r] = best;
    }
}

void cofi_modes_median(cofi_fit *fit, const cofi_distances *distances)
{
    median_job job = {fit, distances};
    cofi_team_run(fit->host.team, median_task, &job, fit->problem->n_attrs);
}

void cofi_profile_from_modes(cofi_fit *fit)
{
    const cofi_problem *p = fit->problem;
    uint32_t stride = fit->scores.stride;
    memset(fit->profiles.held, 0, (size_t)cofi_n_flat(p) * stride * sizeof *fit->profiles.held);
    for (uint32_t j = 0; j < fit->partition.k; j++) {
        for (size_t r = 0; r < p->n_attrs; r++) {
            uint32_t v = fit->seeds.mode[j * p->n_attrs + r];
            bool known = v < p->n_values[r]; /* otherwise the seed's cell is ignored */
            fit->profiles.whole[r * stride + j] = known;
            if (known) fit->profiles.held[(size_t)(p->first[r] + v) * stride + j] = 1;
        }
    }
    memset(fit->profiles.alive, 1, fit->partition.k);
    cofi_value_sums_forget(fit);
}

void cofi_profile_begin(cofi_fit *fit)
{
    cofi_profile_from_modes(fit);
    if (fit->partition.known) cofi_profile_update(fit);
}

/* ---- Scores ------------------------------------------------------------------------------------- */

typedef struct score_job {
    cofi_fit *fit;
    const cofi_row_distance *m;
    bool modes; /* distance to the mode; otherwise mean distance to the profile */
} score_job;

/* Sets mean[v * stride] to sum_u p(u|C_j) d(v,u) for the values v of attribute r. Shares are divided once for all v, and terms are
 * added in the order of u. */
static void mean_distances(const score_job *job, size_t r, uint32_t j, double *mean)
{
    enum { AT_ONCE = 256 };
    const cofi_fit *fit = job->fit;
    uint32_t stride = fit->scores.stride, n_values = fit->problem->n_values[r];
    double share[AT_ONCE];
    for (uint32_t v = 0; v < n_values; v++) mean[(size_t)v * stride] = 0;
    for (uint32_t begin = 0; begin < n_values; begin += AT_ONCE) {
        uint32_t n = n_values - begin < AT_ONCE ? n_values - begin : AT_ONCE;
        for (uint32_t u = 0; u < n; u++) share[u] = cofi_profile_of(fit, r, begin + u, j);
        for (uint32_t v = 0; v < n_values; v++) {
            const double *distance = cofi_distances_of(fit, job->m->d, r, v) + begin;
            double sum = mean[(size_t)v * stride];
            for (uint32_t u = 0; u < n; u++) sum += distance[u] * share[u];
            mean[(size_t)v * stride] = sum;
        }
    }
}

/* The scores of one attribute. Mean distances are computed in their memory. */
static void score_task(void *ctx, uint32_t worker, size_t r)
{
    const score_job *job = ctx;
    cofi_fit *fit = job->fit;
    const cofi_problem *p = fit->problem;
    const cofi_distances *d = job->m->d;
    uint32_t stride = fit->scores.stride, n_values = p->n_values[r];
    double factor = job->m->factor != NULL ? job->m->factor[r] : 1, weight = cofi_column_weight(p, r);
    for (uint32_t j = 0; j < fit->partition.k; j++) {
        uint32_t mode = fit->seeds.mode[j * p->n_attrs + r];
        int64_t *value = fit->scores.value + (size_t)p->first[r] * stride + j;
        double *mean = (double *)(void *)value;
        if (!job->modes && d != NULL) mean_distances(job, r, j, mean);
        for (uint32_t v = 0; v < p->first[r + 1] - p->first[r]; v++) {
            double score = 0; /* an ignored cell adds nothing, neither in the row nor in the seed */
            if (v < n_values && d == NULL) score = job->modes ? mode != v : 1 - cofi_profile_of(fit, r, v, j);
            if (v < n_values && d != NULL && !job->modes) score = mean[(size_t)v * stride];
            if (v < n_values && d != NULL && job->modes && mode < n_values)
                score = cofi_distances_of(fit, d, r, v)[mode];
            score *= factor;
            if (job->m->sum == COFI_L2) score *= score;
            value[(size_t)v * stride] = cofi_fixed_point(score * weight, fit->scores.scale);
        }
    }
}

/* Upper bound of the distance between a row and a cluster. */
static double largest_sum(const cofi_fit *fit, const cofi_row_distance *m)
{
    const cofi_problem *p = fit->problem;
    double sum = m->beside;
    for (size_t r = 0; r < p->n_attrs; r++) {
        size_t n = (size_t)p->n_values[r] * p->n_values[r];
        double most = m->d == NULL ? 1 : 0;
        for (size_t at = 0; m->d != NULL && at < n; at++) most = fmax(most, m->d->d[m->d->at[r] + at]);
        if (m->factor != NULL) most *= m->factor[r];
        sum += cofi_column_weight(p, r) * (m->sum == COFI_L2 ? most * most : most);
    }
    return sum;
}

static void set_scores(cofi_fit *fit, const cofi_row_distance *m, double largest, bool modes)
{
    score_job job = {fit, m, modes};
    cofi_scores_open(fit, largest);
    cofi_team_run(fit->host.team, score_task, &job, fit->problem->n_attrs);
}

void cofi_scores_modes(cofi_fit *fit, const cofi_row_distance *m)
{
    set_scores(fit, m, largest_sum(fit, m), true);
}

void cofi_scores_profiles(cofi_fit *fit, const cofi_row_distance *m)
{
    set_scores(fit, m, largest_sum(fit, m), false);
}

void cofi_scores_from(cofi_fit *fit, const double *raw, double largest)
{
    const cofi_problem *p = fit->problem;
    double most = 1;
    for (size_t r = 0; r < p->n_attrs; r++) most = fmax(most, cofi_column_weight(p, r));
    cofi_scores_open(fit, largest * most);
    for (size_t r = 0; r < p->n_attrs; r++) {
        double scale = cofi_column_weight(p, r) * fit->scores.scale;
        size_t begin = (size_t)p->first[r] * fit->scores.stride,
               end = (size_t)p->first[r + 1] * fit->scores.stride;
        for (size_t at = begin; at < end; at++) fit->scores.value[at] = cofi_fixed_point(raw[at], scale);
    }
}

/* ---- The loop ------------------------------------------------------------------------------------ */

cofi_loop cofi_loop_begin(cofi_fit *fit, cof_phase phase, uint64_t *met)
{
    cofi_loop loop = {.phase = phase, .last = fit->host.o.max_passes, .met = met};
    fit->log.stop = COF_STOP_CAP;
    if (met != NULL) met[loop.n_met++] = fit->partition.hash;
    return loop;
}

/* How many passes ago the partition had this hash; 0: never. */
static uint32_t passes_since(const cofi_loop *loop, uint64_t hash)
{
    for (uint32_t back = 1; back <= loop->n_met; back++)
        if (loop->met[loop->n_met - back] == hash) return back;
    return 0;
}

cof_status cofi_loop_end_pass(cofi_fit *fit, cofi_loop *loop, cof_error *err)
{
    cofi_log *log = &fit->log;
    assert(loop->pass < loop->last && loop->n_met <= fit->host.o.max_passes + 1);
    if (loop->phase == COF_PHASE_FIT && !loop->unrecorded)
        COFI_TRY(cofi_log_record(&fit->host, log, loop->moved, err));
    loop->pass++;
    if (loop->moved == 0) log->stop = COF_STOP_CONVERGED;
    if (loop->moved > 0 && cofi_log_stopped(&fit->host, log)) log->stop = COF_STOP_STOPPED;
    if (loop->moved == 0 || log->stopped) {
        loop->last = loop->pass;
    } else if (loop->met != NULL) {
        uint32_t period = log->stop == COF_STOP_CYCLE ? 0 : passes_since(loop, fit->partition.hash);
        if (period > 0) {
            log->stop = COF_STOP_CYCLE;
            loop->last = loop->pass + (loop->last - loop->pass) % period;
        }
        if (loop->n_met <= fit->host.o.max_passes) loop->met[loop->n_met++] = fit->partition.hash;
    }
    return COF_OK;
}

/* ---- Loops over modes and profiles ---------------------------------------------------------------- */

cof_status cofi_loop_modes(cofi_fit *fit, const cofi_row_distance *m, cofi_centre centre, cof_phase phase,
                           cof_error *err)
{
    double largest = largest_sum(fit, m);
    cofi_loop loop = cofi_loop_begin(fit, phase, NULL);
    memset(fit->profiles.alive, 1, fit->partition.k);
    while (cofi_loop_goes_on(&loop)) {
        if (loop.pass > 0 && centre == COFI_FREQUENT) cofi_modes_frequent(fit);
        if (loop.pass > 0 && centre == COFI_MEDIAN) cofi_modes_median(fit, m->d);
        set_scores(fit, m, largest, true);
        COFI_TRY(cofi_fit_pass(fit, phase, &loop.moved, err));
        if (phase == COF_PHASE_FIT) fit->log.objective = cofi_objective(&fit->partition, &fit->scores);
        COFI_TRY(cofi_loop_end_pass(fit, &loop, err));
    }
    return COF_OK;
}

cof_status cofi_loop_profiles(cofi_fit *fit, const cofi_row_distance *m, cof_error *err)
{
    double largest = largest_sum(fit, m);
    cofi_loop loop = cofi_loop_begin(fit, COF_PHASE_FIT, NULL);
    while (cofi_loop_goes_on(&loop)) {
        if (loop.pass > 0) cofi_profile_update(fit);
        set_scores(fit, m, largest, false);
        COFI_TRY(cofi_fit_pass(fit, COF_PHASE_FIT, &loop.moved, err));
        fit->log.objective = cofi_objective(&fit->partition, &fit->scores);
        COFI_TRY(cofi_loop_end_pass(fit, &loop, err));
    }
    return COF_OK;
}

cof_status cofi_settle_kmodes(cofi_fit *fit, cof_error *err)
{
    if (fit->partition.known) return COF_OK; /* the start left one */
    cofi_row_distance hamming = {.sum = COFI_L1};
    cof_status status = cofi_loop_modes(fit, &hamming, COFI_FREQUENT, COF_PHASE_START, err);
    cofi_profile_clear(fit);
    return status;
}
